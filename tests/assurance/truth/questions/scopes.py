"""Random questions of the reports: ranges, brands, categories, channels, groups, periods."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

from tests.assurance.truth.index import Index, Scope

_DIMENSIONS = ("brand", "category", "channel")


def random_scope(index: Index, random: Random, *, named: bool) -> Scope:
    """Return a random scope; `named`: with at least one brand or category."""
    by_brand, by_category = random.random() < 0.5, random.random() < 0.5
    if named and not by_category:
        by_brand = True
    brands, categories = index.known_brands, index.known_categories
    by_channel = random.random() < 0.25
    scope = Scope(
        date.min,
        date.max,
        granularity=random.choice(["day", "week", "month"]),
        brands=sorted(random.sample(brands, min(len(brands), random.randint(1, 3)))) if by_brand else (),
        categories=sorted(random.sample(categories, random.randint(1, 2))) if by_category else (),
        channels=sorted(random.sample(index.known_channels, min(2, len(index.known_channels)))) if by_channel else (),
        currency=random.choice(index.known_currencies) if random.random() < 0.2 else None,
        group_by=tuple(random.sample(_DIMENSIONS, random.randint(0, 2))),
    )
    first, last = random_range(random, index.seen_days(scope) or index.known_days)
    return replace(scope, first=first, last=last)


def random_kind(random: Random) -> str | None:
    """Return a kind to ask for; mostly none."""
    return random.choice([None, None, None, "listing", "sale", "both"])


def random_insight(index: Index, random: Random, days: Sequence[date] = ()) -> Scope:
    """Return a random scope of insights, which know no brands, categories or groups; around one of `days`."""
    first, last = random_range(random, days or random_days(index, random))
    channels = sorted(random.sample(index.known_channels, min(2, len(index.known_channels))))
    return Scope(
        first,
        last,
        granularity=random.choice([None, "day", "week", "month"]),
        channels=channels if random.random() < 0.25 else (),
        currency=random.choice(index.known_currencies) if random.random() < 0.2 else None,
        kind=random_kind(random),
    )


def everything(scope: Scope) -> dict[str, Any]:
    """Return a scope as query parameters of a statistic of prices that counts outliers too: all that the source has."""
    return {**parameters_of(scope), "outliers": "include"}


def random_days(index: Index, random: Random) -> list[date]:
    """Return the days with observations of a random currency.

    Of all days those of a source with years of months would be chosen nearly always, and no other source be asked for.
    """
    return index.seen_days(Scope(date.min, date.max, currency=random.choice(index.known_currencies)))


def random_range(random: Random, days: Sequence[date]) -> tuple[date, date]:
    """Return a random range around one of the days: a day, weeks or months long."""
    middle, length = random.choice(days), random.choice([1, 3, 7, 10, 31, 90, 200, 1_000])
    first = middle - timedelta(days=random.randrange(length))
    return first, first + timedelta(days=length - 1)


def parameters_of(scope: Scope) -> dict[str, Any]:
    """Return a scope as query parameters."""
    return {
        "from": scope.first,
        "to": scope.last,
        "granularity": scope.granularity,
        "brand": list(scope.brands),
        "category": list(scope.categories),
        "channel": list(scope.channels),
        "currency": scope.currency,
        "group_by": list(scope.group_by),
        "kind": scope.kind,
    }
