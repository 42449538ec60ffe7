"""Explore: suggestions while a person types, searches with filters, items, brands and categories.

Each page counts like a call of the API: for the organization that the person works in, else for the person's address,
as after a free sign-up. Suggestions count against the person's own limits too.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import msgspec
from aiohttp import web

from edge.analytics.envelope import in_thread_if_large
from edge.analytics.light_reads import MovedToSurvivor
from edge.composition import Services
from edge.dashboard import price_chart
from edge.dashboard.catalogue import Catalogue
from edge.dashboard.explore_views import ExploreViews, words_in
from edge.dashboard.page_requests import PageError, is_part, redirect_to_survivor
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from edge.http.context import CONTEXT
from edge.index import lists
from edge.quota.billing import Charge
from edge.rules import LIGHT_UNITS
from shared.analytics.footprint import INDICATORS
from shared.errors import ItemMerged
from shared.index.identifiers import beginning_of_slug
from shared.index.iid import canonical_iid
from shared.organizations.accounts import BRAND

_OPTIONS = 12
_TEXT_MAX = 400
_OTHER_FIELDS = ("kind", "format", "target")
_SUGGESTIONS = 8
_HISTORY_UNITS = 2 * LIGHT_UNITS
_EXPLORE = "/dashboard/explorer"


class Option(NamedTuple):
    """A value and its name."""

    value: str
    name: str


class SuggestingPages(Pages):
    """Base of the pages that suggest entries of the index while a person types."""

    @asynccontextmanager
    async def _charge_suggestion(self, request: web.Request, visitor: SignedIn) -> AsyncIterator[Charge]:
        """Count one suggestion against the person's limits, and as a call of the API does.

        Raises the problem `rate-limited`. Everybody can sign up any number of times: only the address bounds them.
        """
        context = request[CONTEXT]
        await self._services.person_limits.consume_call(visitor.person.id, context.network, context.charge_id)
        principal = await self._principal(visitor)
        if principal.plan.counted_by == "organization":
            context = replace(context)  # what costs no unit is no call of the organization's usage
        context.act_as(principal)
        async with self._services.suggestion_billing.charge(context) as charge:
            yield charge


class CompletionPages(SuggestingPages):
    """The handler. Lists of the index cost signed-in visitors no unit."""

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The options for what is typed: the last of several values is completed, those before it are kept."""
        field = request.match_info["list"]
        if field == "watched":
            field = request.query.get("target", "")
        async with self._charge_suggestion(request, visitor) as charge:
            return charge.settle(await self._complete(request, visitor, field))

    async def _complete(self, request: web.Request, visitor: SignedIn, field: str) -> web.StreamResponse:
        typed = next((value for name, value in request.query.items() if name not in _OTHER_FIELDS), "")[:_TEXT_MAX]
        before, comma, last = typed.rpartition(",")
        options = await self._options(field, last.strip())
        kept = f"{before}{comma} " if comma else ""
        return render(request, "completions.html", visitor, options=options, kept=kept)

    async def _options(self, field: str, prefix: str) -> list[Option]:
        if field == "brand":
            like = lists.beginning_of_name(prefix) or None
            rows = await self._database.fetch(lists.SQL.brands_by_items, like, None, None, None, _OPTIONS)
            return [Option(row["slug"], row["name"]) for row in rows]
        if field == "category":
            slug = beginning_of_slug(prefix) or None
            rows = await self._database.fetch(lists.SQL.categories, None, None, slug, None, _OPTIONS)
            return [Option(row["code"], " › ".join(row["path"])) for row in rows]
        if field == "channel":
            rows = await self._database.fetch(lists.SQL.channels, prefix or None, None, _OPTIONS)
            return [Option(row["code"], row["code"]) for row in rows]
        if field == "article":
            return []
        raise PageError(404, "There is no such list.")


