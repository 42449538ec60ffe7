"""Static files of the pages, and the contract for programs: /openapi.json and /openapi.yaml."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import yaml
from aiohttp import web

from edge.docs.clients import install_commands
from edge.docs.code_samples import with_samples
from edge.docs.document import Document
from edge.http.problems import Problem
from edge.http.representation import MadeOnce, Representation
from edge.http.routing import operation

FOLDER = Path(__file__).with_name("static")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


class StaticFiles:
    """The handler. The names of the files are fixed when the edge starts, so that no path leads anywhere else."""

    def __init__(self) -> None:
        files = [path for path in FOLDER.rglob("*") if path.suffix in _TYPES]
        self._made = {str(path.relative_to(FOLDER)): MadeOnce(partial(_read, path)) for path in files}

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file."""
        made = self._made.get("/".join(request.match_info.values()))
        if made is None:
            raise Problem("not-found", "There is no such file.")
        return (await made.get()).respond(request)


def _read(path: Path) -> Representation:
    return Representation.of(path.read_bytes(), _TYPES[path.suffix])


_YAML = "application/yaml"
# PyYAML's own dumper takes a second for the document; libyaml's, where it is built in, a tenth of that.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_operation = partial(operation, "service")


class OpenApiFiles:
    """The handlers. Each form of the document is made once."""

    def __init__(self, document: Document, base_url: str, token: str) -> None:
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
