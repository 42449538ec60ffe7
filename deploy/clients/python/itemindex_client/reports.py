"""The paid reports by their names, for both clients."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from urllib.parse import quote

R = TypeVar("R")


class Reports(Generic[R]):
    """The reports of a client. A parameter whose name is a word of Python ends in an underscore: `from_`."""

    def __init__(self, make: Callable[[str, dict[str, Any]], R]) -> None:
        self._make = make

    def cohorts(self, **question: Any) -> R:
        """Distribution of prices by period and group."""
        return self._make("/index/cohorts", question)

    def category_insights(self, category: str | None = None, **question: Any) -> R:
        """Figures of all categories, or of one."""
        return self._make(_one("/index/insights/categories", category), question)

    def brand_insights(self, brand: str | None = None, **question: Any) -> R:
        """Figures of all brands, or of one."""
        return self._make(_one("/index/insights/brands", brand), question)

    def price_index(self, **question: Any) -> R:
        """Price change free of changes of the assortment."""
        return self._make("/index/prices/index", question)

    def reductions(self, **question: Any) -> R:
        """How many announced reductions hold."""
        return self._make("/index/insights/reductions", question)

    def sustainability_rollup(self, **question: Any) -> R:
        """Footprints of an assortment or of sales."""
        return self._make("/index/rollups/sustainability", question)


def _one(path: str, name: str | None) -> str:
    return path if name is None else f"{path}/{quote(name, safe='')}"
