"""The OpenAPI document as JSON and YAML, and with samples of calls."""

from functools import partial
from typing import Any

import msgspec
import yaml
from aiohttp import web

from edge.docs.call_samples import with_samples
from edge.docs.client_packages import install_commands
from edge.docs.document import OpenApiDocument
from edge.http.made_once import MadeOnce
from edge.http.representation import Representation
from edge.http.routing import operation

_YAML = "application/yaml"
# PyYAML's own dumper takes a second for the document; libyaml's, where it is built in, a tenth of that.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_operation = partial(operation, "service")


class OpenApiFiles:
    """The handlers. Each form of the document is made once."""

    def __init__(self, document: OpenApiDocument, base_url: str, token: str) -> None:
        self._document = document
        self._base_url = base_url
        self._token = token
        self._as_json, self._as_yaml = MadeOnce(self._json), MadeOnce(self._yaml)
        self._with_samples = MadeOnce(self._json_with_samples)

    @_operation("getOpenApiJson")
    async def as_json(self, request: web.Request) -> web.StreamResponse:
        """OpenAPI 3.1 document in JSON.

        Needs no credential and costs nothing.
        """
        return (await self._as_json.get()).respond(request)

    @_operation("getOpenApiYaml", produces=[_YAML])
    async def as_yaml(self, request: web.Request) -> web.StreamResponse:
        """OpenAPI 3.1 document in YAML.

        Needs no credential and costs nothing.
        """
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
        document = with_samples(self._document.as_dict(), self._base_url, self._token, install_commands(self._base_url))
        return Representation.of(msgspec.json.encode(document), "application/json")
