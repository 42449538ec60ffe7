"""The documentation for people: first calls, limits and prices, and the reference of all calls."""

import asyncio
import gzip
import time
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

from edge.auth.credentials import CredentialStore
from edge.docs.client_packages import install_commands
from edge.docs.document import OpenApiDocument
from edge.docs.guides import MARKDOWN, DocumentPage, Guide, Guides, render
from edge.http.compression import accepts_gzip
from edge.http.html import HTML, PAGE_FIELDS, PAGES, POLICY
from edge.http.made_once import MadeOnce
from edge.http.representation import Representation
from edge.http.routing import operation
from shared.errors import StoreUnavailable
from shared.organizations.accounts import INSTITUTIONAL, Plan
from shared.settings.settings import Settings

_SCALAR = Path(__file__).parent / "static" / "vendor" / "scalar.js.gz"
# How long the page may show plans as they were.
_PLANS_SECONDS = 1.0
SCALAR_VERSION = "1.46.4"
# Scalar styles its parts by attributes and embeds fonts and icons as data; no other page may. It calls this origin.
_REFERENCE_FIELDS = {
    **PAGE_FIELDS,
    "Content-Security-Policy": POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    + "; font-src 'self' data:; worker-src 'self' blob:",
}


class Docs:
    """The handlers of /docs and /docs/reference."""

    def __init__(
        self, settings: Settings, document: OpenApiDocument, credentials: CredentialStore, guides: Guides
    ) -> None:
        self._settings = settings
        self._document = document
        self._credentials = credentials
        self._guides = guides
        self._page: tuple[tuple[Any, ...], MadeOnce[DocumentPage]] | None = None
        self._reference = MadeOnce(self._make_reference)
        compressed = _SCALAR.read_bytes()
        etag = f'W/"scalar-{SCALAR_VERSION}"'
        self._script = Representation(b"", compressed, "text/javascript; charset=utf-8", etag)

    @operation("service", "getDocs", produces=["text/html", "text/markdown"])
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Documentation: first calls, limits and prices.

        Needs no credential. Calls sent from the page are counted like any other. Markdown if `Accept` prefers it.
        """
        try:
            plans = await self._credentials.all_plans()
        except StoreUnavailable:
            plans = ()
        guides = await self._guides.by_readers()
        # Operators change plans seldom: the page of the plans as they are is made once, and the former one is dropped.
        known = tuple(astuple(plan) for plan in plans)
        if self._page is None or self._page[0] != known:
            self._page = known, MadeOnce(partial(self._make, plans, guides))
        return (await self._page[1].get()).respond(request, until=time.time() + _PLANS_SECONDS)

    async def reference(self, request: web.Request) -> web.StreamResponse:
        """Answer with the list of all calls; its script loads the viewer once a call is opened."""
        return (await self._reference.get()).respond(request, _REFERENCE_FIELDS)

    async def script(self, request: web.Request) -> web.StreamResponse:
        """Answer with the reference's program; its address names its version, so a browser keeps it for good."""
        script = self._script
        if not accepts_gzip(request):
            # Few programs cannot read gzip: the three megabytes are inflated for them alone, and not kept.
            script = replace(script, body=await asyncio.to_thread(gzip.decompress, script.compressed))
        return script.respond(request, {"Cache-Control": "public, max-age=31536000, immutable"})

    def _make_reference(self) -> Representation:
        document = self._document.as_dict()
        calls = calls_of(document)
        groups = [(tag, [call for name, call in calls if name == tag["name"]]) for tag in document["tags"]]
        return Representation.of(PAGES.text("reference.html", version=SCALAR_VERSION, groups=groups), HTML)

    def text(self, plans: tuple[Plan, ...], guides: dict[str, list[Guide]]) -> str:
        """Return the page as Markdown."""
        return PAGES.text(
            "docs.md",
            base_url=self._settings.base_url,
            token=self._settings.anonymous_token,
            plans=plans,
            exporting_rank=INSTITUTIONAL,
            export_bytes_max=self._settings.stored_export_bytes_max,
            prices=[call for _, call in calls_of(self._document.as_dict()) if call.units],
            guides=guides,
            commands=install_commands(self._settings.base_url).values(),
        )

    def _make(self, plans: tuple[Plan, ...], guides: dict[str, list[Guide]]) -> DocumentPage:
        """Write the page once as Markdown; its HTML is made of that."""
        text = self.text(plans, guides)
        page = PAGES.text("docs.html", page=render(text), token=self._settings.anonymous_token)
        return DocumentPage(Representation.of(page, HTML), Representation.of(text, MARKDOWN))


class ReferenceCall(NamedTuple):
    """One call with its price, as the document says it."""

    method: str
    path: str
    summary: str
    units: int
    per: str
    stored: int


def calls_of(document: dict[str, Any]) -> list[tuple[str, ReferenceCall]]:
    """Return each call of the document, with its tag."""
    calls = []
    for path, operations in document["paths"].items():
        for method, described in operations.items():
            price = described["x-units"]
            per = f"{price['per']} {price['of']}" if "per" in price else price["of"]
            stored = price.get("stored", price["units"])
            line = ReferenceCall(method.upper(), path, described["summary"], price["units"], per, stored)
            calls.append((described["tags"][0], line))
    return calls
