"""Category insights: how a category does, period by period, against the one before and against its equals."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import (
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    MONEY,
    ROUNDED_DISCOUNTS,
    brand_names,
    by_channel,
    with_channel,
)
from workers.analytics.reports.filters import CategoryBranch, Filter, Tree, filter_of, with_defaults
from workers.analytics.reports.insights import FILTERED_BY, STANDING_METHOD, Figure, Insights, by_moment
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.pages import LIMIT_MAX, Listed, PageOfIds, page_of
from workers.analytics.reports.price_change import (
    PRICE_CHANGE,
    PRICE_CHANGE_METHOD,
    PRICE_CHANGE_ROUNDING,
    PRICE_CHANGE_UNITS,
)
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.standings import Counted, Moment, Rank, Ranks, TotalOf, total_of
from workers.analytics.reports.unit_prices import UnitPrices
from workers.analytics.reports.window import range_of

TOP_BRANDS = 5
_CHANNEL = pa.struct(
    [
        ("channel", pa.string()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("share", pa.float64()),
        ("median", MONEY),
    ]
)
_BRAND = pa.struct(
    [
        ("brand", pa.string()),
        ("name", pa.string()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("share", pa.float64()),
        ("median", MONEY),
    ]
)
CATEGORY_SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("category", pa.string()),
        ("path", pa.list_(pa.string())),
        ("currency", pa.string()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("set_aside", pa.int64()),
        ("median", MONEY),
        ("median_before", MONEY),
        ("median_change", pa.float64()),
        ("observations_before", pa.int64()),
        *((name, pa.int64()) for name in ("rank", "rank_before", "ranked")),
        ("kind", pa.string()),
        *PRICE_CHANGE,
        *DISCOUNTS,
        ("channels", pa.list_(_CHANNEL)),
        ("top_brands", pa.list_(_BRAND)),
    ]
)
CATEGORY_UNITS = {
    "items": "items",
    "observations": "observations",
    "set_aside": "observations",
    "median": "currency",
    "median_before": "currency",
    "median_change": "ratio",
    "observations_before": "observations",
    "ranked": "categories",
    "channels.items": "items",
    "channels.observations": "observations",
    "channels.share": "share of items",
    "channels.median": "currency",
    "top_brands.items": "items",
    "top_brands.observations": "observations",
    "top_brands.share": "share of items",
    "top_brands.median": "currency",
    **PRICE_CHANGE_UNITS,
    **DISCOUNT_UNITS,
}
CATEGORY_ROUNDING = {
    **dict.fromkeys(("median_change", "channels.share", "top_brands.share", *ROUNDED_DISCOUNTS), SIX_DECIMALS),
    **PRICE_CHANGE_ROUNDING,
}
CATEGORY_METHOD = (
    f"medians are exact (percentile_cont over every observed price); {STANDING_METHOD}; categories rank among those of "
    f"equal depth; {OUTLIERS}; {PRICE_CHANGE_METHOD}; {DISCOUNT_METHOD}"
)


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one category, or of many on one level. Raises CategoryNotFound, InvalidParameter."""
    grouped = bool(parameters.get("group_by"))
    with snapshot(connection):
        tree = Tree.read(connection)
        code = parameters.get("code")
        chosen = filter_of(connection, tree, {name: parameters.get(name) for name in FILTERED_BY})
        parent = tree.find(parameters["parent"]) if parameters.get("parent") else None
        one = tree.find(code) if code else parent
        whole = _of(chosen, one) if one else chosen
        days = range_of(connection, tree, whole, parameters)
        done = total = 0
        # The parts of a category report the category, so that progress never runs backwards.
        unit_prices = UnitPrices.asked(connection, parameters)
        reader = Reader(connection, tree, days, lambda *_: report_progress("reading", done, total), unit_prices)
        chosen = replace(chosen, kinds=reader.with_default_kind(whole).kinds)
        listing = None if code else with_defaults(parameters, sort="category", limit=LIMIT_MAX)
        report = _Categories(reader, chosen, by_channel=grouped, total_of=total_of(listing))
        page = report.page(parent, listing) if listing else None
        requested = [tree.by_id[number] for number in page.ids] if page else [tree.find(str(code))]
        rows: list[dict[str, Any]] = []
        total = len(requested)
        for done, category in enumerate(requested):
            report_progress("reading", done, total)
            rows += report.by_channel(category) if grouped else report.rows(_of(chosen, category), category)
        below = {number for category in requested for number in category.below}
        without = reader.without_content(replace(chosen, categories=tuple(sorted(below))))
        report_progress("reading", total, total)
    positions = {category.code: position for position, category in enumerate(requested)}
    rows.sort(key=lambda row: (row["period"], positions[row["category"]], row.get("channel", ""), row["currency"]))
    return Answer(
        Rows.of(rows, with_channel(CATEGORY_SCHEMA) if grouped else CATEGORY_SCHEMA),
        days,
        report.seen,
        CATEGORY_UNITS,
        CATEGORY_METHOD,
        CATEGORY_ROUNDING,
        kind=chosen.kind,
        page=page,
        outliers=report.aside.summary(),
        unit_prices=without,
    )


