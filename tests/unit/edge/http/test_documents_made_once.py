"""Documents that are made once: in a thread, for all who request them."""

import asyncio
import threading
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from edge.docs.guides import Guides
from edge.docs.problem_types import Errors
from edge.docs.well_known import WellKnown
from edge.http.context import CONTEXT, Context
from edge.http.made_once import MadeOnce
from shared.settings.settings import Settings


def _request(method: str, path: str, *arguments: Any, **named: Any) -> web.Request:
    request = make_mocked_request(method, path, *arguments, **named)
    request[CONTEXT] = Context("request", "charge", "network")
    return request


HTML, MARKDOWN, JSON = "text/html", "text/markdown", "application/json"


async def test_concurrent_requests_share_one_making_in_another_thread() -> None:
    threads: list[threading.Thread] = []

    def make() -> object:
        threads.append(threading.current_thread())
        return object()

    value = MadeOnce(make)
    assert len({id(made) for made in await asyncio.gather(*(value.get() for _ in range(5)))}) == 1
    assert threads != [] and threading.current_thread() not in threads
    await value.get()
    assert len(threads) == 1


async def test_a_caller_that_disconnects_leaves_the_value_to_the_others() -> None:
    finish = threading.Event()
    value = MadeOnce(lambda: finish.wait(30))
    gone, stays = asyncio.create_task(value.get()), asyncio.create_task(value.get())
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    finish.set()
    assert await stays


async def test_a_value_that_could_not_be_made_is_made_for_the_next_caller() -> None:
    broken = [OSError("too many open files")]

    def make() -> str:
        if broken:
            raise broken.pop()
        return "made"

    value = MadeOnce(make)
    with pytest.raises(OSError, match="too many"):
        await value.get()
    assert await value.get() == "made"


@pytest.mark.parametrize("accept", [HTML, MARKDOWN, JSON])
async def test_a_second_request_for_the_problems_makes_no_page_again(accept: str) -> None:
    errors = Errors(Settings())

    async def bodies() -> list[object]:
        head = {"Accept": accept}
        one = _request("GET", "/v1/errors/not-found", head, match_info={"slug": "not-found"})
        return [
            (await errors.list(_request("GET", "/v1/errors", head))).body,  # type: ignore[attr-defined]
            (await errors.show(one)).body,  # type: ignore[attr-defined]
        ]

    for first, second in zip(await bodies(), await bodies(), strict=True):
        assert first is second


async def test_a_second_request_makes_no_well_known_document_again() -> None:
    documents = WellKnown(Settings(), Guides({}, "https://index.example"))
    for handler in (documents.api_catalog, documents.robots, documents.llms):
        first, second = [await handler(_request("GET", "/")) for _ in range(2)]
        assert first.body is second.body  # type: ignore[attr-defined]
