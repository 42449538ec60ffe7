"""What was released stays: the document of the code against the last released one (contract, section 10)."""

import json
from pathlib import Path

from click.testing import CliRunner
from openapi_spec_validator import validate

from deploy.ctl.openapi import openapi
from deploy.openapi.compare import breaking

RELEASED = Path(__file__).parents[2] / "deploy" / "openapi" / "v1.json"


def test_nothing_that_was_released_is_broken() -> None:
    now = json.loads(CliRunner().invoke(openapi, []).stdout)
    validate(now)
    assert breaking(json.loads(RELEASED.read_text()), now) == []
