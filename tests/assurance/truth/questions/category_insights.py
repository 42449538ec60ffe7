"""Category insights: a category's periods against the ones before and against its equals."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import change, share
from tests.assurance.truth.index import Group, Index, Scope
from tests.assurance.truth.questions.items import names_of, path_of
from tests.assurance.truth.questions.numbers import brand_numbers
from tests.assurance.truth.questions.price_change import price_changes
from tests.assurance.truth.questions.ranks import most, rank
from tests.assurance.truth.questions.scopes import everything, random_insight

_PATH = "/index/insights/categories"
TOP_BRANDS = 5
Counts = dict[tuple[str, date], dict[str, int]]


def listed(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the insights of all categories of the first level."""
    tops = sorted({code.split(".")[0] for code in index.known_categories})
    for _ in range(max(1, count // 4)):
        yield _question(client, index, random, tops, "")
        yield _ordered(client, index, random, tops)


def one(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the insights of single categories of any level."""
    for _ in range(count):
        code = random.choice(index.known_categories)
        yield _question(client, index, random, [code], f"/{code}")


def _ordered(client: Client, index: Index, random: Random, tops: list[str]) -> Question:
    """Compare the order and the total of a filtered list, of which a page shows three."""
    scope = replace(random_insight(index, random), granularity=None)
    kind, totals = index.settled(scope).kind, {}
    for code in tops:
        of_all = index.totals(replace(scope, kind=kind, categories=(code,)), "'all'")
        if of_all:
            totals[code] = of_all["all"][0]
    parameters = {**everything(scope), "sort": "-items", "limit": 3}
    found = client.get(_PATH, parameters).body
    shown = list(dict.fromkeys(row["category"] for row in found.get("data", ())))
    ours = {"order": shown, "total": found.get("meta", {}).get("total")}
    theirs = {"order": most(totals, {}, 3), "total": len(totals)}
    return Question(f"{_PATH} order {parameters}", ours, theirs)


def _question(client: Client, index: Index, random: Random, codes: list[str], below: str) -> Question:
    known = index.seen_days(Scope(date.min, date.max, categories=codes))
    scope = random_insight(index, random, known)
    parameters = everything(scope)
    found = client.get(_PATH + below, parameters).body
    scope = replace(scope, kind=index.settled(replace(scope, categories=codes if below else ())).kind)
    rows = [row for code in codes for row in _rows(client, index, scope, code)]
    rows.sort(key=lambda row: (row["period"], row["category"], row["currency"]))
    return Question(f"{_PATH}{below} {parameters}", found.get("data", found), rows)


def _rows(client: Client, index: Index, scope: Scope, code: str) -> Iterator[dict[str, Any]]:
    chosen = replace(scope, categories=(code,))
    now, before = index.groups(chosen), index.groups(chosen.compared())
    by_channel = index.groups(replace(chosen, group_by=("channel",)))
    by_brand = index.groups(replace(chosen, group_by=("brand",)))
    ranks, ranks_before = (_ranks(index, span, code.count(".")) for span in (scope, scope.compared()))
    changed = price_changes(index, chosen)
    numbers = brand_numbers(client)
    for (currency, period), found in now.items():
        earlier = (currency, scope.period_before(period))
        was = before.get(earlier)
        counts, counts_before = ranks.get((currency, period), {}), ranks_before.get(earlier, {})
        brands = {key[2]: group for key, group in by_brand.items() if key[:2] == (currency, period) and key[2]}
        yield {
            "kind": scope.kind,
            **found.discounts(),
            "period": period,
            "partial_period": scope.cuts(period),
            "category": code,
            "path": path_of(index, code),
            "currency": currency,
            "items": found.items,
            "observations": found.n,
            "median": found.median,
            "median_before": was.median if was else None,
            "median_change": change(found.median, was and was.median),
            **changed(currency, period),
            "observations_before": was.n if was else None,
            "rank": rank(counts, code),
            "rank_before": rank(counts_before, code),
            "ranked": len(counts) if code in counts else None,
            "channels": [
                {"channel": key[2], **_part(group, found)}
                for key, group in sorted(by_channel.items())
                if key[:2] == (currency, period)
            ],
            "top_brands": [
                {"brand": slug, "name": names_of(index, slug), **_part(brands[slug], found)}
                for slug in most({slug: group.items for slug, group in brands.items()}, numbers, TOP_BRANDS)
            ],
        }


def _part(part: Group, whole: Group) -> dict[str, Any]:
    return {
        "items": part.items,
        "observations": part.n,
        "share": share(part.items, whole.items),
        "median": part.median,
    }


def _ranks(index: Index, scope: Scope, dots: int) -> Counts:
    """Count the items of the categories that have as many dots."""
    counts: Counts = {}
    for moment, by_code in index.item_counts(replace(scope, group_by=("category",))).items():
        for code, items in by_code.items():
            if code.count(".") >= dots:
                above = ".".join(code.split(".")[: dots + 1])
                found = counts.setdefault(moment, {})
                found[above] = found.get(above, 0) + items
    return counts


ENDPOINTS = {"insights/categories": listed, "insights/categories/{code}": one}
