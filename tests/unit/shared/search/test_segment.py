"""A segment of search: identifiers of items, and rows of bits against numpy's own reading of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.search import layout
from shared.search import rows as bitmaps
from shared.search.model import Document, Item
from shared.search.rows import bits
from shared.text import stem
from tests.support.search_catalogue import opened
from tests.unit.shared.search import test_segments as loads
from tests.unit.shared.search.test_segments import SAMPLE, Catalogue
from workers.search import segment_writer
from workers.search.build import update

common_words = loads.common_words


def test_an_identifier_of_several_items_is_possible_while_one_of_them_is_left(tmp_path: Path) -> None:
    shared = [Document(document.item, identifiers=[("gtin", "04006381333931")]) for document in SAMPLE[:100]]
    catalogue = Catalogue(tmp_path)
    catalogue.withdraw(set(range(loads.ITEMS)))
    iids = [one.item.iid for one in shared]
    segments = update(catalogue.manifest.segments, shared, iids, tmp_path / "followed")
    catalogue.manifest = loads.publish(tmp_path / "followed", 9, "", segments)
    catalogue.withdraw(set(range(99)))
    assert catalogue.opened().may_have("gtin", "04006381333931")
    catalogue.withdraw({99})
    assert not catalogue.opened().may_have("gtin", "04006381333931")


def test_what_is_stored_of_items_may_be_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "_HITS_BYTES", 1_000)
    index = opened(SAMPLE, tmp_path)
    assert sorted((index.read(number)[0] for number in range(len(SAMPLE))), key=lambda item: item.iid) == [
        document.item for document in SAMPLE
    ]


def test_words_of_one_stem_count_together_and_at_most_255_times(tmp_path: Path) -> None:
    item = Item("IID-1", "Shoes, shoe and running shoes", None, None, None)
    index = opened([Document(item, [], "runs " * 300 + "shoe")], tmp_path)

    def times(field: str, word: str) -> list[int]:
        postings = index.postings(field, stem(word))
        assert postings.documents.tolist() == [0] * len(postings.times)
        return postings.times.tolist()

    assert [times(layout.WORDS, word) for word in ("shoe", "run", "runs", "sock")] == [[3], [1], [1], []]
    assert [times(layout.DESCRIPTION, word) for word in ("run", "shoe", "and")] == [[255], [1], []]
    assert [index.frequency(layout.PLAIN, word) for word in ("shoes", "shoe", "running", "runs")] == [1, 1, 1, 0]


ITEMS = 300_001


@given(st.sets(st.integers(0, ITEMS - 1), max_size=40), st.integers(0, 50), st.sampled_from([0, 9_000]))
def test_the_first_documents_are_found_wherever_a_row_has_them(some: set[int], most: int, many: int) -> None:
    documents = np.array(sorted(some | set(range(ITEMS - many, ITEMS))), np.uint32)
    row = bits(documents, ITEMS)
    assert bitmaps.first(row, most).tolist() == documents[:most].tolist()
    assert bitmaps.first(row, ITEMS).tolist() == documents.tolist()
    assert bitmaps.count(row) == len(documents)
