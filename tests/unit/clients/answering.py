"""Answers for the Python client in the place of a service."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
from itemindex_client import Client

URL = "http://service/v1"
Handler = Callable[[httpx.Request], httpx.Response]


def client(handler: Handler, *, key: str | None = "iixk_live_x", **options: Any) -> Client:
    return Client(URL, key=key, http=httpx.Client(transport=httpx.MockTransport(handler)), **options)


def problem(status: int, slug: str, **more: Any) -> httpx.Response:
    document = {"type": f"{URL}/errors/{slug}", "title": "t", "status": status, "detail": "d", **more}
    headers = {"X-Request-Id": "abcdefgh"} | (
        {"Retry-After": str(more["retry_after"])} if "retry_after" in more else {}
    )
    return httpx.Response(status, json=document, headers=headers)


def answers(*listed: httpx.Response | Exception) -> Handler:
    left: Iterator[httpx.Response | Exception] = iter(listed)

    def handler(request: httpx.Request) -> httpx.Response:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def job(state: str, fraction: float = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": "j", "state": state, "progress": {"fraction": fraction, "stage": "reading"}, "error": None, **more}


def manifest(*files: dict[str, Any], dataset: str = "items") -> dict[str, Any]:
    return {"dataset": dataset, "data_version": 3, "rows": 1, "bytes": 1, "files": list(files)}
