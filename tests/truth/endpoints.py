"""The endpoints that are compared, by the name that their line of the result has."""

from collections.abc import Callable, Iterator
from random import Random

from tests.truth.client import Client
from tests.truth.compare import Question
from tests.truth.index import Index
from tests.truth.questions import (
    brand_insights,
    bulk,
    category_insights,
    cohorts,
    footprints,
    items,
    lists,
    price_index,
    prices,
    prior_prices,
    reductions,
)

Ask = Callable[[Client, Index, Random, int], Iterator[Question]]

ENDPOINTS: dict[str, Ask] = {
    "lookup": items.lookup,
    "lookup (batch)": items.batch,
    "search": items.search,
    "brands": items.brands,
    "categories": lists.categories,
    "channels": lists.channels,
    "pricing": prices.pricing,
    "pricing/reference": prior_prices.reference,
    "sustainability": footprints.sustainability,
    "cohorts": cohorts.cohorts,
    "insights/categories": category_insights.listed,
    "insights/categories/{code}": category_insights.one,
    "insights/brands": brand_insights.listed,
    "insights/brands/{slug}": brand_insights.one,
    "prices/index": price_index.price_index,
    "insights/reductions": reductions.reductions,
    "rollups/sustainability": footprints.rollup,
    "datasets": bulk.releases,
    "exports": bulk.exports,
    "exports since": bulk.since,
    "delta-sharing": bulk.sharing,
}
