"""Brands and categories for rows of a table: by their names, as the suggestions of search know them."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from edge.reconcile.entities import EntityId, EntityType
from edge.search.engine import SearchEngine
from shared.index.identifiers import brand_key
from shared.search.suggesting import SUGGESTIONS_MAX, Suggestion
from shared.text import fold


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that a row may be; `score` is from 0 to 100."""

    id: EntityId
    name: str
    description: str
    score: float
    match: bool


async def find_named(engine: SearchEngine, text: str, kind: EntityType) -> list[EntityCandidate]:
    """Return the brands or categories that a text may name, best first. Raises as `SearchEngine.ask`.

    `match` is true where exactly one has this name, but for case, accents and the form of a company.
    """
    asked = _compared(text, kind)
    if not asked:
        return []
    _, suggestions = await engine.suggest(asked, SUGGESTIONS_MAX)
    alike = [one for one in suggestions if one.kind == kind]
    equal = [one for one in alike if _compared(one.name, kind) == asked]
    exact = equal if len(equal) == 1 else []
    candidates = [
        EntityCandidate(
            EntityId(kind, one.value), one.name, _described(one), _score(asked, one.name, kind), one in exact
        )
        for one in alike
    ]
    return sorted(candidates, key=lambda one: (not one.match, -one.score))


def _compared(text: str, kind: EntityType) -> str:
    return brand_key(text) if kind is EntityType.BRAND else fold(text)


def _score(asked: str, name: str, kind: EntityType) -> float:
    return round(100 * SequenceMatcher(None, asked, _compared(name, kind)).ratio(), 2)


def _described(one: Suggestion) -> str:
    items = "1 item" if one.items == 1 else f"{one.items or 0:,} items"
    return f"{one.context}, {items}" if one.context else items
