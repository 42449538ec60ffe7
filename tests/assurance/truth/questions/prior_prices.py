"""Prior prices: the reduction of each channel on any day, also one without an observation, judged day by day."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import OneOf, Question
from tests.assurance.truth.exact import Near
from tests.assurance.truth.index import Index, window_end

PERIOD_DAYS = 30
READ_DAYS = 730
_LOWEST = """
SELECT channel, currency, day, min(price) AS low, max(price) AS high,
       list(DISTINCT list_price) FILTER (list_price IS NOT NULL) AS listed
FROM observations WHERE iid = ? AND kind = 'listing' AND day BETWEEN ? AND ? GROUP BY ALL ORDER BY ALL"""
Days = Mapping[date, Decimal]


def reference(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare prior prices on random days of random items: their last one, others with a price, and days without one.

    Only of channels with one price a day and no list price: what several prices of a day mean, the files do not say.
    """
    known = index.column(
        "SELECT DISTINCT iid FROM observations JOIN active USING (iid) WHERE kind = 'listing' ORDER BY iid"
    )
    for iid in random.sample(known, min(count, len(known))):
        days = sorted(set(index.column("SELECT day FROM observations WHERE iid = ? AND kind = 'listing'", [iid])))
        first, last = days[0], days[-1]
        day = random.choice([None, random.choice(days), first + timedelta(days=random.randint(0, (last - first).days))])
        parameters = {"asked_on": day, "outliers": "include", "progressive": "false"}
        body = client.get(f"/index/pricing/{iid}/reference", parameters).body
        text = f"/index/pricing/{iid}/reference {parameters}"
        if "data" not in body:
            yield Question(text, body, "an answer")
            continue
        theirs = list(_expected(index, iid, day, window_end(dict.fromkeys(days, True)) or last))
        judged = {(row["channel"], row["currency"]) for row in theirs}
        yield Question(text, [row for row in body["data"] if (row["channel"], row["currency"]) in judged], theirs)


def _expected(index: Index, iid: str, day: date | None, last: date) -> Iterator[dict[str, Any]]:
    until = day or last
    series: dict[tuple[str, str], dict[date, Decimal]] = {}
    unclear: set[tuple[str, str]] = set()
    for row in index.rows(_LOWEST, [iid, until - timedelta(days=READ_DAYS), until]):
        key = row["channel"], row["currency"]
        series.setdefault(key, {})[row["day"]] = row["low"]
        if row["low"] != row["high"] or row["listed"]:
            unclear.add(key)
    for (channel, currency), prices in sorted(series.items()):
        if (channel, currency) not in unclear:
            asked = day or max(prices)
            yield {"channel": channel, "currency": currency, "as_of": asked, **_judged(prices, asked)}


def _judged(prices: Days, day: date) -> dict[str, Any]:
    """Judge a day by the text of the rule; each day of the calendar has a price or was not observed."""
    price = prices.get(day)
    if price is None:
        return _verdict(None, None, None, "missing_days")
    began = _last_fall(prices, day)
    if began is None:
        return _verdict(price, None, None, _no_fall(prices, day))
    period = [began - timedelta(days=n) for n in range(1, PERIOD_DAYS + 1)]
    seen = [prices[one] for one in period if one in prices]
    if len(seen) < PERIOD_DAYS:
        gaps = any(one not in prices and one >= min(prices) for one in period)
        reasons = ["missing_days"] if period[-1] >= min(prices) else ["fewer_than_30_days"]
        if gaps and period[-1] < min(prices):
            reasons = ["missing_days", "fewer_than_30_days"]  # both are true
        return {**_verdict(price, began, None, None), "reason": OneOf(reasons), "at_most": min(seen), "known": False}
    return _verdict(price, began, min(seen), None if price < min(seen) else "not_below_prior_price")


def _last_fall(prices: Days, day: date) -> date | None:
    """Return the first day of the present price, if the one before was higher."""
    earlier = sorted((one for one in prices if one <= day), reverse=True)
    for later, one in pairwise(earlier):
        if prices[one] != prices[day]:
            return later if prices[one] > prices[day] else None
    return None


def _no_fall(prices: Days, day: date) -> str | OneOf:
    """Return `no_reduction` where the days without a gap show it: since a rise, or thirty; else what was not observed."""
    for n in range(1, PERIOD_DAYS + 1):
        one = day - timedelta(days=n)
        if one not in prices:
            return "fewer_than_30_days" if one < min(prices) else "missing_days"
        if prices[one] < prices[day]:
            break
    return "no_reduction"


def _verdict(price: Decimal | None, began: date | None, prior: Decimal | None, reason: Any) -> dict[str, Any]:
    applicable = prior is not None and price is not None and reason is None
    share = None
    if prior is not None and price is not None and applicable:
        share = Near(100 * (1 - Fraction(price) / Fraction(prior)), places=2)
    return {
        "price": price,
        "reduction_began_on": began,
        "prior_price": prior,
        "percent": share,
        "applicable": applicable,
        "reason": reason,
        "known": reason in (None, "no_reduction", "not_below_prior_price"),
    }


ENDPOINTS = {"pricing/reference": reference}
