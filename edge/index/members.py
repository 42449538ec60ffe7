"""Members of records that hits and entries of batches have on demand."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import msgspec

from edge.index.record import ItemRecord, ItemState, PriceBandDocument
from shared.units.names import contents


class PricedItem(TypedDict):
    """The members of a record from which a unit price follows."""

    name: str
    attributes: Mapping[str, object]
    price_band: PriceBandDocument | None


class UnitPriceDocument(TypedDict):
    """A price for each kilogram, litre, piece or metre."""

    currency: str
    per: str
    amount: str


def members_of(record: ItemRecord | None, members: Sequence[str]) -> dict[str, object]:
    """Return some members of a record, null where there is none: the item was merged or withdrawn since."""
    if record is None or record.state is not ItemState.RECORD:
        return dict.fromkeys(members)
    document = msgspec.json.decode(record.body)
    return {name: unit_price(document) if name == "unit_price" else document[name] for name in members}


def unit_price(document: PricedItem) -> UnitPriceDocument | None:
    """Return the median of a record's price band for each kilogram, litre, piece or metre that the item holds."""
    band, held = document["price_band"], contents(document["name"], document["attributes"])
    if band is None or not held:
        return None
    content = held[0]
    return {"currency": band["currency"], "per": content.per, "amount": content.unit_price(band["median"])}