class ExplorerPages(SuggestingPages):
    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies, catalogue: Catalogue) -> None:
        super().__init__(services, sessions, cookies)
        self._views = ExploreViews(services, catalogue)

    async def explorer(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The page with the search field, and one page of what the address asks for; works without scripts."""
        if not words_in(request):
            return await self._views.start(request, visitor)
        search = self._views.search_of(request)
        async with self._charge(request, await self._principal(visitor), 1) as charge:
            return charge.settle(await self._views.results(request, visitor, search))

    async def suggestions(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Brands, categories and items while a person types; ten of these calls cost a unit on a free plan."""
        q = words_in(request)
        if not q:
            return render(request, "suggestions.html", visitor, q=q, suggestions=[])
        async with self._charge_suggestion(request, visitor) as charge:
            return charge.settle(await self._suggest(request, visitor, q))

    async def _suggest(self, request: web.Request, visitor: SignedIn, q: str) -> web.StreamResponse:
        _, suggestions = await self._services.resources.search.suggest(q, _SUGGESTIONS)
        return render(request, "suggestions.html", visitor, q=q, suggestions=suggestions)

    async def brands(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The largest brands, or those whose name begins as typed."""
        return await self._views.brands(request, visitor)

    async def categories(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The topmost categories."""
        return await self._views.categories(request, visitor)

    async def brand(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A brand with its items."""
        more = await self._includes(visitor, BRAND)
        async with self._charge(request, await self._principal(visitor), 1) as charge:
            return charge.settle(await self._views.brand(request, visitor, request.match_info["slug"], more=more))

    async def category(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A category with its items and the categories below it."""
        more = await self._includes(visitor, BRAND)
        async with self._charge(request, await self._principal(visitor), 1) as charge:
            return charge.settle(await self._views.category(request, visitor, request.match_info["code"], more=more))

    async def record(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """An item as a page."""
        iid = iid_in(request)
        async with self._charge(request, await self._principal(visitor), 1) as charge:
            return charge.settle(await self._record(request, visitor, iid))

    async def _record(self, request: web.Request, visitor: SignedIn, iid: str) -> web.StreamResponse:
        more = {"more": await self._includes(visitor, BRAND), "history_units": _HISTORY_UNITS}
        try:
            return await self._views.item(request, visitor, iid, **more)
        except ItemMerged as merged:
            return redirect_to_survivor(request, f"{_EXPLORE}/{merged.survivor}")

    async def history(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """An item's prices and footprint as pictures, for plans that include them; costs what the API's calls do."""
        iid = iid_in(request)
        principal = await self._principal(visitor, BRAND)
        async with self._charge(request, principal, _HISTORY_UNITS) as charge:
            return charge.settle(await self._history(request, visitor, iid))

    async def _history(self, request: web.Request, visitor: SignedIn, iid: str) -> web.StreamResponse:
        try:
            record = msgspec.json.decode((await self._services.resources.records.find(iid)).or_raise().body)
            # All of it: years of monthly prices would be empty as the last 90 days.
            first = date.fromisoformat(record["first_seen_on"])
            history = await self._services.price_history.read(iid, first, None, [], None)
            figures, _ = await self._services.sustainability.figures(iid, None, None, [])
        except (MovedToSurvivor, ItemMerged) as merged:
            return redirect_to_survivor(request, f"{_EXPLORE}/{merged.survivor}/history")
        rows = [row for row in figures if {row["per_unit"], row["cumulative"]} != {None}]
        titles = {one.code: one.title for one in INDICATORS}
        return render(
            request,
            "history.html" if is_part(request) else "history_page.html",
            visitor,
            plots=await in_thread_if_large(len(history.prices), price_chart.history, history.prices, history.outliers),
            years=price_chart.years(history.prices),
            figures=rows,
            statistics=history.meta["statistics"],
            iid=iid,
            record=record,
            base_url=self._base_url,
            units=_HISTORY_UNITS,
            indicators=titles,
        )


def iid_in(request: web.Request) -> str:
    """Return the IID in an address. Raises PageError for what is none."""
    iid = canonical_iid(request.match_info["iid"])
    if iid is None:
        raise PageError(404, "This is not the number of an item. Search for the item by its name.")
    return iid
