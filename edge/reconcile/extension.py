"""Data extension: columns of the index for rows that were matched."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from edge.reconcile.entities import EntityId, EntityType, NamedTerm, read_entity_id
from edge.reconcile.records import ShownItem
from shared.analytics.footprint import INDICATORS
from shared.errors import InvalidParameter
from shared.json_types import JsonValue

Value = Mapping[str, object]
_FOOTPRINT = {one.code: one for one in INDICATORS}
COLUMNS = {
    one.id: one
    for one in (
        NamedTerm("name", "Name", "Name of the item"),
        NamedTerm("brand", "Brand", "Brand of the item, as an entity"),
        NamedTerm("category", "Category", "Category of the item, as an entity"),
        NamedTerm("gtin", "GTIN", "Every GTIN of the item"),
        NamedTerm("price", "Price", "Median of the 30 days up to the last observation, in the currency of `currency`"),
        NamedTerm("currency", "Currency", "Currency of `price`"),
        *(NamedTerm(one.code, one.title, f"Footprint of one unit, {one.unit}") for one in INDICATORS),
    )
}
"""The columns of items by their ids."""
_TYPED = {"brand": EntityType.BRAND, "category": EntityType.CATEGORY}


class ExtensionQuery(NamedTuple):
    """The entities that are asked for, as they were written, and the columns."""

    ids: Sequence[str]
    columns: Sequence[NamedTerm]

    @property
    def iids(self) -> dict[str, str]:
        """The IIDs of the ids that are of items."""
        entities = {id: read_entity_id(id) for id in self.ids}
        return {id: one.value for id, one in entities.items() if one is not None and one.type is EntityType.ITEM}


class _Column(msgspec.Struct):
    id: str


class _Extension(msgspec.Struct):
    ids: list[str]
    properties: list[_Column]


def read_extension(parameter: str, given: Mapping[str, JsonValue]) -> ExtensionQuery:
    """Read a data extension query; settings of its columns are ignored, as none is offered. Raises InvalidParameter."""
    try:
        query = msgspec.convert(given, _Extension)
    except msgspec.ValidationError as error:
        raise InvalidParameter(parameter, f"is not as the specification has it: {error}".replace("`", "'")) from None
    unknown = next((one.id for one in query.properties if one.id not in COLUMNS), None)
    if unknown is not None:
        raise InvalidParameter(f"{parameter}.properties", f"must be among {', '.join(COLUMNS)}", unknown)
    columns = dict.fromkeys(one.id for one in query.properties)  # a body has room for thousands of equal ones
    return ExtensionQuery(list(dict.fromkeys(query.ids)), [COLUMNS[id] for id in columns])


def extend(query: ExtensionQuery, items: Mapping[str, ShownItem]) -> Mapping[str, object]:
    """Return the answer; an entity that is no item, or none of the index, has no values."""
    shown = {id: items.get(iid) for id, iid in query.iids.items()}
    rows = {id: {one.id: _values(shown.get(id), one.id) for one in query.columns} for id in query.ids}
    return {"meta": [_meta(one) for one in query.columns], "rows": rows}


def _meta(column: NamedTerm) -> Value:
    kind = _TYPED.get(column.id)
    return column.reference if kind is None else {**column.reference, "type": {"id": kind, "name": column.name}}


def _values(item: ShownItem | None, column: str) -> list[Value]:
    if item is None:
        return []
    price = item.price_band
    match column:
        case "name":
            return [{"str": item.name}]
        case "brand" if item.brand:
            return [{"id": str(EntityId(EntityType.BRAND, item.brand.slug)), "name": item.brand.name}]
        case "category" if item.category:
            return [{"id": str(EntityId(EntityType.CATEGORY, item.category.code)), "name": item.category.path[-1]}]
        case "gtin":
            return [{"str": gtin} for gtin in item.gtins]
        case "price" if price:
            return [{"float": float(price.median)}]
        case "currency" if price:
            return [{"str": price.currency}]
        case _:
            return [{"float": item.footprint[column]}] if column in item.footprint else []
