"""What the figures of a report are of: prices, or prices for one unit of what items hold."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.reports.fields import count_field, text_field
from edge.http.parameters import QueryParameters, field_doc, one_of
from shared.analytics.observations import PRICE, UNIT_PRICE
from shared.units.names import PER

_UNITS = [unit for unit, _ in PER.values()]


class MeasureQuery(QueryParameters):
    """The parameters of a report whose figures may be of unit prices."""

    measure = one_of(
        (PRICE, UNIT_PRICE),
        f"What figures of prices are of; `{UNIT_PRICE}`: prices for one `unit` of the content; default: {PRICE}",
        load_default=PRICE,
    )
    unit = one_of(
        _UNITS,
        f"With `measure={UNIT_PRICE}`; the unit that prices are for: items that state no content in it are left out",
    )

    @validates_schema
    def one_unit(self, data: Mapping[str, Any], **options: Any) -> None:
        """Unit prices are of one unit, so that no figure mixes two; prices are of none."""
        if data.get("measure") == UNIT_PRICE and data.get("unit") is None:
            raise ValidationError(f"is required with `measure={UNIT_PRICE}`: one of {', '.join(_UNITS)}", "unit")
        if data.get("unit") is not None and data.get("measure") != UNIT_PRICE:
            raise ValidationError(f"must be `{UNIT_PRICE}` with `unit`", "measure")


def unit_field() -> fields.Str:
    """Declare the unit that the prices of a row are for."""
    return text_field(
        f"Only with `measure={UNIT_PRICE}`: the unit that all prices of the row are for",
        validate=validate.OneOf(_UNITS),
    )


class ItemWithoutContent(Schema):
    """An item that has no unit price."""

    iid = fields.Str(required=True)
    name = fields.Str(required=True)


class UnitPriceMeta(Schema):
    """The unit of all prices, and the items that are left out because they state no content in it."""

    unit = fields.Str(required=True, validate=validate.OneOf(_UNITS))
    items_without = count_field("Distinct items with prices and without a content in this unit; no figure counts them")
    without = fields.List(
        fields.Nested(ItemWithoutContent()),
        required=True,
        metadata=field_doc("Of these up to 20, those with most observations first"),
    )
