"""Which items had a GTIN on which days, by the days of the loads that stated it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from shared.db.queries import load_queries
from shared.index.identifiers import SCHEMES, gtin_of

SQL = load_queries(__file__, "holdings.sql")
GTIN_SCHEMES = tuple(scheme for scheme, compared in SCHEMES.items() if compared == "gtin")

SILENT_DAYS = 30
"""How long a source may say nothing new of a number until another source's item takes it."""


class StatedIdentifiers(NamedTuple):
    """What a source states an item's identifiers to be, in loads that follow each other: a row of `SQL.stated`.

    `seen_from`: the first day of the rows that the first of these loads has of the item. `first` and `last`: the newest
    day of the rows of the first and of the last load.
    """

    item_id: int
    source_id: int
    identifiers: Sequence[Mapping[str, str]]
    seen_from: date
    first: date
    last: date


class Holding(NamedTuple):
    """A time in which a source gave a GTIN to an item.

    It was stated from `first` to `last`, and not taken back before `ended`: the day on which the source stated another
    number in its place, None where it never did.
    """

    item_id: int
    source_id: int
    first: date
    last: date
    ended: date | None


def holdings(gtin: str, stated: Iterable[StatedIdentifiers]) -> list[Holding]:
    """Return the times in which items had a GTIN of 14 digits; `stated` comes by item and source, the oldest first."""
    found: list[Holding] = []
    for _, of_source in groupby(stated, lambda row: (row.item_id, row.source_id)):
        found += _holdings_of_source(gtin, list(of_source))
    return found


def _holdings_of_source(gtin: str, stated: Sequence[StatedIdentifiers]) -> Iterable[Holding]:
    numbers: dict[str, str | None] = {}
    current: Holding | None = None
    for row in stated:
        now = {
            scheme: gtin_of(scheme, entry["value"])
            for entry in row.identifiers
            if (scheme := entry["scheme"]) in GTIN_SCHEMES
        }
        numbers |= now  # a scheme of which a load says nothing keeps its number, as in the record
        if gtin in now.values():
            # The rows of a first load may go back for years; those of a later one repeat days of the loads before it.
            first = row.seen_from if row is stated[0] else row.first
            current = current._replace(last=row.last) if current else Holding(*row[:2], first, row.last, None)
        elif current and gtin not in numbers.values():
            yield current._replace(ended=row.first)
            current = None
    if current:
        yield current


def holders(times: Iterable[Holding], owners: Mapping[int, str], day: date | None = None) -> set[str]:
    """Return who had the number on a day, of those to whom the items belong now; without a day, who has it now.

    An owner has it from the first day on which it is stated of any of its items. It loses it where that is taken back,
    or on the day on which the same source states it of another owner for the first time, if it was not stated of this
    one since. Another source takes it from an owner only after `SILENT_DAYS`: before, the owner's own source may just
    not have been loaded again, and anybody who lists a number would take it from its item.
    """
    spans: dict[tuple[str, int], tuple[date, date]] = {}
    for time in times:
        begun = day is None or time.first <= day
        ended = time.ended is not None and (day is None or time.ended <= day)
        if begun and not ended and time.item_id in owners:
            claim = owners[time.item_id], time.source_id
            first, last = spans.get(claim, (time.first, time.last))
            spans[claim] = min(first, time.first), max(last, time.last)
    newest_of_source: dict[int, date] = {}
    first_of_owner: dict[str, date] = {}
    for (owner, source_id), (first, _) in spans.items():
        newest_of_source[source_id] = max(first, newest_of_source.get(source_id, first))
        first_of_owner[owner] = min(first, first_of_owner.get(owner, first))
    newest = max(first_of_owner.values(), default=date.min)
    return {
        owner
        for (owner, source_id), (_, last) in spans.items()
        if last >= newest_of_source[source_id] and (newest - last).days <= SILENT_DAYS
    }
