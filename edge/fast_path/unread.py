"""Answers of the fast path that memory lacks, made once the call is charged: records, prices of an item, searches."""

import asyncio
from collections.abc import Callable
from time import time
from typing import Any

from edge import rules
from edge.analytics.envelope import LIGHT_UNITS
from edge.analytics.price_history import PriceHistory
from edge.fast_path.call import LOOKUP, Call, of_record
from edge.fast_path.request import PlainRequest, representation
from edge.http.answer_cache import JSON_SELECTED, Answer, Key, Offer, answer_of
from edge.http.compression import compress
from edge.http.cursors import CursorSigner
from edge.http.routing import Rule
from edge.index.records import Record
from edge.resources import Resources
from edge.search.answers import SearchAnswers, search_parameters
from edge.search.identifiers import ItemSearch
from edge.storage.fair_share import ACCOUNT
from shared.errors import StoreUnavailable
from shared.ids import canonical_iid

_PRICING, _SEARCH = b"/v1/index/pricing/", b"/v1/index/search?"


def _unread(rule: Rule, units: int) -> Answer:
    return Answer(rule, units, b"", b"", "", b"")


_RECORD = _unread(LOOKUP, LOOKUP.units)
_PRICES = _unread(rules.light("pricing"), LIGHT_UNITS)
_HITS = _unread(rules.free("search"), rules.free("search").units)

Done = Callable[[Answer | StoreUnavailable | None], None]


def is_unread(answer: Answer) -> bool:
    """Return whether an answer is still without content."""
    return answer is _RECORD or answer is _PRICES or answer is _HITS


class Unread:
    """Finds what may be read, as an answer without content, and reads it."""

    def __init__(self, resources: Resources) -> None:
        settings = resources.settings
        cursors = CursorSigner(settings.signing_secret, settings.signing_secret_previous)
        self._records = resources.records
        self._answers = resources.answers
        self._prices = PriceHistory(resources.database, settings.base_url)
        self._search = SearchAnswers(ItemSearch(resources.search, resources.resolutions), cursors, settings.base_url)
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, request: PlainRequest) -> Answer | None:
        """Return the answer, still without content, to a question that memory cannot answer and that may be read."""
        if request.if_none_match:
            return None
        selected = representation(request.accept)
        if request.iid is not None:
            iid = canonical_iid(request.iid.decode())
            return _RECORD if selected.endswith(JSON_SELECTED) and iid and self._records.peek(iid) is None else None
        if request.target.startswith(_PRICING) and selected.partition("+")[0] == "json":
            return _PRICES if _item_of(request) is not None else None
        if request.target.startswith(_SEARCH) and selected.endswith(JSON_SELECTED):
            return _HITS if _search_of(request) is not None else None
        return None

    def read_then(self, call: Call, done: Done) -> None:
        """Read the answer of a call that is charged, and call `done` with it.

        `done` gets StoreUnavailable where the store that alone knows it does not answer, and None where there is no
        answer to the question: the ordinary way says why.
        """
        if call.answer is _RECORD:
            self._read_record(call.request, done)
        else:
            task = asyncio.create_task(self._read_offered(call, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _read_record(self, request: PlainRequest, done: Done) -> None:
        def read(record: Record | Exception) -> None:
            if isinstance(record, StoreUnavailable):
                done(record)
            elif isinstance(record, Exception) or record.state != "+":
                done(None)
            else:
                done(of_record(record, b"", LOOKUP))

        assert request.iid is not None
        self._records.read_then(request.iid.decode().upper(), read)

    async def _read_offered(self, call: Call, done: Done) -> None:
        request, generation, began = call.request, self._answers.generation, time()
        ACCOUNT.set(call.account)
        try:
            offered = await self._offer(call)
        except StoreUnavailable as error:
            done(error)
            return
        except Exception:  # noqa: BLE001 - also a fault of ours: the ordinary way meets it again, and reports it
            done(None)
            return
        if request.gzip is not None:
            compress(offered.response)
        answer = answer_of(call.answer.rule, offered, began)
        key = Key(request.target, representation(request.accept), None, request.gzip is not None)
        self._answers.keep(key, answer, generation)
        done(answer)

    async def _offer(self, call: Call) -> Offer:
        if call.answer is _PRICES:
            iid = _item_of(call.request)
            assert iid is not None
            return await self._prices.offer(iid)
        parameters = _search_of(call.request)
        assert parameters is not None
        response, until = await self._search.make(parameters)
        return Offer(response, call.answer.units, for_today=False, organization_id=None, until=until)


def _item_of(request: PlainRequest) -> str | None:
    """Return the IID behind the path of prices; None where there is none, or parameters behind it."""
    return canonical_iid(request.target[len(_PRICING) :].decode())


def _search_of(request: PlainRequest) -> dict[str, Any] | None:
    """Return the parameters of a search; None where validation may refuse them."""
    return search_parameters(request.target[len(_SEARCH) :].decode())
