"""What is asked of an index of records ends where its `check` raises, in each of its steps."""

from collections.abc import Callable

import pytest

from workers.articles.matching.index import MatchIndex
from workers.articles.matching.records import MatchRecord


class Unwanted(Exception):
    """Nobody wants the answer any more."""


def records(source: str) -> list[MatchRecord]:
    return [MatchRecord(f"{source}{n}", source, f"Generic part {n}") for n in range(5)]


def end() -> None:
    raise Unwanted


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.add(records("c")),
        lambda index: index.nearest(index.rows()),
        lambda index: index.texts(index.rows()),
        lambda index: list(index.records(index.rows())),
        lambda index: MatchIndex.of_all(records("c"), end),
    ],
    ids=["add", "nearest", "texts", "records", "of_all"],
)
def test_each_step_can_be_ended(ask: Callable[[MatchIndex], object]) -> None:
    index = MatchIndex.of_all([*records("a"), *records("b")])
    index.check = end
    with pytest.raises(Unwanted):
        ask(index)
