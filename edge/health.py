"""GET /health: alive. GET /ready: able to work, part by part. GET /metrics: numbers, for the internal listener only."""

import asyncio
import time
from functools import partial
from typing import Any

from aiohttp import web
from marshmallow import Schema, fields, validate

from edge.composition import Resources
from edge.http.json import NO_STORE, unstored_json
from edge.http.routing import operation
from edge.storage.database import Scope
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.redis import keys
from shared.telemetry.metrics import EXPOSITION, exposition

SQL = load_queries(__file__, "health.sql")
# Dispatchers look every two seconds and workers take a message at once: a queue idle for this long has no consumer.
_LATE_SECONDS = 30
# As much as an ID token's times may be off.
_CLOCK_SECONDS_MAX = 60


class HealthAnswer(Schema):
    """The process is alive."""

    status = fields.Str(required=True, validate=validate.OneOf(["ok"]))
    revision = fields.Str(required=True, metadata={"example": "api-1.0.0"})
    ts = fields.DateTime(required=True)


class PartState(Schema):
    """A dependency of the service."""

    name = fields.Str(required=True)
    state = fields.Str(required=True, validate=validate.OneOf(["ok", "down", "read-only", "empty", "late", "off"]))
    detail = fields.Str(required=True)


class ReadyAnswer(Schema):
    """Readiness of the service."""

    status = fields.Str(required=True, validate=validate.OneOf(["ready", "degraded", "not-ready"]))
    data_version = fields.Int(required=True)
    parts = fields.List(fields.Nested(PartState()), required=True)
    ts = fields.DateTime(required=True)


_operation = partial(operation, "service")


class Health:
    def __init__(self, resources: Resources) -> None:
        self._settings = resources.settings
        self._database = resources.database
        self._stores = {"state": resources.state, "cache": resources.cache}
        self._version = resources.version
        self._search = resources.search

    @_operation("getHealth", answers={200: (HealthAnswer, "Alive")})
    async def live(self, request: web.Request) -> web.StreamResponse:
        """Liveness of the process.

        Checks no dependency.
        """
        document = {"status": "ok", "revision": f"api-{self._settings.revision}", "ts": rfc3339(utc_now())}
        return unstored_json(document)

    @_operation("getReadiness", answers={503: (ReadyAnswer, "Not ready"), 200: (ReadyAnswer, "Ready, or degraded")})
    async def ready(self, request: web.Request) -> web.StreamResponse:
        """Readiness and the state of each dependency.

        Lists each dependency with its state. 503 if lookups cannot be answered; `degraded` if they can, but another
        dependency is unavailable.
        """
        requested = (_store(client, name) for name, client in self._stores.items())
        database, stores = await asyncio.gather(self._ask_database(), asyncio.gather(*requested))
        search_version = self._search.data_version
        search = _part("search", "ok" if search_version else "empty", f"index of data_version {search_version}")
        parts = [*database, *stores, search]
        states = {part["name"]: part["state"] for part in parts}
        not_well = {state for state in states.values() if state != "ok"}
        status = "not-ready" if states["database"] == "down" else "degraded" if not_well else "ready"
        document = {
            "status": status,
            "data_version": self._version.current,
            "parts": parts,
            "ts": rfc3339(utc_now()),
        }
        return unstored_json(document, 503 if status == "not-ready" else 200)

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """Answer in the Prometheus text format: all processes of the host, or this one."""
        body = exposition(self._settings.metrics_dir)
        return web.Response(body=body, headers={"Content-Type": EXPOSITION, **NO_STORE})

    async def _ask_database(self) -> list[dict[str, str]]:
        asked_at = time.time()
        try:
            rows = await self._database.fetch(SQL.look, _LATE_SECONDS, scope=Scope(task="jobs"))
        except StoreUnavailable:
            return [_part("database", "down", "does not answer; lookups come from memory and cache only")]
        halfway = (asked_at + time.time()) / 2
        return [_database(rows[0]["read_only"]), _clock(halfway - rows[0]["now"]), _jobs(rows)]


async def _store(client: Any, name: str) -> dict[str, str]:
    consequence = {"state": "calls cannot be counted", "cache": "records come from PostgreSQL"}
    try:
        await client.command("PING")
    except StoreUnavailable:
        return _part(name, "down", f"does not answer; {consequence[name]}")
    try:
        await client.command("EVAL", keys.MAY_WRITE, 0)
    except StoreUnavailable:
        return _part(name, "read-only", f"refuses writes: its memory or disk is full; {consequence[name]}")
    return _part(name, "ok", "answers")


def _database(read_only: bool) -> dict[str, str]:
    if read_only:
        return _part("database", "read-only", "accepts no changes; lookups are answered, orders and edits are not")
    return _part("database", "ok", "answers")


def _clock(ahead_seconds: float) -> dict[str, str]:
    if abs(ahead_seconds) <= _CLOCK_SECONDS_MAX:
        return _part("clock", "ok", "as PostgreSQL's")
    direction = "ahead of" if ahead_seconds > 0 else "behind"
    detail = f"{abs(ahead_seconds):.0f} s {direction} PostgreSQL's; ID tokens and signed links are judged wrongly"
    return _part("clock", "off", detail)


def _jobs(rows: list[Any]) -> dict[str, str]:
    """Return the finding for queues whose jobs wait: no dispatcher sends them, or no worker receives them."""
    late = [f"{row['queue']} for {row['seconds']} s" for row in rows if row["queue"] is not None]
    if not late:
        return _part("jobs", "ok", "are taken up")
    return _part("jobs", "late", f"jobs wait and no worker takes them: {', '.join(late)}; none is lost")


def _part(name: str, state: str, detail: str) -> dict[str, str]:
    return {"name": name, "state": state, "detail": detail}
