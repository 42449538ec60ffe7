"""Promotions: depth, frequency and duration of offers by each rule, from the source files, one series after another."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near, percentile, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.scopes import everything, random_scope
from tests.assurance.truth.ratios import ratio

GAP_DAYS = 31
HISTORY_DAYS = 730
ITEMS_LEAST = 3
RULES = ("list_price", "return", "prior_price")
_LOWEST = """
SELECT iid, channel, currency, {groups} day, price, list_price FROM observations WHERE {condition}
QUALIFY 1 = row_number() OVER (PARTITION BY iid, channel, currency, day ORDER BY price, nullif(list_price, 0) NULLS LAST)
ORDER BY iid, channel, currency, day"""
Row = tuple[Any, ...]
"""The first day of a period, the groups, a channel and a currency."""


class Listing(NamedTuple):
    """The lowest listing of a day."""

    day: date
    price: Decimal
    list_price: Decimal | None

    @property
    def is_announced(self) -> bool:
        """Whether a higher list price is shown beside it."""
        return self.list_price is not None and self.list_price > self.price


class Offer(NamedTuple):
    """An offer: its first and last place in its series, its depth, and whether the days before and after tell its ends."""

    first: int
    last: int
    depth: Fraction
    begins: bool
    ends: bool


def promotions(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random questions about promotions, by each rule, half of them around days with list prices."""
    days = index.column(
        "SELECT DISTINCT day FROM observations WHERE list_price > price AND kind = 'listing' ORDER BY day"
    )
    for _ in range(count):
        scope = replace(random_scope(index, random, named=False), kind="listing")
        scope = replace(scope, group_by=[name for name in scope.group_by if name != "channel"])
        if days and random.random() < 0.5:
            middle, length = random.choice(days), timedelta(days=random.choice((3, 30, 100)))
            scope = replace(scope, first=middle - length, last=middle + length, brands=())
        rule, offer_days = random.choice(RULES), random.choice((None, 7, 60))
        offer_days = offer_days if rule == "return" else None
        parameters = {**everything(scope), "kind": None, "rule": rule, "offer_days": offer_days}
        found = client.get("/index/insights/promotions", parameters).body
        ours = {"data": found.get("data", found)}
        yield Question(f"promotions {parameters}", ours, {"data": expected(index, scope, rule, offer_days or 30)})


