"""Price changes: a walk through each series of daily prices of the source files, and through what others did around it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, percentile, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import everything, random_scope
from tests.assurance.truth.ratios import ratio

GAP, ITEMS_LEAST, AROUND_DAYS = 31, 3, 400
NONE = (None, None, None)


class Rule(NamedTuple):
    """What an offer is, whether its changes count, and when a channel follows."""

    offers: str
    offer_days: int
    follow_days: int


class Change(NamedTuple):
    """A price that is not the one before it."""

    day: date
    before: Fraction
    after: Fraction
    is_offer: bool

    @property
    def is_rise(self) -> bool:
        """Whether the price is higher."""
        return self.after > self.before


@dataclass
class Series:
    """The daily prices of an item in a channel and currency."""

    group: tuple[Any, ...]
    days: list[date] = field(default_factory=list)
    prices: list[Fraction] = field(default_factory=list)

    def compared(self) -> Iterator[tuple[date, int]]:
        """Yield the days whose price is compared with the one before, and how many days that is earlier."""
        for earlier, later in zip(self.days, self.days[1:], strict=False):
            if (later - earlier).days <= GAP:
                yield later, (later - earlier).days

    def changes(self, rule: Rule) -> list[Change]:
        """Return all changes, each with whether it is of an offer."""
        places = [
            place
            for place in range(1, len(self.days))
            if (self.days[place] - self.days[place - 1]).days <= GAP and self.prices[place] != self.prices[place - 1]
        ]
        of_offers: set[int] = set()
        for place in places:
            before = self.prices[place - 1]
            if self.prices[place] > before:
                continue
            for later in range(place + 1, len(self.days)):
                is_gap = (self.days[later] - self.days[later - 1]).days > GAP
                if is_gap or (self.days[later] - self.days[place]).days > rule.offer_days:
                    break
                if self.prices[later] >= before:
                    if self.prices[later] == before:
                        of_offers |= {one for one in places if place <= one <= later}
                    break
        return [
            Change(self.days[place], self.prices[place - 1], self.prices[place], place in of_offers) for place in places
        ]

    def was_seen(self, first: date, last: date) -> bool:
        """Return whether there is a price on any of these days."""
        return any(first <= day <= last for day in self.days)


@dataclass
class Row:
    """What is counted for one period, group, channel and currency."""

    compared: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    counted: list[tuple[str, Change]] = field(default_factory=list)
    of_offers: int = 0
    roles: list[tuple[str, str]] = field(default_factory=list)
    responses: dict[str, list[tuple[str, int | None]]] = field(default_factory=lambda: defaultdict(list))


def price_changes(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random questions, with outliers, which the files do not name."""
    for _ in range(count):
        scope, rule = random_question(index, random)
        parameters = {**everything(scope), **rule._asdict()}
        found = client.get("/index/insights/price-changes", parameters).body
        yield Question(f"price changes {parameters}", found.get("data", found), expected(index, scope, rule))


def random_question(index: Index, random: Random) -> tuple[Scope, Rule]:
    """Return a random scope of one kind, and a random rule."""
    scope = random_scope(index, random, named=random.random() < 0.8)
    groups = [name for name in scope.group_by if name != "channel"]
    rule = Rule(random.choice(["include", "exclude"]), random.choice([3, 30, 60]), random.choice([1, 7, 30]))
    return replace(scope, group_by=groups, kind=random.choice(["listing", "listing", "sale"])), rule


def expected(index: Index, scope: Scope, rule: Rule) -> list[dict[str, Any]]:
    """Return the expected rows."""
    around = timedelta(days=AROUND_DAYS)
    condition, values = replace(scope, first=scope.first - around, last=scope.last + around).condition()
    groups = "".join(f"any_value({name}), " for name in scope.group_by)
    query = (
        f"SELECT currency, iid, channel, day, min(price), {groups} FROM observations WHERE {condition} AND price > 0 "
        "GROUP BY currency, iid, channel, day ORDER BY currency, iid, channel, day"
    )
    items: dict[tuple[str, str], dict[str, Series]] = defaultdict(dict)
    for currency, iid, channel, day, price, *group in index.db.execute(query, values).fetchall():
        series = items[currency, iid].setdefault(channel, Series(tuple(group)))
        series.days.append(day)
        series.prices.append(Fraction(price))
    periods = dict(
        index.db.execute(
            f"SELECT day, {scope.period()} FROM (SELECT DISTINCT day FROM observations WHERE day BETWEEN ? AND ?)",
            [scope.first, scope.last],
        ).fetchall()
    )
    rows: dict[tuple[Any, ...], Row] = defaultdict(Row)
    for (currency, iid), channels in items.items():
        _count_item(rows, iid, currency, channels, periods, rule)
    shown = [
        {
            "period": period,
            "partial_period": scope.cuts(period),
            **dict(zip(scope.group_by, group, strict=True)),
            "channel": channel,
            "currency": currency,
            "kind": scope.kind,
            **_figures(row),
        }
        for (period, *group, channel, currency), row in rows.items()
    ]
    names = (*scope.group_by, "channel", "currency")
    return sorted(shown, key=lambda row: [row["period"], *((row[name] is None, row[name]) for name in names)])


