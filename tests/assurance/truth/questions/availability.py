"""Availability: days seen and missing, new and gone items, and what channels have in common, from the source files."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import parameters_of, random_kind, random_scope
from tests.assurance.truth.ratios import ratio

_ITEMS_LEAST = 3
Row = tuple[Any, ...]
"""The first day of a period, the groups, and a channel."""


def availability(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random questions about availability, in every granularity and grouping."""
    for _ in range(count):
        scope = replace(random_scope(index, random, named=False), kind=random_kind(random))
        scope = replace(scope, group_by=[name for name in scope.group_by if name != "channel"])
        parameters = parameters_of(scope)
        if random.random() < 0.2:
            scope = index.default_window(scope)
            parameters |= {"from": None, "to": None}
        found = client.get("/index/insights/availability", parameters).body
        meta = found.get("meta", {})
        ours = {"data": found.get("data", found), "from": meta.get("from"), "to": meta.get("to")}
        theirs = {"data": expected(index, index.settled(scope)), "from": scope.first, "to": scope.last}
        yield Question(f"availability {parameters}", ours, theirs)


def expected(index: Index, scope: Scope) -> list[dict[str, Any]]:
    """Return the expected rows."""
    wide = replace(scope, first=scope.period_before(scope.start()))
    condition, values = wide.condition()
    groups = "".join(f"{name}, " for name in scope.group_by)
    query = f"SELECT DISTINCT iid, day, {groups}channel FROM observations WHERE {condition}"
    now: dict[Row, dict[str, set[date]]] = defaultdict(lambda: defaultdict(set))
    whole: dict[Row, set[str]] = defaultdict(set)
    for iid, day, *named in index.db.execute(query, values).fetchall():
        period = _period(scope, wide, day)
        whole[period, *named].add(iid)
        if day >= scope.first:
            now[period, *named][iid].add(day)
    observed = _observed(index, wide)
    before: dict[Row, Row] = {row: (scope.period_before(row[0]), *row[1:]) for row in now}
    for row in whole:
        following = _following(scope, row[0])
        if following is not None and observed[row[-1]] & _days(scope, following):
            before[following, *row[1:]] = row
    beside: dict[Row, list[Row]] = defaultdict(list)
    for row in sorted(now, key=lambda row: str(row[-1])):
        beside[row[:-1]].append(row)
    rows = [
        _figures(
            scope,
            row,
            now,
            beside[row[:-1]],
            (whole.get(earlier, set()), observed[row[-1]] & _whole_days(scope, earlier[0])),
            observed,
        )
        for row, earlier in before.items()
        if row in now or whole.get(earlier, set())
    ]
    return sorted(
        rows, key=lambda row: [row["period"], *((row[n] is None, row[n]) for n in (*scope.group_by, "channel"))]
    )


def _figures(
    scope: Scope,
    row: Row,
    now: dict[Row, dict[str, set[date]]],
    beside: list[Row],
    before: tuple[set[str], set[date]],
    observed: dict[str, set[date]],
) -> dict[str, Any]:
    period, *groups, channel = row
    seen = now.get(row, {})
    missing = {
        iid: sum(min(days) < day < max(days) and day not in days for day in observed[channel])
        for iid, days in seen.items()
    }
    value, low, high = ratio([(len(days), len(days) + missing[iid]) for iid, days in seen.items()], at_most_one=True)
    days = [day for of_item in seen.values() for day in of_item]
    earlier, earlier_days = before
    return {
        "period": period,
        "partial_period": scope.cuts(period),
        **dict(zip(scope.group_by, groups, strict=True)),
        "channel": channel,
        "kind": scope.kind,
        "items": len(seen),
        "observed_days": len(observed[channel] & _days(scope, period)),
        "item_days": len(days),
        "missing_days": sum(missing.values()),
        "share_seen": value,
        "share_seen_low": low,
        "share_seen_high": high,
        "first_day": min(days, default=None),
        "last_day": max(days, default=None),
        "new_items": len(seen.keys() - earlier) if earlier_days else None,
        "gone_items": len(earlier - seen.keys()) if earlier_days else None,
        "overlaps": [_overlap(other[-1], set(seen), set(now[other])) for other in beside if other != row and seen],
    }


def _overlap(channel: str, own: set[str], other: set[str]) -> dict[str, Any]:
    both, known = len(own & other), min(len(own), len(other)) >= _ITEMS_LEAST
    return {
        "channel": channel,
        "items": both,
        "jaccard": share(both, len(own | other)) if known else None,
        "share": share(both, len(own)) if known else None,
        "share_of_other": share(both, len(other)) if known else None,
    }


def _observed(index: Index, scope: Scope) -> dict[str, set[date]]:
    """Return the days on which each channel was observed, of whatever brand or category."""
    condition, values = replace(scope, brands=(), categories=()).condition()
    days: dict[str, set[date]] = defaultdict(set)
    for channel, day in index.db.execute(f"SELECT channel, day FROM observations WHERE {condition}", values).fetchall():
        days[channel].add(day)
    return days


def _period(scope: Scope, wide: Scope, day: date) -> date:
    if scope.granularity is None:
        return wide.first if day < scope.first else scope.first
    if scope.granularity == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if scope.granularity == "week" else day


def _following(scope: Scope, period: date) -> date | None:
    """Return the period after one, None if the range does not reach it."""
    if scope.granularity is None:
        return None if period == scope.first else scope.first
    after = {"month": 31, "week": 7, "day": 1}[scope.granularity]
    following = _period(scope, scope, period + timedelta(days=after))
    return following if following <= scope.last else None


def _whole_days(scope: Scope, period: date) -> set[date]:
    """Return the days of a period, of which the range may have a part only."""
    if scope.granularity is None:
        length = (scope.last - scope.first).days + 1
        return {period + timedelta(days=n) for n in range(length)}
    return {
        day
        for n in range(31)
        if _period(scope, scope, day := period + timedelta(days=n)) == period and day <= scope.last
    }


def _days(scope: Scope, period: date) -> set[date]:
    return {day for day in _whole_days(scope, period) if scope.first <= day <= scope.last}


ENDPOINTS = {"insights/availability": availability}