def expected(index: Index, scope: Scope, rule: str, offer_days: int) -> list[dict[str, Any]]:
    """Return the expected rows."""
    before = {"list_price": 0, "return": offer_days, "prior_price": HISTORY_DAYS}[rule] + GAP_DAYS
    after = offer_days if rule == "return" else 0
    wide = replace(scope, first=scope.first - timedelta(days=before), last=scope.last + timedelta(days=after))
    condition, values = wide.condition()
    groups = "".join(f"{name}, " for name in scope.group_by)
    series: dict[Row, list[Listing]] = defaultdict(list)
    for *key, day, price, list_price in index.db.execute(
        _LOWEST.format(condition=condition, groups=groups), values
    ).fetchall():
        series[tuple(key)].append(Listing(day, price, list_price))
    days: dict[Row, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    began: dict[Row, dict[str, list[tuple[Fraction, int | None, int]]]] = defaultdict(lambda: defaultdict(list))
    for (iid, channel, currency, *named), listings in series.items():
        offers = recognized(listings, rule, offer_days)
        on_offer = {place for offer in offers for place in range(offer.first, offer.last + 1)}
        for place, listing in enumerate(listings):
            if scope.first <= listing.day <= scope.last:
                days[_period(scope, listing.day), *named, channel, currency][iid].append(place in on_offer)
        for offer in offers:
            day = listings[offer.first].day
            if offer.begins and scope.first <= day <= scope.last:
                duration = (listings[offer.last].day - day).days + 1 if offer.ends else None
                row = _period(scope, day), *named, channel, currency
                began[row][iid].append((offer.depth, duration, day.weekday()))
    rows = [{"rule": rule, **_figures(scope, row, days[row], began[row])} for row in days]
    names = (*scope.group_by, "channel", "currency")
    return sorted(rows, key=lambda row: [row["period"], *((row[name] is None, row[name]) for name in names)])


def recognized(listings: Sequence[Listing], rule: str, offer_days: int) -> list[Offer]:
    """Return the offers of a series."""
    if rule == "return":
        return list(_returned(listings, offer_days))
    announced = list(_announced(listings))
    return announced if rule == "list_price" else list(_below_prior_price(listings, announced))


def _is_near(listings: Sequence[Listing], place: int) -> bool:
    """Return whether the row before one is of the 31 days before it."""
    return 0 < place < len(listings) and (listings[place].day - listings[place - 1].day).days <= GAP_DAYS


def _announced(listings: Sequence[Listing]) -> Iterator[Offer]:
    place = 0
    while place < len(listings):
        first = place
        place += 1
        if not listings[first].is_announced:
            continue
        while _is_near(listings, place) and listings[place].is_announced:
            place += 1
        depth = max(1 - Fraction(one.price) / Fraction(one.list_price or 1) for one in listings[first:place])
        yield Offer(first, place - 1, depth, _is_near(listings, first), _is_near(listings, place))


def _returned(listings: Sequence[Listing], offer_days: int) -> Iterator[Offer]:
    place = 1
    while place < len(listings):
        first, level = place, listings[place - 1].price
        place += 1
        if not _is_near(listings, first) or listings[first].price >= level:
            continue
        end = first + 1
        while _is_near(listings, end) and listings[end].price < level:
            end += 1
        returns = _is_near(listings, end) and listings[end].price == level
        if returns and (listings[end].day - listings[first].day).days <= offer_days:
            lowest = min(one.price for one in listings[first:end])
            yield Offer(first, end - 1, 1 - Fraction(lowest) / Fraction(level), True, True)
            place = end + 1


def _below_prior_price(listings: Sequence[Listing], offers: Sequence[Offer]) -> Iterator[Offer]:
    for offer in offers:
        first = listings[offer.first]
        window = [one for one in listings[: offer.first] if 1 <= (first.day - one.day).days <= 30]
        prior = min((one.price for one in window), default=Decimal(0))
        if offer.begins and len(window) == 30 and first.price < prior:
            lowest = min(one.price for one in listings[offer.first : offer.last + 1])
            yield offer._replace(depth=1 - Fraction(lowest) / Fraction(prior))


def _figures(
    scope: Scope,
    row: Row,
    days: dict[str, list[bool]],
    began: dict[str, list[tuple[Fraction, int | None, int]]],
) -> dict[str, Any]:
    period, *groups, channel, currency = row
    offers = [offer for of_item in began.values() for offer in of_item]
    durations = {iid: [one for _, one, _ in of_item if one is not None] for iid, of_item in began.items()}
    on_offer = ratio([(sum(of_item), len(of_item)) for of_item in days.values()], at_most_one=True)
    depth = ratio([(sum((one[0] for one in of), Fraction(0)), len(of)) for of in began.values()], at_most_one=True)
    weekdays = Counter(weekday for *_, weekday in offers)
    return {
        "period": period,
        "partial_period": scope.cuts(period),
        **dict(zip(scope.group_by, groups, strict=True)),
        "channel": channel,
        "currency": currency,
        "items": len(days),
        "item_days": sum(map(len, days.values())),
        "item_days_on_offer": sum(map(sum, days.values())),
        **dict(zip(("share_on_offer", "share_on_offer_low", "share_on_offer_high"), on_offer, strict=True)),
        "items_on_offer": sum(map(any, days.values())),
        "offers": len(offers),
        "offers_per_item": share(len(offers), len(days)) if len(days) >= ITEMS_LEAST else None,
        **dict(zip(("depth_mean", "depth_mean_low", "depth_mean_high"), depth, strict=True)),
        "depth_median": _median([[offer[0] for offer in of_item] for of_item in began.values()]),
        "offers_ended": sum(map(len, durations.values())),
        "duration_median": _median([list(map(Fraction, of_item)) for of_item in durations.values()]),
        "starts": [
            {"weekday": f"{date(2026, 6, 1) + timedelta(days=weekday):%A}", "offers": n, "share": share(n, len(offers))}
            for weekday, n in sorted(weekdays.items())
        ],
    }


def _median(by_item: Sequence[Sequence[Fraction]]) -> Near | None:
    listed = sorted(figure for of_item in by_item for figure in of_item)
    return Near(percentile(listed, 50), places=6) if sum(map(bool, by_item)) >= ITEMS_LEAST else None


def _period(scope: Scope, day: date) -> date:
    if scope.granularity is None:
        return scope.first
    if scope.granularity == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if scope.granularity == "week" else day


ENDPOINTS = {"insights/promotions": promotions}
