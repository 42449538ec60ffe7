"""From what a source says of an item to the record that matching compares."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.index.identifiers import gtin_of
from workers.articles.matching.records import MatchRecord

SQL = load_queries(__file__, "records.sql")


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """An item's record for matching; `trust` is what its source's mapping allows to be linked without a person."""

    item_id: int
    source_id: int
    record: MatchRecord
    trust: str


class _Claim(NamedTuple):
    item_id: int
    source_id: int
    source: str
    name: str | None
    brand: str
    category_path: list[str]
    identifiers: list[dict[str, str]]
    attributes: dict[str, Any]
    rules: dict[str, Any]


def read(connection: Connection, item_ids: Collection[int]) -> Iterator[SourceRecord]:
    """Yield the records of those of the items that exist."""
    claims = map(_Claim._make, connection.execute(SQL.records, (list(item_ids),)).fetchall())
    for _, of_item in groupby(claims, lambda claim: claim.item_id):
        for _, of_source in groupby(of_item, lambda claim: claim.source_id):
            of_one_source = list(of_source)
            if any(claim.name for claim in of_one_source):  # sources that only add figures to an item bring no name
                yield _record(of_one_source)
                break


def _record(claims: list[_Claim]) -> SourceRecord:
    """Make an item's record of what its source claims, the newest first: each field of the first that brings it.

    Prices are left out: they change with every load, and a link must not depend on the order of loads.
    """
    newest = claims[0]
    rules = newest.rules
    identifiers = {one["scheme"]: one["value"] for claim in reversed(claims) for one in claim.identifiers}
    attributes = {key: str(value) for claim in reversed(claims) for key, value in claim.attributes.items()}
    shared = {key: value for key, value in identifiers.items() if key not in rules.get("own_identifiers", ())}
    record = MatchRecord(
        key=str(newest.item_id),
        source=newest.source,
        name=next(claim.name for claim in claims if claim.name),
        brand=next((claim.brand for claim in claims if claim.brand), ""),
        mpn=shared.get("mpn", ""),
        category=" > ".join(next((claim.category_path for claim in claims if claim.category_path), [])),
        description=attributes.pop("description", ""),
        gtins=tuple(dict.fromkeys(gtin for one in shared.items() if (gtin := gtin_of(*one)))),
        attributes=tuple(sorted(attributes.items())),
        article=identifiers.get(rules.get("article_identifier", ""), ""),
        separate=bool(rules.get("never", False)),
        one_per_source=rules.get("one_per_source"),
    )
    return SourceRecord(newest.item_id, newest.source_id, record, rules.get("trust", "all"))
