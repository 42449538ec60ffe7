"""The result of every report, before it is formatted or stored, and the parts that rows of all reports share."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.observations import coverage
from shared.analytics.outliers import MODES
from shared.analytics.results import SCALE, Rows
from shared.db.connect import Connection
from shared.uncertainty.stated import Displacement
from workers.analytics.reports.aggregator import ByChannel, Key, Range, day_of, number
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.query import Reader, groups_within_rollups, rollups_with_entries
from workers.analytics.rollups.codec import Array, unpack

# Which of many brands or categories an answer is about: sorted, from a position on, at most so many.


LIMIT = 50
LIMIT_MAX = 500


class Listed(NamedTuple):
    """One of the brands or categories that a list may name: how many it has of what is counted, and its name."""

    n: int
    name: str


class Page(NamedTuple):
    """The ids of a page in their order, the position after it (None: it is the last), and how many there are in all."""

    ids: tuple[int, ...]
    after: list[Any] | None
    total: int


def page_of(listed: Mapping[int, Listed], parameters: Mapping[str, Any]) -> Page:
    """Return the page that `sort`, `limit` and `after` ask for.

    Equals are in the order of their names, so a position is exact even when other observations came in between.
    """
    sort, limit, after = parameters["sort"], parameters["limit"], parameters.get("after")
    keys = {number: _key(one, sort) for number, one in listed.items()}
    left = [number for number, key in keys.items() if after is None or _follows(key, after, sort)]
    ordered = sorted(left, key=lambda number: listed[number].name)
    ordered.sort(key=lambda number: keys[number][0], reverse=sort.startswith("-"))
    ids = tuple(ordered[:limit])
    return Page(ids, list(keys[ids[-1]]) if len(ordered) > limit else None, len(listed))


def _key(one: Listed, sort: str) -> tuple[Any, ...]:
    return (one.n, one.name) if sort.removeprefix("-") in ("items", "observations") else (one.name,)


def _follows(key: tuple[Any, ...], after: Sequence[Any], sort: str) -> bool:
    if key[0] != after[0]:
        return bool(key[0] < after[0]) if sort.startswith("-") else bool(key[0] > after[0])
    return len(key) > 1 and bool(key[1] > after[1])


# The result of every report, before it is formatted or stored. Pure.


@dataclass(frozen=True, slots=True)
class Outliers:
    """Whether outliers count (`exclude` or `include`), and how many of them there are."""

    mode: str
    set_aside: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a report in their final order, and the statements that go with them.

    `days` is the range that was answered (defaults filled in), `seen` the days of it with data, counted from 1970;
    `units` the unit of each figure, `method` one sentence on how, `rounding` to what each rounded field is rounded,
    `kind` of which observations the statistics of prices are, `basis` what footprints are multiplied by: `sales` or
    `assortment`, `page` which of many the rows are about, `outliers` which of them count, `conversion` by what rates
    amounts were converted, `displacement` how many new items each unit displaces.
    """

    rows: Rows
    days: Range
    seen: set[int]
    units: dict[str, str]
    method: str
    rounding: dict[str, str]
    kind: str | None = None
    basis: str | None = None
    page: Page | None = None
    outliers: Outliers | None = None
    conversion: dict[str, object] | None = None
    displacement: Displacement | None = None

    @property
    def coverage(self) -> dict[str, Any]:
        """Which days of the range hold data of what was asked for: the first and the last are None where none does."""
        earliest, latest = (day_of(min(self.seen)), day_of(max(self.seen))) if self.seen else (None, None)
        return coverage(self.days.first, self.days.last, len(self.seen), earliest, latest)

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow's table."""
        return self.rows.table()


def with_partial_periods(answer: Answer) -> Answer:
    """Return an answer whose rows say whether the range holds only a part of their period."""
    schema, columns = answer.rows
    place = schema.get_field_index("period")
    parts = {period: answer.days.holds_part_of(number(period)) for period in set(columns[place])}
    partial = [parts[period] for period in columns[place]]
    rows = Rows(
        schema.insert(place + 1, pa.field("partial_period", pa.bool_())),
        [*columns[: place + 1], partial, *columns[place + 1 :]],
    )
    return replace(answer, rows=rows)


