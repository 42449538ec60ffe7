"""One HTTP connection of the edge: the fast path first, aiohttp's protocol for everything else."""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_response import StreamResponse

from edge.fast_path.fast_path import FastPath
from edge.http.context import request_id_from
from edge.http.problems import CONTENT_TYPE, Problem

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

    __slots__ = ("_errors_base", "_fast_path", "_served", "_trusted", "_waiting_bytes")

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
        self._served: bytes | None = None
        self._waiting_bytes = b""
        self._trusted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Use the fast path only for our own nginx, which connects over the unix socket: its X-Real-IP is trusted."""
        super().connection_made(transport)
        self._trusted = not isinstance(transport.get_extra_info("peername"), tuple)

    def data_received(self, data: bytes) -> None:
        """Give a request to the fast path, and to aiohttp what that does not take."""
        if self._request_in_progress and self._is_ours:
            self._waiting_bytes += data  # a second request before the first is answered: it waits its turn
        elif not (self._idle() and self._serve(data)):
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
            and not self._waiting_bytes
        )

    def _serve(self, data: bytes) -> bool:
        """Have the fast path respond to a request; return False where it does not."""
        self._request_in_progress, self._served = True, data
        if self._fast_path.serve(data, partial(self._write, data), partial(self._decline, data)):
            return True
        self._request_in_progress, self._served = False, None
        return False

    def _decline(self, data: bytes) -> None:
        """Give a request that was begun here to aiohttp, with what came behind it."""
        if self._served is not data:  # it has a response: a second one would be taken for that of the next request
            return
        self._request_in_progress, self._served = False, None
        held, self._waiting_bytes = self._waiting_bytes, b""
        if self.transport is not None:
            super().data_received(data + held)

    def _write(self, data: bytes, response: bytes) -> None:
        """Send the response to the request `data`."""
        if self._served is not data:
            return
        self._request_in_progress, self._served = False, None
        if self.transport is not None:
            self.transport.write(response)
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
        if self._handler_waiter is not None:  # a shutdown waits for this answer
            self._handler_waiter.set_result(None)
        if self._waiting_bytes:
            held, self._waiting_bytes = self._waiting_bytes, b""
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
