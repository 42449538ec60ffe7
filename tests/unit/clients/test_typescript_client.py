"""The TypeScript client without a service: the tests are in typescript_client.mjs, where Node runs them."""

import re
from pathlib import Path

from tests.support.node import node

TESTS = Path(__file__).with_name("typescript_client.mjs")


def test_every_test_in_node_passes() -> None:
    cleared = dict.fromkeys(("ITEMINDEX_URL", "ITEMINDEX_KEY", "ITEMINDEX_TOKEN"), "")
    shown = node("--test", "--test-reporter=tap", TESTS, **cleared)
    assert int(re.search(r"^# pass (\d+)$", shown, re.MULTILINE)[1]) >= 19  # type: ignore[index]
