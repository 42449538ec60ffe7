"""Price position: prices of the same items in several channels, beside the cheapest one and beside a chosen one."""

from collections import defaultdict
from decimal import Context, Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SCALE, SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.money import minor_digits
from shared.price_index.panel import Floats, Mask
from shared.price_index.rows import MATCHED_LEAST, student
from shared.uncertainty.stated import wilson
from workers.analytics.reports.columns import (
    MONEY,
    Names,
    channel_codes,
    figures_or_none,
    grouped_schema,
    in_row_order,
)
from workers.analytics.reports.filters import SQL, Tree, filter_of, with_defaults
from workers.analytics.reports.intervals import BY_INTERVAL, ENDS, decimals
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.price_tables import PricesOfPeriod, prices_by_period
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array, coded, joined, numbered_rows, order_by, starts_of

MATRIX_ROWS_MAX = 200_000
"""With more, the rows take hundreds of megabytes of a worker's memory, and nobody reads them."""
_EQUAL = 1e-9  # of logarithms: prices that differ by less are the same price; means of equal prices differ by rounding
_EXACT = Context(prec=60)
_MILLIONTH = Decimal(1).scaleb(-SCALE)
_GAPS = ("gap", "gap_to_cheapest")
_SHARE = "share_cheapest"
COLUMN_OF_GROUP = {"brand": "brand", "category": "category", "item": "iid"}
_FIGURES = [
    ("channel", pa.string()),
    ("currency", pa.string()),
    ("kind", pa.string()),
    ("items", pa.int64()),
    ("matched_items", pa.int64()),
    *((f"gap{bound}", pa.float64()) for bound in ENDS),
    ("compared_items", pa.int64()),
    *((f"gap_to_cheapest{bound}", pa.float64()) for bound in ENDS),
    ("cheapest_items", pa.int64()),
    ("tied_items", pa.int64()),
    *((f"{_SHARE}{bound}", pa.float64()) for bound in ENDS),
]
UNITS = {
    **dict.fromkeys(("items", "matched_items", "compared_items", "cheapest_items", "tied_items"), "items"),
    **{f"gap{bound}": "share of the price in base_channel" for bound in ENDS},
    **{f"gap_to_cheapest{bound}": "share of the lowest price" for bound in ENDS},
    **{f"{_SHARE}{bound}": "share of compared_items" for bound in ENDS},
    "price": "currency",
}
ROUNDING = {
    **{f"{gap}{bound}": BY_INTERVAL for gap in _GAPS for bound in ENDS},
    **{f"{_SHARE}{bound}": SIX_DECIMALS for bound in ENDS},
    "price": SIX_DECIMALS,
}
METHOD = (
    "an item's price in a channel in a period is the geometric mean of its listings, or the unit value of its sales; a "
    "gap is the geometric mean over items of the channel's price by the other one, less 1 (Jevons), with the 95 % "
    "interval of Student's distribution for the mean of its logarithms; the cheapest of an item is the lowest of its "
    "prices in the channels that are compared; share_cheapest has Wilson's 95 % interval; null below three items; "
    f"{OUTLIERS}"
)


class _Prices(NamedTuple):
    """Items in channels, each with one price above zero."""

    item: Array
    channel: Array
    price: Floats


class _Comparison(NamedTuple):
    """Each price beside the others of its item, in the order of `prices`.

    Logarithms of ratios: `to_base` is NaN where the base has no price, `to_cheapest` where no other channel has one.
    """

    prices: _Prices
    to_base: Floats
    to_cheapest: Floats
    cheapest: Mask
    tied: Mask


class _Gaps(NamedTuple):
    """Ratios less 1 of each segment with the bounds of their intervals, NaN where unknown, and the number of items."""

    items: Array
    ratio: Floats
    low: Floats
    high: Floats


