"""An index of two shops, an edge over it, and a worker that matches tables while a test waits."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from shared.settings.settings import Settings
from tests.service.articles.support import OAT, SOY, TEA, row, shop
from tests.support.client import Answer, Edge
from tests.support.reports import queued
from tests.support.servers import Contents
from tests.support.workers import worker
from workers.search.job import make_index


def two_shops(settings: Settings, folder: Path) -> None:
    soy, oat = row("1", SOY, "Vitasoy soy milk original 1 l"), row("2", OAT, "Oat drink barista 1 l")
    shop(settings, folder, "shop_a", soy + oat)
    shop(
        settings, folder, "shop_b", row("x", SOY, "Vitasoy soya milk original 1L") + row("y", TEA, "Green tea 20 bags")
    )
    make_index(settings.worker_database_url, settings.search_dir)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return two_shops


@pytest.fixture
def working(settings: Settings) -> Iterator[list[str]]:
    """A worker that does what is queued; its list has the jobs that it did."""
    done: list[str] = []
    ended = threading.Event()
    runner = worker(settings)

    def run() -> None:
        while not ended.wait(0.02):
            for job in queued(settings):
                runner.run(job)
                done.append(job)

    thread = threading.Thread(target=run)
    thread.start()
    yield done
    ended.set()
    thread.join()
    runner.close()


def form(**values: Any) -> bytes:
    """Write a form whose values are JSON."""
    return "&".join(f"{name}={quote(msgspec.json.encode(value))}" for name, value in values.items()).encode()


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def reconcile(edge: Edge, key: str, queries: Any, **options: Any) -> Answer:
    """Send a batch of queries as the specification has it."""
    return await edge.ask("POST", "/reconcile", key=key, head=FORM, body=form(queries=queries), **options)