# The parts that rows of all reports share: names instead of ids, shares, coverage, their order.


_MILLION = 1e6
_NEARLY_HALF = 0.499999
MONEY = pa.decimal128(38, SCALE)
_CHANNEL = [pa.field("channel", pa.string()), pa.field("observations", pa.int64()), pa.field("share", pa.float64())]
CHANNELS = pa.list_(pa.struct(_CHANNEL))
DISCOUNTS = [
    ("list_price_n", pa.int64()),
    ("promotion_share", pa.float64()),
    ("discount_mean", pa.float64()),
    ("discount_median", pa.float64()),
]
ROUNDED_DISCOUNTS = ("promotion_share", "discount_mean", "discount_median")
DISCOUNT_UNITS = {
    "list_price_n": "observations",
    "promotion_share": "share of observations with a list price",
    "discount_mean": "share of the list price",
    "discount_median": "share of the list price",
}
DISCOUNT_METHOD = (
    "an observation is on promotion where its price is below its list price, by the discount 1 - price / list price; "
    "mean and median of discounts are over observations on promotion; a list price of 0 counts as none"
)


class Names(NamedTuple):
    """Slugs and codes by id."""

    brands: dict[int, str]
    categories: dict[int, str]
    channels: dict[int, str]

    @classmethod
    def read(cls, connection: Connection, tree: Tree, chosen: Filter, keys: list[Key]) -> "Names":
        """Read the names of what the keys group by."""
        position = chosen.group_by.index("brand") if "brand" in chosen.group_by else None
        groups = [(key.first_group, key.second_group) for key in keys]
        ids = sorted({group[position] for group in groups}) if position is not None else []
        slugs = {number: slug for number, (slug, _) in brand_names(connection, ids).items()}
        return cls(slugs, {category.id: category.code for category in tree.by_id.values()}, channel_codes(connection))

    def of(self, group_by: tuple[str, ...], key: Key) -> dict[str, str | None]:
        """Return a row's groups: slug or code; None for items without brand or category."""
        values = {}
        for name, group_id in zip(group_by, key[2:], strict=False):
            if name == "brand":
                values[name] = self.brands.get(group_id)
            else:
                values[name] = (self.categories if name == "category" else self.channels).get(group_id)
        return values


def brand_names(connection: Connection, ids: list[int]) -> dict[int, tuple[str, str]]:
    """Return slug and name of brands."""
    if not ids:
        return {}
    return {row[0]: (row[1], row[2]) for row in connection.execute(SQL.brand_names, (ids,))}


def channel_codes(connection: Connection) -> dict[int, str]:
    """Return the code of every channel."""
    return {int(row[0]): str(row[1]) for row in connection.execute(SQL.channels)}


def rounded(values: Array) -> Array:
    """Return values between 0 and 1 rounded to six decimals, each as Python's `round` does."""
    scaled = values * _MILLION
    whole = np.rint(scaled)
    result: Array = whole / _MILLION
    # The product is rounded itself: so near to a half it says nothing of the side on which the value is.
    for place in np.flatnonzero(np.abs(scaled - whole) > _NEARLY_HALF):
        result[place] = round(float(values[place]), 6)
    return result


def shares(channels: ByChannel, order: Array, codes: dict[int, str]) -> list[list[dict[str, Any]]]:
    """Return observations and share by channel, in the order of the codes, as a column of the type CHANNELS.

    `order` are the segments of the rows.
    """
    by_code = sorted(codes, key=codes.__getitem__)
    rank = np.empty(max(codes, default=0) + 1, "i8")
    rank[by_code] = np.arange(len(by_code))
    row = np.empty(len(order), "i8")
    row[order] = np.arange(len(order))
    of_row = row.take(channels.segment)
    positions = (of_row * len(by_code) + rank.take(channels.channel)).argsort()
    of_row, channel, n = (column.take(positions) for column in (of_row, channels.channel, channels.n))
    totals = np.bincount(of_row, weights=n, minlength=len(order))
    share = rounded(n / totals.take(of_row))
    shown = [
        {"channel": codes[number], "observations": count, "share": part}
        for number, count, part in zip(channel.tolist(), n.tolist(), share.tolist(), strict=True)
    ]
    ends = of_row.searchsorted(np.arange(len(order)), side="right").tolist()
    return [shown[start:end] for start, end in pairwise([0, *ends])]


