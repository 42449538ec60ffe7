"""The explorer: suggestions while a person types, searches by page, a record as a page, and for each the same curl.

A search that is entered and a record that is opened count like a call of the API: for the organization that the person
works in, else for the person's address, as after a free sign-up. Suggestions count against the person's own limits and,
on a free plan, against a limit of the address.
"""

from typing import NamedTuple

import msgspec
from aiohttp import web

from edge.analytics.envelope import in_thread_if_large
from edge.analytics.light_reads import MovedToSurvivor
from edge.dashboard import charts as item_charts
from edge.dashboard.pages import Pages
from edge.dashboard.session_guard import PageError, SignedIn, is_part, moved, render
from edge.http.context import CONTEXT
from edge.index import lists
from edge.quota.billing import refusal
from edge.rules import LIGHT_UNITS
from shared.analytics.footprint import INDICATORS
from shared.errors import InvalidCursor, ItemMerged
from shared.index.identifiers import beginning_of_slug
from shared.index.iid import canonical_iid
from shared.organizations.accounts import BRAND
from shared.search.model import Page, Position, SearchQuery

_OPTIONS = 12
_TEXT_MAX = 400
_OTHER_FIELDS = ("kind", "format", "target")


class Option(NamedTuple):
    """A value and its name."""

    value: str
    name: str


class SuggestingPages(Pages):
    """Base of the pages that suggest entries of the index while a person types."""

    async def _count_suggestion(self, request: web.Request, visitor: SignedIn) -> None:
        """Count one suggestion against the person's limits, and against those of the address on a free plan.

        Raises the problem `rate-limited`. Everybody can sign up any number of times: only the address bounds them.
        """
        context, plan = request[CONTEXT], await self._plan(visitor)
        await self._services.person_limits.consume_call(visitor.person.id, context.network, context.charge_id)
        decision = await self._services.suggestion_limits.consume(plan, context.network, context.charge_id)
        if decision is not None and not decision.allowed:
            raise refusal(decision, context.network)


class CompletionPages(SuggestingPages):
    """The handler. Lists of the index cost signed-in visitors no unit."""

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The options for what is typed: the last of several values is completed, those before it are kept."""
        field = request.match_info["list"]
        if field == "watched":
            field = request.query.get("target", "")
        await self._count_suggestion(request, visitor)
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


_HITS = 20
_SUGGESTIONS = 8
_HISTORY_UNITS = 2 * LIGHT_UNITS
_CURSOR = "dashboard-explorer"
_QUERY_MAX = 200


class ExplorerPages(SuggestingPages):
    async def explorer(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The page with the search field, and one page of what `q` in the address finds; works without scripts."""
        q = _words(request)
        if not q:
            return render(request, "explorer.html", visitor, q="", results=None)
        query = SearchQuery(q=q, limit=_HITS, after=self._position(q, request.query.get("after")))
        charge = await self._charge(request, await self._principal(visitor), 1)
        return await charge.settle(self._results(request, visitor, query))

    async def suggestions(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The names of the first hits while a person types. No unit is charged before one is opened."""
        q, results = _words(request), None
        if q:
            await self._count_suggestion(request, visitor)
            results = await self._services.search.find(SearchQuery(q=q, limit=_SUGGESTIONS))
        return render(request, "suggestions.html", visitor, q=q, results=results)

    async def record(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A record as a page."""
        iid = _iid(request)
        charge = await self._charge(request, await self._principal(visitor), 1)
        return await charge.settle(self._record(request, visitor, iid))

    async def _record(self, request: web.Request, visitor: SignedIn, iid: str) -> web.StreamResponse:
        try:
            stored = (await self._services.resources.records.find(iid)).or_raise()
        except ItemMerged as merged:
            return moved(request, f"/dashboard/explorer/{merged.survivor}")
        record = msgspec.json.decode(stored.body)
        return render(
            request,
            "record.html",
            visitor,
            record=record,
            base_url=self._base_url,
            more=await self._includes(visitor, BRAND),
            history_units=_HISTORY_UNITS,
        )

    async def history(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """An item's prices and footprint as pictures, for plans that include them; costs what the API's calls do."""
        iid = _iid(request)
        principal = await self._principal(visitor, BRAND)
        charge = await self._charge(request, principal, _HISTORY_UNITS)
        return await charge.settle(self._history(request, visitor, iid))

    async def _history(self, request: web.Request, visitor: SignedIn, iid: str) -> web.StreamResponse:
        try:
            history = await self._services.price_history.read(iid, None, None, [], None)
            figures, _ = await self._services.sustainability.figures(iid, None, None, [])
            stored = (await self._services.resources.records.find(iid)).or_raise()
        except (MovedToSurvivor, ItemMerged) as merged:
            return moved(request, f"/dashboard/explorer/{merged.survivor}/history")
        rows = [row for row in figures if {row["per_unit"], row["cumulative"]} != {None}]
        titles = {one.code: one.title for one in INDICATORS}
        return render(
            request,
            "history.html" if is_part(request) else "history_page.html",
            visitor,
            plots=await in_thread_if_large(len(history.prices), item_charts.history, history.prices, history.outliers),
            figures=rows,
            intervals=item_charts.footprint(rows, titles),
            statistics=history.meta["statistics"],
            iid=iid,
            record=msgspec.json.decode(stored.body),
            base_url=self._base_url,
            units=_HISTORY_UNITS,
            indicators=titles,
        )

    async def _results(self, request: web.Request, visitor: SignedIn, query: SearchQuery) -> web.StreamResponse:
        results = await self._services.search.find(query)
        return render(
            request,
            "explorer.html",
            visitor,
            q=query.q,
            results=results,
            next=self._next(query.q, results),
            paged=query.after is not None,
            iid=canonical_iid(query.q),
            base_url=self._base_url,
        )

    def _next(self, q: str, page: Page) -> str | None:
        """Return the cursor of the next page: sealed, because any visitor can change the address of a page."""
        return self._services.cursors.seal(_CURSOR, {"q": q}, msgspec.to_builtins(page.next)) if page.next else None

    def _position(self, q: str, cursor: str | None) -> Position | None:
        if cursor is None:
            return None
        try:
            return msgspec.convert(self._services.cursors.open(_CURSOR, {"q": q}, cursor), Position)
        except (InvalidCursor, msgspec.ValidationError):
            raise PageError(400, "This page of results does not exist. Search again.") from None


def _words(request: web.Request) -> str:
    return request.query.get("q", "").strip()[:_QUERY_MAX]


def _iid(request: web.Request) -> str:
    iid = canonical_iid(request.match_info["iid"])
    if iid is None:
        raise PageError(404, "This is not an IID. Search for the item in the explorer.")
    return iid
