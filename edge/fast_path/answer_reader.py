"""Makes answers that memory does not have and that few statements give: prices of an item, a search."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import time

from edge import rules
from edge.composition import Services
from edge.fast_path.call import Done, PlainCall, Read
from edge.fast_path.plain_request import PlainRequest, representation
from edge.http.answer_cache import JSON_SELECTED, AnswerKey, AnswerOffer, StoredAnswer, answer_of
from edge.http.compression import compress
from edge.http.routing import Rule
from edge.rules import LIGHT_UNITS
from edge.search.answers import search_parameters
from edge.storage.database import ACCOUNT
from shared.errors import StoreUnavailable
from shared.index.iid import canonical_iid

_PRICING, _SEARCH = b"/v1/index/pricing/", b"/v1/index/search?"


def unread(rule: Rule, units: int) -> StoredAnswer:
    """Return an answer without content."""
    return StoredAnswer(rule, units, b"", b"", "", b"")


_PRICES = unread(rules.light("pricing"), LIGHT_UNITS)
_HITS = unread(rules.free("search"), rules.free("search").units)


class AnswerReader:
    """Finds what may be read for a request, and reads it."""

    def __init__(self, services: Services) -> None:
        self._answers = services.resources.answers
        self._prices = services.price_history
        self._search = services.search_answers
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, request: PlainRequest) -> tuple[StoredAnswer, Read] | None:
        """Return an answer without content that may be read, and what reads it; None for other questions."""
        selected = representation(request.accept)
        if request.target.startswith(_PRICING) and selected.partition("+")[0] == "json":
            priced = canonical_iid(request.target[len(_PRICING) :].decode())
            if priced is not None:
                return _PRICES, self._reading(partial(self._prices.cacheable, priced))
        elif request.target.startswith(_SEARCH) and selected.endswith(JSON_SELECTED):
            parameters = search_parameters(request.target[len(_SEARCH) :].decode())
            if parameters is not None:
                return _HITS, self._reading(partial(self._search_items, parameters))
        return None

    async def _search_items(self, parameters: dict[str, object]) -> AnswerOffer:
        response, until = await self._search.make(parameters)
        return AnswerOffer(response, _HITS.units, for_today=False, organization_id=None, until=until)

    def _reading(self, make: Callable[[], Awaitable[AnswerOffer]]) -> Read:
        """Return what makes an offer in a task of its own."""

        def read(call: PlainCall, done: Done) -> None:
            task = asyncio.create_task(self._read_offer(make, call, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return read

    async def _read_offer(self, make: Callable[[], Awaitable[AnswerOffer]], call: PlainCall, done: Done) -> None:
        request, generation, began = call.request, self._answers.generation, time()
        ACCOUNT.set(call.caller.account)
        try:
            offered = await make()
            if request.gzip is not None:
                compress(offered.response)
            answer = answer_of(call.answer.rule, offered, began)
            key = AnswerKey(request.target, representation(request.accept), None, request.gzip is not None)
            self._answers.keep(key, answer, generation)
        except StoreUnavailable as error:
            done(error)
        except Exception:  # noqa: BLE001 - also a fault of ours: the ordinary way meets it again, and reports it
            done(None)
        else:
            done(answer)
