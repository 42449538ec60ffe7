"""What reconciliation shows of items: their records, also where an item was merged into another."""

from collections.abc import Collection, Sequence

import msgspec

from edge.index.record import ItemRecord, RecordCache
from shared.analytics.footprint import CODES
from shared.index.identifiers import SCHEMES


class _Brand(msgspec.Struct):
    name: str
    slug: str


class _Category(msgspec.Struct):
    code: str
    path: list[str]


class _Identifier(msgspec.Struct):
    scheme: str
    value: str


class _PriceBand(msgspec.Struct):
    currency: str
    median: str
    to: str


class ShownItem(msgspec.Struct):
    """The members of an item's record that are shown."""

    iid: str
    name: str
    brand: _Brand | None
    category: _Category | None
    identifiers: list[_Identifier]
    price_band: _PriceBand | None
    sustainability: dict[str, object] | None

    @property
    def description(self) -> str:
        """Its brand and category."""
        return describe(self.brand.name if self.brand else None, self.category.path if self.category else ())

    @property
    def gtins(self) -> list[str]:
        """Its GTINs as sources write them, each once."""
        return list(dict.fromkeys(one.value for one in self.identifiers if SCHEMES.get(one.scheme) == "gtin"))

    @property
    def footprint(self) -> dict[str, float]:
        """The figures of its footprint that are known, by indicator."""
        known = self.sustainability or {}
        return {code: value for code in CODES if isinstance(value := known.get(code), float | int)}


def describe(brand: str | None, category: Sequence[str]) -> str:
    """Return what tells items of one name apart: a brand, and the path of a category."""
    return ", ".join(filter(None, (brand, " > ".join(category))))


_DECODER = msgspec.json.Decoder(ShownItem)


async def find_items(records: RecordCache, iids: Collection[str]) -> dict[str, ShownItem]:
    """Return the items of those of the IIDs that lead to one; a merged IID leads to its survivor."""
    found: dict[str, ItemRecord] = await records.find_many(list(iids)) if iids else {}
    survivors = {record.survivor for record in found.values() if record.survivor}
    later: dict[str, ItemRecord] = await records.find_many(list(survivors)) if survivors else {}
    ends = {iid: later.get(record.survivor, record) for iid, record in found.items()}
    return {iid: _DECODER.decode(record.body) for iid, record in ends.items() if record.body}
