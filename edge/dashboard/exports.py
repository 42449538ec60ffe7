"""Pages of the bulk data that is made to order: the builder with its preview, and the exports."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from aiohttp import web
from marshmallow import ValidationError

from edge.bulk import schemas
from edge.bulk.exports import ExportRequest
from edge.composition import Services
from edge.dashboard.acting import PageBilling
from edge.dashboard.forms import FormFaults
from edge.dashboard.reports import names_in
from edge.dashboard.session_guard import FORM_ID, PageError, SignedIn, form_of, render, see
from edge.dashboard.tables import called, export_question
from edge.http.context import CONTEXT
from edge.http.parameters import whole_number
from edge.http.problems import Problem
from edge.jobs.service import Order, failure
from edge.quota.billing import Charge
from shared.bulk.request import FORMATS, QUERIED
from shared.bulk.schema import DATASETS
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import INSTITUTIONAL, Principal

_LISTED = 50
_LISTS = ("brand", "category", "channel")
_COLUMNS_MAX = 50
_FIELDS = ("columns", "brand", "category", "channel", "from", "to", "since", "format", "compression")


class ExportPages:
    def __init__(self, services: Services, billing: PageBilling) -> None:
        self._database = services.resources.database
        self._exports = services.exports
        self._serializer = services.export_serializer
        self._billing = billing
        self._base_url = services.settings.base_url

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's exports, the newest first."""
        orders, total = await self._exports.listed(_organization(visitor), None, _LISTED, None)
        requests = [(order, _request_of(order)) for order in orders[:_LISTED]]
        names = await names_in(self._database, [asked for _, asked in requests])
        exports = [(order, asked, export_question(asked, names)) for order, asked in requests]
        allowed = await self._billing.includes(visitor, INSTITUTIONAL)
        return render(request, "exports.html", visitor, exports=exports, total=total, allowed=allowed)

    async def builder(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form. The address chooses the dataset, because its columns and filters depend on it."""
        _organization(visitor)
        given = {"dataset": "observations", **request.query}
        if given["dataset"] not in QUERIED:
            raise PageError(404, "There is no such dataset. Choose one from the exports page.")
        return await self._form(request, visitor, given, None, {})

    async def _form(
        self,
        request: web.Request,
        visitor: SignedIn,
        given: dict[str, str],
        columns: Sequence[str] | None,
        faults: dict[str, str],
    ) -> web.StreamResponse:
        """Show the form as it was filled in; `columns` is None where all are chosen."""
        name = given["dataset"]
        return render(
            request,
            "export_new.html",
            visitor,
            400 if faults else 200,
            dataset=DATASETS[name],
            datasets=QUERIED,
            shape=QUERIED[name],
            formats=FORMATS,
            given=given,
            columns=columns,
            faults=faults,
            allowed=await self._billing.includes(visitor, INSTITUTIONAL),
        )

    async def preview(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show size and cost of the export in the form, with ten rows, or the form's faults; charges nothing."""
        fields = _fields_of(request.query.get("dataset", ""))
        values: dict[str, Any] = {"faults": {}, "fields": fields, "offer": None, "curl": None}
        try:
            principal = await self._billing.principal(visitor, INSTITUTIONAL)
            body = _body(dict(request.query), request.query.getall("columns", []))
            await self._billing.count(request, principal)
            order = await self._prepare(principal, body, None)
            offer = await self._exports.estimate(order, with_rows=True)
        except (PageError, Problem) as error:
            return render(request, "export_preview.html", visitor, **values | {"faults": _faults(error)})
        curl = (
            f'curl -s -H "Authorization: ApiKey $ITEMINDEX_KEY" -H "Content-Type: application/json" '
            f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))} {self._base_url}/index/exports"
        )
        return render(request, "export_preview.html", visitor, **values | {"offer": offer, "curl": curl})

    async def order(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Prepare, charge, submit, and show the export. The form's number makes a second click the same order."""
        principal = await self._billing.principal(visitor, INSTITUTIONAL)
        form = await form_of(request)
        once = form.get("once", "")
        if not FORM_ID.fullmatch(once):
            raise PageError(400, "The form is incomplete. Open its page again.")
        columns = [str(name) for name in (await request.post()).getall("columns", [])]
        try:
            order = await self._prepare(principal, _body(form, columns), f"dashboard-{once}")
        except (PageError, Problem) as error:
            known = isinstance(error, PageError) or error.type.status in (400, 404)
            if form.get("dataset") not in QUERIED or not known:
                raise
            return await self._form(request, visitor, form, columns, _faults(error))
        if order.replayed:
            return see(f"/dashboard/exports/{order.replayed}")
        charge = await self._billing.charge(request, principal, EXPORT.units)
        return await charge.settle(self._submit(request, principal, order, charge))

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One export: its progress, and its files."""
        return await self._shown(request, visitor, "export.html")

    async def state(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The progress of an export, asked for again and again; once it has ended, its whole part of the page."""
        order = await self._exports.find(_organization(visitor), request.match_info["id"])
        if not order.ended:
            return render(request, "progress.html", visitor, order=order)
        response = await self._shown(request, visitor, "export_state.html")
        response.headers.update({"HX-Retarget": "#job", "HX-Reswap": "outerHTML"})
        return response

    async def end(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Cancel it, or delete its files."""
        await self._billing.principal(visitor, INSTITUTIONAL)
        await self._exports.end(_organization(visitor), request.match_info["id"])
        return see(f"/dashboard/exports/{request.match_info['id']}")

    async def file(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A file, as the API would send it."""
        await self._billing.principal(visitor, INSTITUTIONAL)
        path = request.match_info
        return await self._exports.send(request, _organization(visitor), path["id"], path["file"])

    async def _shown(self, request: web.Request, visitor: SignedIn, template: str) -> web.StreamResponse:
        organization = _organization(visitor)
        order = await self._exports.find(organization, request.match_info["id"])
        asked = _request_of(order)
        names = await names_in(self._database, [asked])
        return render(
            request,
            template,
            visitor,
            order=order,
            failure=failure(order),
            export=self._serializer.render(order, organization),
            narrowed={field: called(field, value, names) for field, value in (asked.get("filter") or {}).items()},
            allowed=await self._billing.includes(visitor, INSTITUTIONAL),
        )

    async def _prepare(self, principal: Principal, body: dict[str, Any], key: str | None) -> ExportRequest:
        try:
            loaded: dict[str, Any] = schemas.NewExport().load(body)
        except ValidationError as error:
            raise FormFaults.of(error, {}) from None
        return await self._exports.prepare(principal, loaded, key)

    async def _submit(
        self, request: web.Request, principal: Principal, order: ExportRequest, charge: Charge
    ) -> web.StreamResponse:
        submitting = self._exports.submit(principal, order, charge, request[CONTEXT].span.traceparent)
        return see(f"/dashboard/exports/{(await charge.pay_for(submitting)).order_id}")


def _organization(visitor: SignedIn) -> str:
    return visitor.acting.membership.organization_id


def _request_of(order: Order) -> dict[str, Any]:
    requested: dict[str, Any] = json.loads(order.row["parameters"])
    return requested


def _faults(error: PageError | Problem) -> dict[str, str]:
    """Return the faults by field; those of the filter are named as the form names them."""
    renamed = {f"filter.{name}": name for name in _FIELDS}
    return FormFaults.of_failure(error, renamed, frozenset(_FIELDS)).faults


def _body(form: dict[str, str], columns: list[str]) -> dict[str, Any]:
    """Return what a program would send for this form: only what was filled in."""
    dataset = form.get("dataset", "")
    narrowed: dict[str, Any] = {}
    for name in _LISTS:
        names = [part.strip() for part in form.get(name, "").split(",") if part.strip()]
        if names:
            narrowed[name] = names
    narrowed |= {name: form[name] for name in ("from", "to") if form.get(name)}
    body: dict[str, Any] = {"dataset": dataset, "format": form.get("format") or "parquet"}
    known = [column.name for column in DATASETS[dataset].columns] if dataset in QUERIED else []
    if columns[: _COLUMNS_MAX + 1] != known:
        if not columns:
            raise FormFaults({"columns": "Choose at least one column."})
        body["columns"] = columns[: _COLUMNS_MAX + 1]
    if narrowed:
        body["filter"] = narrowed
    if form.get("since"):
        body["since"] = whole_number(form["since"].strip(), 18)
        if body["since"] is None:
            raise FormFaults({"since": "must be a data_version: a whole number, 1 or greater"})
    if form.get("compression"):
        body["compression"] = form["compression"]
    return body


def _fields_of(dataset: str) -> tuple[str, ...]:
    """Return the fields that the form of a dataset has: a fault of another one would have no place in the page."""
    shape = QUERIED.get(dataset)
    if shape is None:
        return ()
    days = ("from", "to") if "from" in shape.filters else ()
    channel = ("channel",) if "channel" in shape.filters else ()
    filters = ("brand", "category", *channel, *days) if shape.filters else ()
    return ("columns", *filters, *(("since",) if shape.since else ()), "format", "compression")
