"""Exports ordered over the API, and made by a worker of this process."""

import asyncio
import json
from typing import Any

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.client import Answer, Edge
from tests.support.workers import run

OBSERVATIONS = {"dataset": "observations", "format": "csv"}


async def order(edge: Edge, key: str, body: Any = OBSERVATIONS, query: str = "", **head: str) -> Answer:
    fields = {name.replace("_", "-"): value for name, value in head.items()}
    return await edge.ask("POST", f"/index/exports{query}", key=key, body=json.dumps(body).encode(), head=fields)


def work(settings: Settings) -> list[str | None]:
    with connect(settings.database_url, application="tests") as connection:
        rows = connection.execute("SELECT id::text FROM jobs WHERE state = 'queued' AND kind = 'export' ORDER BY id")
        jobs = [row[0] for row in rows]
    return [run(settings, job) for job in jobs]


async def done(edge: Edge, settings: Settings, key: str, body: Any = OBSERVATIONS) -> Any:
    ordered = await order(edge, key, body)
    assert ordered.status == 202, ordered
    assert await asyncio.to_thread(work, settings) == ["succeeded"]
    return (await edge.get(f"/index/exports/{ordered.json['id']}", key=key)).json
