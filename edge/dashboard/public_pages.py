"""Pages for everybody: the front page, search, items, brands and categories, each counted by network.

They are counted by the mechanism that counts calls, under a limit of their own.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from edge.composition import Services
from edge.dashboard.catalogue import Catalogue, ItemView
from edge.dashboard.explore_views import ExploreViews, PageLinks, words_in
from edge.dashboard.explorer import iid_in
from edge.dashboard.failure_page import OpenPage, with_failure_page
from edge.dashboard.page_requests import PageError, refuse_nul
from edge.dashboard.question_presets import PRESETS
from edge.dashboard.rendering import render
from edge.http.context import CONTEXT
from edge.http.routing import API_PATH, Route, Rule
from shared.errors import ItemMerged, StoreUnavailable
from shared.organizations.accounts import Plan, Principal
from shared.settings.checks import SIGN_UP_CLOSED

LINKS = PageLinks("/search", "/items", "/brands", "/categories")
# A page has no scripts that ask for others: nobody reads faster.
_PAGES_PER_SECOND = 10
_GTIN_LENGTHS = {8: "gtin8", 12: "gtin12", 13: "gtin13", 14: "gtin14"}


def public_routes(services: Services) -> tuple[Route, ...]:
    """Return the pages for everybody; where they are switched off, the front page leads to the documentation."""
    pages = PublicPages(services, Catalogue(services))
    listed: tuple[tuple[str, str, OpenPage], ...] = (
        ("/", "home", pages.open(pages.front)),
        ("/search", "public-pages", pages.counted(pages.search)),
        ("/items/{iid}", "public-pages", pages.counted(pages.item)),
        ("/brands", "public-pages", pages.counted(pages.brands)),
        ("/brands/{slug}", "public-pages", pages.counted(pages.brand)),
        ("/categories", "public-pages", pages.counted(pages.categories)),
        ("/categories/{code}", "public-pages", pages.counted(pages.category)),
    )
    rules = {name: Rule(name=name, page=True) for _, name, _ in listed}
    return tuple(Route("GET", path, handler, rules[name], documented=False) for path, name, handler in listed)


class PublicPages:
    """The handlers."""

    def __init__(self, services: Services, catalogue: Catalogue) -> None:
        self._services = services
        self._catalogue = catalogue
        self._origin = services.origin
        self._views = ExploreViews(services, catalogue, LINKS)
        settings = services.settings
        self._on = settings.public_pages_a_day > 0
        self._indexed = settings.public_pages_indexed
        self._registers = settings.oidc_sign_up != SIGN_UP_CLOSED
        limit = Plan(
            name="pages",
            title="pages",
            rank=0,
            counted_by="address",
            daily_units=settings.public_pages_a_day,
            burst_units=_PAGES_PER_SECOND,
        )
        self._reader = Principal("public-token", "", limit)

    def open(self, page: OpenPage) -> OpenPage:
        """Make a handler of a page that shows its failures as pages."""

        async def handler(request: web.Request) -> web.StreamResponse:
            refuse_nul(request)
            return await page(request)

        return with_failure_page(handler)

    def counted(self, page: OpenPage) -> OpenPage:
        """Make a handler of a page that counts for the visitor's network, unless it fails."""

        async def count(request: web.Request) -> web.StreamResponse:
            if not self._on:
                raise PageError(404, "There is no page at this address.")
            context = replace(request[CONTEXT], principal=self._reader)
            context.account = f"pages:{context.network}"
            async with self._services.billing.charge(context, 1) as charge:
                response = charge.settle(await page(request))
            if not self._indexed:
                response.headers["X-Robots-Tag"] = "noindex"
            return response

        return self.open(count)

    async def front(self, request: web.Request) -> web.StreamResponse:
        """The front page: what this is, what it holds, the plans, and where to begin."""
        if not self._on:
            raise web.HTTPFound(f"{API_PATH}/docs")
        try:
            summary = await self._catalogue.summary()
            plans = await self._services.resources.credentials.all_plans()
        except StoreUnavailable:
            summary, plans = None, ()
        listed = sorted((plan for plan in plans if plan.rank), key=lambda plan: plan.rank)
        return render(
            request,
            "front.html",
            None,
            links=LINKS,
            summary=summary,
            plans=listed,
            presets=PRESETS,
            registers=self._registers,
        )

    async def search(self, request: web.Request) -> web.StreamResponse:
        """One page of a search; without words the beginning of exploring."""
        if not words_in(request):
            return await self._views.start(request, None)
        return await self._views.results(request, None, self._views.search_of(request))

    async def item(self, request: web.Request) -> web.StreamResponse:
        """An item, with what search engines read of it."""
        iid = iid_in(request)
        try:
            view = await self._catalogue.item(iid)
        except ItemMerged as merged:
            return web.Response(
                status=301, headers={"Location": LINKS.item(merged.survivor), "Cache-Control": "no-store"}
            )
        canonical = f"{self._origin}{LINKS.item(iid)}"
        product = product_of(view, canonical)
        return await self._views.show_item(request, None, view, canonical=canonical, product=product)

    async def brands(self, request: web.Request) -> web.StreamResponse:
        """The largest brands, or those whose name begins as typed."""
        return await self._views.brands(request, None)

    async def brand(self, request: web.Request) -> web.StreamResponse:
        """A brand with its items."""
        return await self._views.brand(request, None, request.match_info["slug"])

    async def categories(self, request: web.Request) -> web.StreamResponse:
        """The topmost categories."""
        return await self._views.categories(request, None)

    async def category(self, request: web.Request) -> web.StreamResponse:
        """A category with its items and the categories below it."""
        return await self._views.category(request, None, request.match_info["code"])


def product_of(view: ItemView, address: str) -> Mapping[str, Any]:
    """Return an item as a Product of schema.org, with its offers in the currency of the newest price."""
    record = view.record
    product: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": record["name"],
        "url": address,
    }
    if record["brand"]:
        product["brand"] = {"@type": "Brand", "name": record["brand"]["name"]}
    if record["category"]:
        product["category"] = " > ".join(record["category"]["path"])
    for identifier in record["identifiers"]:
        kind = _GTIN_LENGTHS.get(len(identifier["value"])) if identifier["scheme"] == "gtin" else None
        product[kind or identifier["scheme"]] = identifier["value"]
    if view.prices:
        currency = view.prices[0].currency
        alike = [price for price in view.prices if price.currency == currency]
        product["offers"] = {
            "@type": "AggregateOffer",
            "priceCurrency": currency,
            "lowPrice": alike[0].amount,
            "highPrice": alike[-1].amount,
            "offerCount": len(alike),
        }
    return product