def _of(chosen: Filter, category: CategoryBranch) -> Filter:
    return replace(chosen, categories=category.below, tops=(category.id,))


class _Categories(Insights):
    def __init__(self, reader: Reader, chosen: Filter, *, by_channel: bool, total_of: TotalOf) -> None:
        super().__init__(reader, chosen, "category", by_channel=by_channel, total_of=total_of)
        categories = reader.tree.by_id.values()
        self._depth = np.zeros(max(reader.tree.by_id, default=0) + 1, "i8")
        self._depth[[category.id for category in categories]] = [len(category.path) for category in categories]
        self._ranks: dict[tuple[int, Moment], Ranks] = {}
        self._ranks_before: dict[tuple[int, Moment], Ranks] = {}

    def page(self, parent: CategoryBranch | None, parameters: dict[str, Any]) -> PageOfIds:
        """Return the categories that a list is about: those of one level with items in the range, sorted."""
        totals, depth = self._counted.totals(), len(parent.path) if parent else 0
        listed = {
            category.id: Listed(totals[category.id], category.code)
            for category in self._reader.tree.by_id.values()
            if category.id in totals
            and len(category.path) == depth + 1
            and (parent is None or category.id in parent.below)
        }
        return page_of(listed, parameters)

    def by_channel(self, category: CategoryBranch) -> Iterator[dict[str, Any]]:
        """Yield a row for each channel, period and currency."""
        return by_channel(_of(self._chosen, category), self._codes, lambda narrowed: self.rows(narrowed, category))

    def rows(self, chosen: Filter, category: CategoryBranch) -> list[dict[str, Any]]:
        """Return a row for each period and currency; `chosen` is of the category."""
        reader = self._reader
        now, known, (of_channels, of_brands), prices = self._gather(chosen, ("channel",), ("brand",))
        channels, brands = by_moment(of_channels), by_moment(of_brands)
        top = {key: _most(of_brands, brands[key[:2]]) for key in now}
        names = brand_names(
            reader.connection, sorted({brand.first_group for listed in top.values() for brand in listed})
        )
        listed = []
        for key, figure in now.items():
            earlier = self._earlier(key)
            was = known.get(earlier)
            row = self._row(key, figure, was, prices) | self._standing(category, chosen, key, was, earlier)
            row["channels"] = sorted(
                (
                    {"channel": self._codes[part.first_group], **_part(of_channels[part], figure)}
                    for part in channels[key[:2]]
                ),
                key=lambda channel: str(channel["channel"]),
            )
            row["top_brands"] = [
                {
                    "brand": names[brand.first_group][0],
                    "name": names[brand.first_group][1],
                    **_part(of_brands[brand], figure),
                }
                for brand in top[key]
            ]
            listed.append(row)
        return listed

    def _standing(
        self, category: CategoryBranch, chosen: Filter, key: Key, was: Figure | None, earlier: Key
    ) -> dict[str, Any]:
        standing = self._rank(self._ranks, self._counted.now, category, self._moment(key, chosen))
        stood = self._rank(self._ranks_before, self._counted_before, category, self._moment(earlier, chosen))
        return {
            "category": category.code,
            "path": list(category.path),
            "median_before": was.median if was else None,
            "observations_before": was.n if was else None,
            "rank": standing.rank if standing else None,
            "rank_before": stood.rank if stood else None,
            "ranked": standing.of if standing else None,
        }

    def _rank(
        self,
        known: dict[tuple[int, Moment], Ranks],
        counted: dict[Moment, Counted],
        category: CategoryBranch,
        moment: Moment,
    ) -> Rank | None:
        """Return the place of a category among those of equal depth, which are ordered once for all of them."""
        if moment not in counted:
            return None
        level = len(category.path), moment
        if level not in known:
            items = counted[moment]
            are_equals = self._depth.take(items.owner) == len(category.path)
            known[level] = Ranks(Counted(items.owner[are_equals], items.n[are_equals]))
        return known[level].of(category.id)


def _most(of_brands: dict[Key, Figure], brands: list[Key]) -> list[Key]:
    """Return those of some brands with most items; items without a brand count for none."""
    own = [brand for brand in brands if brand.first_group]
    return sorted(own, key=lambda one: (-of_brands[one].items, one.first_group))[:TOP_BRANDS]


def _part(part: Figure, whole: Figure) -> dict[str, Any]:
    return {
        "items": part.items,
        "observations": part.n,
        "share": round(part.items / whole.items, 6),
        "median": part.median,
    }
