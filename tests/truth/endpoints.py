"""The endpoints that are compared, by the name that their line of the result has."""

from collections.abc import Callable, Iterator
from random import Random

from tests.truth.client import Client
from tests.truth.compare import Question
from tests.truth.index import Index
from tests.truth.questions import items

Ask = Callable[[Client, Index, Random, int], Iterator[Question]]

ENDPOINTS: dict[str, Ask] = {
    "lookup": items.lookup,
    "lookup (batch)": items.batch,
    "search": items.search,
    "brands": items.brands,
}
