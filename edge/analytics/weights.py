"""/weights: tables of weights of an organization, each upload a version of its own and in its audit log."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Annotated, Any

import asyncpg
from aiohttp import web
from marshmallow import fields, validate
from msgspec import Meta, Struct

from edge.auth.actor import Actor, acting_of
from edge.http.faults import Fault
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import ListPage, envelope
from edge.http.parameters import (
    Day,
    JsonInteger,
    ObjectList,
    Parameters,
    PathParameters,
    QueryParameters,
    WholeNumber,
    field_doc,
)
from edge.http.problems import Problem, invalid_parameters
from edge.http.routing import API_PATH, BODY_BYTES_MAX, KEY, LISTS_BODY_BYTES_MAX, Route, Rule, operation
from edge.http.validation import BODY, PATH, QUERY
from edge.storage.database import Database, Scope
from shared.clock import Rfc3339, rfc3339
from shared.db.queries import load_queries
from shared.index.iid import canonical_iid, item_key
from shared.organizations.accounts import BRAND
from shared.price_index.weights import (
    CODE_CHARACTERS_MAX,
    ROWS_MAX,
    VERSIONS_MAX,
    WeightTable,
    WrittenRow,
    WrongWeights,
    check_leaves,
    rows_of_csv,
    table_of_weights,
)

SQL = load_queries(__file__, "weights.sql")
WEIGHTS = "weights"
"""The parameter of a report that names a table; its answer is kept for nobody else, and for no other version."""
NAME = "[a-z0-9][a-z0-9_.-]{0,63}"
_CSV = "text/csv"
_WEIGHT_CHARACTERS_MAX = 26


class WeightsPath(PathParameters):
    """Path of one table of weights."""

    name = fields.Str(
        required=True,
        validate=validate.Regexp(rf"\A{NAME}\Z", error="must be 1 to 64 of a-z, 0-9, `_`, `.` and `-`"),
        metadata=field_doc("Its name", pattern=f"^{NAME}$", example="cpi"),
    )


class WeightsQuery(QueryParameters):
    """Which version of a table."""

    version = WholeNumber(1, 999_999, load_default=None, metadata=field_doc("Version; default: the newest"))


class PriceReferenceQuery(QueryParameters):
    """The period in whose prices weights are."""

    price_reference = Day(
        required=True,
        metadata=field_doc("A day of the price reference period: indices are 100 in it", example="2026-01-01"),
    )


class WrittenRowSchema(Parameters):
    """A row of a table of weights."""

    code = fields.Str(
        required=True,
        validate=validate.Length(1, CODE_CHARACTERS_MAX),
        metadata=field_doc("Code of a category, IID of an item, or one of your own that other rows have as `parent`"),
    )
    parent = fields.Str(
        load_default="",
        allow_none=True,
        validate=validate.Length(0, CODE_CHARACTERS_MAX),
        metadata=field_doc(
            "Code of the row above; default: the longest beginning of `code` up to a dot that has a row"
        ),
    )
    weight = fields.Str(
        load_default="",
        allow_none=True,
        validate=validate.Length(0, _WEIGHT_CHARACTERS_MAX),
        metadata=field_doc(
            "Decimal number above zero, beside the other rows below the same parent; default for a row with others "
            "below it: their sum",
            example="12.5",
        ),
    )
    line = JsonInteger(
        1,
        10**9,
        load_default=None,
        metadata=field_doc("Line of the file that the row comes from; problems name it"),
    )


def _read_csv(body: bytes) -> Mapping[str, Any]:
    """Return a CSV as the object that a JSON body is. Raises the problem `invalid-parameter`."""
    try:
        return {"rows": rows_of_csv(body.decode())}
    except UnicodeDecodeError:
        raise invalid_parameters([Fault("body", "must be UTF-8")]) from None
    except WrongWeights as wrong:
        raise _refused(wrong) from None


class NewWeights(Parameters):
    """A table of weights: a tree of rows. As CSV, its header is `code,parent,weight`."""

    other_forms: Mapping[str, Callable[[bytes], Any]] = {_CSV: _read_csv}

    rows = ObjectList(
        fields.Nested(WrittenRowSchema()),
        required=True,
        validate=validate.Length(1, ROWS_MAX, error=f"must have 1 to {ROWS_MAX:,} rows"),
        metadata=field_doc("A row that no other has as its parent is a category or an item of the index"),
    )


class WeightsVersion(Struct):
    """One version of a table of weights, which never changes."""

    name: Annotated[str, Meta(description="Name of the table")]
    version: Annotated[int, Meta(description="Number of the upload, from 1")]
    price_reference: Annotated[str, Meta(description="A day of the period in whose prices the weights are")]
    sha256: Annotated[str, Meta(description="Digest of the rows and the price reference")]
    row_count: Annotated[int, Meta(description="Number of rows, with the root that was added")]
    created_at: Rfc3339


class WeightsRow(Struct):
    """A row as aggregates use it."""

    code: Annotated[str, Meta(description="Code of a category, IID of an item, or your own")]
    parent: Annotated[str | None, Meta(description="Code of the row above; null of the root")]
    weight: Annotated[str, Meta(description="Decimal number, beside the other rows below the same parent")]


class WeightsDocument(WeightsVersion):
    """A version with its rows, parents before their children."""

    rows: Annotated[list[WeightsRow], Meta(description="Each after its parent")]


class WeightsList(ListPage):
    """All versions of all tables, by name, the newest version first."""

    data: list[WeightsVersion]


class WeightService:
    """The tables of weights of organizations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, acting: Actor, name: str, table: WeightTable) -> tuple[WeightsVersion, bool]:
        """Store a table as the next version of its name; return it, and whether it is new.

        A table that equals the newest version is that version. Raises `state-conflict` beyond the limit.
        """
        async with self._database.transaction(acting.scope) as transaction:
            await transaction.fetch(SQL.lock, acting.organization)
            newest = await transaction.fetch(SQL.newest, acting.organization, name, None)
            if newest and newest[0]["sha256"] == table.sha256:
                return render_version(newest[0]), False
            [counted] = await transaction.fetch(SQL.count, acting.organization)
            if counted["total"] >= VERSIONS_MAX:
                most = f"An organization can have {VERSIONS_MAX} versions of weights at most; delete a table."
                raise Problem("state-conflict", most)
            values = (table.price_reference, table.sha256, table.text, len(table.rows), acting.name)
            await transaction.fetch(SQL.add, acting.organization, name, *values)
            [row] = await transaction.fetch(SQL.newest, acting.organization, name, None)
        return render_version(row), True

    async def meanings(self, leaves: list[str]) -> dict[str, str]:
        """Return what is known of leaves: of a category itself, of an IID the item that it leads to."""
        iids = {code: iid for code in leaves if (iid := canonical_iid(code))}
        rows = await self._database.fetch(SQL.meanings, leaves, list(map(item_key, iids.values())))
        known = {row["code"]: row["meaning"] for row in rows}
        return {code: known[name] for code in leaves if (name := code if code in known else iids.get(code)) in known}

    async def find_all(self, acting: Actor) -> list[WeightsVersion]:
        """Return all versions, by name, the newest first."""
        rows = await self._database.fetch(SQL.listed, acting.organization, scope=acting.scope)
        return [render_version(row) for row in rows]

    async def find(self, acting: Actor, name: str, version: int | None) -> WeightsDocument:
        """Return a version of a table, or its newest one, with its rows. Raises `weights-not-found`."""
        row = await self._newest(acting.scope, name, version)
        table = WeightTable.stored(row["price_reference"], row["table_rows"])
        rows = [WeightsRow(one.code, one.parent, one.written) for one in table.rows]
        head = render_version(row)
        return WeightsDocument(**{name: getattr(head, name) for name in head.__struct_fields__}, rows=rows)

    async def delete(self, acting: Actor, name: str) -> None:
        """Delete all versions of a table. Raises `weights-not-found`."""
        if not await self._database.fetch(SQL.delete, acting.organization, name, acting.name, scope=acting.scope):
            raise _not_found(name)

    async def pin(self, organization_id: str | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return a report's parameters with the version that they mean, and its id, which no other version has.

        So no stored result is that of another version, or another organization's. Raises `weights-not-found`.
        """
        name, _, version = parameters[WEIGHTS].partition("@")
        row = await self._newest(Scope(organization=organization_id), name, int(version) if version else None)
        return {**parameters, WEIGHTS: f"{name}@{row['version']}", "weights_id": row["id"]}

    async def _newest(self, scope: Scope, name: str, version: int | None) -> asyncpg.Record:
        rows = await self._database.fetch(SQL.newest, scope.organization, name, version, scope=scope)
        if not rows:
            raise _not_found(name if version is None else f"{name}@{version}")
        return rows[0]


def render_version(row: asyncpg.Record) -> WeightsVersion:
    """Return a version as answers show it."""
    return WeightsVersion(
        name=row["name"],
        version=row["version"],
        price_reference=row["price_reference"].isoformat(),
        sha256=row["sha256"],
        row_count=row["row_count"],
        created_at=rfc3339(row["created_at"]),
    )


def _not_found(name: str) -> Problem:
    return Problem(
        "weights-not-found",
        f"`{name}` is not a table of weights of your organization.",
        advice="List them at /v1/weights.",
    )


def _refused(wrong: WrongWeights) -> Problem:
    return invalid_parameters([Fault(fault.member, fault.sentence, fault.value) for fault in wrong.faults])


def _written(rows: Iterable[Mapping[str, Any]]) -> list[WrittenRow]:
    return [
        WrittenRow(number, row["line"], row["code"].strip(), row["parent"] or "", row["weight"] or "")
        for number, row in enumerate(rows)
    ]


_operation = partial(operation, "weights")


class WeightHandlers:
    def __init__(self, weights: WeightService, data_version: Callable[[], int]) -> None:
        self._weights = weights
        self._data_version = data_version

    @_operation(
        "putWeights",
        WeightsPath,
        PriceReferenceQuery,
        NewWeights,
        answers={201: (WeightsVersion, "The new version"), 200: (WeightsVersion, "The newest version has these rows")},
    )
    async def put(self, request: web.Request) -> web.StreamResponse:
        """Upload a version of a table of weights.

        Rows are JSON or CSV. Each row that no other has as its parent is a category or an item of the index. The
        weights of the rows below a row must not exceed its own. Earlier versions stay, and reports may name them as
        `name@version`.
        """
        name, written = request[PATH]["name"], _written(request[BODY]["rows"])
        try:
            table = table_of_weights(request[QUERY]["price_reference"], written)
            check_leaves(written, table.leaves, await self._weights.meanings(table.leaves))
        except WrongWeights as wrong:
            raise _refused(wrong) from None
        version, is_new = await self._weights.add(acting_of(request), name, table)
        return unstored_json(version, 201 if is_new else 200)

    @_operation("listWeights", answers={200: (WeightsList, "All versions")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List your organization's tables of weights."""
        rows = await self._weights.find_all(acting_of(request))
        response = envelope(
            rows, total=len(rows), exact=True, next_cursor=None, query={}, data_version=self._data_version()
        )
        response.headers.update(NO_STORE)
        return response

    @_operation("getWeights", WeightsPath, WeightsQuery, answers={200: (WeightsDocument, "The version with its rows")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Read a version of a table of weights."""
        name, version = request[PATH]["name"], request[QUERY]["version"]
        return unstored_json(await self._weights.find(acting_of(request), name, version))

    @_operation("deleteWeights", WeightsPath, answers={204: "Deleted, with all versions"})
    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Delete a table of weights.

        All versions are deleted; their numbers are not used again. Results that were computed with them stay until
        they expire.
        """
        await self._weights.delete(acting_of(request), request[PATH]["name"])
        return web.Response(status=204)


def routes(service: WeightService, data_version: Callable[[], int]) -> tuple[Route, ...]:
    """Return the routes of tables of weights."""
    weights = WeightHandlers(service, data_version)
    at = f"{API_PATH}/weights"
    table = f"{at}/{{name}}"
    missing = "weights-not-found"
    upload = _rule("weights-upload", "missing-parameter", "state-conflict", body_bytes_max=LISTS_BODY_BYTES_MAX)
    return (
        Route("GET", at, weights.list, _rule("weights")),
        Route("PUT", table, weights.put, upload),
        Route("GET", table, weights.show, _rule("weights-table", missing)),
        Route("DELETE", table, weights.delete, _rule("weights-delete", missing)),
    )


def _rule(name: str, *problems: str, body_bytes_max: int = BODY_BYTES_MAX) -> Rule:
    return Rule(name=name, accepts=KEY, rank_min=BRAND, problems=problems, body_bytes_max=body_bytes_max)
