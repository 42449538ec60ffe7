"""How gunicorn runs the edge: its worker, the runner that drains before it stops, the server with the fast path."""

import asyncio
import os
import time
from functools import partial
from http import HTTPStatus
from typing import Any

import pyarrow as pa
from aiohttp import hdrs, web
from aiohttp.http_parser import HttpRequestParser, RawRequestMessage
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_response import StreamResponse
from aiohttp.worker import GunicornUVLoopWebWorker
from multidict import CIMultiDict, CIMultiDictProxy

from edge.app import SERVICES, create_app
from edge.composition import Resources, opened
from edge.fast_path import LONGEST, Call, FastPath, recognized
from edge.http.context import request_id_from
from edge.http.problems import CONTENT_TYPE, Problem
from shared.errors import ConfigurationError
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import LineWriter, adopt_libraries

_PARSER_PROBLEMS = {
    400: (
        "invalid-request",
        "The request is not valid HTTP. In its URL, percent-encode spaces (%20) and characters outside ASCII (%C3%BC).",
    ),
    500: ("internal-error", "An unexpected error occurred."),
    504: ("upstream-timeout", "A part of the service did not respond in time."),
}


class EdgeHandler(RequestHandler):
    """One connection: the fast path, then aiohttp's protocol; what its parser refuses is a problem document."""

    __slots__ = ("_call", "_errors_base", "_fast_path", "_held", "_trusted")

    def __init__(
        self,
        manager: web.Server,
        loop: asyncio.AbstractEventLoop,
        fast_path: FastPath,
        problem_base_url: str,
        options: dict[str, Any],
    ) -> None:
        super().__init__(manager, loop=loop, **options)
        self._fast_path = fast_path
        self._errors_base = problem_base_url
        self._call: Call | None = None
        self._held = b""
        self._trusted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Use the fast path only for our own nginx, which connects over the unix socket: its X-Real-IP is trusted."""
        super().connection_made(transport)
        self._trusted = not isinstance(transport.get_extra_info("peername"), tuple)

    def data_received(self, data: bytes) -> None:
        """Answer here what memory has; give everything else to aiohttp."""
        if self._request_in_progress and self._is_ours:
            self._held += data  # a second request before the first is answered: it waits its turn
        elif not (self._idle() and len(data) <= LONGEST and self._answered(data)):
            super().data_received(data)

    @property
    def _is_ours(self) -> bool:
        # On the fast path `_request_in_progress` is set while aiohttp's own task still waits for a message.
        return self._waiter is not None and not self._messages

    def _idle(self) -> bool:
        return (
            self._trusted
            and self._waiter is not None
            and not self._waiter.done()
            and not self._messages
            and not self._request_in_progress
            and not self._close
            and not self._force_close
            and not self._fast_path.draining
            and not self._held
        )

    def _answered(self, data: bytes) -> bool:
        """Start to respond and return True, or return False if anything is unusual or not in memory."""
        try:
            request = recognized(data)
            call = self._fast_path.call(request) if request is not None else None
            if call is None:
                return False
            self._request_in_progress, self._call = True, call
            self._fast_path.charge(call, partial(self._finish, call), lambda: self._decline(call, data))
        except Exception as error:  # noqa: BLE001 - an earlier request may be what brought us here: it must not fail
            self._fast_path.failed(error)
            self._request_in_progress, self._call = False, None
            return False
        return True

    def _decline(self, call: Call, data: bytes) -> None:
        """Give a request that was begun here to aiohttp, with what came behind it."""
        if self._call is not call:  # it has a response: a second one would be taken for that of the next request
            return
        self._request_in_progress, self._call = False, None
        held, self._held = self._held, b""
        if self.transport is not None:
            super().data_received(data + held)

    def _finish(self, call: Call, answer: bytes) -> None:
        if self._call is not call:
            return
        self._request_in_progress, self._call = False, None
        if self.transport is not None:
            self.transport.write(answer)
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        if self._handler_waiter is not None:  # a shutdown waits for this answer
            self._handler_waiter.set_result(None)
        if self._held:
            held, self._held = self._held, b""
            self.data_received(held)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> StreamResponse:
        """Make the answer, and log an error of ours. The parser's message is left out, because it quotes the request.

        Raises ConnectionError where a part of another answer was sent: this one would stand in the middle of it.
        """
        if exc is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.log_exception("Error handling request", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("a part of the answer was sent")
        slug, detail = _PARSER_PROBLEMS.get(status, _PARSER_PROBLEMS[500])
        problem, request_id = Problem(slug, detail), request_id_from(None)
        response = web.Response(
            status=problem.type.status,
            reason=problem.type.title,
            body=problem.document(self._errors_base, request_id),
            content_type=CONTENT_TYPE,
            headers={"Cache-Control": "no-store", "X-Request-Id": request_id},
        )
        response.force_close()
        return response


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

    async def resources_open(app: web.Application) -> Any:
        async with opened(resources):
            yield
        stderr.drain()

    app.cleanup_ctx.append(resources_open)
    return DrainingRunner(app, resources)
