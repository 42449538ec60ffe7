"""The rows of a caller's table that are matched against the index, as an order of their job holds them. Pure."""

import msgspec

CANDIDATES_MAX = 20
"""The most candidates that a row may have."""


class TableRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a table says of one article; `gtins` are in 14-digit form with a correct check digit."""

    name: str = ""
    brand: str = ""
    mpn: str = ""
    size: str = ""
    gtins: tuple[str, ...] = ()


class ItemCandidate(msgspec.Struct, frozen=True):
    """An item that a row may be. `score`: the probability of it; `match`: whether a load would link the two itself."""

    iid: str
    name: str
    brand: str | None
    category: list[str]
    score: float
    match: bool


class RowCandidates(msgspec.Struct, frozen=True):
    """The candidates of one row, best first."""

    candidates: list[ItemCandidate]


class MatchedTable(msgspec.Struct, frozen=True):
    """The result of the job: an entry for each row, in the order of the rows."""

    data: list[RowCandidates]
