"""Canonical parameters into what is read: ids instead of names, and the range of days with its default filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from statistics import median
from typing import Any

from shared.analytics.observations import OBSERVATION_KINDS
from shared.clock import utc_now
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import BrandNotFound, CategoryNotFound, InvalidParameter
from workers.analytics.reports.aggregator import Range
from workers.analytics.rollups.codec import unpack

SQL = load_queries(__file__, "reports.sql")
DEFAULT_DAYS = 90
ENOUGH_SHARE = 0.2
"""Of the median day's observations: with fewer, a day does not end the default window."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category, and the ids of it and of all below it."""

    id: int
    code: str
    path: tuple[str, ...]
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """All categories, by code and by id."""

    by_code: dict[str, Category]
    by_id: dict[int, Category]

    @classmethod
    def read(cls, connection: Connection) -> "Tree":
        rows = connection.execute(SQL.categories).fetchall()
        below: dict[str, list[int]] = {code: [] for _, code, _ in rows}
        for number, code, _ in rows:
            parts = code.split(".")
            for n in range(1, len(parts) + 1):
                below.setdefault(".".join(parts[:n]), []).append(number)
        listed = [Category(number, code, tuple(path), tuple(sorted(below[code]))) for number, code, path in rows]
        return cls({category.code: category for category in listed}, {category.id: category for category in listed})

    def find(self, code: str) -> Category:
        """Return a category; raise CategoryNotFound."""
        if code not in self.by_code:
            raise CategoryNotFound(code)
        return self.by_code[code]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which observations. None: all. `tops` are the named categories without those that are below another named one.

    `kinds` are `l` (listings), `s` (sales); empty as long as it is not settled which of them the answer is of.
    `outliers` says whether those that statistics set aside belong to them.
    """

    brands: tuple[int, ...] | None = None
    categories: tuple[int, ...] | None = None
    tops: tuple[int, ...] = ()
    channels: tuple[int, ...] | None = None
    currency: str | None = None
    group_by: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    outliers: bool = False

    @property
    def strata(self) -> tuple[str, ...]:
        """Return the kinds of the rollups that hold them; outliers are in rollups of their own."""
        kinds = self.kinds or OBSERVATION_KINDS["both"]
        return (*kinds, *(kind.upper() for kind in kinds)) if self.outliers else kinds

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Return the kinds of the rollups that hold the outliers alone."""
        return tuple(kind.upper() for kind in self.kinds)

    @property
    def kind(self) -> str:
        """Return how a caller names the kinds; they must be settled."""
        return next(name for name, kinds in OBSERVATION_KINDS.items() if kinds == self.kinds)

    @property
    def scope(self) -> tuple[str, tuple[int, ...]]:
        """Return the rollups that together hold just these brands, or these categories, or everything."""
        if self.brands is not None:
            return "b", self.brands
        return ("t", self.tops) if self.categories is not None else ("a", (0,))

    def grouped(self, *names: str) -> "Filter":
        """Return the same observations in other groups."""
        return replace(self, group_by=names)


def brand_ids(connection: Connection, slugs: list[str]) -> tuple[int, ...]:
    """Return the ids of brands; raise BrandNotFound for the first that is unknown."""
    brands = {slug: number for number, slug in connection.execute(SQL.brands, (slugs,))}
    for slug in slugs:
        if slug not in brands:
            raise BrandNotFound(slug)
    return tuple(sorted(brands.values()))


def filter_of(connection: Connection, tree: Tree, parameters: dict[str, Any]) -> Filter:
    """Resolve the parameters brand, category, channel, currency, kind and group_by; the edge has checked their form."""
    brands, codes, kind = parameters.get("brand") or [], parameters.get("category") or [], parameters.get("kind")
    chosen = [tree.find(code) for code in dict.fromkeys(codes)]
    categories = sorted({number for category in chosen for number in category.below})
    tops = [
        category.id
        for category in chosen
        if not any(category.id in other.below for other in chosen if other is not category)
    ]
    return Filter(
        brands=brand_ids(connection, brands) if brands else None,
        categories=tuple(categories) if codes else None,
        tops=tuple(sorted(tops)),
        channels=_channels(connection, parameters.get("channel") or []),
        currency=parameters.get("currency"),
        group_by=tuple(parameters.get("group_by") or ()),
        kinds=OBSERVATION_KINDS[kind] if kind else (),
        outliers=parameters.get("outliers") == "include",
    )


def range_of(connection: Connection, chosen: Filter, parameters: dict[str, Any]) -> Range:
    """Return the days asked for; by default 90, up to the last day with enough data of what is asked for."""
    granularity = parameters.get("granularity")
    first, last, ended_by = _day(parameters, "from"), _day(parameters, "to"), "request"
    if last is None:
        last, ended_by = _window_end(connection, chosen)
        if first is not None and first > last:
            return Range(first, first, granularity, awaits_data=True)
    return Range(first or last - timedelta(days=DEFAULT_DAYS - 1), last, granularity, ended_by)


def with_defaults(parameters: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """Return parameters with a report's own defaults in the place of those that are not given."""
    return defaults | {name: value for name, value in parameters.items() if value is not None}


def whole_months(parameters: dict[str, Any]) -> Range | None:
    """Return the days asked for if they are given and are whole calendar months, month by month."""
    if parameters.get("granularity") not in (None, "month"):
        return None
    first, last = _day(parameters, "from"), _day(parameters, "to")
    if first is None or last is None or first > last or first.day > 1 or (last + timedelta(days=1)).day > 1:
        return None
    return Range(first, last, "month")


def _window_end(connection: Connection, chosen: Filter) -> tuple[date, str]:
    """Return the last day of the default window: of what is asked for, else of the whole index, else today."""
    everything = Filter(currency=chosen.currency, kinds=chosen.kinds)
    for ended_by, one in (("data", chosen), ("index", everything)):
        counts = _observations_by_day(connection, one)
        if counts:
            return last_day_with_enough(counts), ended_by
    return utc_now().date(), "today"


def _observations_by_day(connection: Connection, chosen: Filter) -> dict[date, int]:
    scope, ids = chosen.scope
    values = (scope, list(ids), chosen.currency, list(chosen.strata))
    counts: dict[date, int] = {}
    for month, packed in connection.cursor(binary=True).execute(SQL.days, values):
        by_day = unpack(packed)[0]
        for position in by_day.nonzero()[0].tolist():
            day = month + timedelta(days=position)
            counts[day] = counts.get(day, 0) + int(by_day[position])
    return counts


def last_day_with_enough(counts: Mapping[date, int]) -> date:
    """Return the last day with at least a fifth of the median day's observations: a few stray rows end no window."""
    enough = ENOUGH_SHARE * median(counts.values())
    return max(day for day, n in counts.items() if n >= enough)


def _day(parameters: dict[str, Any], name: str) -> date | None:
    text = parameters.get(name)
    return date.fromisoformat(text) if text else None


def _channels(connection: Connection, codes: list[str]) -> tuple[int, ...] | None:
    if not codes:
        return None
    known = {code: number for number, code in connection.execute(SQL.channels)}
    if set(codes) - known.keys():
        raise InvalidParameter("channel", f"must be one of {', '.join(sorted(known)[:50]) or 'none: no data yet'}")
    return tuple(sorted({known[code] for code in codes}))
