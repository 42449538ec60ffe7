"""Insights of brands and of categories: how they do, period by period, against the one before and their equals."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shared.analytics.results import FOUR_DECIMALS, SIX_DECIMALS, Rows
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Key, day_of
from workers.analytics.reports.filters import Category, Filter, Tree, brand_ids, filter_of, with_defaults
from workers.analytics.reports.price_change import (
    PRICE_CHANGE,
    PRICE_CHANGE_METHOD,
    PRICE_CHANGE_ROUNDING,
    PRICE_CHANGE_UNITS,
    Figure,
    PriceChanges,
    change,
    figures,
    period_before,
)
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import (
    DISCOUNT_METHOD,
    DISCOUNT_UNITS,
    DISCOUNTS,
    LIMIT,
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
    page_of,
    with_channel,
)
from workers.analytics.reports.result import METHOD as OUTLIERS
from workers.analytics.reports.standings import Counted, ItemCounts, Moment, Rank, Ranks, Subject, TotalOf, total_of
from workers.analytics.reports.window import range_of

_FILTERED_BY = ("channel", "currency", "kind", "outliers")
STANDING_METHOD = (
    "the period before is the whole one of the same kind right before, or as many days as the range has; ranks and "
    "shares count the distinct items that the filters find, in each channel apart where rows are grouped by channel"
)


class _Insights:
    """Insights of a snapshot; outliers and days with data are counted over all rows.

    `subject`: whose ranks they show; `by_channel`: whether each row is of one channel, and so is its rank.
    """

    def __init__(
        self, reader: Reader, chosen: Filter, subject: Subject, *, by_channel: bool, total_of: TotalOf
    ) -> None:
        self._reader = reader
        self._before = reader.of(reader.days.before())
        self._chosen = chosen
        self._grouped = by_channel
        self._codes = channel_codes(reader.connection)
        self._outliers: dict[Key, int] = {}
        self.seen: set[int] = set()
        self.aside = SetAside(reader, chosen)
        self._counted = ItemCounts(reader, subject, chosen, by_channel=by_channel, total_of=total_of)
        # A first period that the range cuts ranks as it is, but as a whole where the second is compared with it.
        self._counted_before = self._counted.now | self._counted.before

    def _moment(self, key: Key, chosen: Filter) -> Moment:
        channel = chosen.channels[0] if self._grouped and chosen.channels else 0
        return channel, key.currency, key.period

    def _gather(self, chosen: Filter) -> tuple[dict[Key, Figure], dict[Key, Figure], PriceChanges]:
        """Return the figures of each period, those with the period before the first too, and the changes of prices."""
        gathered = self._reader.gather(chosen)
        self.seen |= gathered.days
        self._outliers = self.aside.of(chosen)
        now = figures(gathered)
        return now, {**now, **figures(self._before.gather(chosen))}, PriceChanges(self._reader, chosen)

    def _earlier(self, key: Key) -> Key:
        return key._replace(period=period_before(self._reader.days, key.period))

    def _row(self, key: Key, now: Figure, was: Figure | None, prices: PriceChanges) -> dict[str, Any]:
        """Return the columns that all insights have."""
        median_change = change(now.median, was.median if was else None)
        return {
            "period": day_of(key.period),
            "currency": key.currency,
            "items": now.items,
            "observations": now.n,
            "set_aside": self._outliers.get(key, 0),
            "median": now.median,
            "median_change": median_change,
            "kind": self._chosen.kind,
            **now.discounts,
            **prices.columns(key),
        }


# Brand insights: a brand's rank, its categories, its prices against theirs, and its peers.


PEERS = 5
_CATEGORY = pa.struct(
    [
        ("category", pa.string()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("share", pa.float64()),
        ("median", MONEY),
        ("category_median", MONEY),
        ("against_category", pa.float64()),
    ]
)
_PEER = pa.struct(
    [
        ("brand", pa.string()),
        ("name", pa.string()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("median", MONEY),
    ]
)
BRAND_SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("brand", pa.string()),
        ("name", pa.string()),
        ("currency", pa.string()),
        ("rank", pa.int64()),
        ("rank_before", pa.int64()),
        ("ranked", pa.int64()),
        ("percentile", pa.float64()),
        ("items", pa.int64()),
        ("observations", pa.int64()),
        ("set_aside", pa.int64()),
        ("median", MONEY),
        ("median_change", pa.float64()),
        ("against_categories", pa.float64()),
        ("kind", pa.string()),
        *PRICE_CHANGE,
        *DISCOUNTS,
        ("categories", pa.list_(_CATEGORY)),
        ("peers", pa.list_(_PEER)),
    ]
)
BRAND_UNITS = {
    "items": "items",
    "observations": "observations",
    "set_aside": "observations",
    "median": "currency",
    "median_change": "ratio",
    "ranked": "brands",
    "percentile": "percent of brands with fewer items",
    "against_categories": "ratio",
    "categories.items": "items",
    "categories.observations": "observations",
    "categories.share": "share of items",
    "categories.median": "currency",
    "categories.category_median": "currency",
    "categories.against_category": "ratio",
    "peers.items": "items",
    "peers.observations": "observations",
    "peers.median": "currency",
    **PRICE_CHANGE_UNITS,
    **DISCOUNT_UNITS,
}
BRAND_ROUNDING = {
    **dict.fromkeys(
        (
            "median_change",
            "against_categories",
            "categories.share",
            "categories.against_category",
            *ROUNDED_DISCOUNTS,
        ),
        SIX_DECIMALS,
    ),
    **PRICE_CHANGE_ROUNDING,
    "percentile": FOUR_DECIMALS,
}
BRAND_METHOD = (
    f"medians are exact (percentile_cont over every observed price); {STANDING_METHOD}; against_categories is the mean "
    "of median over category median, weighted by the brand's items; peers have most items in the brand's largest "
    f"category; {OUTLIERS}; {PRICE_CHANGE_METHOD}; {DISCOUNT_METHOD}"
)


def brands(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one brand, or of the largest.

    Raises BrandNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    grouped = bool(parameters.get("group_by"))
    with snapshot(connection):
        tree = Tree.read(connection)
        slug = parameters.get("slug")
        chosen = filter_of(connection, tree, {name: parameters.get(name) for name in _FILTERED_BY})
        one = brand_ids(connection, [slug]) if slug else None
        whole = replace(chosen, brands=one)
        days = range_of(connection, tree, whole, parameters)
        reader = Reader(connection, tree, days, report_progress)
        chosen = replace(chosen, kinds=reader.with_default_kind(whole).kinds)
        listing = None if one else with_defaults(parameters, sort="-items", limit=LIMIT)
        report = _Brands(reader, chosen, by_channel=grouped, total_of=total_of(listing))
        page = report.page(listing) if listing else None
        ids = one or (page.ids if page else ())
        rows = report.by_channel(ids) if grouped else report.rows(ids, chosen)
    return Answer(
        Rows.of(rows, with_channel(BRAND_SCHEMA) if grouped else BRAND_SCHEMA),
        days,
        report.seen,
        BRAND_UNITS,
        BRAND_METHOD,
        BRAND_ROUNDING,
        kind=chosen.kind,
        page=page,
        outliers=report.aside.summary(),
    )


class _Brands(_Insights):
    def __init__(self, reader: Reader, chosen: Filter, *, by_channel: bool, total_of: TotalOf) -> None:
        super().__init__(reader, chosen, "brand", by_channel=by_channel, total_of=total_of)
        self._ranks, self._ranks_before = (
            {moment: Ranks(items) for moment, items in counted.items()}
            for counted in (self._counted.now, self._counted_before)
        )

    def page(self, parameters: dict[str, Any]) -> Page:
        """Return the brands that a list is about: those with items in the range, sorted, from a position on."""
        totals = self._counted.totals()
        names = brand_names(self._reader.connection, list(totals))
        return page_of({brand: Listed(n, names[brand][0]) for brand, n in totals.items()}, parameters)

    def by_channel(self, brands: tuple[int, ...]) -> list[dict[str, Any]]:
        """Return a row for each channel, brand, period and currency."""
        made = by_channel(self._chosen, self._codes, lambda chosen: self.rows(brands, chosen))
        return sorted(made, key=lambda row: (row["period"], row["channel"], row["currency"]))

    def rows(self, brands: tuple[int, ...], chosen: Filter) -> list[dict[str, Any]]:
        """Return a row for each brand, period and currency, the brands in the order given."""
        own = replace(chosen, brands=brands, group_by=("brand",))
        now, known, prices = self._gather(own)
        of_brand: dict[tuple[str, int, int], list[tuple[int, Figure]]] = {}
        for key, figure in figures(self._reader.gather(own.grouped("brand", "category"))).items():
            of_brand.setdefault(key[:3], []).append((key.second_group, figure))
        wanted = sorted({category for listed in of_brand.values() for category, _ in listed if category})
        of_category = figures(self._reader.gather(_in(chosen, wanted).grouped("category"))) if wanted else {}
        main = {key: _main(listed) for key, listed in of_brand.items()}
        rivals = self._rivals(chosen, sorted({category for category in main.values() if category}))
        peers = {key: self._peers(rivals, key, main[key[:3]]) for key in now}
        listed_brands = sorted({*brands, *(peer.first_group for listed in peers.values() for peer in listed)})
        names = brand_names(self._reader.connection, listed_brands)
        rows = []
        for key, figure in now.items():
            earlier = self._earlier(key)
            row = self._row(key, figure, known.get(earlier), prices) | self._standing(key, earlier, chosen, names)
            self._add_categories(row, figure, key, of_brand[key[:3]], of_category)
            row["peers"] = [_peer(names[peer.first_group], rivals[main[key[:3]]][peer]) for peer in peers[key]]
            rows.append(row)
        positions = {names[brand][0]: position for position, brand in enumerate(brands)}
        return sorted(rows, key=lambda row: (row["period"], row["currency"], positions[row["brand"]]))

    def _rivals(self, chosen: Filter, categories: list[int]) -> dict[int, dict[Key, Figure]]:
        return {number: figures(self._reader.gather(_in(chosen, [number]).grouped("brand"))) for number in categories}

    def _peers(self, rivals: dict[int, dict[Key, Figure]], key: Key, category: int) -> list[Key]:
        known = rivals.get(category, {})
        others = [rival for rival in known if rival[:2] == key[:2] and rival.first_group not in (0, key.first_group)]
        return sorted(others, key=lambda one: (-known[one].items, one.first_group))[:PEERS]

    def _standing(self, key: Key, earlier: Key, chosen: Filter, names: dict[int, tuple[str, str]]) -> dict[str, Any]:
        standing = self._ranks[self._moment(key, chosen)].of(key.first_group)
        before = self._ranks_before.get(self._moment(earlier, chosen))
        stood = before.of(key.first_group) if before else None
        assert standing is not None
        slug, name = names[key.first_group]
        return {
            "brand": slug,
            "name": name,
            "rank": standing.rank,
            "rank_before": stood.rank if stood else None,
            "ranked": standing.of,
            "percentile": standing.percentile,
        }

    def _add_categories(
        self, row: dict[str, Any], now: Figure, key: Key, parts: list[tuple[int, Figure]], known: dict[Key, Figure]
    ) -> None:
        row["categories"], weighted, items = [], 0.0, 0
        for category, part in sorted(parts, key=lambda one: (-one[1].items, one[0])):
            whole = known.get(Key(key.currency, key.period, category, 0))
            against = float(part.median / whole.median) if whole and whole.median else None
            if against is not None:
                weighted, items = weighted + against * part.items, items + part.items
            code = self._reader.tree.by_id[category].code if category else None
            row["categories"].append(
                {
                    "category": code,
                    "items": part.items,
                    "observations": part.n,
                    "share": round(part.items / now.items, 6),
                    "median": part.median,
                    "category_median": whole.median if whole else None,
                    "against_category": round(against, 6) if against is not None else None,
                }
            )
        row["against_categories"] = round(weighted / items, 6) if items else None


def _in(chosen: Filter, categories: list[int]) -> Filter:
    return replace(chosen, brands=None, categories=tuple(categories), tops=tuple(categories))


def _main(parts: list[tuple[int, Figure]]) -> int:
    return min(((-part.items, category) for category, part in parts if category), default=(0, 0))[1]


def _peer(name: tuple[str, str], figure: Figure) -> dict[str, Any]:
    return {
        "brand": name[0],
        "name": name[1],
        "items": figure.items,
        "observations": figure.n,
        "median": figure.median,
    }


# Category insights: how a category does, period by period, against the one before and against its equals.


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


def categories(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one category, or of many on one level. Raises CategoryNotFound, InvalidParameter."""
    grouped = bool(parameters.get("group_by"))
    with snapshot(connection):
        tree = Tree.read(connection)
        code = parameters.get("code")
        chosen = filter_of(connection, tree, {name: parameters.get(name) for name in _FILTERED_BY})
        parent = tree.find(parameters["parent"]) if parameters.get("parent") else None
        one = tree.find(code) if code else parent
        whole = _of(chosen, one) if one else chosen
        days = range_of(connection, tree, whole, parameters)
        done = total = 0
        # The parts of a category report the category, so that progress never runs backwards.
        reader = Reader(connection, tree, days, lambda *_: report_progress("reading", done, total))
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
    )


