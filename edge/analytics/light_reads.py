"""One handler for every read of one item: it charges, reads, converts where asked to, and answers in a format.

A read is declared: how the document describes it, and the function that finds its rows.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema
from marshmallow import Schema

from edge import rules
from edge.analytics import envelope
from edge.analytics.conversion import read_converter, with_original
from edge.http.context import CONTEXT
from edge.http.parameters import QUERY
from edge.http.routing import API_PATH, Handler, Route
from edge.index.schemas import IidPath
from edge.quota.billing import Billing
from edge.storage.database import Database
from shared.analytics.exchange import Converter
from shared.analytics.results import MEDIA_TYPES

Rows = list[dict[str, Any]]
Meta = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Amounts:
    """What converts the amounts of an answer: the rates that it needs, and how they change rows and meta."""

    currencies: Collection[str]
    first: date
    last: date
    convert: Callable[[Converter], tuple[Rows, Meta]]


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of an answer, its meta, and its amounts where it has any."""

    rows: Rows
    schema: pa.Schema
    meta: Meta
    amounts: Amounts | None = None


@dataclass(frozen=True, slots=True)
class LightRead:
    """The read at one address below an item's."""

    kind: str
    path: str
    operation: str
    summary: str
    description: str
    query: type[Schema]
    reply: type[Schema]
    answer: str
    find: Callable[[web.Request], Awaitable[Found]]


def routes(reads: Collection[LightRead], database: Database, billing: Billing) -> tuple[Route, ...]:
    """Return the route of each read."""
    return tuple(
        Route("GET", f"{API_PATH}/index/{read.path}", _handler(read, database, billing), rules.light(read.kind))
        for read in reads
    )


def _handler(read: LightRead, database: Database, billing: Billing) -> Handler:
    async def show(request: web.Request) -> web.StreamResponse:
        charge = await billing.charge(request[CONTEXT], envelope.light_units(request))
        return await charge.settle(_respond(request, read, database))

    handler = response_schema(read.reply(), 200, description=read.answer)(show)
    handler = match_info_schema(IidPath())(querystring_schema(read.query())(handler))
    declared: Handler = docs(
        operationId=read.operation,
        summary=read.summary,
        description=read.description,
        tags=["reports"],
        produces=list(MEDIA_TYPES.values()),
        responses={
            "301": {"description": "Location names the item that it was merged into."},
            "304": {"description": "Your copy is current."},
        },
    )(handler)
    return declared


async def _respond(request: web.Request, read: LightRead, database: Database) -> web.StreamResponse:
    query, found = request[QUERY], await read.find(request)
    if query["dry_run"]:
        return envelope.estimate(request, read.kind, found.meta["data_version"])
    if query.get("convert") is not None:
        found = await _converted(request, read, found, database)
    return await envelope.light_answer(request, found.rows, found.schema, found.meta)


async def _converted(request: web.Request, read: LightRead, found: Found, database: Database) -> Found:
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
    return Found(rows, with_original(found.schema), {**meta, "conversion": converter.meta()})
