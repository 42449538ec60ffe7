"""Brand insights: a brand's standing, its categories, and its peers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random
from types import MappingProxyType
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import OneOf, Question
from tests.assurance.truth.exact import Near, change, share
from tests.assurance.truth.index import Group, Index, Scope
from tests.assurance.truth.questions.items import names_of
from tests.assurance.truth.questions.numbers import brand_numbers
from tests.assurance.truth.questions.price_change import price_changes
from tests.assurance.truth.questions.ranks import most, percentile, rank
from tests.assurance.truth.questions.scopes import everything, random_insight

_PATH = "/index/insights/brands"
PEERS = 5
LISTED = 50
Key = tuple[str, date]


def listed(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare pages of the list of brands, in orders of their own, most of them filtered."""
    for _ in range(max(1, count // 10)):
        scope = random_insight(index, random)
        totals = index.totals(replace(scope, kind=index.settled(scope).kind), "brand")
        sort, limit = (
            random.choice([None, "-items", "observations", "-observations", "brand"]),
            random.choice([3, LISTED]),
        )
        place = {None: 0, "-items": 0}.get(sort, 1)
        counted = {brand: total[place] for brand, total in totals.items()}
        ordered = sorted(totals) if sort == "brand" else most(counted, {}, len(counted))
        if sort == "observations":
            ordered = sorted(totals, key=lambda brand: (totals[brand][1], brand))
        more = {"sort": sort, "limit": limit}
        page = _question(client, index, scope, ordered[:limit], "", more)
        meta = client.get(_PATH, {**everything(scope), **more}).body.get("meta", {})
        yield page
        yield Question(f"{page.text} meta", _paged(meta), {"total": len(totals), "last page": len(totals) <= limit})
        if meta.get("next_cursor"):
            more["cursor"] = meta["next_cursor"]
            yield _question(client, index, scope, ordered[limit : 2 * limit], "", more)


def _paged(meta: dict[str, Any]) -> dict[str, Any]:
    return {"total": meta.get("total"), "last page": meta.get("next_cursor") is None}


def one(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the insights of single brands."""
    for _ in range(count):
        brand = random.choice(index.known_brands)
        days = index.seen_days(Scope(date.min, date.max, brands=[brand]))
        yield _question(client, index, random_insight(index, random, days), [brand], f"/{brand}")


def _question(
    client: Client,
    index: Index,
    scope: Scope,
    brands: list[str],
    below: str,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Question:
    parameters = {**everything(scope), **more}
    found = client.get(_PATH + below, parameters).body
    scope = replace(scope, kind=index.settled(replace(scope, brands=brands if below else ())).kind)
    rows = list(_Report(client, index, scope, brands).rows()) if brands else []
    rows.sort(key=lambda row: (row["period"], row["currency"], brands.index(row["brand"])))
    data = found.get("data")
    if data is None:
        return Question(f"{_PATH}{below} {parameters}", found, rows)
    # Categories of equal items have no announced order.
    for row in (*data, *rows):
        row["categories"].sort(key=lambda entry: (-entry["items"], entry["category"] or ""))
    return Question(f"{_PATH}{below} {parameters}", data, rows)


class _Report:
    """The figures of some brands in one scope."""

    def __init__(self, client: Client, index: Index, scope: Scope, brands: list[str]) -> None:
        self._index = index
        self._scope = scope
        self._numbers = brand_numbers(client)
        chosen = replace(scope, brands=brands, group_by=("brand",))
        self._now, self._before = index.groups(chosen), index.groups(chosen.compared())
        self._parts = index.groups(replace(chosen, group_by=("brand", "category")))
        alike = replace(scope, group_by=("brand",))
        self._ranks, self._ranks_before = index.item_counts(alike), index.item_counts(alike.compared())
        self._categories = index.groups(replace(scope, group_by=("category",)))
        self._changes: dict[str, Callable[[str, date], dict[str, Any]]] = {}
        self._rivals: dict[str, dict[tuple[Any, ...], Group]] = {}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each brand, period and currency."""
        for (currency, period, brand), found in self._now.items():
            earlier = (currency, self._scope.period_before(period))
            was = self._before.get((*earlier, brand))
            counts = self._ranks[currency, period]
            parts = {key[3]: part for key, part in self._parts.items() if key[:3] == (currency, period, brand)}
            yield {
                "kind": self._scope.kind,
                **found.discounts(),
                "period": period,
                "partial_period": self._scope.cuts(period),
                "brand": brand,
                "name": names_of(self._index, brand),
                "currency": currency,
                "rank": rank(counts, brand),
                "rank_before": rank(self._ranks_before.get(earlier, {}), brand),
                "ranked": len(counts),
                "percentile": percentile(counts, brand),
                "items": found.items,
                "observations": found.n,
                "median": found.median,
                "median_change": change(found.median, was and was.median),
                **self._changed(brand)(currency, period),
                "against_categories": self._against((currency, period), parts),
                "categories": [self._category((currency, period), code, part, found) for code, part in parts.items()],
                "peers": self._peers((currency, period), brand, parts),
            }

    def _changed(self, brand: str) -> Callable[[str, date], dict[str, Any]]:
        if brand not in self._changes:
            self._changes[brand] = price_changes(self._index, replace(self._scope, brands=[brand]))
        return self._changes[brand]

    def _category(self, key: Key, code: str | None, part: Group, whole: Group) -> dict[str, Any]:
        all_of_it = self._categories.get((*key, code)) if code else None
        middle = all_of_it.median if all_of_it else None
        return {
            "category": code,
            "items": part.items,
            "observations": part.n,
            "share": share(part.items, whole.items),
            "median": part.median,
            "category_median": middle,
            "against_category": Near(part.median / middle, places=6) if middle else None,
        }

    def _against(self, key: Key, parts: dict[str | None, Group]) -> Near | None:
        """Weigh the ratios of the brand's medians to its categories' by the brand's items."""
        weighted, n = Fraction(0), 0
        for code, part in parts.items():
            middle = self._categories[*key, code].median if code else None
            if middle:
                weighted, n = weighted + part.median / middle * part.items, n + part.items
        return Near(weighted / n, places=6) if n else None

    def _peers(self, key: Key, brand: str, parts: dict[str | None, Group]) -> OneOf | list[dict[str, Any]]:
        """Return the brands with most items in the brand's largest category; if two are largest, any of both."""
        named = {code: part.items for code, part in parts.items() if code}
        largest = [code for code, n in named.items() if n == max(named.values())]
        answers = [self._peers_in(key, brand, code) for code in largest]
        return answers[0] if len(answers) == 1 else OneOf(answers) if answers else []

    def _peers_in(self, key: Key, brand: str, code: str) -> list[dict[str, Any]]:
        if code not in self._rivals:
            chosen = replace(self._scope, categories=(code,), exactly=True, group_by=("brand",))
            self._rivals[code] = self._index.groups(chosen)
        others = {
            found[2]: group
            for found, group in self._rivals[code].items()
            if found[:2] == key and found[2] not in (None, brand)
        }
        chosen_ones = most({slug: group.items for slug, group in others.items()}, self._numbers, PEERS)
        return [
            {
                "brand": slug,
                "name": names_of(self._index, slug),
                "items": others[slug].items,
                "observations": others[slug].n,
                "median": others[slug].median,
            }
            for slug in chosen_ones
        ]


ENDPOINTS = {"insights/brands": listed, "insights/brands/{slug}": one}
