"""Brand insights: a brand's rank, its categories, its prices against theirs, and its peers."""

from copy import copy
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.analytics.results import FOUR_DECIMALS, SIX_DECIMALS
from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import Filter, Tree, brand_ids, day_of, filter_of, range_of
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
_PEER = pa.struct([("brand", pa.string()), ("name", pa.string()), ("observations", pa.int64()), ("median", MONEY)])
SCHEMA = pa.schema(
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
UNITS = {
    "items": "items",
    "observations": "observations",
    "set_aside": "observations",
    "median": "currency",
    "median_change": "ratio",
    "percentile": "percent of brands with fewer observations",
    "against_categories": "ratio",
    "categories.share": "share of observations",
    "categories.category_median": "currency",
    **PRICE_CHANGE_UNITS,
    **DISCOUNT_UNITS,
}
ROUNDING = {
    **dict.fromkeys(
        (
            "median_change",
            "against_categories",
            "categories.share",
            "categories.against_category",
            *ROUNDED_PRICE_CHANGE,
            *ROUNDED_DISCOUNTS,
        ),
        SIX_DECIMALS,
    ),
    "percentile": FOUR_DECIMALS,
}
METHOD = (
    "medians are exact (percentile_cont over every observed price); rank and percentile count observations of all "
    "channels; against_categories is the mean of median over category median, weighted by the brand's observations; "
    f"peers have most observations in the brand's largest category; {OUTLIERS}; {PRICE_CHANGE_METHOD}; "
    f"{DISCOUNT_METHOD}"
)


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute insights of one brand, or of the largest.

    Raises BrandNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    grouped = is_grouped(parameters)
    with snapshot(connection):
        tree = Tree.read(connection)
        slug = parameters.get("slug")
        chosen = filter_of(
            connection, tree, {n: parameters.get(n) for n in ("channel", "currency", "kind", "outliers")}
        )
        one = brand_ids(connection, [slug]) if slug else None
        whole = replace(chosen, brands=one)
        days = range_of(connection, whole, parameters)
        reader = Reader(connection, tree, days, report_progress)
        chosen = replace(chosen, kinds=reader.with_default_kind(whole).kinds)
        report = _Report(reader, chosen, seed_of(connection, parameters))
        page = None if one else report.page(parameters)
        ids = one or (page.ids if page else ())
        rows = report.by_channel(ids) if grouped else report.rows(ids)
    table = pa.Table.from_pylist(rows, with_channel(SCHEMA) if grouped else SCHEMA)
    outliers = report.aside.summary()
    return Answer(table, days, report.seen, UNITS, METHOD, ROUNDING, kind=chosen.kind, page=page, outliers=outliers)


class _Report:
    def __init__(self, reader: Reader, chosen: Filter, seed: int) -> None:
        self._reader = reader
        self._before = reader.of(reader.days.before())
        self._chosen = chosen
        self._seed = seed
        self.seen: set[int] = set()
        self.aside = SetAside(reader, chosen)
        self._outliers: dict[Key, int] = {}
        self._counts = counts(reader, "b", None, chosen)
        before = counts(self._before, "b", None, chosen)
        brands_only = {k: {b: n for b, n in by.items() if b} for k, by in {**before, **self._counts}.items()}
        self._ranks = all_ranks(brands_only)

    def page(self, parameters: dict[str, Any]) -> Page:
        """Return the brands that a list is about: those with observations in the range, sorted, from a position on."""
        sums: dict[int, int] = {}
        for by_brand in self._counts.values():
            for brand, n in by_brand.items():
                sums[brand] = sums.get(brand, 0) + n
        names = brand_names(self._reader.connection, [brand for brand in sums if brand])
        return page_of({b: Listed(sums[b], names[b][0]) for b in names}, "brand", parameters)

    def by_channel(self, brands: tuple[int, ...]) -> list[dict[str, Any]]:
        """Return a row for each channel, brand, period and currency."""
        codes = channel_codes(self._reader.connection)
        made = by_channel(self._chosen, codes, lambda chosen: self._narrowed(chosen).rows(brands))
        return sorted(made, key=lambda row: (row["period"], row["channel"], row["currency"]))

    def _narrowed(self, chosen: Filter) -> "_Report":
        """Return this report of a narrower filter; both count outliers and days with data together."""
        narrowed = copy(self)
        narrowed._chosen = chosen
        return narrowed

    def rows(self, brands: tuple[int, ...]) -> list[dict[str, Any]]:
        """Return a row for each brand, period and currency, the brands in the order given."""
        chosen = replace(self._chosen, brands=brands, group_by=("brand",))
        gathered = self._reader.gather(chosen)
        self.seen |= gathered.days
        self._outliers = self.aside.of(chosen)
        now = figures(gathered)
        before = figures(self._before.gather(chosen))
        prices = PriceChanges(self._reader, chosen, self._seed)
        of_brand: dict[tuple[str, int, int], list[tuple[int, Figure]]] = {}
        for key, figure in figures(self._reader.gather(chosen.grouped("brand", "category"))).items():
            of_brand.setdefault(key[:3], []).append((key.second_group, figure))
        wanted = sorted({category for listed in of_brand.values() for category, _ in listed if category})
        of_category = figures(self._reader.gather(self._in(wanted).grouped("category"))) if wanted else {}
        main = {key: _main(listed) for key, listed in of_brand.items()}
        rivals = self._rivals(sorted({category for category in main.values() if category}))
        peers = {key: self._peers(rivals, key, main[key[:3]]) for key in now}
        listed_brands = sorted({*brands, *(one.first_group for listed in peers.values() for one in listed)})
        names = brand_names(self._reader.connection, listed_brands)
        rows = []
        for key, figure in now.items():
            row = self._row(key, figure, {**now, **before}, names)
            row |= prices.columns(key, row["median_change"])
            self._add_categories(row, figure, key, of_brand[key[:3]], of_category)
            row["peers"] = [_peer(names[one.first_group], rivals[main[key[:3]]][one]) for one in peers[key]]
            rows.append(row)
        positions = {names[brand][0]: position for position, brand in enumerate(brands)}
        return sorted(rows, key=lambda row: (row["period"], row["currency"], positions[row["brand"]]))

    def _in(self, categories: list[int]) -> Filter:
        return replace(self._chosen, brands=None, categories=tuple(categories), tops=tuple(categories))

    def _rivals(self, categories: list[int]) -> dict[int, dict[Key, Figure]]:
        return {number: figures(self._reader.gather(self._in([number]).grouped("brand"))) for number in categories}

    def _peers(self, rivals: dict[int, dict[Key, Figure]], key: Key, category: int) -> list[Key]:
        known = rivals.get(category, {})
        others = [one for one in known if one[:2] == key[:2] and one.first_group not in (0, key.first_group)]
        return sorted(others, key=lambda one: (-known[one].n, one.first_group))[:PEERS]

    def _row(self, key: Key, now: Figure, known: dict[Key, Figure], names: Any) -> dict[str, Any]:
        earlier = key._replace(period=period_before(self._reader.days, key.period))
        was = known.get(earlier)
        standing = self._ranks[key[:2]].of(key.first_group)
        stood = self._ranks[earlier[:2]].of(key.first_group) if earlier[:2] in self._ranks else None
        assert standing is not None
        slug, name = names[key.first_group]
        return {
            "period": day_of(key.period),
            "brand": slug,
            "name": name,
            "currency": key.currency,
            "rank": standing.rank,
            "rank_before": stood.rank if stood else None,
            "ranked": standing.of,
            "percentile": standing.percentile,
            "items": now.items,
            "observations": now.n,
            "set_aside": self._outliers.get(key, 0),
            "median": now.median,
            "median_change": change(now.median, was.median if was else None),
            "kind": self._chosen.kind,
            **now.discounts,
        }

    def _add_categories(
        self, row: dict[str, Any], now: Figure, key: Key, parts: list[tuple[int, Figure]], known: dict[Key, Figure]
    ) -> None:
        row["categories"], weighted, n = [], 0.0, 0
        for category, part in sorted(parts, key=lambda one: (-one[1].n, one[0])):
            whole = known.get(Key(key.currency, key.period, category, 0))
            against = float(part.median / whole.median) if whole and whole.median else None
            if against is not None:
                weighted, n = weighted + against * part.n, n + part.n
            code = self._reader.tree.by_id[category].code if category else None
            row["categories"].append(
                {
                    "category": code,
                    "items": part.items,
                    "observations": part.n,
                    "share": round(part.n / now.n, 6),
                    "median": part.median,
                    "category_median": whole.median if whole else None,
                    "against_category": round(against, 6) if against is not None else None,
                }
            )
        row["against_categories"] = round(weighted / n, 6) if n else None


def _main(parts: list[tuple[int, Figure]]) -> int:
    return min(((-part.n, category) for category, part in parts if category), default=(0, 0))[1]


def _peer(name: tuple[str, str], figure: Figure) -> dict[str, Any]:
    return {"brand": name[0], "name": name[1], "observations": figure.n, "median": figure.median}