def make(
    connection: Connection,
    parameters: dict[str, Any],
    report_progress: ReportProgress,
    matrix_rows_max: int = MATRIX_ROWS_MAX,
) -> Answer:
    """Compare the channels' prices of the same items.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = filter_of(connection, tree, parameters)
        days = range_of(connection, tree, chosen, with_defaults(parameters, granularity="month"))
        base = _base_channel(channel_codes(connection), parameters.get("base_channel"))
        reader = Reader(connection, tree, days, report_progress)
        chosen, group_by = reader.with_default_kind(chosen).grouped(), chosen.group_by
        gathered = prices_by_period(reader, chosen)
        prices = {(currency, period): one for (currency, _), parts in gathered.items() for period, one in _merge(parts)}
        if "item" in group_by and (count := sum(len(one.item) for one in prices.values())) > matrix_rows_max:
            fault = (
                f"the matrix would have {count:,} rows, more than {matrix_rows_max:,}; choose fewer brands or periods"
            )
            raise InvalidParameter("group_by", fault)
        groups = _ItemGroups.read(reader, group_by, list(prices.values()))
        seen = reader.gather(chosen).days
        aside = SetAside(reader, chosen)
        aside.of(chosen)
    schema = _schema(group_by)
    columns: dict[str, list[Any]] = {name: [] for name in schema.names}
    for done, ((currency, period), one) in enumerate(prices.items()):
        report_progress("computing", done, len(prices))
        found = _columns(_compare(one, base), groups)
        count = len(found["channel"])
        for name, value in (("period", day_of(period)), ("currency", currency), ("kind", chosen.kind)):
            columns[name] += [value] * count
        if groups.are_items:
            found["price"] = [_amount(price, currency) for price in found["price"]]
        for name, values in found.items():
            columns[name] += values
    rows = in_row_order(Rows(schema, list(columns.values())), [COLUMN_OF_GROUP[name] for name in group_by])
    return Answer(rows, days, seen, UNITS, METHOD, ROUNDING, kind=chosen.kind, outliers=aside.summary())


class _ItemGroups(NamedTuple):
    """Of each item, by its place in `ids`, the ids of the groups it is in; as a group of its own it is its place.

    `named` are the names of brands, categories and channels, `iids` those of the items.
    """

    group_by: tuple[str, ...]
    ids: Array
    of_item: dict[str, Array]
    named: Names
    iids: list[str]

    @classmethod
    def read(cls, reader: Reader, group_by: tuple[str, ...], prices: list[_Prices]) -> "_ItemGroups":
        """Read which groups the items with a price are in; of items nothing is read where nothing is grouped."""
        found: list[tuple[Any, ...]] = []
        if group_by and prices:
            wanted = np.unique(np.concatenate([one.item for one in prices])).tolist()
            found = list(reader.rows(SQL.groups_of_items, wanted))
        ids, brand, category = np.array([row[:3] for row in found], "i8").reshape(-1, 3).T
        brands = np.unique(brand).tolist() if "brand" in group_by else ()
        named = Names.of_brands(reader.connection, reader.tree, brands)
        of_item = {"brand": brand, "category": category, "item": np.arange(len(found))}
        return cls(group_by, ids, of_item, named, [row[3] for row in found])

    @property
    def are_items(self) -> bool:
        """Return whether each group is of one item: a row is a cell of the matrix, and no sample."""
        return "item" in self.group_by

    def of(self, item: Array) -> list[Array]:
        """Return the groups of items by their ids, a column each."""
        place = np.searchsorted(self.ids, item)
        return [self.of_item[name].take(place) for name in self.group_by]

    def columns(self, ids: list[list[int]]) -> dict[str, list[str | None]]:
        """Return the columns of groups by their ids, a column each; None for items without brand or category."""
        of_group = dict(zip(self.group_by, ids, strict=True))
        items = of_group.pop("item", None)
        columns = self.named.columns(list(of_group), list(of_group.values()))
        if items is not None:
            columns[COLUMN_OF_GROUP["item"]] = [self.iids[place] for place in items]
        return columns


def _base_channel(channels: dict[int, str], code: str | None) -> int | None:
    """Return the channel that the others are compared with; raise InvalidParameter for an unknown one."""
    if code is None:
        return None
    for number, known in channels.items():
        if known == code:
            return number
    raise InvalidParameter("base_channel", f"must be one of {', '.join(sorted(channels.values())[:50])}")


def _merge(parts: list[PricesOfPeriod]) -> list[tuple[int, _Prices]]:
    """Return the prices of each period, which may come in several parts."""
    by_period: dict[int, list[tuple[Array, ...]]] = defaultdict(list)
    for period, prices in parts:
        by_period[period].append((prices.item.astype("i8"), prices.channel.astype("i8"), prices.price))
    return [(period, _Prices(*joined(found))) for period, found in sorted(by_period.items())]


def _compare(prices: _Prices, base: int | None) -> _Comparison:
    """Compare each price with the lowest one of its item, and with that of the base channel."""
    order = order_by(coded(prices.item)[1], prices.channel)
    prices = _Prices(*(column.take(order) for column in prices))
    starts = starts_of(prices.item)
    carrying = np.diff(starts, append=len(order))
    place = np.repeat(np.arange(len(starts)), carrying)
    logs = np.log(prices.price)
    above = logs - np.minimum.reduceat(logs, starts).take(place)
    alone = carrying.take(place) == 1
    cheapest = (above <= _EQUAL) & ~alone
    of_base = np.full(len(starts), np.nan)
    own = np.flatnonzero(prices.channel == base) if base is not None else np.empty(0, "i8")
    of_base[place.take(own)] = logs.take(own)
    return _Comparison(
        prices,
        to_base=logs - of_base.take(place),
        to_cheapest=np.where(alone, np.nan, above),
        cheapest=cheapest,
        tied=cheapest & (np.add.reduceat(cheapest, starts, dtype="i8").take(place) > 1),
    )


def _columns(compared: _Comparison, groups: _ItemGroups) -> dict[str, list[Any]]:
    """Return a row for each group and channel, as columns; of items with their prices, in minor units."""
    keys, segment = numbered_rows(*groups.of(compared.prices.item), compared.prices.channel)
    *ids, channel = (column.tolist() for column in keys)
    count, least = len(channel), 1 if groups.are_items else MATCHED_LEAST
    cheapest, tied = (np.bincount(segment, flag, count).astype("i8") for flag in (compared.cheapest, compared.tied))
    to_base, to_cheapest = (_gaps(segment, count, logs, least) for logs in (compared.to_base, compared.to_cheapest))
    to_cheapest = to_cheapest._replace(low=np.maximum(to_cheapest.low, 0.0))  # nothing is below the lowest
    columns: dict[str, list[Any]] = {
        **groups.columns(ids),
        **groups.named.columns(["channel"], [channel]),
        "items": np.bincount(segment, minlength=count).tolist(),
        "matched_items": to_base.items.tolist(),
        **_gap_columns("gap", to_base),
        "compared_items": to_cheapest.items.tolist(),
        **_gap_columns("gap_to_cheapest", to_cheapest),
        "cheapest_items": cheapest.tolist(),
        "tied_items": tied.tolist(),
        **_share_columns(cheapest, to_cheapest.items, least),
    }
    if groups.are_items:
        columns["price"] = compared.prices.price[np.argsort(segment)].tolist()
    return columns


def _gaps(segment: Array, count: int, logs: Floats, least: int) -> _Gaps:
    """Return the geometric mean of each segment's ratios less 1; unknown below `least` items.

    The interval is of the mean of the logarithms; unknown below MATCHED_LEAST items, or where all ratios are the same,
    because then nothing shows how others would differ.
    """
    known = np.flatnonzero(~np.isnan(logs))
    segment, logs = segment.take(known), logs.take(known)
    items = np.bincount(segment, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(segment, logs, count) / items
        squares = np.bincount(segment, (logs - mean.take(segment)) ** 2, count)
        error = np.sqrt(squares / (items - 1) / items)
        error = np.where((items >= MATCHED_LEAST) & (error > _EQUAL), error, np.nan)
        half = error * student(np.maximum(items - 1, 1))
        mean = np.where(items >= least, mean, np.nan)
    return _Gaps(items, np.expm1(mean), np.expm1(mean - half), np.expm1(mean + half))


def _gap_columns(name: str, gaps: _Gaps) -> dict[str, list[float | None]]:
    """Return a gap and its bounds, each to two digits of the interval's width."""
    ends = zip(gaps.low.tolist(), gaps.high.tolist(), strict=True)
    digits = np.array([decimals(None, None) if low != low else decimals(low, high) for low, high in ends], "i8")
    bounded = zip(ENDS, (gaps.ratio, gaps.low, gaps.high), strict=True)
    return {f"{name}{bound}": figures_or_none(values, digits) for bound, values in bounded}


def _share_columns(part: Array, whole: Array, least: int) -> dict[str, list[float | None]]:
    """Return shares and Wilson's 95 % intervals of them, which are none of a single item."""
    columns = np.full((len(ENDS), len(whole)), np.nan)
    for place in np.flatnonzero(whole >= MATCHED_LEAST):
        columns[:, place] = wilson(int(part[place]), int(whole[place]))
    stated = whole >= least
    columns[0, stated] = part[stated] / whole[stated]
    return {f"{_SHARE}{bound}": figures_or_none(values) for bound, values in zip(ENDS, columns, strict=True)}


def _amount(price: float, currency: str) -> Decimal:
    """Turn a mean price in minor units into an amount."""
    return Decimal(price).scaleb(-minor_digits(currency), _EXACT).quantize(_MILLIONTH, context=_EXACT)


def _schema(group_by: tuple[str, ...]) -> pa.Schema:
    schema = grouped_schema([COLUMN_OF_GROUP[name] for name in group_by], _FIGURES)
    if "item" not in group_by:
        return schema
    return schema.insert(schema.get_field_index("matched_items"), pa.field("price", MONEY))
