"""The common parts of all analytics: parameters, envelope (contract, section 4), and the thread for long work."""

import asyncio
import hashlib
import io
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from aiohttp import web
from marshmallow import Schema, fields, validate

from edge.http.answer_cache import UNTIL_THE_DATA_CHANGES, AnswerOffer
from edge.http.conditions import none_match
from edge.http.context import CONTEXT
from edge.http.json import CACHE_CONTROL, unstored_json
from edge.http.parameters import Day, Flag, QueryParameters, Utf8, field_doc, list_parameter, one_of
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.validation import QUERY
from edge.rules import LIGHT_UNITS
from shared.analytics.manifest import MEDIA_TYPES
from shared.analytics.outliers import MODES
from shared.analytics.results import Rows, write

Result = TypeVar("Result")
# A few milliseconds of work. A thread costs as much as the work on some hundred rows, and years of an item's
# observations would delay all other callers.
_ROWS_AT_ONCE_MAX = 500

_VALIDATORS = ("ETag", "Cache-Control", "Vary")


async def in_thread_if_large(rows: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return what `work` makes of so many rows."""
    if rows <= _ROWS_AT_ONCE_MAX:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def outliers_field() -> fields.Str:
    """Declare whether outliers count."""
    description = "Whether outliers count; these are implausible observations"
    return one_of(MODES, description, load_default=MODES[0])


def observed_prices_field() -> fields.Str:
    """Declare whether outliers count where the rule is about every price that was asked."""
    description = "Whether outliers count; default: they do, because every observed price does"
    return one_of(MODES, description, load_default=MODES[1])


class LightFormat(QueryParameters):
    """The parameters of every light read."""

    format = one_of(MEDIA_TYPES, "Format of the response; default: the one preferred by `Accept`")
    dry_run = Flag(load_default=False, metadata=field_doc("Return the cost without charging"))


class LightQuery(LightFormat):
    """The parameters of light reads of a range of days."""

    from_ = Day(data_key="from", load_default=None, metadata=field_doc("First day; default: a range of 90 days"))
    to = Day(load_default=None, metadata=field_doc("Last day, inclusive; default: the last day with data, or `from`"))
    channel = list_parameter(Utf8(1, 200), "Only this channel; repeat to select several")


class Coverage(Schema):
    """Days of the range with and without data. Missing days are not interpolated."""

    days = fields.Int(required=True)
    observed_days = fields.Int(required=True)
    missing_days = fields.Int(required=True)
    first = fields.Date(required=True, allow_none=True)
    last = fields.Date(required=True, allow_none=True)


class OutlierMeta(Schema):
    """Outliers: whether statistics include them, and how many there are."""

    mode = fields.Str(required=True, validate=validate.OneOf(MODES))
    set_aside = fields.Int(
        required=True,
        metadata=field_doc(
            "Number of outliers (implausible observations), also of periods and groups without another price, which "
            "have no row"
        ),
    )


class Meta(Schema):
    """The statements that go with the rows."""

    data_version = fields.Int(required=True)
    result_sha256 = fields.Str(required=True, metadata=field_doc("SHA-256 of the rows as NDJSON, whatever the format"))
    cached = fields.Bool(required=True)
    cost_units = fields.Int(required=True)
    rows = fields.Int(required=True)
    from_ = fields.Date(required=True, data_key="from")
    to = fields.Date(required=True)
    coverage = fields.Nested(Coverage(), required=True)
    units = fields.Dict(keys=fields.Str(), values=fields.Str(), required=True)
    method = fields.Str(required=True)
    rounding = fields.Dict(
        keys=fields.Str(),
        values=fields.Str(),
        metadata=field_doc("Precision of each rounded field; all other fields are exact"),
    )


class Quote(Schema):
    """Cost of a call."""

    kind = fields.Str(required=True)
    cost_units = fields.Int(required=True)
    cached = fields.Bool(required=True)
    format = fields.Str(required=True)
    data_version = fields.Int(required=True)
    parameters = fields.Dict(metadata=field_doc("Parameters of the report in canonical form"))


class Analysis(Schema):
    """Base of every analysis; each has rows as its `data`, and `meta`."""

    instead = Quote
    """What a dry run answers in its place."""


def light_units(request: web.Request) -> int:
    """Return what a light read costs: nothing for a dry run."""
    return 0 if request[QUERY]["dry_run"] else LIGHT_UNITS


def requested_format(request: web.Request) -> str:
    """Return the format asked for; raise the problem `not-acceptable` where none of ours is taken."""
    requested: str | None = request[QUERY]["format"]
    media_format = requested or best_format(request.headers.get("Accept"), MEDIA_TYPES)
    if media_format is None:
        offered = list(MEDIA_TYPES.values())
        raise Problem("not-acceptable", f"This call returns {', '.join(offered)}.", extra={"offered": offered})
    return media_format


def estimate(
    kind: str, units: int, format: str, data_version: int, *, cached: bool = False, **more: Any
) -> web.Response:
    """Answer `dry_run` with the cost of the call."""
    document = {"kind": kind, "cost_units": units, "cached": cached, "format": format, "data_version": data_version}
    return unstored_json(document | more)


async def light_answer(
    request: web.Request, rows: Sequence[dict[str, Any]], schema: pa.Schema, meta: dict[str, Any]
) -> web.Response:
    """Answer with rows and their meta in the format asked for; 304 where the caller has them."""
    offered = await light_offer(rows, schema, meta, requested_format(request))
    request[CONTEXT].offer = offered
    response = offered.response
    if none_match(request.headers.get("If-None-Match"), response.headers["ETag"]):
        return web.Response(status=304, headers={name: response.headers[name] for name in _VALIDATORS})
    return response


async def light_offer(
    rows: Sequence[dict[str, Any]], schema: pa.Schema, meta: dict[str, Any], format: str
) -> AnswerOffer:
    """Return the whole answer in a format of MEDIA_TYPES, as it may be kept."""
    body, etag = await in_thread_if_large(len(rows), _encoded, rows, schema, meta, format)
    fields = {"ETag": etag, "Cache-Control": CACHE_CONTROL, "Vary": "Accept"}
    response = web.Response(body=body, content_type=MEDIA_TYPES[format], headers=fields)
    # Where an item has no prices, its range ends today.
    return AnswerOffer(response, LIGHT_UNITS, for_today=True, organization_id=None, until=UNTIL_THE_DATA_CHANGES)


def _encoded(rows: Sequence[dict[str, Any]], schema: pa.Schema, meta: dict[str, Any], format: str) -> tuple[bytes, str]:
    def meta_of(digest: str) -> dict[str, Any]:
        head = {"data_version": meta["data_version"], "result_sha256": digest}
        return {**head, "cached": False, "cost_units": LIGHT_UNITS, "rows": len(rows), **meta}

    file = io.BytesIO()
    write(Rows.of(rows, schema), meta_of, format, file)
    body = file.getvalue()
    return body, f'"sha256-{hashlib.sha256(body).hexdigest()}"'
