"""Searches for the items of the identifiers in a query, then for its words."""

import re
from collections.abc import Iterator

import msgspec

from edge.index.identifiers import RequestedIdentifier, ResolutionCache
from edge.search.engine import SearchEngine
from edge.storage.data_version import DataVersionWatcher
from shared.errors import InvalidIdentifier
from shared.index.identifiers import LAYOUT, NUMBER_CHARACTERS_MIN, NUMBER_SCHEMES, SCHEMES, normal
from shared.search.index import SearchIndex
from shared.search.model import Page, SearchQuery
from shared.search.paging import begins_iid
from shared.text import in_ascii

# A text that more items have is no identifier of theirs.
_ITEMS_MAX = 10
_WORDS_MAX = 3
_WORD = re.compile(r"\S+")
_PART_CHARACTERS_MIN = 5
_DIGIT = re.compile(r"[0-9]", re.ASCII)


def identifiers_in(q: str) -> list[RequestedIdentifier]:
    """Return the identifiers that a query may consist of or contain, each once. Pure."""
    if begins_iid(q) or not _DIGIT.search(in_ascii(q)):
        return []
    return list(dict.fromkeys(_candidates(q)))


def _candidates(q: str) -> Iterator[RequestedIdentifier]:
    if q[:8].lower().startswith(("http://", "https://")):
        yield from _read("url", q)
        return
    words = _WORD.findall(q)
    for text in (q, *words):
        if len(text) >= NUMBER_CHARACTERS_MIN:
            number = in_ascii(text)
            for scheme in NUMBER_SCHEMES:
                yield from _read(scheme, number)
    # A part number or a source's own number may be any text: only a short query with a digit is looked up as one.
    if len(words) <= _WORDS_MAX and len(q) >= _PART_CHARACTERS_MIN:
        yield from _read("mpn", q)
        yield from _read("sku", q)
        if len(words) > 1:  # a brand before its part number
            yield from _read("mpn", words[-1])


def _read(scheme: str, text: str) -> Iterator[RequestedIdentifier]:
    try:
        canonical = normal(scheme, text)
    except InvalidIdentifier:
        return
    if canonical is None:
        return
    usable = SCHEMES[scheme] not in ("mpn", "sku") or (
        len(canonical.value) >= _PART_CHARACTERS_MIN and _DIGIT.search(canonical.value)
    )
    if usable:
        yield RequestedIdentifier(*canonical)


class ItemSearch:
    """The search of words, and before it the identifiers that a query contains."""

    def __init__(self, engine: SearchEngine, resolutions: ResolutionCache, version: DataVersionWatcher) -> None:
        self._engine = engine
        self._resolutions = resolutions
        self._version = version

    async def find(self, search: SearchQuery) -> Page:
        """Return a page of hits. Without PostgreSQL the words alone are searched. Raises as `SearchEngine.find`."""
        requested = identifiers_in(search.q)
        if requested:
            found = await self._engine.ask(
                lambda index: self._possible(index, requested) or self._engine.page(index, search)
            )
            if isinstance(found, Page):
                return found
            requested = found
        resolved = await self._resolutions.find_all(requested)
        named = [entry.iids for entry in resolved.values() if len(entry.iids) <= _ITEMS_MAX]
        first = tuple(sorted({iid for iids in named for iid in iids}))
        page = await self._engine.find(msgspec.structs.replace(search, first=first))
        return page if len(resolved) == len(requested) else msgspec.structs.replace(page, whole=False)

    def _possible(self, index: SearchIndex, requested: list[RequestedIdentifier]) -> list[RequestedIdentifier]:
        """Return the identifiers that items may have; an index of another data_version cannot tell."""
        newest = (LAYOUT, self._version.current, self._version.committed_at)
        if (index.identifiers, index.data_version, index.committed_at) != newest:
            return requested
        return [identifier for identifier in requested if index.may_have(identifier.scheme, identifier.value)]
