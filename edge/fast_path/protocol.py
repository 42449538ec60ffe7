"""aiohttp's protocol of a connection, preceded by the fast path.

Most requests are asked again and again: look-ups, and questions whose answer is kept until the data changes. Forwarded
by our own nginx, they have the same header lines in the same order. One regular expression matches that form; a request
that differs by one byte takes aiohttp's parser and the ordinary way, which gives the same response
(tests/service/http/test_fast_path.py and test_answer_cache.py compare the two byte for byte). Principal, answer and
limits are in memory; only the charge is waited for.

It uses private parts of aiohttp's protocol: `_waiter`, `_messages`, `_close`, `_force_close`, `_request_in_progress`,
`_handler_waiter`, `_next_keepalive_close_time`. aiohttp's version is pinned for it.
"""

import asyncio
from functools import partial
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from edge.fast_path.call import LONGEST, Call, recognized
from edge.fast_path.service import FastPath


class FastPathProtocol(RequestHandler):
    """aiohttp's protocol of one connection, preceded by the fast path."""

    __slots__ = ("_call", "_fast_path", "_held", "_trusted")

    def __init__(
        self, manager: web.Server, loop: asyncio.AbstractEventLoop, fast_path: FastPath, options: dict[str, Any]
    ) -> None:
        super().__init__(manager, loop=loop, **options)
        self._fast_path = fast_path
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
