"""An edge in this process, and a client that holds every answer against the published document."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from aiohttp import web, web_app
from jsonschema_rs import Draft202012Validator
from yarl import URL

from edge import server
from edge.app import DOCUMENT, create_app
from edge.composition import Resources, open_resources
from edge.storage.database import Database
from shared.settings.settings import Settings
from tests.support.compatibility import expanded

_CHARGES = itertools.count(1)
# The document of an address depends on nothing else: it is made once for all tests of a process.
_DOCUMENTS: dict[str, dict[str, Any]] = {}


@dataclass
class Answer:
    """An answer, read whole."""

    status: int
    head: Any
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return msgspec.json.decode(self.body)


@dataclass(repr=False)  # asyncio asks for it before each step of a test, and the document is long
class Edge:
    """A running edge and a client of it."""

    settings: Settings
    resources: Resources
    session: aiohttp.ClientSession
    path: str
    runner: web.AppRunner
    document: dict[str, Any] = field(default_factory=dict)
    address: str = "192.0.2.1"

    async def get(self, path: str, *, token: str | None = None, key: str | None = None, **options: Any) -> Answer:
        """GET a path below /v1 as the anonymous caller of an address, and check the answer against the document."""
        return await self.ask("GET", path, token=token, key=key, **options)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        address: str | None = None,
        token: str | None = None,
        key: str | None = None,
        head: dict[str, str] | None = None,
        anonymous: bool = True,
        check: bool = True,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request as nginx would."""
        fields = {
            "X-Real-IP": self.address if address is None else address,
            "X-Charge-Id": f"{next(_CHARGES):032x}",
            **(head or {}),
        }
        if key is not None:
            fields["Authorization"] = f"ApiKey {key}"
        elif token is not None or anonymous:
            fields["X-Service-Public-Token"] = token or self.settings.anonymous_token
        fields = {name: value for name, value in fields.items() if value}
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        url = URL(f"http://testserver/v1{path}", encoded=True)
        async with self.session.request(method, url, headers=fields, data=body, allow_redirects=False) as response:
            answer = Answer(response.status, response.headers, await response.read())
        if check:
            self.check(method, path, answer)
        return answer

    async def used(self, key: str) -> int:
        """Return the units that the organization of a key has used today."""
        return int((await self.get("/quota", key=key, anonymous=False)).json["limits"][0]["used"])

    def forget_accounts(self) -> None:
        """Let the process ask PostgreSQL for each plan and credential anew."""
        store = self.resources.credentials
        for known in (store._valid, store._unknown, store._plans):
            known.clear()
        store._anonymous = None

    def check(self, method: str, path: str, answer: Answer) -> None:
        """Hold an answer against the document: its status, its content type, its members."""
        if answer.status >= 300 and answer.status != 304:
            assert answer.head["Content-Type"].startswith("application/problem+json"), answer
            assert answer.head["Cache-Control"] == "no-store"
            if method != "HEAD":
                problem = answer.json
                assert problem["status"] == answer.status
                assert problem["instance"].startswith("urn:uuid:")
        assert answer.head["X-Request-Id"]
        operation = self._operation(method, path)
        if operation is None or answer.status in (204, 206, 304, 308) or method == "HEAD":
            return
        reported = operation["responses"].get(str(answer.status))
        assert reported is not None, f"{path}: the document does not know status {answer.status}"
        kind = answer.head["Content-Type"].partition(";")[0]
        if kind in ("application/json", "application/problem+json"):
            schema = reported["content"][kind].get("schema")
            if schema:
                _validator(self.settings.base_url, msgspec.json.encode(schema)).validate(answer.json)

    def _operation(self, method: str, path: str) -> Any:
        bare = "/v1" + path.partition("?")[0]
        for template, operations in self.document["paths"].items():
            parts, asked = template.split("/"), bare.split("/")
            if len(parts) == len(asked) and all(
                p == a or (p.startswith("{") and a) for p, a in zip(parts, asked, strict=True)
            ):
                return operations.get(method.lower())
        return None


@cache
def _validator(base_url: str, schema: bytes) -> Draft202012Validator:
    """Compile a schema of the document of this address."""
    return Draft202012Validator({**msgspec.json.decode(schema), "components": _DOCUMENTS[base_url]["components"]})


def exact(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with each shared part in its place, whose answers have no members that it does not name."""
    made = expanded(document)
    for name, schema in made["components"]["schemas"].items():
        if name != "Problem":  # a slug may add members
            schema.setdefault("additionalProperties", False)
    return made


@asynccontextmanager
async def edge_database(settings: Settings, connections_max: int) -> AsyncIterator[Database]:
    """Open PostgreSQL as an edge uses it, by so many connections that no other part of an edge borrows."""
    database = Database(settings.edge_database_url, connections_max=connections_max, deadline_seconds=8.0)
    await database.open()
    yield database
    await database.close()


@asynccontextmanager
async def running_edge(settings: Settings, folder: Path, *, without_state: bool = False) -> AsyncIterator[Edge]:
    """Run an edge as gunicorn's worker does, on a unix socket; its state store may be meant to be away."""
    path = (
        str(folder / "edge.sock")
        if len(str(folder)) < 90
        else f"/tmp/edge-{next(_CHARGES)}-{folder.stat().st_ino}.sock"
    )
    resources = Resources(settings)
    app = create_app(resources)
    if settings.base_url not in _DOCUMENTS:
        _DOCUMENTS[settings.base_url] = exact(app[DOCUMENT].as_dict())
    document = _DOCUMENTS[settings.base_url]

    async def hold_resources(app: web.Application) -> AsyncIterator[None]:
        async with open_resources(resources):
            yield

    app.cleanup_ctx.append(hold_resources)
    runner = server.DrainingRunner(app, resources)
    await runner.setup()
    await web.UnixSite(runner, path).start()
    # The listener's first word makes the process forget, which a test must not meet midway; a call before the state store
    # is connected would not be counted.
    async with asyncio.timeout(30):
        while not (resources.listener.connected and (without_state or resources.state.healthy)):
            await asyncio.sleep(0.005)
    connector, jar = aiohttp.UnixConnector(path), aiohttp.DummyCookieJar()
    try:
        # As nginx, which passes on only what the edge needs, no `Accept-Encoding` but the one that a test sends.
        async with aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=jar,
            skip_auto_headers=("Accept-Encoding",),
            headers={"User-Agent": "Example/1.0"},  # else the version of Python, which people see in their sessions
        ) as session:
            yield Edge(settings, resources, session, path, runner, document)
    finally:
        if runner.server is not None:
            await runner.cleanup()
        Path(path).unlink(missing_ok=True)
        # aiohttp remembers the last 1,024 handlers it has called, and by them dozens of edges that have ended. Each full
        # collection of garbage would look through all that they hold.
        web_app._cached_build_middleware.cache_clear()
