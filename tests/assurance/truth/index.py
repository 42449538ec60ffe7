"""The expected index: recipes read the source files into DuckDB, and every answer is computed from there."""

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import duckdb

from tests.assurance.truth import naming
from tests.assurance.truth.exact import Near, percentile, share
from tests.assurance.truth.sets import Set, World

_HERE = Path(__file__).parent
_LOAD_ROWS_MAX = 10**9
DEFAULT_DAYS = 90
# The counted days of the newest months that together have thirty days with observations, or all.
_OF_NEWEST_MONTHS = """
WITH c AS ({}), months AS (SELECT date_trunc('month', day) AS month, count(*) AS days FROM c GROUP BY 1),
newest AS (SELECT month, sum(days) OVER (ORDER BY month DESC) AS days FROM months)
SELECT day, n FROM c WHERE day >= (SELECT coalesce(max(month) FILTER (WHERE days >= 30), min(month)) FROM newest)"""
_COLUMNS = {"brand": "brand", "category": "category", "channel": "channel"}


class Group(NamedTuple):
    """One currency, period and group: its prices in ascending order and what else was counted.

    `listed` holds price and list price of the observations that have both.
    """

    prices: list[Decimal]
    items: int
    first: date
    last: date
    channels: dict[str, int]
    listed: list[list[Decimal]] | None

    @property
    def n(self) -> int:
        """How many observations there are."""
        return len(self.prices)

    @property
    def median(self) -> Fraction:
        """The median price."""
        return percentile(self.prices, 50)

    def discounts(self) -> dict[str, Any]:
        """Return how many observations have a list price, how many of them are below it, and by how much."""
        listed = self.listed or []
        cuts = sorted(1 - Fraction(price) / Fraction(before) for price, before in listed if price < before)
        return {
            "list_price_n": len(listed),
            "promotion_share": share(len(cuts), len(listed)) if listed else None,
            "discount_mean": Near(sum(cuts, Fraction(0)) / len(cuts), places=6) if cuts else None,
            "discount_median": Near(percentile(cuts, 50), places=6) if cuts else None,
        }


@dataclass(frozen=True)
class Scope:
    """Which observations; None and empty mean all. `exactly` takes a category without those below it.

    With a `unit`, prices are for one of it, and those of items that state none are left out.
    """

    first: date
    last: date
    granularity: str | None = None
    brands: Sequence[str] = ()
    categories: Sequence[str] = ()
    exactly: bool = False
    channels: Sequence[str] = ()
    currency: str | None = None
    kind: str | None = None
    group_by: Sequence[str] = field(default=())
    unit: str | None = None
    items: Sequence[str] = ()

    def prices(self) -> str:
        """Return the observations as a table whose `price` is what statistics are of; `paid` is what was observed."""
        if self.unit is None:
            return "(SELECT *, price AS paid FROM observations)"
        return (
            "(SELECT o.* REPLACE (unit_price(o.price::VARCHAR, c.amount)::DECIMAL(38, 6) AS price), o.price AS paid "
            f"FROM observations o JOIN contents c USING (iid) WHERE c.unit = '{self.unit}')"
        )

    def condition(self) -> tuple[str, list[Any]]:
        """Return the WHERE clause and its values."""
        parts = ["day BETWEEN ? AND ?"]
        values: list[Any] = [self.first, self.last]
        for column, chosen in (("brand", self.brands), ("channel", self.channels), ("iid", self.items)):
            if chosen:
                parts.append(f"list_contains(?, {column})")
                values.append(list(chosen))
        if self.categories:
            test = "category = code" if self.exactly else "starts_with(category || '.', code || '.')"
            parts.append(f"EXISTS (SELECT 1 FROM (SELECT unnest(?::VARCHAR[]) AS code) WHERE {test})")
            values.append(list(self.categories))
        for column, only in (("currency", self.currency), ("kind", self.kind)):
            if only and only != "both":
                parts.append(f"{column} = ?")
                values.append(only)
        return " AND ".join(parts), values

    def period(self) -> str:
        """Return the SQL expression of a row's period: its first day, or the range's where there is only one."""
        if self.granularity is None:
            return f"DATE '{self.first}'"
        return f"date_trunc('{self.granularity}', day)::DATE"

    def period_before(self, period: date) -> date:
        """Return the start of the period right before one."""
        if self.granularity is None:
            return period - timedelta(days=(self.last - self.first).days + 1)
        if self.granularity == "month":
            return (period - timedelta(days=1)).replace(day=1)
        return period - timedelta(days=7 if self.granularity == "week" else 1)

    def start(self) -> date:
        """Return the start of the first period, which may lie before the first day."""
        if self.granularity == "month":
            return self.first.replace(day=1)
        return self.first - timedelta(days=self.first.weekday()) if self.granularity == "week" else self.first

    def compared(self) -> "Scope":
        """Return a scope that holds, as a whole, each period right before one of this one's."""
        first = self.period_before(self.start())
        return replace(self, first=first, last=self.last if self.granularity else self.first - timedelta(days=1))

    def cuts(self, period: date) -> bool:
        """Return whether the scope leaves out days of the period that begins so."""
        if self.granularity is None:
            return False
        days = {"day": 1, "week": 7}.get(self.granularity) or calendar.monthrange(period.year, period.month)[1]
        return self.first > period or self.last < period + timedelta(days=days - 1)


