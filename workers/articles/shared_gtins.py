"""Links by a GTIN that a source gives to several of its items: which of them the number does not prove."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from shared.db.connect import Connection
from shared.index.holdings import SQL, Holding, StatedIdentifiers, holders, holdings
from workers.articles.matching.records import LinkDecision, LinkKind, RecordLink
from workers.articles.records import SourceRecord


def links_by_shared_gtins(
    connection: Connection, links: Collection[RecordLink], records: Mapping[int, SourceRecord]
) -> set[tuple[str, str]]:
    """Return the pairs that a GTIN does not prove to be one item, because a source gives it to others too.

    The days on which the two items got the number decide: the link stands if each source gave it to one item alone on
    both days, and to the same one. `records` must have the items of all links.
    """
    by_gtin: dict[str, list[RecordLink]] = {}
    for link in links:
        if (gtin := _gtin_of(link)) is not None:
            by_gtin.setdefault(gtin, []).append(link)
    shared = {gtin: of_gtin for gtin, of_gtin in by_gtin.items() if _is_shared(of_gtin, records)}
    stated = _read_stated(connection, {item_id for of_gtin in shared.values() for item_id in _items(of_gtin)})
    unproven: set[tuple[str, str]] = set()
    for gtin, of_gtin in shared.items():
        times = holdings(gtin, (row for item_id in sorted(_items(of_gtin)) for row in stated.get(item_id, ())))
        unproven |= {
            link.pair for link in of_gtin if link.decision is LinkDecision.LINK and not _proves(link, times, records)
        }
    return unproven


def _gtin_of(link: RecordLink) -> str | None:
    if link.kind is not LinkKind.IDENTIFIER:
        return None
    return next((fact.left for fact in link.evidence if fact.agrees and fact.field == "gtin"), None)


def _items(links: Iterable[RecordLink]) -> set[int]:
    return {int(key) for link in links for key in (link.left, link.right)}


def _is_shared(links: Iterable[RecordLink], records: Mapping[int, SourceRecord]) -> bool:
    """Return whether a source gives the number to items that it does not declare to be one article."""
    articles = {(records[item_id].source_id, _article(records[item_id])) for item_id in _items(links)}
    return len(articles) > len({source_id for source_id, _ in articles})


def _article(record: SourceRecord) -> str:
    """Return what a source declares to be one article: of a market, all of its offers with one number."""
    if record.record.one_per_source is False:
        return "offers"
    return f"article {record.record.article}" if record.record.article else f"item {record.item_id}"


def _read_stated(connection: Connection, item_ids: Collection[int]) -> dict[int, list[StatedIdentifiers]]:
    stated: dict[int, list[StatedIdentifiers]] = {}
    if item_ids:
        for row in map(StatedIdentifiers._make, connection.execute(SQL.stated, (list(item_ids),))):
            stated.setdefault(row.item_id, []).append(row)
    return stated


def _proves(link: RecordLink, times: Sequence[Holding], records: Mapping[int, SourceRecord]) -> bool:
    ends = [min((time.first for time in times if time.item_id == int(key)), default=None) for key in link.pair]
    owners = {time.item_id: _article(records[time.item_id]) for time in times}
    for source_id in {time.source_id for time in times}:
        of_source = [time for time in times if time.source_id == source_id]
        begun = min(time.first for time in of_source)
        left, right = (holders(of_source, owners, max(day or begun, begun)) for day in ends)
        if left != right or len(left) != 1:
            return False
    return True
