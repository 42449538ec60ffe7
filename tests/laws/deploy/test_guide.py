"""The operators' guide says what the code says."""

import re
from pathlib import Path

from click.testing import CliRunner

from deploy.ctl.main import COMMANDS
from deploy.ctl.settings import settings

PROJECT = Path(__file__).parents[3]
GUIDE = (PROJECT / "deploy/guides/operate.md").read_text()


def test_the_table_of_settings_is_the_one_of_the_code() -> None:
    printed = CliRunner().invoke(settings, ["--markdown"]).output
    kept = GUIDE.partition("<!-- settings -->\n")[2].partition("<!-- /settings -->")[0]
    assert kept == printed, "put the output of `itemindex settings --markdown` between the marks"


def test_every_command_that_it_names_exists() -> None:
    named = set(re.findall(r"itemindex ([a-z]+)\b", re.sub(r"```.*?```", lambda block: block[0], GUIDE, flags=re.S)))
    assert named <= {*COMMANDS, "itemindex"}, named - COMMANDS.keys()


def test_every_file_that_it_names_exists() -> None:
    for name in re.findall(r"`((?:deploy|shared|tests|edge)/[\w./*-]+)`", GUIDE):
        if name != "deploy/docker/.env":
            assert list(PROJECT.glob(name)), name
