"""Where nearly every item has the same word, as in the first file of a shop, that word is found all the same."""

from pathlib import Path

import pytest

from shared.search.model import Document, Item, SearchQuery
from shared.search.paging import find
from tests.support.search_catalogue import opened


@pytest.mark.parametrize("count", [1, 2, 45])
@pytest.mark.parametrize("q", ["ghost", "gho", "ghost milk", "ghosts"])
def test_a_word_of_every_item_finds_them_all_with_their_facets(tmp_path: Path, count: int, q: str) -> None:
    items = [Item(f"IID-{n:03}", f"Ghost milk ghosts {n}", None, None, None) for n in range(count)]
    index = opened([Document(item, [], None, []) for item in items], tmp_path)
    page = find(index, SearchQuery(q=q, limit=50, facets=("brand",)))
    assert (page.total, len(page.hits)) == (count, count)
