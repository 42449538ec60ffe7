"""The contract for programs: /openapi.json and /openapi.yaml, and the form that the reference page reads."""

from typing import Any

import msgspec
import yaml
from aiohttp import web
from aiohttp_apispec import docs

from edge.http.representation import MadeOnce, Representation
from edge.meta.code_samples import with_samples
from edge.openapi.document import Document

_YAML = "application/yaml"
# PyYAML's own dumper takes a second for the document; libyaml's, where it is built in, a tenth of that.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class OpenApiFiles:
    """The handlers. Each form of the document is made once."""

    def __init__(self, document: Document, base_url: str, token: str) -> None:
        self._document = document
        self._base_url = base_url
        self._token = token
        self._as_json, self._as_yaml = MadeOnce(self._json), MadeOnce(self._yaml)
        self._with_samples = MadeOnce(self._json_with_samples)

    @docs(
        operationId="getOpenApiJson",
        summary="OpenAPI 3.1 document in JSON",
        description="Needs no credential and costs nothing.",
        tags=["service"],
    )
    async def as_json(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        return (await self._as_json.get()).respond(request)

    @docs(
        operationId="getOpenApiYaml",
        summary="OpenAPI 3.1 document in YAML",
        description="Needs no credential and costs nothing.",
        tags=["service"],
        produces=[_YAML],
    )
    async def as_yaml(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document."""
        return (await self._as_yaml.get()).respond(request)

    async def with_samples(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document and a call in curl, Python and TypeScript for each operation."""
        return (await self._with_samples.get()).respond(request)

    def _json(self) -> Representation:
        return Representation.of(msgspec.json.encode(self._document.as_dict()), "application/json")

    def _yaml(self) -> Representation:
        document: dict[str, Any] = self._document.as_dict()
        text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        return Representation.of(text, _YAML)

    def _json_with_samples(self) -> Representation:
        document = with_samples(self._document.with_examples(), self._base_url, self._token)
        return Representation.of(msgspec.json.encode(document), "application/json")
