"""The contract for programs (/openapi.json, /openapi.yaml) and for people (/docs)."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml
from aiohttp import web
from aiohttp_apispec import docs

from edge.auth.credentials import CredentialStore
from edge.http.conditional import none_match
from edge.http.html import Templates, page_of
from edge.http.routing import API_PATH
from edge.openapi.document import Document
from shared.config import Settings
from shared.errors import StoreUnavailable
from shared.plans import Plan

_YAML = "application/yaml"
# PyYAML's own dumper takes a second for the document; libyaml's, where it is built in, a tenth of that.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Pages:
    """The handlers. Each form of the document is made once, when it is first asked for, and in a thread.

    Made for each request, or on the event loop, it would let anybody keep all other callers of the process waiting.
    """

    def __init__(self, settings: Settings, document: Document, credentials: CredentialStore) -> None:
        self._settings = settings
        self._document = document
        self._credentials = credentials
        self._templates = Templates(Path(__file__).with_name("templates"))
        self._texts: dict[str, asyncio.Task[str]] = {}
        self._page: tuple[tuple[Any, ...], asyncio.Task[str]] | None = None

    @docs(
        operationId="getOpenApiJson",
        summary="This contract, as OpenAPI 3.1 in JSON",
        description="Needs no credential and costs nothing.",
        tags=["service"],
    )
    async def openapi_json(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        return _cached(request, await self._text(self._as_json), "application/json")

    @docs(
        operationId="getOpenApiYaml",
        summary="This contract, as OpenAPI 3.1 in YAML",
        description="Needs no credential and costs nothing.",
        tags=["service"],
        produces=[_YAML],
    )
    async def openapi_yaml(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        return _cached(request, await self._text(self._as_yaml), _YAML)

    @docs(
        operationId="getDocs",
        summary="A page to read the contract and try it",
        description="Needs no credential. Calls that the page sends are counted like any other.",
        tags=["service"],
        produces=["text/html"],
    )
    async def docs(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page. Its limits are the plans' as they are now; without PostgreSQL they are left out."""
        try:
            plans = await self._credentials.all_plans()
        except StoreUnavailable:
            plans = ()
        # Operators change plans seldom: the page of the plans as they are is made once, and the former one is dropped.
        known = tuple(astuple(plan) for plan in plans)
        if self._page is None or self._page[0] != known:
            self._page = known, asyncio.create_task(asyncio.to_thread(self._as_page, plans))
        return page_of(await asyncio.shield(self._page[1]))

    async def home(self, request: web.Request) -> web.StreamResponse:
        """Lead from the origin itself to the page."""
        raise web.HTTPFound(f"{API_PATH}/docs")

    async def _text(self, make: Callable[[], str]) -> str:
        task = self._texts.get(make.__name__)
        if task is None:
            task = self._texts[make.__name__] = asyncio.create_task(asyncio.to_thread(make))
        return await asyncio.shield(task)

    def _as_json(self) -> str:
        return msgspec.json.encode(self._document.as_dict()).decode()

    def _as_yaml(self) -> str:
        document = self._document.as_dict()
        text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        return text

    def _as_page(self, plans: tuple[Plan, ...]) -> str:
        document, settings = self._document.as_dict(), self._settings
        prices = prices_of(document)
        return self._templates.text(
            "docs.html",
            document=document,
            base_url=settings.base_url,
            token=settings.anonymous_token,
            plans=plans,
            prices=prices,
        )


class PriceLine(NamedTuple):
    """One line of the list of prices."""

    method: str
    path: str
    summary: str
    units: int
    per: str
    stored: int


def prices_of(document: dict[str, Any]) -> list[PriceLine]:
    """Return what each call that is charged costs, as the document says it."""
    lines = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            price = operation["x-units"]
            if price["units"]:
                per = f"{price['per']} {price['of']}" if price["per"] > 1 else price["of"]
                stored = price["units"] if price["stored"] is None else price["stored"]
                lines.append(PriceLine(method.upper(), path, operation["summary"], price["units"], per, stored))
    return lines


def _cached(request: web.Request, text: str, content_type: str) -> web.Response:
    body = text.encode()
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    fields = {"ETag": etag, "Cache-Control": "public, max-age=300"}
    if none_match(request.headers.get("If-None-Match"), etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=body, headers={**fields, "Content-Type": content_type})
