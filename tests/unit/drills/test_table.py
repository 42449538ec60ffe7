"""The table of the guide says what the drill saw, and calls what was broken by its name."""

from collections import Counter

from tests.drills.probes import Seen
from tests.drills.table import markdown


def seen(call: str, kept: bool = True, remark: str = "", **statuses: int) -> Seen:
    counted = Counter({int(status.removeprefix("s")): number for status, number in statuses.items()})
    return Seen("the cache is down", call, frozenset({200}), counted, 0.25, kept, remark)


def table(*found: Seen) -> list[str]:
    remarks = [seen(name, remark=name) for name in ("jobs", "quota", "anonymous quota", "quota of a small plan")]
    return markdown([*found, *remarks], 3.0, "2026-11-22").splitlines()


def test_a_call_that_was_answered_as_usual_is_not_named() -> None:
    row = table(seen("search", s200=9), seen("brands", s200=9))[-1]
    assert row == (
        "| The cache is down | what they always see | 0.2 s | jobs | quota | anonymous quota | quota of a small plan |"
    )


def test_a_call_that_was_answered_otherwise_is_named_with_all_its_statuses() -> None:
    row = table(seen("search", s200=9, s503=1), seen("brands", s200=9), seen("look-up", s0=1, s200=3))[-1]
    assert "| search 200/503; look-up no answer/200 |" in row


def test_a_broken_promise_is_marked() -> None:
    row = table(seen("search", kept=False, s500=1))[-1]
    assert "| search 500 (BROKEN) |" in row


def test_the_table_names_its_run() -> None:
    assert "2026-11-22" in table(seen("search", s200=1))[0]
    assert "`python -m tests.drills outages --seconds 3 --markdown`" in table(seen("search", s200=1))[0]