def window_end(days: Mapping[date, bool]) -> date | None:
    """Return the last of some days that have enough data and do not stand alone, if most days do not; None of none.

    A day stands alone where the 30 days before it have no other day.
    """
    ordered = sorted(days)
    gaps = sorted((b - a).days for a, b in pairwise(ordered))
    alone = {b for a, b in pairwise(ordered) if (b - a).days > 30} | set(ordered[:1])
    sparse = not gaps or gaps[(len(gaps) - 1) // 2] > 30
    enough = [day for day in ordered if days[day]]
    return max((day for day in enough if sparse or day not in alone), default=max(enough, default=None))


class Index:
    """DuckDB with everything that the loads must have brought."""

    def __init__(self) -> None:
        self.db = duckdb.connect()
        for function in (
            naming.clean,
            naming.mint,
            naming.fold,
            naming.slug,
            naming.kilograms,
            naming.litres,
            naming.minor,
            naming.unit_price,
        ):
            self.db.create_function(function.__name__, function, null_handling="special")
        self.db.execute((_HERE / "tables.sql").read_text())
        self._loads = 0

    @classmethod
    def of(cls, world: World) -> Self:
        """Read sets in the order in which they are loaded, then apply the operator's acts."""
        index = cls()
        for one in world.sets:
            index.read(one)
        for iid in world.withdrawn:
            index.db.execute("INSERT INTO withdrawn VALUES (?)", [iid])
        for pair in world.merged:
            index.db.execute("INSERT INTO merged VALUES (?, ?)", list(pair))
        index.db.execute((_HERE / "index.sql").read_text())
        return index

    @cached_property
    def known_brands(self) -> list[str]:
        """Brands with observations."""
        return self.column("SELECT DISTINCT brand FROM observations WHERE brand IS NOT NULL ORDER BY brand")

    @cached_property
    def known_items(self) -> list[str]:
        """Items with observations."""
        return self.column("SELECT DISTINCT iid FROM observations ORDER BY iid")

    @cached_property
    def known_categories(self) -> list[str]:
        """Categories with observations, and those above them."""
        codes = self.column("SELECT DISTINCT category FROM observations WHERE category IS NOT NULL")
        above = {".".join(code.split(".")[: n + 1]) for code in codes for n in range(code.count(".") + 1)}
        return sorted(above)

    @cached_property
    def known_channels(self) -> list[str]:
        """Channels with observations."""
        return self.column("SELECT DISTINCT channel FROM observations ORDER BY channel")

    @cached_property
    def known_currencies(self) -> list[str]:
        """Currencies with observations."""
        return self.column("SELECT DISTINCT currency FROM observations ORDER BY currency")

    @cached_property
    def known_days(self) -> list[date]:
        """Days with observations."""
        return self.column("SELECT DISTINCT day FROM observations ORDER BY day")

    def read(self, one: Set) -> None:
        """Run a set's recipe; rows of a later file come after those of an earlier one."""
        for file in one.files:
            self._loads += 1
            self.db.execute("SET VARIABLE source = ?::VARCHAR", [one.name])
            self.db.execute("SET VARIABLE file = ?::VARCHAR", [str(file)])
            self.db.execute("SET VARIABLE folder = ?::VARCHAR", [str(file.parent)])
            self.db.execute("SET VARIABLE start = ?::BIGINT", [self._loads * _LOAD_ROWS_MAX])
            self.db.execute(one.recipe.read_text())
        self.db.execute("CREATE OR REPLACE TABLE sources AS SELECT DISTINCT * FROM sources")

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return a query's rows by column name."""
        found = self.db.execute(query, list(values))
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def column(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.db.execute(query, list(values)).fetchall()]

    def groups(self, scope: Scope) -> dict[tuple[Any, ...], Group]:
        """Return the groups of a scope by (currency, period, *groups)."""
        condition, values = scope.condition()
        keys = ", ".join(["currency", f"{scope.period()} AS period", *(_COLUMNS[name] for name in scope.group_by)])
        width = 2 + len(scope.group_by)
        found = self.db.execute(
            f"SELECT {keys}, list(price ORDER BY price), count(DISTINCT iid), min(day), max(day), histogram(channel), "
            "list([paid, list_price]) FILTER (list_price > 0) "
            f"FROM {scope.prices()} WHERE {condition} GROUP BY ALL",
            values,
        ).fetchall()
        return {row[:width]: Group(*row[width:]) for row in found}

    def items_without(self, scope: Scope) -> int:
        """Return how many items of a scope have prices and do not state what they hold of its unit."""
        condition, values = scope.condition()
        [count] = self.column(
            f"SELECT count(DISTINCT iid) FROM observations WHERE {condition} "
            "AND iid NOT IN (SELECT iid FROM contents WHERE unit = ?)",
            [*values, scope.unit],
        )
        return int(count)

    def item_counts(self, scope: Scope) -> dict[tuple[Any, ...], dict[str, int]]:
        """Return items by (currency, period), and there by the one group of the scope; what has no group is left out."""
        counted: dict[tuple[Any, ...], dict[str, int]] = {}
        for (currency, period, group), found in self.groups(scope).items():
            if group is not None:
                counted.setdefault((currency, period), {})[group] = found.items
        return counted

    def totals(self, scope: Scope, group: str) -> dict[str, tuple[int, int]]:
        """Return distinct items and observations of each brand or category in the whole of a scope, by its name."""
        condition, values = scope.condition()
        found = self.db.execute(
            f"SELECT {group} AS named, count(DISTINCT iid), count(*) FROM observations WHERE {condition} "
            "GROUP BY named HAVING named IS NOT NULL",
            values,
        ).fetchall()
        return {name: (items, n) for name, items, n in found}

    def settled(self, scope: Scope) -> Scope:
        """Return the scope with the kind that is answered: the one asked for, else listings where there are any."""
        if scope.kind:
            return scope
        condition, values = scope.condition()
        kinds = self.column(f"SELECT DISTINCT kind FROM observations WHERE {condition}", values)
        return replace(scope, kind="sale" if kinds == ["sale"] else "listing")

    def default_window(self, scope: Scope) -> Scope:
        """Return the scope with the days that are answered where none are asked for.

        They are ninety, up to the last day with at least a fifth of the median day's observations: of what is asked
        for, else of all. Where two filters cross, the newest months with thirty days or more are judged.
        """
        crossing = sum(map(bool, (scope.brands, scope.categories, scope.channels))) > 1
        everything = Scope(date.min, date.max, currency=scope.currency, kind=scope.kind)
        for chosen in (replace(scope, first=date.min, last=date.max), everything, Scope(date.min, date.max)):
            condition, values = chosen.condition()
            counted = f"SELECT day, count(*) AS n FROM observations WHERE {condition} GROUP BY day"
            if crossing and (chosen.brands or chosen.categories or chosen.channels):
                counted = f"SELECT day, n FROM ({_OF_NEWEST_MONTHS.format(counted)})"
            query = f"WITH c AS ({counted}) SELECT day, n >= 0.2 * (SELECT median(n) FROM c) FROM c"
            days = {day: bool(enough) for day, enough in self.db.execute(query, values).fetchall()}
            last = window_end(days)
            if last is not None:
                return replace(scope, first=last - timedelta(days=DEFAULT_DAYS - 1), last=last)
        return scope

    def seen_days(self, scope: Scope) -> list[date]:
        """Return the days of a scope that hold data, in their order."""
        condition, values = scope.condition()
        return self.column(f"SELECT DISTINCT day FROM observations WHERE {condition} ORDER BY day", values)
