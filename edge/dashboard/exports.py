"""Pages of the bulk data that is made to order: the builder with its preview, and the exports."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from edge.analytics.wording import names_in_words
from edge.bulk import export_schemas
from edge.bulk.export_service import ExportRequest
from edge.dashboard.forms import Choice, Form, FormOffer, FormPages
from edge.dashboard.page_requests import redirect
from edge.dashboard.pages import form_id_in
from edge.dashboard.rendering import render
from edge.dashboard.reports import LISTED, names_in, parameters_of, show_orders
from edge.dashboard.visitor import SignedIn
from edge.http.context import CONTEXT
from edge.http.validation import fields_by_name
from edge.jobs.serializer import failure
from edge.quota.billing import Charge
from shared.bulk.request import QUERIED
from shared.bulk.schema import DATASETS
from shared.jobs.contract import EXPORT
from shared.organizations.accounts import INSTITUTIONAL, Principal

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    **{f"filter.{name}": {"sentence": "All if empty"} for name in ("brand", "category", "channel")},
    "filter.from": {"sentence": "First day"},
    "since": {"label": "Changes since data version"},
    "format": {"default": ""},
}


def _form(name: str) -> Form:
    """Return the form of a dataset: its columns, the filters that it has, and how its files are written."""
    shape, columns = QUERIED[name], DATASETS[name].columns
    boxes = {
        "sentence": "The columns of the files, in this order.",
        "control": "boxes",
        "choices": tuple((column.name, column.sentence) for column in columns),
        "first": tuple(column.name for column in columns),
        "missing": "Choose at least one column.",
    }
    filters = [f"filter.{one}" for one in fields_by_name(export_schemas.ExportFilter()) if one in shape.filters]
    parameters = (*filters, "columns", "format", "compression", *(("since",) if shape.since else ()))
    chosen = {"dataset": name}
    return Form.over(export_schemas.NewExport(), parameters, {**_FIELDS, "columns": boxes}, chosen, chosen)


# What a person calls a dataset whose own name is a word of the API.
_TITLES = {"observations": "Prices", "impacts": "Footprints", "merged": "Merged items"}
FORMS = {
    name: Choice(_TITLES.get(name, name.capitalize()), DATASETS[name].title, INSTITUTIONAL, _form(name))
    for name in sorted(QUERIED, key=lambda name: name != "observations")
}


class ExportPages(FormPages):
    path, title, button, chooses, choices = "/dashboard/exports", "New export", "Create export", "dataset", FORMS
    crumb = "Exports"
    remark = "For prices with the items’ names, as Excel, open the page of a category or brand:"

    async def _offer(self, request: web.Request, principal: Principal, form: Form) -> FormOffer:
        body = form.body()
        await self._count(request, principal)
        order = await self._services.exports.prepare(principal, form.load(), None)
        estimate = await self._services.exports.estimate(order, with_rows=True)
        sent = f' -H "Content-Type: application/json" -d {shlex.quote(json.dumps(body, ensure_ascii=False))}'
        return FormOffer(estimate["cost_units"], f"{self._base_url}/index/exports", sent=sent, estimate=estimate)

    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        """Order the export. The form's id makes a second click the same order."""
        key = f"dashboard-{form_id_in(form.given)}"
        order = await self._services.exports.prepare(principal, form.load(), key)
        if order.replayed:
            return redirect(f"/dashboard/exports/{order.replayed}")
        async with self._charge(request, principal, EXPORT.units) as charge:
            return charge.settle(await self._submit(request, principal, order, charge))

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's exports, the newest first."""
        listed = await self._services.exports.list_exports(visitor.acting.organization, None, LISTED, None)
        allowed = await self._includes(visitor, INSTITUTIONAL)
        stored = await self._stored(visitor) if allowed else None
        return await show_orders(request, visitor, self._database, *listed, allowed=allowed, stored=stored)

    async def _stored(self, visitor: SignedIn) -> tuple[int, int]:
        """Return how many bytes of exports the organization has stored, and how many it may."""
        exports, plan = self._services.stored_exports, await self._plan(visitor)
        return (await exports.read(visitor.acting.organization)).used, exports.limit(plan)

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One export: its progress, and its files."""
        return await self._shown(request, visitor, "export.html")

    async def state(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The progress of an export, asked for again and again; once it has ended, its whole part of the page."""
        order = await self._services.exports.find(visitor.acting.organization, request.match_info["id"])
        if not order.ended:
            return render(request, "progress.html", visitor, order=order)
        response = await self._shown(request, visitor, "export_state.html")
        response.headers.update({"HX-Retarget": "#job", "HX-Reswap": "outerHTML"})
        return response

    async def end(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Cancel it, or delete its files."""
        await self._principal(visitor, INSTITUTIONAL)
        await self._services.exports.end(visitor.acting.organization, request.match_info["id"])
        return redirect(f"/dashboard/exports/{request.match_info['id']}")

    async def file(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A file, as the API would send it."""
        await self._principal(visitor, INSTITUTIONAL)
        path = request.match_info
        return await self._services.exports.send(request, visitor.acting.organization, path["id"], path["file"])

    async def _shown(self, request: web.Request, visitor: SignedIn, template: str) -> web.StreamResponse:
        organization = visitor.acting.organization
        order = await self._services.exports.find(organization, request.match_info["id"])
        asked = parameters_of(order)
        names = await names_in(self._database, [asked])
        return render(
            request,
            template,
            visitor,
            order=order,
            failure=failure(order),
            export=self._services.export_serializer.render(order, organization),
            narrowed={
                field: names_in_words(field, value, names) for field, value in (asked.get("filter") or {}).items()
            },
            allowed=await self._includes(visitor, INSTITUTIONAL),
        )

    async def _submit(
        self, request: web.Request, principal: Principal, order: ExportRequest, charge: Charge
    ) -> web.StreamResponse:
        traceparent = request[CONTEXT].span.traceparent
        submitted = await self._services.exports.submit(principal, order, charge, traceparent)
        return redirect(f"/dashboard/exports/{submitted.order_id}")
