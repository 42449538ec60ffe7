"""From an item's listings to the running reduction of each channel. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from edge.analytics.prices import Price
from shared.money import minor_digits, to_text
from shared.prior_price.model import Moment, Options, Reference
from shared.prior_price.reduction import reference
from shared.prior_price.rendering import as_fields


class Reduction(NamedTuple):
    """The verdict of the rule on one channel on `as_of`, its last observed day or the day asked about."""

    channel: str
    currency: str
    as_of: date
    reference: Reference


def reductions(prices: Sequence[Price], as_of: date | None, options: Options) -> Iterator[Reduction]:
    """Yield the running reduction of each channel and currency that has listings, in that order.

    Several prices of one day all count as applied on it, the lowest as the last one: sources give no time of day.
    """
    listings = sorted(
        (price for price in prices if price.kind == "l"),
        key=lambda price: (price.channel, price.currency, price.day, -price.minor),
    )
    for (channel, currency), group in groupby(listings, key=lambda price: (price.channel, price.currency)):
        moments = [_moment(price) for price in group]
        yield Reduction(channel, currency, as_of or moments[-1].day, reference(moments, as_of, options))


def as_row(reduction: Reduction) -> dict[str, Any]:
    """Return a reduction with its evidence, as the fields of an answer."""
    fields = as_fields(reduction.reference, lambda amount: _money(amount, reduction.currency))
    del fields["reduction_began_at"]  # sources give no time of day
    return {"channel": reduction.channel, "currency": reduction.currency, "as_of": reduction.as_of, **fields}


def summary(reduction: Reduction) -> dict[str, Any]:
    """Return a reduction without its evidence, for the meta of a pricing history."""
    return {name: value for name, value in as_row(reduction).items() if name not in ("lowest_on", "evidence")}


def _money(amount: Decimal, currency: str) -> str:
    """Write an amount with the digits of its currency."""
    return to_text(amount.scaleb(minor_digits(currency)), currency)


def _moment(price: Price) -> Moment:
    scale = -minor_digits(price.currency)
    listed = None if price.list_minor is None else Decimal(price.list_minor).scaleb(scale)
    return Moment(price.day, price=Decimal(price.minor).scaleb(scale), list_price=listed)
