"""/reconcile: the manifest, batches of queries, and the address for tools that send no headers."""

from functools import partial

from aiohttp import web

from edge.auth.middleware import Authentication
from edge.auth.path_keys import PathKeys
from edge.http.context import CONTEXT, principal_of
from edge.http.faults import Fault
from edge.http.json import unstored_json
from edge.http.problems import missing_parameters
from edge.http.routing import Rule, operation, rule_of
from edge.http.validation import BODY, QUERY, REQUIRED
from edge.index.batch_lookup import units_of
from edge.index.record import RecordCache
from edge.quota.billing import Billing
from edge.reconcile import schemas
from edge.reconcile.extension import extend, read_extension
from edge.reconcile.manifest import PATH, manifest
from edge.reconcile.queries import json_object, read_queries
from edge.reconcile.records import find_items
from edge.reconcile.service import Reconciliation
from shared.errors import InvalidParameter
from shared.json_types import JsonValue

_operation = partial(operation, "reconciliation")
_QUERIES, _EXTEND = "queries", "extend"
_ANSWERS = {200: (schemas.ReconcileAnswer, "As the specification has it")}


class Reconcile:
    """The handlers of one form of address: open, with the credential in a header, or with it in the path."""

    def __init__(
        self,
        service: Reconciliation,
        records: RecordCache,
        billing: Billing,
        authentication: Authentication,
        rule: Rule,
        base_url: str,
    ) -> None:
        self._service = service
        self._records = records
        self._billing = billing
        self._authentication = authentication
        self._rule = rule
        self._base_url = base_url

    @_operation("getReconciliationManifest", schemas.ManifestQuery, answers=_ANSWERS)
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Manifest of the Reconciliation Service API 0.2.

        The manifest needs no credential. With `queries` or `extend` the call is the one that `POST` is, with its price
        and its credential.
        """
        given = {name: value for name, value in request[QUERY].items() if value is not None}
        if given:
            if not rule_of(request).accepts:
                await self._authentication.admit(request, self._rule)
            return await self._answer(request, given)
        principal = request[CONTEXT].principal
        address = f"{PATH}/{request.match_info['address']}" if "address" in request.match_info else PATH
        batch_max = principal.plan.batch_iids_max if principal is not None else None
        return unstored_json(manifest(self._base_url, address, batch_max))

    @_operation("reconcile", schemas.ReconcileBody, answers=_ANSWERS)
    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Match rows of a table with items, brands or categories.

        A batch of queries of the Reconciliation Service API 0.2, as many as the plan allows IIDs in a batch
        (`batch_iids_max` at `GET /v1/`), as a form or as JSON. `score` is the probability in percent; `match` is true
        where a load would make one article of the row and the item by itself. Rows of a batch count as those of one
        list, which compete for an item. Where matching takes longer than 25 s, send the same batch again: it joins the
        job and costs nothing more. `extend` asks for columns of matched items, as many as a batch may have.
        """
        return await self._answer(request, {name: value for name, value in request[BODY].items() if value is not None})

    async def _answer(self, request: web.Request, given: dict[str, JsonValue]) -> web.StreamResponse:
        """Prepare, charge, respond."""
        if len(given) > 1:
            raise InvalidParameter(_EXTEND, f"cannot be combined with `{_QUERIES}`; send only one")
        if _EXTEND in given:
            return await self._extend(request, given[_EXTEND])
        if _QUERIES not in given:
            raise missing_parameters([Fault(_QUERIES, f"{REQUIRED} unless `{_EXTEND}` is given")])
        batch = json_object(_QUERIES, given[_QUERIES])
        units = units_of(_QUERIES, list(batch), principal_of(request).plan)
        queries = read_queries(_QUERIES, batch)
        async with self._billing.charge(request[CONTEXT], units) as charge:
            return charge.settle(unstored_json(await self._service.answer(request[CONTEXT], queries, charge)))

    async def _extend(self, request: web.Request, given: JsonValue) -> web.StreamResponse:
        query = read_extension(_EXTEND, json_object(_EXTEND, given))
        units = units_of(f"{_EXTEND}.ids", query.ids, principal_of(request).plan)
        async with self._billing.charge(request[CONTEXT], units) as charge:
            items = await find_items(self._records, query.iids.values())
            return charge.settle(unstored_json(extend(query, items)))


class ReconcileAddresses:
    def __init__(self, path_keys: PathKeys, base_url: str) -> None:
        self._path_keys = path_keys
        self._base_url = base_url

    @_operation("getReconciliationAddress", answers={200: (schemas.ReconcileAddress, "The address")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Address of the service for tools that send no headers.

        It has a credential of its own in its path, which opens only reconciliation and ends with your key.
        """
        credential = self._path_keys.issue(principal_of(request).credential_id)
        return unstored_json({"url": f"{self._base_url}/{PATH}/{credential}"})
