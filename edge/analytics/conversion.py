"""Light reads in another currency: their parameters, their meta, and the rates that they need."""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.http.parameters import CurrencyCode, QueryParameters, field_doc
from edge.storage.database import Database
from shared.analytics.exchange import AGE_DAYS_MAX, ORIGINAL, SQL, Converter, by_currency, unknown_table
from shared.analytics.results import money

_NAME = validate.Regexp(r"\A[a-z][a-z0-9_]{0,62}\Z", error="must be the name of a table of exchange rates, such as ecb")


class ConvertQuery(QueryParameters):
    """The parameters of every answer with amounts: a currency to convert them to, and the table of rates."""

    convert = CurrencyCode("Convert amounts to this currency; an ISO 4217 code, with `rates`; default: no conversion")
    rates = fields.Str(
        load_default=None,
        validate=_NAME,
        metadata={
            "description": "Table of exchange rates",
            "example": "ecb",
            "pattern": "^[a-z][a-z0-9_]{0,62}$",  # the document's own, as of a currency's code
        },
    )

    @validates_schema
    def both_or_none(self, data: Mapping[str, Any], **options: Any) -> None:
        """A currency alone does not say by which rates, and rates alone do not say what to do with them."""
        if data.get("convert") is not None and data.get("rates") is None:
            raise ValidationError("is required with `convert`: the table of exchange rates, such as ecb", "rates")
        if data.get("rates") is not None and data.get("convert") is None:
            raise ValidationError("is required with `rates`: the currency to convert to", "convert")


class UsedRate(Schema):
    """The rates of one currency on one day."""

    from_ = fields.Str(required=True, data_key="from", metadata={"example": "HKD"})
    day = fields.Date(required=True, metadata=field_doc("Day of the row"))
    rate_day = fields.Date(required=True, metadata=field_doc("Date of the rates; earlier if the day has none"))
    from_per_euro = fields.Str(required=True, metadata={"example": "8.9642"})
    to_per_euro = fields.Str(required=True, metadata={"example": "1.1520"})


class ConversionMeta(Schema):
    """How amounts were converted: the table, its source, the rule, and every rate that was used."""

    to = fields.Str(required=True, metadata={"example": "USD"})
    rates = fields.Str(required=True, metadata={"example": "ecb"})
    source = fields.Str(required=True)
    url = fields.Str(required=True, allow_none=True)
    method = fields.Str(required=True)
    used = fields.List(fields.Nested(UsedRate()), required=True)


def conversion_meta() -> fields.Nested:
    """Declare what the meta says of a conversion."""
    return fields.Nested(ConversionMeta(), metadata=field_doc("Only with `convert`"))


def original_currency() -> fields.Str:
    """Declare the currency of a converted row's prices."""
    return fields.Str(metadata={"description": "Only with `convert`: the currency of the prices", "example": "HKD"})


async def read_converter(
    database: Database, to: str, name: str, currencies: Collection[str], first: date, last: date
) -> tuple[Converter, int]:
    """Return what converts these currencies on days of a range, and the data_version that it is of.

    Raises InvalidParameter for a name under which no rates were loaded.
    """
    wanted = sorted({*currencies, to})
    row = await database.fetch_row(SQL.table, name, wanted, first - timedelta(days=AGE_DAYS_MAX), last)
    if row is None:
        raise unknown_table(name)
    per_euro = by_currency(row["currencies"], row["days"], row["per_euro"])
    return Converter(to, name, row["title"], row["url"], per_euro), int(row["version"])


def in_currency(row: dict[str, Any], names: Collection[str], day: date, converter: Converter) -> dict[str, Any]:
    """Return a row of one currency with its amounts of these names converted; those that are text stay text."""
    currency = row["currency"]
    amounts = {name: row[name] for name in names if row[name] is not None}
    rate = converter.rate(currency, day) if amounts else None
    changed: dict[str, Any] = {"currency": converter.to, ORIGINAL: currency}
    for name, amount in amounts.items():
        assert rate is not None
        exact = rate.convert(Decimal(amount))
        changed[name] = exact if isinstance(amount, Decimal) else money(exact, converter.to)
    return row | changed
