"""Pricing: an item's days, and the statistics of its last 7, 30, 90 and 365 days."""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import percentile
from tests.assurance.truth.index import Index, window_end
from tests.assurance.truth.outliers import Observed, outliers

WINDOWS = (7, 30, 90, 365)
DEFAULT_DAYS = 90


def pricing(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the rows, the statistics and the coverage of random items, some narrowed by days, channel or currency."""
    known = index.column("SELECT DISTINCT iid FROM observations JOIN active USING (iid) ORDER BY iid")
    for iid in random.sample(known, min(count, len(known))):
        parameters = _narrowed(index, random, iid)
        found = client.get(f"/index/pricing/{iid}", {**parameters, "outliers": "include"}).body
        text = f"/index/pricing/{iid} {parameters}"
        if "data" not in found:
            yield Question(text, found, "an answer")
            continue
        meta = {name: found["meta"][name] for name in ("from", "to", "coverage", "statistics", "outliers")}
        yield Question(text, {"data": found["data"], "meta": meta}, expected(index, iid, parameters))


def expected(index: Index, iid: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the expected rows and their meta."""
    condition, values = _condition(iid, parameters)
    observed = dict.fromkeys(index.column(f"SELECT day FROM observations WHERE {condition}", values), True)
    settled = window_end(observed)
    assert settled is not None
    asked_later = parameters.get("from", settled) > settled
    last = parameters.get("to") or (max(observed) if asked_later else settled)
    first = parameters.get("from") or last - timedelta(days=DEFAULT_DAYS - 1)
    within = [*values, first, last]
    rows = index.rows(
        "SELECT day, channel, kind, currency, list(price ORDER BY price) AS prices FROM observations "
        f"WHERE {condition} AND day BETWEEN ? AND ? GROUP BY ALL ORDER BY day, channel, kind, currency",
        within,
    )
    seen = sorted({row["day"] for row in rows})
    days = (last - first).days + 1
    coverage = {
        "days": days,
        "observed_days": len(seen),
        "missing_days": days - len(seen),
        "first": seen[0] if seen else None,
        "last": seen[-1] if seen else None,
    }
    meta = {
        "from": first,
        "to": last,
        "coverage": coverage,
        "statistics": list(_statistics(index, condition, values, first, last)),
        "outliers": {"mode": "include", "set_aside": _set_aside(index, iid, parameters, first, last)},
    }
    return {"data": [_row(row) for row in rows], "meta": meta}


def _set_aside(index: Index, iid: str, parameters: dict[str, Any], first: date, last: date) -> int:
    """Count the outliers among the rows that are shown; all rows of their month decide on them."""
    found = index.rows(
        "SELECT day, channel, kind, currency, (price * 10 ** minor(currency))::BIGINT AS price, "
        "coalesce((list_price * 10 ** minor(currency))::BIGINT, 0) AS list_price FROM observations WHERE iid = ?",
        [iid],
    )
    months: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in found:
        months.setdefault((row["day"].replace(day=1), row["kind"], row["currency"]), []).append(row)
    count = 0
    for (_, kind, currency), rows in months.items():
        if (parameters.get("kind") or kind, parameters.get("currency") or currency) == (kind, currency):
            flags = outliers([Observed(row["channel"], row["day"], row["price"], row["list_price"]) for row in rows])
            for row, flag in zip(rows, flags, strict=True):
                shown = not parameters.get("channel") or row["channel"] in parameters["channel"]
                count += flag and shown and first <= row["day"] <= last
    return count


def _narrowed(index: Index, random: Random, iid: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    span = index.rows(
        "SELECT min(day) AS first, max(day) AS last, list(DISTINCT channel) AS channels, "
        "list(DISTINCT currency) AS currencies, list(DISTINCT kind) AS kinds FROM observations WHERE iid = ?",
        [iid],
    )[0]
    if random.random() < 0.4:
        parameters["from"] = span["first"] + timedelta(days=random.randint(0, (span["last"] - span["first"]).days))
    if random.random() < 0.3:
        least = parameters.get("from", span["first"])
        parameters["to"] = least + timedelta(days=random.randint(0, (span["last"] - least).days))
    if random.random() < 0.2:
        parameters["channel"] = [random.choice(sorted(span["channels"]))]
    if random.random() < 0.2:
        parameters["kind"] = random.choice(sorted(span["kinds"]))
    if random.random() < 0.2:
        parameters["currency"] = random.choice(sorted(span["currencies"]))
    condition, values = _condition(iid, parameters)
    there = index.column(f"SELECT count(*) FROM observations WHERE {condition}", values)[0]
    latest = index.column(f"SELECT max(day) FROM observations WHERE {condition}", values)[0]
    return parameters if there and parameters.get("from", latest) <= parameters.get("to", latest) else {}


def _condition(iid: str, parameters: dict[str, Any]) -> tuple[str, list[Any]]:
    parts, values = ["iid = ?"], [iid]
    if parameters.get("channel"):
        parts.append("list_contains(?, channel)")
        values.append(parameters["channel"])
    for name in ("currency", "kind"):
        if parameters.get(name):
            parts.append(f"{name} = ?")
            values.append(parameters[name])
    return " AND ".join(parts), values


def _row(row: dict[str, Any]) -> dict[str, Any]:
    prices = row.pop("prices")
    low, high = prices[0], prices[-1]
    return {
        **row,
        "low": low,
        "median": percentile(prices, 50),
        "high": high,
        "close": low if low == high else None,
        "n": len(prices),
    }


def _statistics(index: Index, condition: str, values: list[Any], first: date, last: date) -> Iterator[dict[str, Any]]:
    reach = min(first, last - timedelta(days=WINDOWS[-1] - 1))
    groups = index.rows(
        f"SELECT DISTINCT currency, kind FROM observations WHERE {condition} AND day BETWEEN ? AND ? "
        "ORDER BY currency, kind",
        [*values, reach, last],
    )
    for days in WINDOWS:
        start = last - timedelta(days=days - 1)
        for group in groups:
            found = index.rows(
                "SELECT list(price ORDER BY price) AS prices, count(DISTINCT day) AS days FROM observations "
                f"WHERE {condition} AND day BETWEEN ? AND ? AND currency = ? AND kind = ?",
                [*values, start, last, group["currency"], group["kind"]],
            )[0]
            prices = found["prices"] or []
            yield {
                **group,
                "days": days,
                "from": start,
                "to": last,
                "low": prices[0] if prices else None,
                "median": percentile(prices, 50) if prices else None,
                "high": prices[-1] if prices else None,
                "n": len(prices),
                "observed_days": found["days"],
            }


ENDPOINTS = {"pricing": pricing}
