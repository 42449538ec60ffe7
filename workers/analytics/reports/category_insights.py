"""Category insights: how a category does, period by period, against the one before and against its equals."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import Category, Filter, Tree, filter_of, range_of, with_defaults
from workers.analytics.reports.periods import Range, day_of
from workers.analytics.reports.price_change import (
    PRICE_CHANGE,
    PRICE_CHANGE_METHOD,
    PRICE_CHANGE_UNITS,
    ROUNDED_PRICE_CHANGE,
    Figure,
    PriceChanges,
    all_ranks,
    change,
    counts,
    figures,
    period_before,
    seed_of,
)
from workers.analytics.reports.query import ReportProgress, gather, snapshot, with_default_kind
from workers.analytics.reports.result import (
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    LIMIT_MAX,
    MONEY,
    ROUNDED_DISCOUNTS,
    Answer,
    Listed,
    Page,
    brand_names,
    channel_codes,
    coverage,
    page_of,
)
from workers.analytics.reports.set_aside import METHOD as OUTLIERS
from workers.analytics.reports.set_aside import SetAside, by_channel, is_grouped, with_channel

TOP_BRANDS = 5
_CHANNEL = pa.struct(
    [
        ("channel", pa.string()),
        ("observations", pa.int64()),
        ("share", pa.float64()),
        ("median", MONEY),
    ]
)
_BRAND = pa.struct(
    [
        ("brand", pa.string()),
        ("name", pa.string()),
        ("observations", pa.int64()),
        ("share", pa.float64()),
        ("median", MONEY),
    ]
)
SCHEMA = pa.schema(
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
UNITS = {
    "items": "items",
    "observations": "observations",
    "set_aside": "observations",
    "median": "currency",
    "median_before": "currency",
    "median_change": "ratio",
    "channels.share": "share of observations",
    "top_brands.share": "share of observations",
    **PRICE_CHANGE_UNITS,
    **DISCOUNT_UNITS,
}
ROUNDING = dict.fromkeys(
    ("median_change", "channels.share", "top_brands.share", *ROUNDED_PRICE_CHANGE, *ROUNDED_DISCOUNTS), SIX_DECIMALS
)
METHOD = (
    "medians are exact (percentile_cont over every observed price); the period before is the one of the same kind "
    "right before, or as many days as the range has; rank counts observations of all channels among categories "
    f"of equal depth; {OUTLIERS}; {PRICE_CHANGE_METHOD}; {DISCOUNT_METHOD}"
)


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one category, or of many on one level. Raises CategoryNotFound, InvalidParameter."""
    grouped = is_grouped(parameters)
    with snapshot(connection):
        tree = Tree.read(connection)
        code = parameters.get("code")
        chosen = filter_of(
            connection, tree, {n: parameters.get(n) for n in ("channel", "currency", "kind", "outliers")}
        )
        parent = tree.find(parameters["parent"]) if parameters.get("parent") else None
        one = tree.find(code) if code else parent
        whole = _of(chosen, one) if one else chosen
        days = range_of(connection, whole, parameters)
        chosen = replace(chosen, kinds=with_default_kind(connection, tree, whole, days).kinds)
        report = _Report(connection, tree, chosen, days, seed_of(connection, parameters))
        page = None if code else _page(connection, tree, chosen, days, parent, parameters)
        requested = [tree.by_id[number] for number in page.ids] if page else [tree.find(str(code))]
        rows: list[dict[str, Any]] = []
        for done, category in enumerate(requested):
            report_progress("reading", done, len(requested))
            report_part = _within(report_progress, done, len(requested))
            rows += (
                report.by_channel(category, report_part)
                if grouped
                else report.rows(_of(chosen, category), category, report_part)
            )
        report_progress("reading", len(requested), len(requested))
    positions = {category.code: position for position, category in enumerate(requested)}
    rows.sort(key=lambda row: (row["period"], positions[row["category"]], row.get("channel", ""), row["currency"]))
    table = pa.Table.from_pylist(rows, with_channel(SCHEMA) if grouped else SCHEMA)
    return Answer(
        table,
        days.first,
        days.last,
        coverage(days, report.seen),
        UNITS,
        METHOD,
        ROUNDING,
        kind=chosen.kind,
        page=page,
        outliers=report.aside.summary(),
        ended_by=days.ended_by,
    )


def _page(
    connection: Connection,
    tree: Tree,
    chosen: Filter,
    days: Range,
    parent: Category | None,
    parameters: dict[str, Any],
) -> Page:
    """Return the categories that a list is about: those of one level with observations in the range."""
    above = parent.path if parent else ()
    level = [
        one.id
        for one in tree.by_id.values()
        if len(one.path) == len(above) + 1 and (parent is None or one.id in parent.below)
    ]
    sums = dict.fromkeys(level, 0)
    for by_category in counts(connection, "t", level, days, chosen).values():
        for number, n in by_category.items():
            sums[number] += n
    listed = {number: Listed(n, tree.by_id[number].code) for number, n in sums.items() if n}
    return page_of(listed, "category", with_defaults(parameters, sort="category", limit=LIMIT_MAX))


