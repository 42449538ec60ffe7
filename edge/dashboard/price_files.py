"""Files of the prices of a brand or category: each item by its name, with its newest price in each shop."""

import asyncio
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from aiohttp import web

from edge.composition import Services
from edge.dashboard.catalogue import BrandOrCategory, Catalogue, DataSource, ItemWithPrices, ShopPrice
from edge.dashboard.explore_views import FILE_ITEMS_MAX, existing, file_units
from edge.dashboard.page_requests import PageError, send_file
from edge.dashboard.pages import Pages
from edge.dashboard.result_files import FILE_KINDS, Cell, ResultColumn, file_name, file_of
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from shared.organizations.accounts import BRAND

_COLUMNS = (
    ("item_name", "Item"),
    ("brand", "Brand"),
    ("category", "Category"),
    ("size", "Size"),
    ("channel", "Shop"),
    ("price", "Price"),
    ("currency", "Currency"),
    ("unit_price", "Price per unit"),
    ("unit_price_per", "Unit"),
    ("day", "Day of the price"),
    ("iid", "IID"),
)


class PriceFilePages(Pages):
    """The handlers. A file costs as many units as the pages of results that show its items."""

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies, catalogue: Catalogue) -> None:
        super().__init__(services, sessions, cookies)
        self._catalogue = catalogue

    async def brand(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The prices of a brand's items as a file."""
        return await self._send(request, visitor, await self._catalogue.brand(request.match_info["slug"]))

    async def category(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The prices of a category's items as a file."""
        return await self._send(request, visitor, await self._catalogue.category(request.match_info["code"]))

    async def _send(self, request: web.Request, visitor: SignedIn, found: BrandOrCategory | None) -> web.StreamResponse:
        group, kind = existing(found), request.match_info["kind"]
        if kind not in FILE_KINDS:
            raise PageError(404, f"Prices are had as {', '.join(FILE_KINDS)}.")
        principal = await self._principal(visitor, BRAND)
        async with self._charge(request, principal, file_units(group.items)) as charge:
            items = await self._catalogue.priced_items(group, FILE_ITEMS_MAX)
            sources = (await self._catalogue.summary()).sources
            made = await asyncio.to_thread(
                file_of, kind, price_columns(items), f"Prices of {group.name}", _remarks(group, items, sources)
            )
            days = [price.day for item in items for price in item.prices]
            name = file_name(f"{group.name} prices", min(days, default=None), max(days, default=None))
            return charge.settle(send_file(made.content, made.media_type, f"{name}.{made.extension}"))


def price_columns(items: Sequence[ItemWithPrices]) -> list[ResultColumn]:
    """Return a row for each item and price, one without a price for an item that has none."""
    rows = [_row(item, price) for item in items for price in (item.prices or (None,))]
    return [ResultColumn(name, heading, [row[place] for row in rows]) for place, (name, heading) in enumerate(_COLUMNS)]


def _row(item: ItemWithPrices, price: ShopPrice | None) -> tuple[Cell, ...]:
    record = item.record
    brand, category = record["brand"], record["category"]
    paid: tuple[str | None, Decimal | None, str | None, Decimal | None, str | None, date | None] = (None,) * 6
    if price is not None:
        unit = Decimal(price.unit) if price.unit else None
        paid = (price.shop, Decimal(price.amount), price.currency, unit, price.per, price.day)
    return (
        record["name"],
        brand["name"] if brand else None,
        " › ".join(category["path"]) if category else None,
        item.size,
        *paid,
        record["iid"],
    )


def _remarks(group: BrandOrCategory, items: Sequence[ItemWithPrices], sources: Sequence[DataSource]) -> list[str]:
    """Return what a reader of the file has to know: what a row is, how many items it has, and the sources' terms."""
    cut = f" The first {len(items):,} of {group.items:,} items by name." if group.items > len(items) else ""
    named = {one["source"] for item in items for one in item.record["sources"]}
    terms = [
        f"Source: {source.title} ({source.license}). {source.attribution or ''}".strip()
        for source in sources
        if source.name in named
    ]
    return [f"Each row is the newest price of an item in a shop, without outliers.{cut}", *terms]
