"""Pairs of items that wait for a person, as the command line and the dashboard read them."""

from typing import NamedTuple, TypedDict

from shared.db.queries import load_queries

SQL = load_queries(__file__, "pairs.sql")

STATES = ("waiting", "linked", "accepted", "rejected")
"""Of a pair: it waits for a person, it was linked without one, or a person decided."""


class ChosenFilters(TypedDict, total=False):
    """The filters of a bulk decision that are set, as it is stored."""

    source: str
    min_score: float
    max_score: float
    evidence: str
    brand: str


class Filters(NamedTuple):
    """Which pairs are meant, as the statement `pairs` takes it: of a source, from a score on, below one, with this kind
    of evidence (a kind of link, or a field in which the records agree), and of a brand."""

    source: str | None = None
    min_score: float | None = None
    max_score: float | None = None
    evidence: str | None = None
    brand: str | None = None

    @property
    def chosen(self) -> dict[str, str | float]:
        """Return the filters that are set."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def __str__(self) -> str:
        """Return the filters in words, for the reason of a bulk decision."""
        words = (f"{name.replace('_', ' ')} {value}" for name, value in self.chosen.items())
        return ", ".join(words) or "all that wait"


ALL = Filters()