def _of(chosen: Filter, category: Category) -> Filter:
    return replace(chosen, categories=category.below, tops=(category.id,))


class _Categories(_Insights):
    def __init__(self, reader: Reader, chosen: Filter, *, by_channel: bool, total_of: TotalOf) -> None:
        super().__init__(reader, chosen, "category", by_channel=by_channel, total_of=total_of)
        categories = reader.tree.by_id.values()
        self._depth = np.zeros(max(reader.tree.by_id, default=0) + 1, "i8")
        self._depth[[category.id for category in categories]] = [len(category.path) for category in categories]
        self._ranks: dict[tuple[int, Moment], Ranks] = {}
        self._ranks_before: dict[tuple[int, Moment], Ranks] = {}

    def page(self, parent: Category | None, parameters: dict[str, Any]) -> Page:
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

    def by_channel(self, category: Category) -> Iterator[dict[str, Any]]:
        """Yield a row for each channel, period and currency."""
        return by_channel(_of(self._chosen, category), self._codes, lambda narrowed: self.rows(narrowed, category))

    def rows(self, chosen: Filter, category: Category) -> list[dict[str, Any]]:
        """Return a row for each period and currency; `chosen` is of the category."""
        reader = self._reader
        now, known, prices = self._gather(chosen)
        by_channel = figures(reader.gather(chosen.grouped("channel")))
        by_brand = figures(reader.gather(chosen.grouped("brand")))
        top = {key: _most(by_brand, key) for key in now}
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
                    {"channel": self._codes[part.first_group], **_part(of, figure)}
                    for part, of in by_channel.items()
                    if part[:2] == key[:2]
                ),
                key=lambda channel: str(channel["channel"]),
            )
            row["top_brands"] = [
                {
                    "brand": names[brand.first_group][0],
                    "name": names[brand.first_group][1],
                    **_part(by_brand[brand], figure),
                }
                for brand in top[key]
            ]
            listed.append(row)
        return listed

    def _standing(
        self, category: Category, chosen: Filter, key: Key, was: Figure | None, earlier: Key
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
        category: Category,
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


def _most(by_brand: dict[Key, Figure], key: Key) -> list[Key]:
    """Return the brands with most items of a period; items without a brand count for none."""
    own = [brand for brand in by_brand if brand[:2] == key[:2] and brand.first_group]
    return sorted(own, key=lambda one: (-by_brand[one].items, one.first_group))[:TOP_BRANDS]


def _part(part: Figure, whole: Figure) -> dict[str, Any]:
    return {
        "items": part.items,
        "observations": part.n,
        "share": round(part.items / whole.items, 6),
        "median": part.median,
    }
