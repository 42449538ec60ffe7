"""Prices per kilogram, litre and piece, and the fields that rows with amounts share. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from marshmallow import Schema, fields, validate

from shared.analytics.results import SIX_DECIMALS
from shared.units.names import PER, Content
from shared.units.quantity import decimal_text


def original_currency() -> fields.Str:
    """Declare the currency of a converted row's prices."""
    return fields.Str(metadata={"description": "Only with `convert`: the currency of the prices", "example": "HKD"})


ROUNDING = {"unit_prices.low": SIX_DECIMALS, "unit_prices.median": SIX_DECIMALS, "unit_prices.high": SIX_DECIMALS}
_MILLION = 10**6
_FIGURES = ("low", "median", "high")
_MONEY = {"format": "decimal", "description": "Decimal amount in `currency`", "example": "18.900000"}


class UnitPrice(Schema):
    """Prices of the last `days` days per unit of content."""

    days = fields.Int(required=True, validate=validate.OneOf([7, 30, 90, 365]))
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    per = fields.Str(required=True, validate=validate.OneOf([unit for unit, _ in PER.values()]))
    content = fields.Str(required=True, metadata={"description": "Content of an item", "example": "1.5"})
    read_in = fields.Str(required=True, metadata={"description": "`name` or the attribute", "example": "name"})
    low = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    median = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    high = fields.Str(required=True, allow_none=True, metadata=_MONEY)


def unit_prices(statistics: Sequence[Mapping[str, Any]], held: Sequence[Content]) -> Iterator[dict[str, Any]]:
    """Yield each window's prices for each unit of the content; nothing where the content is unknown."""
    stated = [(content, decimal_text(content.amount)) for content in held]
    for row in statistics:
        for content, amount in stated:
            yield {
                "days": row["days"],
                "currency": row["currency"],
                "kind": row["kind"],
                "per": content.per,
                "content": amount,
                "read_in": content.read_in,
                **{name: _divided(row[name], content.amount) for name in _FIGURES},
            }


def _divided(amount: str | None, content: Fraction) -> str | None:
    if amount is None:
        return None
    digits, _, decimals = amount.partition(".")
    # Integers are exact, so the result is rounded once, half to even.
    divisor = 10 ** len(decimals) * content.numerator
    whole, rest = divmod(int(digits + decimals) * content.denominator * _MILLION, divisor)
    doubled = 2 * rest - divisor
    millionths = whole + (doubled > 0 or (doubled == 0 and whole % 2 == 1))
    return f"{millionths // _MILLION}.{millionths % _MILLION:06}"
