"""What an aggregate index is of: the leaves of a table of weights, categories and single items, and their prices."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.index.iid import canonical_iid, item_key
from shared.price_index.panel import PriceTable
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.price_tables import PricesOfPeriod, prices_by_period, table_of
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.item_prices import ItemPrices


class WeightedLeaves(NamedTuple):
    """The leaf of each category, with those below a leaf's own, and of each item; an item is in no category's leaf."""

    categories: list[str]
    of_category: dict[int, str]
    of_item: dict[int, str]
    categories_of_items: frozenset[int]

    @classmethod
    def read(cls, connection: Connection, tree: Tree, leaves: Sequence[str]) -> "WeightedLeaves":
        """Read what leaves mean: nothing where later loads took it away, or made it the item of another leaf."""
        categories = [code for code in leaves if code in tree.by_code]
        of_category = {number: code for code in categories for number in tree.by_code[code].below}
        iids = {code: iid for code in leaves if code not in tree.by_code and (iid := canonical_iid(code))}
        keys = {item_key(iid): code for code, iid in reversed(iids.items())}
        found = connection.execute(SQL.items_by_key, (list(keys),)).fetchall() if keys else []
        code_of = {keys[key]: owner for key, owner, _ in found}
        of_item = {code_of[code]: code for code in reversed(leaves) if code in code_of}
        return cls(categories, of_category, of_item, frozenset(category for *_, category in found))

    def narrow(self, chosen: Filter) -> Filter:
        """Return the filter with the leaves' categories and items in the place of its categories."""
        partial = self.categories_of_items - self.of_category.keys()
        categories = sorted(self.of_category.keys() | partial)
        return replace(
            chosen,
            categories=tuple(categories),
            tops=tuple(sorted({*chosen.tops, *partial})),
            partial=tuple(sorted(partial)),
            items=tuple(sorted(self.of_item)),
        )

    def tables(self, reader: Reader, chosen: Filter, *, by_channel: bool) -> dict[str, dict[str, PriceTable]]:
        """Return the prices of each leaf that has any, by currency."""
        by_leaf: dict[str, dict[str, list[PricesOfPeriod]]] = defaultdict(lambda: defaultdict(list))
        found = prices_by_period(reader, chosen.grouped("category"), by_channel=by_channel)
        for (currency, category), prices in found.items():
            for period, of_items in prices:
                for leaf, part in self._parts(category, of_items):
                    by_leaf[currency][leaf].append((period, part))
        return {
            currency: {code: table_of(prices) for code, prices in sorted(of_leaf.items())}
            for currency, of_leaf in by_leaf.items()
        }

    def _parts(self, category: int, prices: ItemPrices) -> Iterator[tuple[str, ItemPrices]]:
        """Yield the leaves that the prices of a category are in, each with its part of them."""
        own = np.isin(prices.item, np.array(list(self.of_item), "i8"))
        for item in np.unique(prices.item[own]).tolist():
            yield self.of_item[item], prices.take(np.flatnonzero(prices.item == item))
        if category in self.of_category and not own.all():
            yield self.of_category[category], prices.take(np.flatnonzero(~own)) if own.any() else prices
