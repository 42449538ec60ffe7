"""The pages of the index itself, the same for members and for the public: search, item, brand, category."""

from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from aiohttp import web

from edge.composition import Services
from edge.dashboard.catalogue import BrandOrCategory, Catalogue, ItemLine, ItemView
from edge.dashboard.page_requests import PageError
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.index import lists
from shared.errors import InvalidCursor, UnknownTerm
from shared.index.iid import canonical_iid
from shared.money import minor_digits
from shared.search.model import Facet, FacetCount, Page, Position, SearchQuery, Sort
from shared.search.paging import begins_iid

HITS = 20
FILE_ITEMS_MAX = 500
_QUERY_MAX = 200
_CURSOR = "dashboard-explorer"
_FILTERS: tuple[Facet, ...] = ("brand", "category", "channel")
_FACET_NAMES: dict[Facet, str] = {"brand": "Brand", "category": "Category", "channel": "Shop"}
_FACET_VALUES = 8
_SORTS: dict[Sort, str] = {
    "relevance": "best match",
    "price": "lowest price",
    "unit_price": "lowest price per kg or litre",
    "-seen": "seen last",
}
_BRANDS = 60
_PRICE_MAX = 10**9


class PageLinks(NamedTuple):
    """The addresses of the pages of the index, which are others for members than for the public."""

    search: str
    items: str
    brands: str
    categories: str

    def item(self, iid: str) -> str:
        """Return the address of an item."""
        return f"{self.items}/{iid}"

    def group(self, kind: str, code: str) -> str:
        """Return the address of a brand or category."""
        return f"{self.brands if kind == 'brand' else self.categories}/{quote(code, safe='')}"


DASHBOARD = PageLinks("/dashboard/explorer", "/dashboard/explorer", "/dashboard/brands", "/dashboard/categories")


class FilterChoice(NamedTuple):
    """One value of a filter: its name, how many hits have it, and the address that chooses it or takes it away."""

    name: str
    hits: int
    address: str
    chosen: bool


class AskedSearch(NamedTuple):
    """A search as its address asks it: the words, the filters by name, bounds of the price, the order, the position."""

    q: str
    filters: dict[str, str]
    currency: str
    low: str
    high: str
    sort: Sort
    after: str | None

    def given(self) -> dict[str, str]:
        """Return the parameters of its address, without the position."""
        rest = {"currency": self.currency, "price_min": self.low, "price_max": self.high}
        order = {"sort": self.sort} if self.sort != "relevance" else {}
        return {name: value for name, value in {"q": self.q, **self.filters, **rest, **order}.items() if value}

    def changed(self, **others: str) -> str:
        """Return the query of an address that asks the same but for these parameters; empty ones are taken away."""
        return urlencode({name: value for name, value in {**self.given(), **others}.items() if value})


