"""Identifiers that a load brought and that could not be followed: each is a row among the rejects. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from workers.ingest.batches import Reject
from workers.matching.identifiers import identifier_keys, identifies
from workers.matching.records import Kind, Link, Record

CROWDED = "an identifier of too many items, or of different ones, identifies nothing"
REPEATED = "another item of the source has this identifier: they stay two items; has its id changed?"
CONFLICTING = "would join two items of one source, or what a person separated"
_REJECTS_MAX = 1_000
_NAMED = 5


Fault = tuple[str, str, list[str]]
"""The reason, the identifier, and the keys of the records that carry it."""


def faults(records: Iterable[Record], by_identifier: Callable[[str], list[Record]]) -> Iterator[Fault]:
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
            keys = [one.key for one in sharing]
            if not identifies(sharing):
                yield CROWDED, identifier, keys
            elif any(_repeats(record, one) for one in sharing):
                yield REPEATED, identifier, keys


def rejects(
    faults: Iterable[Fault], refused: Iterable[Link], iids: Callable[[list[str]], Mapping[str, str]]
) -> list[Reject]:
    """Return the rejects of faults, and of links by identifiers that were not followed; a thousand at most."""
    conflicts = (
        (CONFLICTING, next(f"{one.field}:{one.left}" for one in link.evidence if one.agrees), [link.left, link.right])
        for link in refused
        if link.kind is Kind.IDENTIFIER and any(one.agrees for one in link.evidence)
    )
    listed = [fault for _, fault in zip(range(_REJECTS_MAX), (*faults, *conflicts), strict=False)]
    names = iids([key for _, _, keys in listed for key in keys[:_NAMED]])
    return [_reject(reason, identifier, keys, names) for reason, identifier, keys in listed]


def _repeats(record: Record, other: Record) -> bool:
    same_source = record.key != other.key and record.source == other.source
    return same_source and not (record.article and record.article == other.article)


def _reject(reason: str, identifier: str, keys: list[str], names: Mapping[str, str]) -> Reject:
    shown = ", ".join(names.get(key, key) for key in keys[:_NAMED])
    raw = f"{shown} and {len(keys) - _NAMED} more" if len(keys) > _NAMED else shown
    scheme, _, value = identifier.partition(":")
    return Reject("", 0, reason, raw, scheme, value, "field")