def _within(report_progress: ReportProgress, done: int, total: int) -> ReportProgress:
    """Have the parts of a category report the category, so that progress never runs backwards."""
    return lambda stage, part, parts: report_progress("reading", done, total)


def _of(chosen: Filter, category: Category) -> Filter:
    return replace(chosen, categories=category.below, tops=(category.id,))


class _Report:
    def __init__(self, connection: Connection, tree: Tree, chosen: Filter, days: Range, seed: int) -> None:
        self._connection = connection
        self._tree = tree
        self._chosen = chosen
        self._days = days
        self._seed = seed
        self._codes = channel_codes(connection)
        self.seen: set[int] = set()
        self.aside = SetAside(connection, tree, chosen, days)
        self._outliers: dict[Key, int] = {}
        by_period = {}
        for span in (days.before(), days):
            by_period.update(counts(connection, "t", None, span, chosen))
        depth = {one.id: len(one.path) for one in tree.by_id.values()}
        self._ranks = {
            level: all_ranks({k: {c: n for c, n in by.items() if depth[c] == level} for k, by in by_period.items()})
            for level in set(depth.values())
        }

    def by_channel(self, category: Category, report_progress: ReportProgress) -> Iterator[dict[str, Any]]:
        """Yield a row for each channel, period and currency."""
        chosen = _of(self._chosen, category)
        return by_channel(chosen, self._codes, lambda narrowed: self.rows(narrowed, category, report_progress))

    def rows(self, chosen: Filter, category: Category, report_progress: ReportProgress) -> list[dict[str, Any]]:
        """Return a row for each period and currency; `chosen` is of the category."""
        now = gather(self._connection, self._tree, chosen, self._days, report_progress)
        self._outliers = self.aside.of(chosen, report_progress)
        self.seen |= now.days
        before = figures(gather(self._connection, self._tree, chosen, self._days.before(), report_progress))
        prices = PriceChanges(self._connection, self._tree, chosen, self._days, self._seed, report_progress)
        known = figures(now)
        by_channel = figures(
            gather(self._connection, self._tree, chosen.grouped("channel"), self._days, report_progress)
        )
        by_brand = figures(gather(self._connection, self._tree, chosen.grouped("brand"), self._days, report_progress))
        top = {key: _most(by_brand, key) for key in known}
        names = brand_names(self._connection, sorted({one.first_group for listed in top.values() for one in listed}))
        listed = []
        for key, figure in known.items():
            earlier = key._replace(period=period_before(self._days, key.period))
            row = self._row(category, key, figure, {**known, **before}.get(earlier), earlier)
            row |= prices.columns(key, row["median_change"])
            row["channels"] = sorted(
                (
                    {"channel": self._codes[one.first_group], **_part(of, figure)}
                    for one, of in by_channel.items()
                    if one[:2] == key[:2]
                ),
                key=lambda channel: str(channel["channel"]),
            )
            row["top_brands"] = [
                {"brand": names[one.first_group][0], "name": names[one.first_group][1], **_part(by_brand[one], figure)}
                for one in top[key]
            ]
            listed.append(row)
        return listed

    def _row(self, category: Category, key: Key, now: Figure, was: Figure | None, earlier: Key) -> dict[str, Any]:
        ranks = self._ranks[len(category.path)]
        standing = ranks[key[:2]].of(category.id) if key[:2] in ranks else None
        stood = ranks[earlier[:2]].of(category.id) if earlier[:2] in ranks else None
        return {
            "period": day_of(key.period),
            "category": category.code,
            "path": list(category.path),
            "currency": key.currency,
            "items": now.items,
            "observations": now.n,
            "set_aside": self._outliers.get(key, 0),
            "median": now.median,
            "median_before": was.median if was else None,
            "median_change": change(now.median, was.median if was else None),
            "observations_before": was.n if was else None,
            "rank": standing.rank if standing else None,
            "rank_before": stood.rank if stood else None,
            "ranked": standing.of if standing else None,
            "kind": self._chosen.kind,
            **now.discounts,
        }


def _most(by_brand: dict[Key, Figure], key: Key) -> list[Key]:
    """Return the brands with most observations of a period; items without a brand count for none."""
    own = [one for one in by_brand if one[:2] == key[:2] and one.first_group]
    return sorted(own, key=lambda one: (-by_brand[one].n, one.first_group))[:TOP_BRANDS]


def _part(part: Figure, whole: Figure) -> dict[str, Any]:
    return {"observations": part.n, "share": round(part.n / whole.n, 6), "median": part.median}
