"""The table of promises names tests that exist, and leaves no row without one or a reason."""

import re

from tests.laws.named_tests import TEST, functions_of
from tests.laws.sources import PROJECT

TABLE = PROJECT / "docs" / "guides" / "promises.md"

ROW = re.compile(r"^\| ([B-K]\d{1,2}) \| (.+) \|$", re.MULTILINE)


def test_every_promise_is_held_by_a_test_that_exists() -> None:
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert len(rows) == len({promise for promise, _ in rows}) > 75
    for promise, holder in rows:
        named = TEST.match(holder)
        if named is None:
            assert re.match(r"not applicable: .{30,}", holder), promise
            continue
        assert named[2] in functions_of(named[1]), f"{promise}: {holder}"
