"""Cohorts: the distribution of prices by period and group."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, deviation, mean, percentile, share
from tests.assurance.truth.index import Group, Index, Scope
from tests.assurance.truth.questions.scopes import everything, random_kind, random_scope

PERCENTS = (10, 25, 50, 75, 90)


def cohorts(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random cohorts of brands, categories or both, in every granularity and grouping."""
    for _ in range(count):
        unit = random.choice([None, "kg", "l"])
        scope = replace(random_scope(index, random, named=True), kind=random_kind(random), unit=unit)
        parameters = everything(scope) | ({"measure": "unit_price", "unit": unit} if unit else {})
        if random.random() < 0.2:
            scope = index.default_window(scope)
            parameters |= {"from": None, "to": None}
        found = client.get("/index/cohorts", parameters).body
        meta = found.get("meta", {})
        ours = {"data": found.get("data", found), "from": meta.get("from"), "to": meta.get("to")}
        scope = index.settled(scope)
        theirs: dict[str, Any] = {"data": expected(index, scope), "from": scope.first, "to": scope.last}
        if unit:
            ours["items_without"] = meta.get("unit_prices", {}).get("items_without")
            theirs["items_without"] = index.items_without(scope)
        yield Question(f"cohorts {parameters}", ours, theirs)
        yield _counted(client, parameters, sum(row["observations"] for row in theirs["data"]))


def _counted(client: Client, parameters: dict[str, Any], observations: int) -> Question:
    """Compare how many observations there are where outliers are set aside: those that count, and those that do not."""
    found = client.get("/index/cohorts", {**parameters, "outliers": "exclude"}).body
    if "data" not in found:
        return Question(f"cohorts without outliers {parameters}", found, "an answer")
    counted = sum(row["observations"] for row in found["data"])
    total = counted + found["meta"]["outliers"]["set_aside"]
    return Question(f"cohorts without outliers {parameters}", total, observations)


def expected(index: Index, scope: Scope) -> list[dict[str, Any]]:
    """Return the expected rows."""
    rows = []
    for (currency, period, *groups), found in index.groups(scope).items():
        rows.append(
            {
                "period": period,
                "partial_period": scope.cuts(period),
                **dict(zip(scope.group_by, groups, strict=True)),
                "currency": currency,
                **({"unit": scope.unit} if scope.unit else {}),
                "kind": scope.kind,
                **_figures(found, scope.unit),
            }
        )
    return sorted(
        rows,
        key=lambda row: [row["period"], *((row[name] is None, row[name]) for name in scope.group_by), row["currency"]],
    )


def _figures(found: Group, unit: str | None) -> dict[str, Any]:
    spread, percentiles = deviation(found.prices), [percentile(found.prices, percent) for percent in PERCENTS]
    shown = [Near(one, places=6) for one in percentiles] if unit else percentiles
    return {
        "items": found.items,
        "observations": found.n,
        "price_n": found.n,
        "mean": Near(mean(found.prices), places=6),
        "stddev": None if spread is None else Near(spread, places=6),
        **{f"p{percent}": one for percent, one in zip(PERCENTS, shown, strict=True)},
        "min": found.prices[0],
        "max": found.prices[-1],
        "channels": [
            {"channel": channel, "observations": n, "share": share(n, found.n)}
            for channel, n in sorted(found.channels.items())
        ],
        **found.discounts(),
        "first_day": found.first,
        "last_day": found.last,
    }


ENDPOINTS = {"cohorts": cohorts}
