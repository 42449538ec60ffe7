"""One handler for every read of one item: it charges, reads, converts where asked to, and answers in a format."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
from aiohttp import web
from marshmallow import Schema

from edge import rules
from edge.analytics import envelope
from edge.analytics.conversion import read_converter
from edge.http.context import CONTEXT
from edge.http.parameters import QueryParameters
from edge.http.routing import API_PATH, Handler, Route, operation
from edge.http.validation import QUERY
from edge.index.lookup_schemas import IidPath
from edge.quota.billing import Billing
from edge.storage.database import Database
from shared.analytics.exchange import Converter, with_original
from shared.analytics.manifest import MEDIA_TYPES
from shared.clock import utc_now
from shared.errors import InvalidParameter, ItemNotFound, ItemWithdrawn

DEFAULT_DAYS = 90


class MovedToSurvivor(web.HTTPMovedPermanently):
    """The redirection of a read of a merged item, with the IID of its survivor for pages that have another address."""

    def __init__(self, survivor: str, location: str) -> None:
        super().__init__(location)
        self.survivor = survivor

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.survivor, str(self.location)), vars(self)


def _active_item(row: Any, address: str, channels: Sequence[str], query: str) -> Any:
    """Return the row of an active item. Raises the domain error of any other item, and of unknown channels.

    `address` is that of this read, with a place for the IID.
    """
    if row is None:
        raise ItemNotFound
    if row["status"] == "withdrawn":
        raise ItemWithdrawn
    if row["status"] == "merged":
        raise MovedToSurvivor(row["survivor_iid"], address.replace("{iid}", row["survivor_iid"]) + query)
    if row["unknown_channels"]:
        wrong = "is not a known channel; a record's `channels` lists those of its item"
        raise InvalidParameter("channel", wrong, row["unknown_channels"][0])
    return row


def range_of(first: date | None, to: date | None, observed: date | None) -> tuple[date, date]:
    """Return the days to answer: 90 up to the last day that holds data, or up to today where none does.

    Without `to` a first day after the last data is the whole range: a program that asks for what is new gets an empty
    answer until there is something. Raises InvalidParameter where `to` is before it.
    """
    last = to or max(observed or utc_now().date(), first or date.min)
    first = first or last - timedelta(days=DEFAULT_DAYS - 1)
    if first > last:
        raise InvalidParameter("from", f"must not be after `to`, which is {last.isoformat()}", first.isoformat())
    return first, last


Rows = list[dict[str, Any]]
Meta = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConvertibleAmounts:
    """What converts the amounts of an answer: the rates that it needs, and how they change rows and meta."""

    currencies: Collection[str]
    first: date
    last: date
    convert: Callable[[Converter], tuple[Rows, Meta]]


@dataclass(frozen=True, slots=True)
class ReadRows:
    """The rows of an answer, its meta, and its amounts where it has any."""

    rows: Rows
    schema: pa.Schema
    meta: Meta
    amounts: ConvertibleAmounts | None = None


class LightRead(ABC):
    """The read at one address below an item's; `answer` is the sentence about its 200."""

    kind: str
    path: str
    operation: str
    summary: str
    description: str
    query: type[QueryParameters]
    reply: type[Schema]
    answer: str

    def __init__(self, database: Database, base_url: str) -> None:
        self._database = database
        self._address = f"{base_url}/index/{self.path}"

    @abstractmethod
    async def find(self, request: web.Request) -> ReadRows:
        """Return what the request asks for. Raises ItemNotFound, ItemWithdrawn, InvalidParameter, or a redirection."""

    async def item_row(self, statement: str, *values: Any, channels: Sequence[str], query_string: str = "") -> Any:
        """Return a statement's row of an active item. Raises what `find` does.

        The redirection to a survivor keeps the query: without it a caller that follows pays for an unasked answer.
        """
        row = await self._database.fetch_row(statement, *values)
        return _active_item(row, self._address, channels, f"?{query_string}" if query_string else "")


def routes(reads: Collection[LightRead], database: Database, billing: Billing) -> tuple[Route, ...]:
    return tuple(
        Route("GET", f"{API_PATH}/index/{read.path}", _handler(read, database, billing), rules.light(read.kind))
        for read in reads
    )


def _handler(read: LightRead, database: Database, billing: Billing) -> Handler:
    @operation(
        "reports",
        read.operation,
        IidPath,
        read.query,
        answers={
            200: (read.reply, read.answer),
            301: "`Location` is the address of the surviving item.",
            304: "Your copy is current.",
        },
        summary=read.summary,
        description=read.description,
        produces=list(MEDIA_TYPES.values()),
    )
    async def show(request: web.Request) -> web.StreamResponse:
        async with billing.charge(request[CONTEXT], envelope.light_units(request)) as charge:
            return charge.settle(await _respond(request, read, database))

    return show


async def _respond(request: web.Request, read: LightRead, database: Database) -> web.StreamResponse:
    query, found = request[QUERY], await read.find(request)
    if query["dry_run"]:
        format = envelope.requested_format(request)
        return envelope.estimate(read.kind, rules.LIGHT_UNITS, format, found.meta["data_version"])
    if query.get("convert") is not None:
        found = await _converted(request, read, found, database)
    return await envelope.light_answer(request, found.rows, found.schema, found.meta)


async def _converted(request: web.Request, read: LightRead, found: ReadRows, database: Database) -> ReadRows:
    """Return an answer with its amounts in the currency that is asked for, by rates of the answer's own version."""
    to, name = request[QUERY]["convert"], request[QUERY]["rates"]
    while True:
        amounts = found.amounts
        assert amounts is not None
        converter, version = await read_converter(database, to, name, amounts.currencies, amounts.first, amounts.last)
        if version == found.meta["data_version"]:
            break
        found = await read.find(request)  # a load has committed between the two statements
    rows, meta = amounts.convert(converter)
    return ReadRows(rows, with_original(found.schema), {**meta, "conversion": converter.meta()})