def _count_item(
    rows: dict[tuple[Any, ...], Row],
    iid: str,
    currency: str,
    channels: dict[str, Series],
    periods: dict[date, date],
    rule: Rule,
) -> None:
    every = {channel: series.changes(rule) for channel, series in channels.items()}
    counted = {
        channel: [change for change in changes if rule.offers == "include" or not change.is_offer]
        for channel, changes in every.items()
    }
    for channel, series in channels.items():
        key = *series.group, channel, currency
        for day, days in series.compared():
            if day in periods:
                rows[periods[day], *key].compared[iid].append(days)
        for change in every[channel]:
            if change.day in periods:
                rows[periods[change.day], *key].of_offers += change.is_offer
        for change in counted[channel]:
            if change.day in periods:
                row = rows[periods[change.day], *key]
                row.counted.append((iid, change))
                others = {name: other for name, other in channels.items() if name != channel}
                _count_role(row, iid, change, others, counted, rule.follow_days)


def _count_role(
    row: Row,
    iid: str,
    change: Change,
    others: dict[str, Series],
    counted: dict[str, list[Change]],
    follow_days: int,
) -> None:
    """Add what a change is beside those of the other channels that had the item."""
    day, one = change.day, timedelta(days=1)
    having = [name for name, other in others.items() if other.was_seen(day - GAP * one, day - one)]
    if not having:
        return
    lags = {
        name: sorted((other.day - day).days for other in counted[name] if other.is_rise == change.is_rise)
        for name in having
    }
    if any(-follow_days <= lag < 0 for some in lags.values() for lag in some):
        row.roles.append((iid, "following"))
    elif any(0 in some for some in lags.values()):
        row.roles.append((iid, "joint"))
    else:
        row.roles.append((iid, "first"))
        ends = day + follow_days * one
        for name in having:
            if others[name].was_seen(ends, ends + GAP * one):
                row.responses[name].append((iid, next((lag for lag in lags[name] if 1 <= lag <= follow_days), None)))


def _figures(row: Row) -> dict[str, Any]:
    changes = [change for _, change in row.counted]
    by_item = {iid: (sum(one == iid for one, _ in row.counted), len(days)) for iid, days in row.compared.items()}
    rises = [(iid, change) for iid, change in row.counted if change.is_rise]
    falls = [(iid, change) for iid, change in row.counted if not change.is_rise]
    roles = [role for _, role in row.roles]
    leads = {
        iid: (
            sum(one == iid and role == "first" for one, role in row.roles),
            sum(one == iid for one, _ in row.roles),
        )
        for iid, _ in row.roles
    }
    changed = ratio(list(by_item.values()), at_most_one=True)
    first = ratio(list(leads.values()), at_most_one=True) if leads else NONE
    span = sum(sum(days) for days in row.compared.values())
    sizes = [(iid, abs(change.after / change.before - 1)) for iid, change in row.counted]
    return {
        "items": len(by_item),
        "comparisons": sum(whole for _, whole in by_item.values()),
        "changed_items": len({iid for iid, _ in row.counted}),
        "changes": len(changes),
        "increases": len(rises),
        "decreases": len(falls),
        "offer_changes": row.of_offers,
        **{f"share_changed{bound}": one for bound, one in zip(("", "_low", "_high"), changed, strict=True)},
        "days_between_changes": Near(Fraction(span, len(changes)), places=6)
        if changes and len(by_item) >= ITEMS_LEAST
        else None,
        "increase_median": _percentile([(iid, one.after / one.before - 1) for iid, one in rises], 50),
        "decrease_median": _percentile([(iid, one.after / one.before - 1) for iid, one in falls], 50),
        **{f"size_p{percent}": _percentile(sizes, percent) for percent in (10, 25, 50, 75, 90)},
        "matched_changes": len(roles),
        "first_moves": roles.count("first"),
        "joint_moves": roles.count("joint"),
        "following_moves": roles.count("following"),
        **{f"share_first{bound}": one for bound, one in zip(("", "_low", "_high"), first, strict=True)},
        "followers": [_follower(name, found) for name, found in sorted(row.responses.items())],
    }


def _percentile(values: Sequence[tuple[str, Fraction]], percent: int) -> Near | None:
    if len({iid for iid, _ in values}) < ITEMS_LEAST:
        return None
    return Near(percentile(sorted(value for _, value in values), percent), places=6)


def _follower(channel: str, responses: list[tuple[str, int | None]]) -> dict[str, Any]:
    lags = sorted(Fraction(lag) for _, lag in responses if lag is not None)
    items = len({iid for iid, _ in responses})
    known = items >= ITEMS_LEAST
    return {
        "channel": channel,
        "matched_items": items,
        "moves": len(responses),
        "followed": len(lags),
        "share_followed": share(len(lags), len(responses)) if known else None,
        "days_median": percentile(lags, 50) if known and lags else None,
    }


ENDPOINTS = {"insights/price-changes": price_changes}
