"""A quantity is found in whatever spelling: by items, by descriptions, while it is typed, and in indexes without them."""

import pytest

from shared.search.index import SearchIndex
from shared.search.model import Document, Item, SearchQuery
from shared.search.paging import find
from tests.support.search_catalogue import opened

NAMES_SEARCH_QUANTITIES = {
    "IID-1": "HDMI cable 3m black",
    "IID-2": "HDMI cable 300 cm white",
    "IID-3": "HDMI cable 5 m black",
    "IID-4": "Olive oil 500ml",
    "IID-5": "Lager 24 x 500 ml",
    "IID-6": "Lager 500ml bottle",
    "IID-7": "Rug 90x200cm",
    "IID-8": "Command hooks by 3M",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    documents = [Document(Item(iid, name, None, None, None)) for iid, name in NAMES_SEARCH_QUANTITIES.items()]
    documents.append(Document(Item("IID-9", "Garden hose", None, None, None), [], "A hose of 15 metres"))
    return opened(documents, tmp_path_factory.mktemp("quantities"))


def hits(index: SearchIndex, q: str) -> list[tuple[str, float]]:
    """Return IID and score of each hit."""
    return [(hit.item.iid, hit.score) for hit in find(index, SearchQuery(q=q)).hits]


@pytest.mark.parametrize("q", ["hdmi cable 3 m", "hdmi cable 3 meters", "hdmi cable 3-metre", "hdmi cable 300cm"])
def test_every_spelling_of_a_quantity_finds_the_same_with_the_same_scores(shop: SearchIndex, q: str) -> None:
    assert hits(shop, q) == hits(shop, "hdmi cable 3m")
    complete = [hit.item.iid for hit in find(shop, SearchQuery(q=q)).hits if hit.all_words]
    assert complete == ["IID-1", "IID-2"]


def test_a_pack_is_found_by_its_content_and_by_itself(shop: SearchIndex) -> None:
    content = [hit.item.iid for hit in find(shop, SearchQuery(q="lager 0.5 l")).hits if hit.all_words]
    pack = [hit.item.iid for hit in find(shop, SearchQuery(q="lager 500ml 24-pack")).hits if hit.all_words]
    assert sorted(content) == ["IID-5", "IID-6"]
    assert pack == ["IID-5"]


def test_sides_are_found_together_and_alone(shop: SearchIndex) -> None:
    assert hits(shop, "rug 0.9 x 2 m")[0][0] == hits(shop, "rug 200 cm")[0][0] == "IID-7"


def test_a_quantity_in_a_description_is_found_in_other_spelling(shop: SearchIndex) -> None:
    assert [iid for iid, _ in hits(shop, "hose 15m")] == ["IID-9"]


def test_a_quantity_that_is_still_being_typed_is_found_by_its_beginning(shop: SearchIndex) -> None:
    for typed in (
        "olive oil 5",
        "olive oil 50",
        "olive oil 500",
        "olive oil 500m",
        "olive oil 500 m",
        "olive oil 500ml",
    ):
        assert hits(shop, typed)[0][0] == "IID-4", typed


def test_a_hit_by_its_quantity_alone_is_matched_on_its_name(shop: SearchIndex) -> None:
    found = {hit.item.iid: hit.matched_on for hit in find(shop, SearchQuery(q="5 metres")).hits}
    assert found == {"IID-3": ["name"]}


def test_a_brand_that_looks_like_a_length_is_found(shop: SearchIndex) -> None:
    assert hits(shop, "3M command hooks")[0][0] == "IID-8"
