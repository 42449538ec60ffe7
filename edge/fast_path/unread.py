"""Reads of the fast path for values that memory lacks, once the call is charged: a record, the prices of an item."""

import asyncio
from collections.abc import Callable
from time import time

from edge import rules
from edge.analytics.envelope import LIGHT_UNITS
from edge.analytics.price_history import PriceHistory
from edge.fast_path.call import LOOKUP, Call, of_record
from edge.fast_path.request import PlainRequest, representation
from edge.http.answer_cache import JSON_SELECTED, Answer, Key, answer_of
from edge.http.compression import compress
from edge.index.records import Record
from edge.resources import Resources
from edge.storage.fair_share import ACCOUNT
from shared.errors import StoreUnavailable
from shared.ids import canonical_iid

_PRICING = b"/v1/index/pricing/"
_PRICING_RULE = rules.light("pricing")
_RECORD = Answer(LOOKUP, LOOKUP.units, b"", b"", "", b"")
_PRICES = Answer(_PRICING_RULE, LIGHT_UNITS, b"", b"", "", b"")

Done = Callable[[Answer | StoreUnavailable | None], None]


def is_unread(answer: Answer) -> bool:
    """Return whether an answer is still without content."""
    return answer is _RECORD or answer is _PRICES


class Unread:
    """Finds what may be read, as an answer without content, and reads it."""

    def __init__(self, resources: Resources) -> None:
        self._records = resources.records
        self._answers = resources.answers
        self._prices = PriceHistory(resources.database, resources.settings.base_url)
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
        return None

    def read_then(self, call: Call, done: Done) -> None:
        """Read the answer of a call that is charged, and call `done` with it.

        `done` gets StoreUnavailable where PostgreSQL, which alone knows it, does not answer, and None where there is no
        answer to the question: the ordinary way says why.
        """
        if call.answer is _RECORD:
            self._read_record(call.request, done)
        else:
            task = asyncio.create_task(self._read_prices(call, done))
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

    async def _read_prices(self, call: Call, done: Done) -> None:
        request, generation, began = call.request, self._answers.generation, time()
        iid = _item_of(request)
        assert iid is not None
        ACCOUNT.set(call.account)
        try:
            offered = await self._prices.offer(iid)
        except StoreUnavailable as error:
            done(error)
            return
        except Exception:  # noqa: BLE001 - also a fault of ours: the ordinary way meets it again, and reports it
            done(None)
            return
        if request.gzip is not None:
            compress(offered.response)
        answer = answer_of(_PRICING_RULE, offered, began)
        key = Key(request.target, representation(request.accept), None, request.gzip is not None)
        self._answers.keep(key, answer, generation)
        done(answer)


def _item_of(request: PlainRequest) -> str | None:
    """Return the IID behind the path of prices; None where there is none, or parameters behind it."""
    return canonical_iid(request.target[len(_PRICING) :].decode())