class ExploreViews:
    """Renders the pages. `visitor` is None on public ones, whose links are others."""

    def __init__(self, services: Services, catalogue: Catalogue, links: PageLinks = DASHBOARD) -> None:
        self._services = services
        self._database = services.resources.database
        self._catalogue = catalogue
        self._links = links
        self._base_url = services.settings.base_url

    async def start(self, request: web.Request, visitor: SignedIn | None) -> web.StreamResponse:
        """Explore before anything is searched: example searches, the largest brands, the topmost categories."""
        summary = await self._catalogue.summary()
        brands = await self._database.fetch(lists.SQL.brands_by_items, None, None, None, None, 12)
        categories = await self._database.fetch(lists.SQL.categories, None, 1, None, None, _BRANDS)
        values = {"summary": summary, "brands": brands, "categories": categories}
        return self._render(request, "explore_start.html", visitor, q="", **values)

    def search_of(self, request: web.Request) -> AskedSearch:
        """Return what an address asks. Raises PageError for an amount that is none."""
        query = request.query
        sort: Sort = next((one for one in _SORTS if one == query.get("sort")), "relevance")
        filters: dict[str, str] = {name: value for name in _FILTERS if (value := query.get(name, "").strip())}
        currency = query.get("currency", "").strip().upper()[:3]
        low, high = (query.get(name, "").strip()[:20] for name in ("price_min", "price_max"))
        return AskedSearch(words_in(request), filters, currency, low, high, sort, query.get("after"))

    async def results(self, request: web.Request, visitor: SignedIn | None, asked: AskedSearch) -> web.StreamResponse:
        """One page of a search, with filters and their counts."""
        asked = await self._with_currency(asked)
        try:
            page, lines = await self._catalogue.find(self._query(asked))
        except UnknownTerm:
            page, lines = None, []
        return self._render(
            request,
            "explore.html",
            visitor,
            q=asked.q,
            asked=asked,
            page=page,
            lines=lines,
            facets=self._facets(asked, page) if page else {},
            sorts=_SORTS,
            next=self._next(asked, page) if page else None,
            iid=canonical_iid(asked.q),
            base_url=self._base_url,
        )

    async def item(self, request: web.Request, visitor: SignedIn | None, iid: str, **more: Any) -> web.StreamResponse:
        """An item. Raises ItemNotFound, ItemWithdrawn and ItemMerged."""
        return await self.show_item(request, visitor, await self._catalogue.item(iid), **more)

    async def show_item(
        self, request: web.Request, visitor: SignedIn | None, view: ItemView, **more: Any
    ) -> web.StreamResponse:
        """Show an item that was read."""
        return self._render(
            request, "item.html", visitor, item=view, record=view.record, base_url=self._base_url, **more
        )

    async def brands(self, request: web.Request, visitor: SignedIn | None) -> web.StreamResponse:
        """The largest brands, or those whose name begins as typed."""
        typed = words_in(request)
        like = lists.beginning_of_name(typed) or None
        rows = await self._database.fetch(lists.SQL.brands_by_items, like, None, None, None, _BRANDS)
        [counted] = await self._database.fetch(lists.SQL.brands_total, like)
        return self._render(request, "brands.html", visitor, typed=typed, brands=rows, total=counted["total"])

    async def categories(self, request: web.Request, visitor: SignedIn | None) -> web.StreamResponse:
        """The topmost categories."""
        rows = await self._database.fetch(lists.SQL.categories, None, 1, None, None, _BRANDS)
        return self._render(request, "categories.html", visitor, categories=rows)

    async def brand(
        self, request: web.Request, visitor: SignedIn | None, slug: str, *, more: bool = False
    ) -> web.StreamResponse:
        """A brand with its items; `more` says whether the visitor's plan includes the file of its prices."""
        return await self._group(request, visitor, await self._catalogue.brand(slug), more=more)

    async def category(
        self, request: web.Request, visitor: SignedIn | None, code: str, *, more: bool = False
    ) -> web.StreamResponse:
        """A category with its items and the categories below it; `more` as for a brand."""
        return await self._group(request, visitor, await self._catalogue.category(code), more=more)

    async def _group(
        self, request: web.Request, visitor: SignedIn | None, group: BrandOrCategory | None, *, more: bool
    ) -> web.StreamResponse:
        group = existing(group)
        asked = AskedSearch(
            group.name[:_QUERY_MAX],
            {"brand" if group.kind == "brand" else "category": group.code},
            "",
            "",
            "",
            "relevance",
            None,
        )
        page, lines = await self._catalogue.find(self._query(asked))
        own = _FACET_NAMES["brand" if group.kind == "brand" else "category"]
        facets = {name: choices for name, choices in self._facets(asked, page).items() if name != own}
        values = {"group": group, "page": page, "lines": lines, "asked": asked, "facets": facets}
        values |= {"more": more, "file_units": file_units(group.items), "file_items": FILE_ITEMS_MAX}
        return self._render(request, "group.html", visitor, cheapest=_cheapest(lines), **values)

    def _render(
        self, request: web.Request, template: str, visitor: SignedIn | None, **values: Any
    ) -> web.StreamResponse:
        return render(request, template, visitor, links=self._links, **values)

    async def _with_currency(self, asked: AskedSearch) -> AskedSearch:
        """Return a search whose bounds or order of prices have a currency: that of most prices where none is given."""
        if asked.currency or not (asked.low or asked.high or "price" in asked.sort):
            return asked
        days = (await self._catalogue.summary()).days
        return asked._replace(currency=days[0].currency if days else "")

    def _query(self, asked: AskedSearch) -> SearchQuery:
        low, high = (_minor(text, asked.currency) for text in (asked.low, asked.high))
        if begins_iid(asked.q):
            return SearchQuery(q=asked.q, limit=HITS, after=self._position(asked))
        priced = asked.currency if low is not None or high is not None or "price" in asked.sort else None
        if low is not None and high is not None and low > high:
            low, high = high, low
        return SearchQuery(
            q=asked.q,
            limit=HITS,
            brand=asked.filters.get("brand"),
            category=asked.filters.get("category"),
            channel=asked.filters.get("channel"),
            currency=priced,
            price_min=low,
            price_max=high,
            sort=asked.sort,
            facets=_FILTERS,
            after=self._position(asked),
        )

    def _facets(self, asked: AskedSearch, page: Page) -> dict[str, list[FilterChoice]]:
        chosen = {name: self._chosen(asked, name, counts) for name, counts in page.facets.items()}
        return {_FACET_NAMES[name]: choices for name, choices in chosen.items() if choices}

    def _chosen(self, asked: AskedSearch, name: Facet, counts: list[FacetCount]) -> list[FilterChoice]:
        now = asked.filters.get(name)
        listed = [count for count in counts if count.value == now] or counts[:_FACET_VALUES]
        if now is None and len(listed) < 2:
            return []
        return [
            FilterChoice(
                count.name.rpartition(" > ")[2],
                count.count,
                f"{self._links.search}?{asked.changed(**{name: '' if count.value == now else count.value})}",
                count.value == now,
            )
            for count in listed
        ]

    def _next(self, asked: AskedSearch, page: Page) -> str | None:
        """Return the address of the next page. Its cursor is sealed: any visitor can change the address of a page."""
        if page.next is None:
            return None
        cursor = self._services.cursors.seal(_CURSOR, asked.given(), msgspec.to_builtins(page.next))
        return f"{self._links.search}?{asked.changed(after=cursor)}"

    def _position(self, asked: AskedSearch) -> Position | None:
        if asked.after is None:
            return None
        try:
            return msgspec.convert(self._services.cursors.open(_CURSOR, asked.given(), asked.after), Position)
        except (InvalidCursor, msgspec.ValidationError):
            raise PageError(400, "This page of results does not exist. Search again.") from None