def in_currency_order(keys: list[Key], groups: list[dict[str, str | None]]) -> Array:
    """Return the places of keys and their groups in the order of rows: period, groups (none last), currency."""

    def order(place: int) -> Any:
        named = ((name is None, name) for name in groups[place].values())
        return (keys[place].period, *named, keys[place].currency)

    return np.array(sorted(range(len(keys)), key=order), "i8")


# Insights for each channel apart: `group_by=channel`.


def by_channel(
    chosen: Filter, codes: dict[int, str], rows: Callable[[Filter], list[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a filter for each of its channels, in the order of their codes; `codes` are all channels'."""
    wanted = codes if chosen.channels is None else {channel: codes[channel] for channel in chosen.channels}
    for channel, code in sorted(wanted.items(), key=lambda one: one[1]):
        for row in rows(replace(chosen, channels=(channel,))):
            yield {**row, "channel": code}


def with_channel(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a column for the channel before the currency."""
    return schema.insert(schema.get_field_index("currency"), pa.field("channel", pa.string()))


# How many outliers a statistic leaves out, or counts where the caller wants them included.


METHOD = "prices that nothing confirms are outliers: `outliers` says whether they count, `set_aside` how many there are"


class SetAside:
    """Outliers of what a report asks for; nothing is read where the index has none in the range."""

    def __init__(self, reader: Reader, chosen: Filter) -> None:
        self._reader = reader
        self._include = chosen.outliers
        self._any = reader.any_in_index(_only(chosen))
        self._total = 0

    def of(self, chosen: Filter) -> dict[Key, int]:
        """Return how many there are of each segment of a filter; a segment without any is left out."""
        if not self._any:
            return {}
        others, days = groups_within_rollups(chosen), self._reader.days
        if others is not None and len(others) < 2 and all(map(days.holds_month, days.months())):
            counts = self._of_rollups(_only(chosen), *others)
        else:
            gathered = self._reader.gather(_only(chosen))
            spread = gathered.spread
            counts = {gathered.keys[segment]: int(n) for segment, n in zip(spread.segment, spread.n, strict=True)}
        self._total += sum(counts.values())
        return counts

    def _of_rollups(self, chosen: Filter, other: str | None = None) -> dict[Key, int]:
        """Count those of whole months, which add up, in one statement; `other` is the group within rollups."""
        scope, ids, _ = rollups_with_entries(chosen, self._reader.tree)
        first, last = self._reader.days.first, self._reader.days.last
        values = (scope, ids, first, last, chosen.currency, list(chosen.strata), other)
        counts: Counter[Key] = Counter()
        for own_id, month, currency, n, packed in self._reader.rows(SQL.counts, *values):
            for other_id, of_other in _counted(n, packed, other):
                groups = [other_id if name == other else own_id for name in chosen.group_by] + [0, 0]
                counts[Key(currency, number(month), groups[0], groups[1])] += of_other
        return dict(counts)

    def summary(self) -> Outliers:
        """Return what the meta of the answer says: the mode, and how many there were in all segments together."""
        return Outliers(MODES[self._include], self._total)


def _counted(n: int, packed: bytes | None, by: str | None) -> list[tuple[int, int]]:
    """Return the ids of a rollup's groups, and how many observations each has; without groups one with the id 0."""
    if packed is None:
        return [(0, n)]
    if by == "channel":
        channels, of_channels = unpack(packed, 2)
        return list(zip(channels.tolist(), of_channels.tolist(), strict=True))
    return list(Counter(unpack(packed, 3)[2].tolist()).items())


def _only(chosen: Filter) -> Filter:
    return replace(chosen, kinds=chosen.set_aside, outliers=False)
