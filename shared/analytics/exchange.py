"""Amounts in another currency, by the rates of a named table: exact quotients over the euro, rounded once. Pure."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from shared.db.queries import load_queries
from shared.errors import InvalidParameter

SQL = load_queries(__file__, "exchange.sql")
BASE = "EUR"
AGE_DAYS_MAX = 7
"""Central banks publish no rates on weekends and holidays; with older ones a price is not converted."""
DIGITS = 6
METHOD = (
    "amount * per_euro of `to` / per_euro of `from`, rounded half-even once to six decimals; a row's amounts are "
    "converted at the rates of its day, a period's at those of its last day, or of the nearest earlier day within "
    f"{AGE_DAYS_MAX} days that has both; ratios, indices and flags are those of the original currency"
)
ORIGINAL = "original_currency"
"""The column that says in which currency the prices of a converted row were."""
ROUNDING = "half-even to 6 decimals after conversion"
_ONE = Decimal(1)
# The usual context would round an amount of more than 22 digits before the point once more.
_EXACT = Context(prec=100)


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate by which amounts of one currency and day are converted: units of both for one euro, on `rate_day`."""

    currency: str
    day: date
    rate_day: date
    from_per_euro: Decimal
    to_per_euro: Decimal

    def convert(self, amount: Decimal) -> Decimal:
        """Return an amount in the other currency, with six decimals."""
        exact = Fraction(amount) * Fraction(self.to_per_euro) / Fraction(self.from_per_euro)
        return Decimal(round(exact * 10**DIGITS)).scaleb(-DIGITS, _EXACT)

    def field_doc(self) -> dict[str, str]:
        """Return the rate as the meta of an answer states it."""
        return {
            "from": self.currency,
            "day": self.day.isoformat(),
            "rate_day": self.rate_day.isoformat(),
            "from_per_euro": str(self.from_per_euro),
            "to_per_euro": str(self.to_per_euro),
        }


@dataclass(slots=True)
class Converter:
    """Converts to one currency by the rates of one table, and remembers which of them it used."""

    to: str
    rates: str
    title: str
    url: str | None
    per_euro: dict[str, dict[date, Decimal]]
    _used: dict[tuple[str, date], Rate] = field(default_factory=dict)

    def rate(self, currency: str, day: date) -> Rate:
        """Return the rate of a currency on a day. Raises InvalidParameter where the table has none that is recent.

        Amounts that are in the currency already need none: no rate of the table is used, and none is stated.
        """
        if currency == self.to:
            return Rate(currency, day, day, _ONE, _ONE)
        known = self._used.get((currency, day))
        if known is None:
            known = self._used[currency, day] = self._latest_rate(currency, day)
        return known

    def meta(self) -> dict[str, object]:
        """Return what an answer must say of its conversion."""
        used = [rate.field_doc() for _, rate in sorted(self._used.items())]
        return {
            "to": self.to,
            "rates": self.rates,
            "source": self.title,
            "url": self.url,
            "method": METHOD,
            "used": used,
        }

    def _latest_rate(self, currency: str, day: date) -> Rate:
        for age in range(AGE_DAYS_MAX + 1):
            rate_day = day - timedelta(days=age)
            before, after = self._per_euro(currency, rate_day), self._per_euro(self.to, rate_day)
            if before is not None and after is not None:
                return Rate(currency, day, rate_day, before, after)
        raise InvalidParameter(
            "convert",
            f"the table `{self.rates}` has no rate from {currency} to {self.to} on {day} or "
            f"the {AGE_DAYS_MAX} days before",
        )

    def _per_euro(self, currency: str, day: date) -> Decimal | None:
        return _ONE if currency == BASE else self.per_euro.get(currency, {}).get(day)


def by_currency(currencies: list[str], days: list[str], rates: list[str]) -> dict[str, dict[date, Decimal]]:
    """Arrange the columns of `SQL.table` by currency and day."""
    by_currency: dict[str, dict[date, Decimal]] = {}
    for currency, day, per_euro in zip(currencies, days, rates, strict=True):
        by_currency.setdefault(currency, {})[date.fromisoformat(day)] = Decimal(per_euro)
    return by_currency


def with_original(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a column for the original currency after the currency."""
    return schema.insert(schema.get_field_index("currency") + 1, pa.field(ORIGINAL, pa.string()))


def unknown_table(name: str) -> InvalidParameter:
    """Return the refusal of a name under which no rates were loaded."""
    return InvalidParameter(
        "rates", "is not a known table of exchange rates; ask the operator to load one, or omit it and `convert`", name
    )


def converted(value: Any, rate: Rate) -> Any:
    """Return a value with every Decimal in it converted, in lists and objects too."""
    if isinstance(value, Decimal):
        return rate.convert(value)
    if isinstance(value, dict):
        return {name: converted(member, rate) for name, member in value.items()}
    return [converted(member, rate) for member in value] if isinstance(value, list) else value
