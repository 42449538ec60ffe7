"""What pages show of the index: hits with their cheapest price, an item's prices by shop, brands, categories."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import asyncpg
import msgspec

from edge.composition import Services
from edge.index.record import ItemRecord, ItemState
from shared.analytics.rollup_scope import RollupScope
from shared.clock import utc_now
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.money import to_text
from shared.search.model import Hit, Item, Page, SearchQuery
from shared.units.names import Content, contents

SQL = load_queries(__file__, "catalogue.sql")
# A price that nobody has seen for so many days may no longer be asked: the page says so.
OLD_DAYS = 30
ALIKE = 8
# Of one that was merged the page leads to the survivor.
_GONE = (ItemState.ABSENT, ItemState.WITHDRAWN)
_PAGES_PASSED_MAX = 5
_PRICED_AT_ONCE = 100
_FOOTPRINT = (("co2e_kg", "kg CO₂e"), ("water_l", "l water"), ("waste_kg", "kg waste"))
_GRAMS_BELOW = Decimal(1)
_SMALLER = {"kg": "g", "l": "ml"}


class ShopPrice(NamedTuple):
    """The newest price of an item in a shop; `unit` is the price of a kilogram, litre or piece, None if unknown."""

    shop: str
    currency: str
    amount: str
    day: date
    unit: str | None
    per: str | None

    @property
    def is_old(self) -> bool:
        """Whether it was seen last so long ago that it may not be asked any more."""
        return (utc_now().date() - self.day).days > OLD_DAYS


class ItemLine(NamedTuple):
    """An item as a line of a list: its size, its cheapest price, in how many shops it has one."""

    item: Item
    size: str | None
    cheapest: ShopPrice | None
    shops: int
    priced: bool = True
    """Whether its prices could be read."""

    @property
    def category(self) -> str | None:
        """The name of its category, without its parents."""
        return self.item.category.path[-1] if self.item.category else None


class PricedDays(NamedTuple):
    """The first and last day that has prices, in one currency."""

    currency: str
    first: date
    last: date


class DataSource(NamedTuple):
    """A source of the index with its terms."""

    name: str
    title: str
    license: str
    url: str | None
    attribution: str | None


class IndexSummary(NamedTuple):
    """What the whole index holds."""

    items: int
    days: tuple[PricedDays, ...]
    sources: tuple[DataSource, ...]
    longest: tuple[str, str] | None
    """The code and the name of the category with the longest history; None without any."""
    widest: str | None
    """The code of the category with most items; None without any."""

    @property
    def last_day(self) -> date | None:
        """The newest day of all data; None without any."""
        return max((days.last for days in self.days), default=None)


class BrandOrCategory(NamedTuple):
    """A brand or a category: its name, how many items it has, and the days that have prices of them."""

    kind: str
    code: str
    name: str
    path: tuple[str, ...]
    items: int
    days: tuple[PricedDays, ...]
    children: tuple[Mapping[str, Any], ...] = ()
    ids: tuple[int, ...] = ()
    """The keys of the brand, or of the category and those below it."""

    @property
    def parents(self) -> list[tuple[str, str]]:
        """The codes and names of the categories above, the topmost first."""
        return _levels(self.code, self.path)[:-1]


class ItemWithPrices(NamedTuple):
    """An item's record with its size and the newest price of each shop, none where no shop has one."""

    record: Mapping[str, Any]
    size: str | None
    prices: Sequence[ShopPrice]


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item with everything that its page shows."""

    record: Mapping[str, Any]
    size: str | None
    prices: tuple[ShopPrice, ...]
    alike: tuple[tuple[str, str], ...]
    sources: Mapping[str, str]
    """The titles of the sources of the index by their names."""

    @property
    def footprint(self) -> list[tuple[float, str]]:
        """The figures of its footprint that are known, each with its unit in words."""
        figures = self.record["sustainability"] or {}
        return [(figures[name], unit) for name, unit in _FOOTPRINT if figures.get(name) is not None]

    @property
    def parents(self) -> list[tuple[str, str]]:
        """The codes and names of its categories, the topmost first."""
        category = self.record["category"]
        return _levels(category["code"], category["path"]) if category else []


class Catalogue:
    """Reads what pages show. Raises StoreUnavailable."""

    def __init__(self, services: Services) -> None:
        self._database = services.resources.database
        self._records = services.resources.records
        self._search = services.search
        self._engine = services.resources.search
        self._data_version = services.data_version
        self._summary: tuple[int, IndexSummary] | None = None

    async def summary(self) -> IndexSummary:
        """Return what the index holds; read once for each data_version."""
        version = self._data_version()
        if self._summary is None or self._summary[0] != version:
            items = await self._engine.ask(lambda index: index.items)
            sources = tuple(DataSource(*row) for row in await self._database.fetch(SQL.sources))
            row = await self._database.fetch_row(SQL.longest_history)
            longest = (row["code"], row["name"]) if row else None
            most = await self._database.fetch_row(SQL.most_items)
            widest = most["code"] if most else None
            self._summary = (
                version,
                IndexSummary(items, await self.days(RollupScope.WHOLE_INDEX, [0]), sources, longest, widest),
            )
        return self._summary[1]

    async def days(self, scope: RollupScope, numbers: Sequence[int]) -> tuple[PricedDays, ...]:
        """Return the days with prices of rollups, by the ids of what they are of."""
        return tuple(PricedDays(*row) for row in await self._database.fetch(SQL.days_with_prices, scope, list(numbers)))

    async def find(self, query: SearchQuery) -> tuple[Page, list[ItemLine]]:
        """Return a page of hits and its lines, without items that the index names and that are there no more.

        Pages of which nothing is left are passed over. Raises as `ItemSearch.find`.
        """
        gone = 0
        for _ in range(_PAGES_PASSED_MAX):
            page = await self._search.find(query)
            lines = await self._lines(page.hits)
            gone += len(page.hits) - len(lines)
            if lines or page.next is None:
                break
            query = msgspec.structs.replace(query, after=page.next)
        shown = {line.item.iid for line in lines}
        hits = [hit for hit in page.hits if hit.item.iid in shown]
        return msgspec.structs.replace(page, hits=hits, total=max(page.total - gone, len(hits))), lines

    async def _lines(self, hits: Sequence[Hit]) -> list[ItemLine]:
        """Return the lines of the hits whose items are there.

        The search index follows a change of the items, for seconds or, of a large one, for minutes: until then it has
        those of a load that was undone.
        """
        iids = [hit.item.iid for hit in hits]
        try:
            records = await self._records.find_many(iids)
            hits = [hit for hit in hits if records[hit.item.iid].state not in _GONE]
            prices = await self._prices([hit.item.iid for hit in hits], records)
        except StoreUnavailable:  # what was found is worth showing without its prices, which say so in their place
            return [ItemLine(hit.item, None, None, 0, priced=False) for hit in hits]
        return [
            ItemLine(
                hit.item,
                _size(_content(records.get(hit.item.iid))),
                next(iter(prices[hit.item.iid]), None),
                len({price.shop for price in prices[hit.item.iid]}),
            )
            for hit in hits
        ]

    async def item(self, iid: str) -> ItemView:
        """Return an item. Raises ItemNotFound, ItemWithdrawn and ItemMerged."""
        stored = (await self._records.find(iid)).or_raise()
        record = msgspec.json.decode(stored.body)
        prices = await self._prices([iid], {iid: stored})
        alike = await self._database.fetch(SQL.alike, iid, ALIKE)
        others = tuple((row["iid"], row["name"]) for row in alike)
        sources = {source.name: source.title for source in (await self.summary()).sources}
        return ItemView(record, _size(_content(stored)), tuple(prices[iid]), others, sources)

    async def cheapest(self, iids: Sequence[str]) -> Mapping[str, ShopPrice]:
        """Return the cheapest of the newest prices of each item that has one."""
        prices = await self._prices(iids, await self._records.find_many(iids))
        return {iid: listed[0] for iid, listed in prices.items() if listed}

    async def priced_items(self, group: BrandOrCategory, most: int) -> list[ItemWithPrices]:
        """Return the items of a brand or category by name, at most so many, each with its newest prices."""
        query = SQL.items_of_brand if group.kind == "brand" else SQL.items_of_category
        iids = [row["iid"] for row in await self._database.fetch(query, list(group.ids), most)]
        found: list[ItemWithPrices] = []
        for begins in range(0, len(iids), _PRICED_AT_ONCE):
            some = iids[begins : begins + _PRICED_AT_ONCE]
            records = await self._records.find_many(some)
            prices = await self._prices(some, records)
            found += (
                ItemWithPrices(document, _size(_content(records[iid])), prices[iid])
                for iid in some
                if (document := _document(records.get(iid)))
            )
        return found

    async def brand(self, slug: str) -> BrandOrCategory | None:
        """Return a brand; None for one that has no items."""
        row = await self._database.fetch_row(SQL.brand, slug)
        if row is None:
            return None
        return BrandOrCategory(
            "brand",
            row["slug"],
            row["name"],
            (row["name"],),
            row["items"],
            await self.days(RollupScope.BRAND, [row["id"]]),
            ids=(row["id"],),
        )

    async def category(self, code: str) -> BrandOrCategory | None:
        """Return a category; None for one that has no items."""
        row = await self._database.fetch_row(SQL.category, code)
        if row is None:
            return None
        path, children = tuple(row["path"]), tuple(msgspec.json.decode(row["children"] or "[]"))
        days = await self.days(RollupScope.CATEGORY, row["ids"])
        return BrandOrCategory("category", row["code"], path[-1], path, row["items"], days, children, tuple(row["ids"]))

    async def _newest(self, seen: Sequence[tuple[str, str, date]]) -> Sequence[asyncpg.Record]:
        days = {last - timedelta(days=before) for last in {day for _, _, day in seen} for before in range(OLD_DAYS + 1)}
        return await self._database.fetch(SQL.current_prices, *map(list, zip(*seen, strict=True)), sorted(days))

    async def _prices(self, iids: Sequence[str], records: Mapping[str, ItemRecord]) -> Mapping[str, list[ShopPrice]]:
        """Return the newest prices of each item, the cheapest of the newest currency first."""
        held = {iid: _content(records.get(iid)) for iid in iids}
        seen = [
            (iid, one["channel"], date.fromisoformat(one["last_seen_on"]))
            for iid in iids
            for one in _document(records.get(iid)).get("channels", ())
        ]
        prices: dict[str, list[ShopPrice]] = defaultdict(list)
        for row in await self._newest(seen) if seen else ():
            amount = to_text(Decimal(row["price_minor"]), row["currency"])
            content = held[row["iid"]]
            unit = content and to_unit_price(content, amount)
            prices[row["iid"]].append(
                ShopPrice(row["channel"], row["currency"], amount, row["day"], unit, content and content.per)
            )
        for listed in prices.values():
            newest = max(listed, key=lambda price: price.day).currency
            listed.sort(key=lambda price: (price.currency != newest, price.currency, Decimal(price.amount), price.shop))
        return prices


def _levels(code: str, path: Sequence[str]) -> list[tuple[str, str]]:
    """Return the codes and names of the categories that lead to one, itself last."""
    codes = code.split(".")
    return [(".".join(codes[: depth + 1]), name) for depth, name in enumerate(path)]


def to_unit_price(content: Content, amount: str) -> str:
    """Return the price of a kilogram, litre or piece with two decimals."""
    return f"{Decimal(content.unit_price(amount)):.2f}"


def _document(record: ItemRecord | None) -> Mapping[str, Any]:
    """Return a record's members; none where there is no record."""
    return (
        msgspec.json.decode(record.body, type=dict) if record is not None and record.state is ItemState.RECORD else {}
    )


def _content(record: ItemRecord | None) -> Content | None:
    document = _document(record)
    return next(iter(contents(document["name"], document["attributes"])), None) if document else None


def _size(content: Content | None) -> str | None:
    """Return an item's content in words: `250 ml`, `1.5 kg`, `6 pieces`."""
    if content is None:
        return None
    amount = Decimal(content.amount.numerator) / Decimal(content.amount.denominator)
    if content.per not in _SMALLER:
        return f"{amount.normalize():f} {'piece' if amount == 1 else 'pieces'}"
    if amount < _GRAMS_BELOW:
        return f"{(1000 * amount).quantize(Decimal('0.1')).normalize():f} {_SMALLER[content.per]}"
    return f"{amount.quantize(Decimal('0.001')).normalize():f} {content.per}"
