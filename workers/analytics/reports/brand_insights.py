"""Brand insights: a brand's rank, its categories, its prices against theirs, and its peers."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.analytics.results import FOUR_DECIMALS, SIX_DECIMALS, Rows
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
from workers.analytics.reports.filters import Filter, Tree, brand_ids, filter_of, with_defaults
from workers.analytics.reports.insights import FILTERED_BY, STANDING_METHOD, Figure, Insights, figures
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.pages import LIMIT, Listed, PageOfIds, page_of
from workers.analytics.reports.price_change import (
    PRICE_CHANGE,
    PRICE_CHANGE_METHOD,
    PRICE_CHANGE_ROUNDING,
    PRICE_CHANGE_UNITS,
)
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.standings import Ranks, TotalOf, total_of
from workers.analytics.reports.unit_prices import UnitPrices
from workers.analytics.reports.window import range_of

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


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one brand, or of the largest.

    Raises BrandNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    grouped = bool(parameters.get("group_by"))
    with snapshot(connection):
        tree = Tree.read(connection)
        slug = parameters.get("slug")
        chosen = filter_of(connection, tree, {name: parameters.get(name) for name in FILTERED_BY})
        one = brand_ids(connection, [slug]) if slug else None
        whole = replace(chosen, brands=one)
        days = range_of(connection, tree, whole, parameters)
        reader = Reader(connection, tree, days, report_progress, UnitPrices.asked(connection, parameters))
        chosen = replace(chosen, kinds=reader.with_default_kind(whole).kinds)
        listing = None if one else with_defaults(parameters, sort="-items", limit=LIMIT)
        report = _Brands(reader, chosen, by_channel=grouped, total_of=total_of(listing))
        page = report.page(listing) if listing else None
        ids = one or (page.ids if page else ())
        rows = report.by_channel(ids) if grouped else report.rows(ids, chosen)
        without = reader.without_content(replace(chosen, brands=ids))
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
        unit_prices=without,
    )


class _Brands(Insights):
    def __init__(self, reader: Reader, chosen: Filter, *, by_channel: bool, total_of: TotalOf) -> None:
        super().__init__(reader, chosen, "brand", by_channel=by_channel, total_of=total_of)
        self._ranks, self._ranks_before = (
            {moment: Ranks(items) for moment, items in counted.items()}
            for counted in (self._counted.now, self._counted_before)
        )

    def page(self, parameters: dict[str, Any]) -> PageOfIds:
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
        now, known, [parts], prices = self._gather(own, ("brand", "category"))
        of_brand: dict[tuple[str, int, int], list[tuple[int, Figure]]] = {}
        for key, figure in parts.items():
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
