"""The prices of one item: its observations, and the rows and statistics that are made of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from edge.analytics.aside import aside
from edge.analytics.envelope import light_offer
from edge.analytics.items import range_of, require_active_item
from edge.analytics.prices import Price
from edge.analytics.reductions import reductions, summary
from edge.analytics.unit_prices import ROUNDING, unit_prices
from edge.http.answer_cache import Offer
from edge.storage.database import Database
from shared.db.queries import beside
from shared.money import minor_digits, to_text
from shared.outliers import MODES
from shared.prior_price.model import Options
from shared.units.content import Content, contents

SQL = beside(__file__, "price_history.sql")
WINDOWS = (7, 30, 90, 365)
KINDS = {"l": "listing", "s": "sale"}
UNITS = {"low": "currency", "median": "currency", "high": "currency", "close": "currency", "n": "observations"}
METHOD = (
    "exact: medians are percentile_cont over the observed prices; close is the day's price where all that was observed "
    "of it is one price, and null where there are several, as sources state no time of day; statistics end on `to`; "
    "prices that their neighbours contradict are outliers and count only with outliers=include"
)
_MONEY = pa.decimal128(38, 6)
SCHEMA = pa.schema(
    [
        ("day", pa.date32()),
        ("channel", pa.string()),
        ("kind", pa.string()),
        ("currency", pa.string()),
        ("low", _MONEY),
        ("median", _MONEY),
        ("high", _MONEY),
        ("close", _MONEY),
        ("n", pa.int64()),
    ]
)


class History(NamedTuple):
    """The observations of a range that count, its outliers, and what must be said of them."""

    prices: list[Price]
    outliers: list[Price]
    meta: dict[str, Any]


class PriceHistory:
    """Reads what an item sold for."""

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._base_url = base_url

    async def read(
        self,
        iid: str,
        first: date | None,
        to: date | None,
        channels: Sequence[str],
        currency: str | None,
        kind: str | None = None,
        *,
        include: bool = False,
        query_string: str = "",
    ) -> History:
        """Return what an item sold for, outliers apart unless they are included.

        A redirection to a survivor carries the query string.

        Raises ItemNotFound, ItemWithdrawn, InvalidParameter, or a redirection.
        """
        letter = kind[0] if kind else None
        row = await self._database.fetch_row(SQL.prices, iid, first, to, channels, currency, letter)
        row = require_active_item(row, f"{self._base_url}/index/pricing", channels, query_string=query_string)
        first, last = range_of(first, row["last_day"])
        prices = msgspec.json.decode(row["prices"] or b"[]", type=list[Price])
        attributes = msgspec.json.decode(row["attributes"], type=dict[str, Any])
        in_range = [price for price in prices if price.day >= first]
        shown = [price for price in in_range if include or price.outlier is None]
        outliers = [price for price in in_range if price.outlier is not None]
        meta = {
            "data_version": row["version"],
            "from": first,
            "to": last,
            "coverage": coverage(first, last, shown),
            "units": UNITS,
            "method": METHOD,
            "rounding": ROUNDING,
            "outliers": {"mode": MODES[include], "set_aside": len(outliers)},
            **await aside(len(prices), _figures, prices, last, include, contents(row["name"], attributes)),
        }
        return History(shown, outliers, meta)

    async def offer(self, iid: str) -> Offer:
        """Return the answer to a call without parameters, as JSON. Raises what `read` does."""
        history = await self.read(iid, None, None, (), None)
        return await light_offer(rows(history.prices), SCHEMA, history.meta, "json")


def _figures(
    prices: Sequence[Price], last: date, include: bool, held: Sequence[Content]
) -> dict[str, list[dict[str, Any]]]:
    running = reductions([price for price in prices if include or price.outlier is None], None, Options())
    windows = list(statistics(prices, last, include=include))
    return {
        "statistics": windows,
        "unit_prices": list(unit_prices(windows, held)),
        "reductions": [summary(one) for one in running],
    }


def rows(prices: Sequence[Price]) -> list[dict[str, Any]]:
    """Make a row for each day, channel, kind and currency. The prices come in that order, each group's ascending."""
    made = []
    for (day, channel, kind, currency), group in groupby(prices, key=lambda price: price[:4]):
        minors = [price.minor for price in group]
        low, high = minors[0], minors[-1]
        made.append(
            {
                "day": day,
                "channel": channel,
                "kind": KINDS[kind],
                "currency": currency,
                "low": _amount(low, currency),
                "median": _amount(median(minors), currency),
                "high": _amount(high, currency),
                "close": _amount(low, currency) if low == high else None,
                "n": len(minors),
            }
        )
    return made


def statistics(prices: Sequence[Price], last: date, *, include: bool) -> Iterator[dict[str, Any]]:
    """Yield the figures of each window that ends on the last day, one for each currency and kind: none are mixed.

    Outliers are counted, and count in the other figures only if they are to be included.
    """
    groups: defaultdict[tuple[str, str], list[Price]] = defaultdict(list)
    for price in prices:
        groups[price.currency, price.kind].append(price)
    for days in WINDOWS:
        first = last - timedelta(days=days - 1)
        for currency, kind in sorted(groups):
            observed = [price for price in groups[currency, kind] if price.day >= first]
            chosen = [price for price in observed if include or price.outlier is None]
            minors = sorted(price.minor for price in chosen)
            figures = (minors[0], median(minors), minors[-1]) if minors else (None, None, None)
            low, middle, high = (to_text(one, currency) if one is not None else None for one in figures)
            yield {
                "days": days,
                "currency": currency,
                "kind": KINDS[kind],
                "from": first,
                "to": last,
                "low": low,
                "median": middle,
                "high": high,
                "n": len(minors),
                "observed_days": len({price.day for price in chosen}),
                "set_aside": sum(price.outlier is not None for price in observed),
            }


def median(ascending: Sequence[int]) -> Decimal:
    """Return the median of prices, exactly; half a minor unit stays half a one."""
    middle, odd = divmod(len(ascending), 2)
    if odd:
        return Decimal(ascending[middle])
    return Decimal(ascending[middle - 1] + ascending[middle]) / 2


def coverage(first: date, last: date, prices: Sequence[Price]) -> dict[str, Any]:
    """Return which days of the range hold data."""
    days, seen = (last - first).days + 1, sorted({price.day for price in prices})
    edges = (seen[0], seen[-1]) if seen else (None, None)
    return {
        "days": days,
        "observed_days": len(seen),
        "missing_days": days - len(seen),
        "first": edges[0],
        "last": edges[1],
    }


def _amount(minor: int | Decimal, currency: str) -> Decimal:
    return Decimal(minor).scaleb(-minor_digits(currency))
