"""The linking of a load: its new items are compared with all others before it commits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import psycopg

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.processes import without_collector
from workers.articles import index as indexes
from workers.articles.links import relink
from workers.articles.matching.identifiers import filled, identifier_keys
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.records import LinkKind, MatchRecord, RecordLink
from workers.articles.records import SQL as RECORDS
from workers.ingest.batches import Reject
from workers.provenance import items, standing
from workers.provenance.events import ProvenanceEvent
from workers.provenance.standing import Acts

SQL = load_queries(__file__, "merge.sql")
CROWDED = "a source gives this identifier to more than a hundred items, so it links none of them"
REPEATED = "another item of the source has this identifier: they stay two items; has its id changed?"
CONFLICTING = "would join two items of a source that lists each product once, or what a person separated"
_REJECTS_MAX = 1_000
_NAMED = 5


Fault = tuple[str, str, list[str]]
"""The reason, the identifier, and the keys of the records that carry it."""


def faults(records: Iterable[MatchRecord], by_identifier: Callable[[str], list[MatchRecord]]) -> Iterator[Fault]:
    """Yield each identifier of `records` by which they cannot be joined, once; records that never are have no fault."""
    seen: set[str] = set()
    for record in records:
        if record.separate:
            continue
        for identifier in identifier_keys(record):
            if identifier in seen:
                continue
            seen.add(identifier)
            sharing = by_identifier(identifier)
            keys = [other.key for other in sharing]
            if filled(sharing):
                yield CROWDED, identifier, keys
            elif any(_repeats(record, other, sharing) for other in sharing):
                yield REPEATED, identifier, keys


def rejects(
    faults: Iterable[Fault], refused: Iterable[RecordLink], iids: Callable[[list[str]], Mapping[str, str]]
) -> list[Reject]:
    """Return the rejects of faults, and of links by identifiers that were not followed; a thousand at most."""
    conflicts = (
        (
            CONFLICTING,
            next(f"{fact.field}:{fact.left}" for fact in link.evidence if fact.agrees),
            [link.left, link.right],
        )
        for link in refused
        if link.kind is LinkKind.IDENTIFIER and any(it.agrees for it in link.evidence)
    )
    listed = [fault for _, fault in zip(range(_REJECTS_MAX), (*faults, *conflicts), strict=False)]
    names = iids([key for _, _, keys in listed for key in keys[:_NAMED]])
    return [_reject(reason, identifier, keys, names) for reason, identifier, keys in listed]


def _repeats(record: MatchRecord, other: MatchRecord, sharing: Sequence[MatchRecord]) -> bool:
    """Say whether two records of one source stay two items though they share an identifier with `sharing`.

    They are joined where the source does not list each product once, declares them one, or does not say and a record of
    another source joins them.
    """
    same_source = record.key != other.key and record.source == other.source
    if not same_source or (record.article and record.article == other.article):
        return False
    joined = record.one_per_source is None and any(one.source != record.source for one in sharing)
    return record.one_per_source is not False and not joined


def _reject(reason: str, identifier: str, keys: list[str], names: Mapping[str, str]) -> Reject:
    shown = ", ".join(names.get(key, key) for key in keys[:_NAMED])
    raw = f"{shown} and {len(keys) - _NAMED} more" if len(keys) > _NAMED else shown
    scheme, _, value = identifier.partition(":")
    return Reject("", 0, reason, raw, scheme, value, "field")


@dataclass
class Linking:
    """Links the items of one load. `directory`: where the index of records is kept; without one it is made anew.

    `merges_allowed`: whether more than a tenth of the index may be merged. `check` is called between the steps, and
    raises where the load is to end. `rejects`: links that could not be followed.
    `joined` and `parted`: the first of the items that became part of another article, or left theirs, in words.
    """

    directory: Path | None = None
    merges_allowed: bool = False
    check: Callable[[], None] = lambda: None
    rejects: list[Reject] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    parted: list[str] = field(default_factory=list)
    _index: MatchIndex | None = None

    @without_collector()
    def link(self, connection: Connection, event: ProvenanceEvent, counts: dict[str, int]) -> None:
        """Link what the load says something new of; leave the items whose articles change in `regrouped`.

        The items must have been inserted, and `items.begin` been called before that. Raises LoadRefused where the load
        would merge too much.
        """
        changed = {row[0] for row in connection.execute(SQL.spoken_of)}
        if event.matching_changed:
            changed |= {row[0] for row in connection.execute(RECORDS.of_source, (event.source_id,))}
        index = indexes.open_index(connection, self.directory, changed, self.check)
        seeds = relink(connection, index, changed, event.no)
        self.check()
        acts = standing.read_acts(connection)
        settled = standing.settle(connection, acts, seeds | (changed & _items_of_acts(acts)))
        items.widen(connection, ())  # also the new owners, before their rows change
        if not self.merges_allowed:
            [(before,)] = connection.execute(SQL.active_before, (list(settled.merged),)).fetchall()
            standing.refuse_too_many_merges(connection, settled, before, "the load")
        connection.execute(SQL.regroup, (list(settled.moved),))
        standing.mark(connection, settled.memberships)
        counts["items_merged"], counts["items_parted"] = len(settled.merged), len(settled.parted)
        [(counts["pairs_waiting"],)] = connection.execute(SQL.waiting_pairs, (event.no,)).fetchall()
        self.joined = standing.named_pairs(connection, settled.merges, "into")
        self.parted = standing.named_pairs(connection, sorted(settled.parted.items()), "from")
        rows = index.rows_of(str(item_id) for item_id in changed).values()
        link_faults = faults(index.records(np.array(list(rows), np.int64)), index.by_identifier)
        self.rejects += rejects(link_faults, settled.articles.refused, partial(_iids, connection))
        self._index = index

    def keep(self, connection: Connection) -> None:
        """Keep the index for the next load; to be called when the load has committed.

        Where it cannot be kept the next load makes it anew: that is no failure of a load that has committed.
        """
        if self._index is not None and self.directory is not None:
            with suppress(OSError, psycopg.Error):
                indexes.save(connection, self._index, self.directory)


def _iids(connection: Connection, keys: list[str]) -> dict[str, str]:
    return {str(row[0]): row[1] for row in connection.execute(standing.SQL.iids, ([int(key) for key in keys],))}


def _items_of_acts(acts: Acts) -> set[int]:
    return {item_id for pair in acts.pairs for item_id in pair}
