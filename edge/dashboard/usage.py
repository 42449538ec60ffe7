"""Pages of an organization's use: calls by day, endpoint and caller, and the last calls one by one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from aiohttp import web
from asyncpg import Record

from edge.auth.actor import Actor
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.organizations.service import usage_csv, usage_range
from edge.quota.request_log import KEPT_DAYS, LoggedCall
from shared.clock import utc_now
from shared.errors import InvalidParameter, StoreUnavailable

OUTCOMES = ("served", "not-found", "not-modified", "refused", "rejected", "failed")
_DAYS = (7, 30, 90)
_ROWS_SHOWN = 500
FILTERS = ("status", "caller", "endpoint", "request_id")
_FILTER_MAX = 100


class UsagePages(Pages):
    async def usage(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Calls by day, endpoint, caller and outcome."""
        days, (first, last) = _days(request)
        rows = await self._acts.usage(visitor.acting, first, last)
        names = await self._names(visitor.acting)
        named = [
            {**row, "endpoint": endpoint_name(row["endpoint"]), "credential": caller_name(row["credential"], names)}
            for row in rows
        ]
        return render(
            request,
            "usage.html",
            visitor,
            days=days,
            choices=_DAYS,
            plot=plot_by_day(rows, first, last),
            by_endpoint=_summed(named, "endpoint"),
            by_credential=_summed(named, "credential"),
            rows=named[:_ROWS_SHOWN],
        )

    async def sheet(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The same as CSV, with the credentials' ids."""
        _, (first, last) = _days(request)
        return usage_csv(await self._acts.usage(visitor.acting, first, last))

    async def requests(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The last calls of the organization, the newest first: those of the status, caller, endpoint and id given."""
        given = {name: request.query.get(name, "").strip()[:_FILTER_MAX] for name in FILTERS}
        entries: list[dict[str, Any]] | None = None
        try:
            names = await self._names(visitor.acting)
            calls = await self._services.resources.request_log.read(visitor.acting.organization)
            entries = [_entry(call, names) for call in calls]
        except StoreUnavailable:  # the page says so: an empty list would be wrong
            pass
        everything = entries or []
        choices = {
            name: sorted({entry[name] for entry in everything} | ({given[name]} - {""})) for name in FILTERS[1:3]
        }
        choices["status"] = [*(f"{n}xx" for n in range(2, 6)), *sorted({str(entry["status"]) for entry in everything})]
        return render(
            request,
            "requests.html",
            visitor,
            entries=[entry for entry in everything if matches(entry, given)],
            readable=entries is not None,
            total=len(everything),
            given=given,
            choices=choices,
            kept=self._services.resources.request_log.calls_max,
            days=KEPT_DAYS,
        )

    async def _names(self, actor: Actor) -> dict[str, str]:
        return {row["id"]: row["name"] for row in await self._acts.members(actor)}


def caller_name(credential: str, names: dict[str, str]) -> str:
    """Return a credential as people know it: a key by its id, a person by the name; `names` has the members'."""
    kind, _, identifier = credential.partition(":")
    if kind == "api-key":
        return f"Key {identifier}"
    if kind == "refund":
        return "Job refunds"
    return names.get(identifier, "Former member") if kind == "bearer" else "Public token"


def endpoint_name(route: str) -> str:
    """Return a route's name in words."""
    name = route.removeprefix("dashboard-")
    return f"{name}, in the dashboard" if name != route else route


def plot_by_day(rows: Iterable[Record], first: date, last: date) -> dict[str, Any]:
    """Return calls per day and outcome in the form that the page's script draws: days without calls are zero."""
    by_day: dict[tuple[date, str], int] = defaultdict(int)
    for row in rows:
        by_day[row["day"], row["outcome"]] += row["calls"]
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    shown = [name for name in OUTCOMES if any((day, name) in by_day for day in days)] or ["served"]
    series = [{"label": name.replace("-", " "), "values": [by_day[day, name] for day in days]} for name in shown]
    return {"x": [day.isoformat() for day in days], "series": series, "kind": "bars", "unit": "calls"}


def _entry(call: LoggedCall, names: dict[str, str]) -> dict[str, Any]:
    return {
        "at": datetime.fromtimestamp(call.at, UTC),
        "endpoint": endpoint_name(call.endpoint),
        "status": call.status,
        "units": call.units,
        "milliseconds": 1_000 * call.seconds,
        "caller": caller_name(call.credential, names),
        "request_id": call.request_id,
        "method": call.method,
        "path": call.path,
        "problem": call.problem,
    }


def matches(entry: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    """Return whether a call has the status (or its class, as `4xx`), caller, endpoint and beginning of an id."""
    status = str(entry["status"])
    return (
        given["status"] in ("", status, f"{status[0]}xx")
        and all(given[name] in ("", entry[name]) for name in ("caller", "endpoint"))
        and str(entry["request_id"]).startswith(given["request_id"])
    )


def _days(request: web.Request) -> tuple[int, tuple[date, date]]:
    requested = request.query.get("days", "30")
    days = int(requested) if requested in {str(n) for n in _DAYS} else 30
    try:
        return days, usage_range(utc_now().date() - timedelta(days=days - 1), None)
    except InvalidParameter:  # midnight passed between the two clocks
        return days, usage_range(None, None)


def _summed(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    summed: dict[str, dict[str, Any]] = {}
    for row in rows:
        entry = summed.setdefault(row[name], {"name": row[name], "calls": 0, "units": 0, "refused": 0})
        entry["calls"] += row["calls"]
        entry["units"] += row["units"]
        entry["refused"] += row["calls"] if row["outcome"] == "refused" else 0
    return sorted(summed.values(), key=lambda entry: -entry["calls"])
