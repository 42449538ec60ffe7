"""Parameters that reports of price indices share."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from edge.http.parameters import WholeNumber, field_doc, one_of
from shared.analytics.observations import KIND_NAMES
from shared.price_index.offered import DEFAULT_SPLICE, METHODS, OTHER_METHOD, SPLICES, UNITS_NEEDED, offered_method


class MethodName(fields.String):
    """A method of price indices, by any usual spelling; the same method is the same question."""

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=validate.OneOf(list(METHODS)), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> str:
        name = offered_method(str(super()._deserialize(value, attr, data, **options)))
        if name is None:
            raise ValidationError(f"must be one of: {', '.join(METHODS)}")
        return name


def kind_of_prices() -> fields.String:
    """Declare which prices an index is of."""
    return one_of(
        KIND_NAMES,
        "Prices to include: listings or sales; default: sales for methods that weight by units, "
        "otherwise listings if there are any",
    )


def window_field() -> WholeNumber:
    """Declare the window of a multilateral method."""
    return WholeNumber(
        2,
        400,
        load_default=None,
        metadata=field_doc("Periods in the window; for geks-*, tpd and geary-khamis; default: all with data"),
    )


def splice_field() -> fields.String:
    """Declare how a window is linked to the ones before it."""
    return one_of(SPLICES, f"How later periods are linked; default: {DEFAULT_SPLICE}", load_default=DEFAULT_SPLICE)


def check_method(data: Mapping[str, Any]) -> None:
    """Raise ValidationError for a method that weights by units sold, asked of listings."""
    if data.get("kind") == "listing" and METHODS.get(data.get("method", ""), False):
        raise ValidationError(f"{UNITS_NEEDED}, which listings do not have; {OTHER_METHOD}", "method")
