"""How gunicorn runs the edge: its worker, the server, and the runner that drains before it stops."""

import asyncio
import os
import time
from functools import partial
from typing import Any

import pyarrow as pa
from aiohttp import hdrs, web
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_response import StreamResponse
from aiohttp.worker import GunicornUVLoopWebWorker
from multidict import CIMultiDict, CIMultiDictProxy

from edge.app import SERVICES, create_app
from edge.composition import Resources, open_resources
from edge.connection import EdgeHandler
from edge.fast_path.fast_path import FastPath
from shared.errors import ConfigurationError
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.line_writer import LineWriter
from shared.telemetry.log import adopt_libraries

# At its first conversion of values pyarrow looks for pandas. Where nothing keeps that from being imported, as
# deploy/gunicorn.conf.py does, it takes up to a second, in which the first answer would block the event loop.
pa.array([None])

_HEAD_BYTES_MAX = 16 * 1024
_KEEP_ALIVE_SECONDS = 75.0
_SHUTDOWN_SECONDS = 57.0
_LOOK_SECONDS = 0.02
# As many connections as may wait for an edge; nginx.conf sends no more. aiohttp's own default of 128 overrules
# gunicorn's setting, and a burst of new connections would be refused.
_BACKLOG = 4096
_BEAT_SECONDS = 0.1
_EXIT_SECONDS = 30.0


class EdgeWorker(GunicornUVLoopWebWorker):
    """gunicorn's worker on uvloop, which shows its master ten times a second that its loop runs."""

    _beating = False
    _ended = False

    def notify(self) -> None:
        """Beat, and keep beating until the loop ends.

        aiohttp calls this once a second, from when it serves until it drains; the beats continue while it drains.
        """
        super().notify()
        if not self._beating:
            self._beating = True
            self._beat()

    def _beat(self) -> None:
        if not self._ended:
            self.tmp.notify()
            self.loop.call_later(_BEAT_SECONDS, self._beat)

    async def _run(self) -> None:
        try:
            await super()._run()
        finally:
            self._ended = True
            ends = time.monotonic() + _EXIT_SECONDS
            os.utime(self.tmp.fileno(), (ends, ends))  # without a loop there are no beats


def make_request(app: web.Application, message: RawRequestMessage, *parts: Any) -> web.Request:
    """Make a request whose headers are text: bytes that are no UTF-8 become replacement characters.

    aiohttp keeps such bytes as lone surrogates, which cannot be encoded where the text is written to a log or a store.
    """
    if not all(value.isascii() for _, value in message.raw_headers):
        headers = CIMultiDict((name, _readable(value)) for name, value in message.headers.items())
        raw = tuple((name.encode(), value.encode()) for name, value in headers.items())
        message = message._replace(headers=CIMultiDictProxy(headers), raw_headers=raw)
    return app._make_request(message, *parts)


def _readable(text: str) -> str:
    return text.encode(errors="surrogateescape").decode(errors="replace")


class EdgeServer(web.Server):
    """Creates a connection's protocol: aiohttp's own, preceded by the fast path."""

    def __init__(self, handler: Any, *, fast_path: FastPath, problem_base_url: str, **options: Any) -> None:
        super().__init__(handler, **options)
        self._fast_path = fast_path
        self._errors_base = problem_base_url
        self._options = {
            k: v for k, v in options.items() if k not in ("request_factory", "handler_cancellation", "loop")
        }

    def __call__(self) -> RequestHandler:
        """Return the protocol of a new connection."""
        return EdgeHandler(self, asyncio.get_running_loop(), self._fast_path, self._errors_base, self._options)

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - aiohttp's own signature
        """End every connection, and wait until what was answered has left, for so many seconds at most (None: 0).

        aiohttp only begins to close: the process would end with the last kilobytes of an answer that is read slowly.
        """
        ends = time.monotonic() + (timeout or 0.0)
        transports = list(self._connections.values())
        await super().shutdown(timeout)
        while time.monotonic() < ends and any(t.get_write_buffer_size() for t in transports):  # noqa: ASYNC110 - no event
            await asyncio.sleep(_LOOK_SECONDS)


class DrainingRunner(web.AppRunner):
    """Stops in three steps: accept no more, answer what still arrives and close each connection, then end.

    Without the pause a connection that was accepted a moment before, or a request already on its way through the
    proxy's keep-alive connection, would be dropped: a restart would lose requests.
    """

    def __init__(self, app: web.Application, resources: Resources) -> None:
        super().__init__(
            app, access_log=None, keepalive_timeout=_KEEP_ALIVE_SECONDS, shutdown_timeout=_SHUTDOWN_SECONDS
        )
        self._resources = resources
        self._fast_path = FastPath(app[SERVICES])
        app.on_response_prepare.append(self._close_behind)

    def _reg_site(self, site: web.BaseSite) -> None:
        site._backlog = _BACKLOG
        super()._reg_site(site)

    async def _close_behind(self, request: web.Request, response: StreamResponse) -> None:
        # Otherwise nginx would reuse the connection until it is closed during a request.
        if self._fast_path.draining:
            response.headers[hdrs.CONNECTION] = "close"
            response.force_close()

    async def _make_server(self) -> web.Server:
        await super()._make_server()
        return EdgeServer(
            self.app._handle,
            fast_path=self._fast_path,
            problem_base_url=self._resources.settings.problem_base_url,
            request_factory=partial(make_request, self.app),
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            access_log=None,
            max_line_size=_HEAD_BYTES_MAX,
            max_field_size=_HEAD_BYTES_MAX,
            auto_decompress=False,
        )

    async def cleanup(self) -> None:
        """Drain, then clean up."""
        for site in list(self.sites):
            await site.stop()
        self._fast_path.draining = True
        self._resources.log.info("draining")
        await asyncio.sleep(self._resources.settings.drain_seconds)
        await super().cleanup()


async def create_runner() -> web.AppRunner:
    """Build the edge of one process, as gunicorn asks for it. Raises ConfigurationError where it cannot run safely."""
    if HttpRequestParser.__module__ != "aiohttp._http_parser":
        raise ConfigurationError("aiohttp's C parser is not active; install aiohttp from its wheel")
    stderr = LineWriter(2, metrics.log_lines_lost)
    resources = Resources(Settings.from_environment(), stderr)
    adopt_libraries(resources.log)
    app = create_app(resources)

    async def hold_resources(app: web.Application) -> Any:
        async with open_resources(resources):
            yield
        stderr.drain()

    app.cleanup_ctx.append(hold_resources)
    return DrainingRunner(app, resources)