def file_units(items: int) -> int:
    """Return what a file of the prices of so many items costs: as much as the pages of results that show them."""
    return max(1, -(-min(items, FILE_ITEMS_MAX) // HITS))


def existing(group: BrandOrCategory | None) -> BrandOrCategory:
    """Return a brand or category that there is. Raises PageError for one that there is not."""
    if group is None:
        raise PageError(404, "There is no brand or category at this address. It may have been renamed: search for it.")
    return group


def words_in(request: web.Request) -> str:
    """Return the words that an address searches."""
    return request.query.get("q", "").strip()[:_QUERY_MAX]


def _minor(text: str, currency: str) -> float | None:
    """Return an amount in minor units; None for an empty one. Raises PageError for text that is no amount."""
    if not text or not currency:
        return None
    try:
        amount = float(text.replace(",", "."))
    except ValueError:
        raise PageError(400, f"“{text}” is not an amount. Enter a number, such as 12.50.") from None
    if not 0 <= amount <= _PRICE_MAX:
        raise PageError(400, "Enter an amount from 0 to 1,000,000,000.")
    return float(round(amount * 10 ** minor_digits(currency), 6))


def _cheapest(lines: list[ItemLine]) -> ItemLine | None:
    """Return the line with the lowest price for a kilogram or litre; prices of unlike packs are not compared."""
    priced = [line for line in lines if line.cheapest is not None and line.cheapest.unit is not None]
    alike = {(line.cheapest.currency, line.cheapest.per) for line in priced if line.cheapest}
    if len(alike) != 1:
        return None
    return min(priced, key=lambda line: float(line.cheapest.unit or 0) if line.cheapest else 0.0)
