"""Category insights: how a category does, period by period, against the one before and against its equals."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import Category, Filter, Tree, day_of, filter_of, range_of, with_defaults
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
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
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
    SetAside,
    brand_names,
    by_channel,
    channel_codes,
    is_grouped,
    page_of,
    with_channel,
)
from workers.analytics.reports.result import METHOD as OUTLIERS

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
        done = total = 0
        # The parts of a category report the category, so that progress never runs backwards.
        reader = Reader(connection, tree, days, lambda *_: report_progress("reading", done, total))
        chosen = replace(chosen, kinds=reader.with_default_kind(whole).kinds)
        report = _Report(reader, chosen, seed_of(connection, parameters))
        page = None if code else _page(reader, chosen, parent, parameters)
        requested = [tree.by_id[number] for number in page.ids] if page else [tree.find(str(code))]
        rows: list[dict[str, Any]] = []
        total = len(requested)
        for done, category in enumerate(requested):
            report_progress("reading", done, total)
            rows += report.by_channel(category) if grouped else report.rows(_of(chosen, category), category)
        report_progress("reading", total, total)
    positions = {category.code: position for position, category in enumerate(requested)}
    rows.sort(key=lambda row: (row["period"], positions[row["category"]], row.get("channel", ""), row["currency"]))
    table = pa.Table.from_pylist(rows, with_channel(SCHEMA) if grouped else SCHEMA)
    outliers = report.aside.summary()
    return Answer(table, days, report.seen, UNITS, METHOD, ROUNDING, kind=chosen.kind, page=page, outliers=outliers)


def _page(reader: Reader, chosen: Filter, parent: Category | None, parameters: dict[str, Any]) -> Page:
    """Return the categories that a list is about: those of one level with observations in the range."""
    tree = reader.tree
    above = parent.path if parent else ()
    level = [
        one.id
        for one in tree.by_id.values()
        if len(one.path) == len(above) + 1 and (parent is None or one.id in parent.below)
    ]
    sums = dict.fromkeys(level, 0)
    for by_category in counts(reader, "t", level, chosen).values():
        for number, n in by_category.items():
            sums[number] += n
    listed = {number: Listed(n, tree.by_id[number].code) for number, n in sums.items() if n}
    return page_of(listed, "category", with_defaults(parameters, sort="category", limit=LIMIT_MAX))


def _of(chosen: Filter, category: Category) -> Filter:
    return replace(chosen, categories=category.below, tops=(category.id,))


class _Report:
    def __init__(self, reader: Reader, chosen: Filter, seed: int) -> None:
        self._reader = reader
        self._chosen = chosen
        self._seed = seed
        self._codes = channel_codes(reader.connection)
        self.seen: set[int] = set()
        self.aside = SetAside(reader, chosen)
        self._outliers: dict[Key, int] = {}
        by_period = {}
        for span in (reader.days.before(), reader.days):
            by_period.update(counts(reader.of(span), "t", None, chosen))
        depth = {one.id: len(one.path) for one in reader.tree.by_id.values()}
        self._ranks = {
            level: all_ranks({k: {c: n for c, n in by.items() if depth[c] == level} for k, by in by_period.items()})
            for level in set(depth.values())
        }

    def by_channel(self, category: Category) -> Iterator[dict[str, Any]]:
        """Yield a row for each channel, period and currency."""
        return by_channel(_of(self._chosen, category), self._codes, lambda narrowed: self.rows(narrowed, category))

    def rows(self, chosen: Filter, category: Category) -> list[dict[str, Any]]:
        """Return a row for each period and currency; `chosen` is of the category."""
        reader = self._reader
        now = reader.gather(chosen)
        self._outliers = self.aside.of(chosen)
        self.seen |= now.days
        before = figures(reader.of(reader.days.before()).gather(chosen))
        prices = PriceChanges(reader, chosen, self._seed)
        known = figures(now)
        by_channel = figures(reader.gather(chosen.grouped("channel")))
        by_brand = figures(reader.gather(chosen.grouped("brand")))
        top = {key: _most(by_brand, key) for key in known}
        names = brand_names(reader.connection, sorted({one.first_group for listed in top.values() for one in listed}))
        listed = []
        for key, figure in known.items():
            earlier = key._replace(period=period_before(reader.days, key.period))
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
