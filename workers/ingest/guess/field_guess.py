"""What is guessed of one field of a mapping: the columns that may be it, with what speaks for each. Pure."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from shared.mapping_doubts import Doubt
from workers.ingest.column_names import WHOLE

# The points of a name from which on a column is called so in full.
IN_FULL = WHOLE - 50


class ColumnEvidence(NamedTuple):
    """What speaks for a column, and by how much."""

    kind: Literal["name", "cells", "rows"]
    points: float
    said: str


class ColumnCandidate(NamedTuple):
    """A column that may be a field."""

    column: str
    evidence: tuple[ColumnEvidence, ...]

    @property
    def score(self) -> float:
        """The sum of all points that speak for it."""
        return sum(one.points for one in self.evidence)

    @property
    def is_called_so(self) -> bool:
        """Whether its name says so in full, so that it is no other field whatever its cells are."""
        return any(one.kind == "name" and one.points >= IN_FULL for one in self.evidence)

    @property
    def said(self) -> str:
        """What speaks for it, in words."""
        return ", ".join(one.said for one in self.evidence)


@dataclass(frozen=True, slots=True)
class FieldGuess:
    """A field, its candidates with the best one first, which of them it is, and what a person should look at."""

    field: str
    candidates: tuple[ColumnCandidate, ...] = ()
    chosen: tuple[str, ...] = ()
    """Its column; several where they are parts of it or may each be the price, of which the first is the likeliest."""
    runners_up: tuple[str, ...] = ()
    """Other columns that are near enough to be meant, the likeliest first."""
    doubts: tuple[Doubt, ...] = ()

    def candidate(self, column: str) -> ColumnCandidate | None:
        """Return what is known of a column as this field; None where it is no candidate."""
        return next((one for one in self.candidates if one.column == column), None)
