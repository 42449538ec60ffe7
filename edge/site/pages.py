"""The contract for programs (/openapi.json, /openapi.yaml) and for people (/docs)."""

import hashlib
from pathlib import Path

import yaml
from aiohttp import web
from aiohttp_apispec import docs

from edge.http.conditional import none_match
from edge.http.html import Templates
from edge.http.openapi import Document
from shared.config import Settings

_YAML = "application/yaml"


class Pages:
    """The handlers. The document is made once, after all routes are there."""

    def __init__(self, settings: Settings, document: Document) -> None:
        self._settings = settings
        self._document = document
        self._templates = Templates(Path(__file__).with_name("templates"))

    @docs(operationId="getOpenApiJson", summary="This contract, as OpenAPI 3.1 in JSON", tags=["service"])
    async def openapi_json(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        return _cached(request, self._document.as_json(), "application/json")

    @docs(
        operationId="getOpenApiYaml",
        summary="This contract, as OpenAPI 3.1 in YAML",
        tags=["service"],
        produces=[_YAML],
    )
    async def openapi_yaml(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        text = yaml.safe_dump(self._document.as_dict(), sort_keys=False, allow_unicode=True, width=120)
        return _cached(request, text.encode(), _YAML)

    @docs(
        operationId="getDocs",
        summary="A page to read the contract and try it",
        tags=["service"],
        produces=["text/html"],
    )
    async def docs(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page."""
        settings = self._settings
        return self._templates.page(
            "docs.html",
            document=self._document.as_dict(),
            base_url=settings.base_url,
            token=settings.anonymous_token,
        )


def _cached(request: web.Request, body: bytes, content_type: str) -> web.Response:
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    fields = {"ETag": etag, "Cache-Control": "public, max-age=300"}
    if none_match(request.headers.get("If-None-Match"), etag):
        return web.Response(status=304, headers=fields)
    return web.Response(body=body, headers={**fields, "Content-Type": content_type})
