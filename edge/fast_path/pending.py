"""Answers of the fast path that memory lacks, made once the call is charged: records, prices of an item, searches."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import time
from typing import Any, NamedTuple

from edge import rules
from edge.composition import Services
from edge.fast_path.call import LOOKUP, Call, Done, PlainRequest, Read, of_record, representation
from edge.http.answer_cache import JSON_SELECTED, Answer, Key, Offer, answer_of
from edge.http.answer_keeping import compress
from edge.http.routing import Rule
from edge.index.records import Record
from edge.rules import LIGHT_UNITS
from edge.search.answers import search_parameters
from edge.storage.database import ACCOUNT
from shared.errors import StoreUnavailable
from shared.index.iid import canonical_iid

_PRICING, _SEARCH = b"/v1/index/pricing/", b"/v1/index/search?"


class Unread(NamedTuple):
    """An answer still without content, and what reads it."""

    answer: Answer
    read: Read


def _unread(rule: Rule, units: int) -> Answer:
    return Answer(rule, units, b"", b"", "", b"")


_RECORD = _unread(LOOKUP, LOOKUP.units)
_PRICES = _unread(rules.light("pricing"), LIGHT_UNITS)
_HITS = _unread(rules.free("search"), rules.free("search").units)


class Reader:
    """Finds what may be read for a request, and reads it."""

    def __init__(self, services: Services) -> None:
        self._records = services.resources.records
        self._answers = services.resources.answers
        self._prices = services.price_history
        self._search = services.search_answers
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, request: PlainRequest) -> Unread | None:
        """Return the answer to a question that memory cannot answer and that may be read."""
        if request.if_none_match:
            return None
        selected = representation(request.accept)
        if request.iid is not None:
            iid = canonical_iid(request.iid.decode())
            if iid and selected.endswith(JSON_SELECTED) and self._records.peek(iid) is None:
                return Unread(_RECORD, partial(self._read_record, request.iid.decode().upper()))
        elif request.target.startswith(_PRICING) and selected.partition("+")[0] == "json":
            priced = canonical_iid(request.target[len(_PRICING) :].decode())
            if priced is not None:
                return Unread(_PRICES, self._reading(partial(self._prices.offer, priced)))
        elif request.target.startswith(_SEARCH) and selected.endswith(JSON_SELECTED):
            parameters = search_parameters(request.target[len(_SEARCH) :].decode())
            if parameters is not None:
                return Unread(_HITS, self._reading(partial(self._searched, parameters)))
        return None

    async def _searched(self, parameters: dict[str, Any]) -> Offer:
        response, until = await self._search.make(parameters)
        return Offer(response, _HITS.units, for_today=False, organization_id=None, until=until)

    def _read_record(self, iid: str, call: Call, done: Done) -> None:
        def read(record: Record | Exception) -> None:
            if isinstance(record, StoreUnavailable):
                done(record)
            elif isinstance(record, Exception) or record.state != "+":
                done(None)
            else:
                done(of_record(record, b"", LOOKUP))

        self._records.read_then(iid, read)

    def _reading(self, make: Callable[[], Awaitable[Offer]]) -> Read:
        """Return what makes an offer in a task of its own."""

        def read(call: Call, done: Done) -> None:
            task = asyncio.create_task(self._read_offered(make, call, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return read

    async def _read_offered(self, make: Callable[[], Awaitable[Offer]], call: Call, done: Done) -> None:
        request, generation, began = call.request, self._answers.generation, time()
        ACCOUNT.set(call.caller.account)
        try:
            offered = await make()
            if request.gzip is not None:
                compress(offered.response)
            answer = answer_of(call.answer.rule, offered, began)
            key = Key(request.target, representation(request.accept), None, request.gzip is not None)
            self._answers.keep(key, answer, generation)
        except StoreUnavailable as error:
            done(error)
        except Exception:  # noqa: BLE001 - also a fault of ours: the ordinary way meets it again, and reports it
            done(None)
        else:
            done(answer)
