"""The explorer: search as you type, a record as a page, and for each the curl that does the same.

Each search and record counts like a call of the API: for the organization that the person works in, else for the
person's address, as after a free sign-up.
"""

from typing import Any

import msgspec
from aiohttp import web

from edge.analytics.envelope import LIGHT_UNITS
from edge.analytics.pricing import Pricing
from edge.analytics.sustainability import Sustainability
from edge.dashboard import charts
from edge.dashboard.billing import PageBilling
from edge.dashboard.session_guard import PageError, SignedIn, render
from edge.index.records import RecordCache
from edge.search.identifiers import ItemSearch
from shared.errors import ItemMerged
from shared.ids import canonical_iid
from shared.plans import BRAND
from shared.search.model import SearchQuery

_HITS = 12
_QUERY_MAX = 200


class ExplorerPages:
    """The handlers."""

    def __init__(
        self,
        engine: ItemSearch,
        records: RecordCache,
        pricing: Pricing,
        footprint: Sustainability,
        billing: PageBilling,
        base_url: str,
    ) -> None:
        self._engine = engine
        self._records = records
        self._pricing = pricing
        self._footprint = footprint
        self._billing = billing
        self._base_url = base_url

    async def explorer(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The page with the search field; works without scripts as a plain form."""
        return await self._results(request, visit, "explorer.html")

    async def hits(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """The list alone, for the page's script."""
        return await self._results(request, visit, "hits.html")

    async def record(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """A record as a page."""
        iid = canonical_iid(request.match_info["iid"])
        if iid is None:
            raise PageError(404, "This is no IID.")
        charge = await self._billing.charge(request, await self._billing.principal(visit), 1)
        return await charge.settle(self._record(request, visit, iid))

    async def _record(self, request: web.Request, visit: SignedIn, iid: str) -> web.StreamResponse:
        try:
            found = (await self._records.find(iid)).or_raise()
        except ItemMerged as merged:
            return web.Response(status=301, headers={"Location": f"/dashboard/explorer/{merged.survivor}"})
        record = msgspec.json.decode(found.body)
        more = (await self._billing.plan(visit)).rank >= BRAND
        return render(request, "record.html", visit, record=record, base_url=self._base_url, more=more)

    async def history(self, request: web.Request, visit: SignedIn) -> web.StreamResponse:
        """An item's prices and footprint as pictures, for plans that include them; costs what the API's calls do."""
        iid = canonical_iid(request.match_info["iid"])
        if iid is None:
            raise PageError(404, "This is no IID.")
        principal = await self._billing.principal(visit, BRAND)
        charge = await self._billing.charge(request, principal, 2 * LIGHT_UNITS)
        return await charge.settle(self._history(request, visit, iid))

    async def _history(self, request: web.Request, visit: SignedIn, iid: str) -> web.StreamResponse:
        history = await self._pricing.history(iid, None, None, [], None)
        figures, _ = await self._footprint.figures(iid, None, None, [])
        return render(
            request,
            "history.html",
            visit,
            plots=charts.history(history.prices),
            figures=figures.to_pylist(),
            statistics=history.meta["statistics"],
            iid=iid,
            base_url=self._base_url,
            units=2 * LIGHT_UNITS,
        )

    async def _results(self, request: web.Request, visit: SignedIn, template: str) -> web.StreamResponse:
        q = request.query.get("q", "").strip()[:_QUERY_MAX]
        values: dict[str, Any] = {"q": q, "hits": [], "total": 0, "base_url": self._base_url}
        if not q or "\0" in q:
            return render(request, template, visit, **values)
        charge = await self._billing.charge(request, await self._billing.principal(visit), 1)
        return await charge.settle(self._hits(request, visit, template, values))

    async def _hits(
        self, request: web.Request, visit: SignedIn, template: str, values: dict[str, Any]
    ) -> web.StreamResponse:
        query = SearchQuery(q=values["q"], limit=_HITS, brand=None, category=None, product_type=None, after=None)
        page = await self._engine.find(query)
        return render(request, template, visit, **(values | {"hits": page.hits, "total": page.total}))
