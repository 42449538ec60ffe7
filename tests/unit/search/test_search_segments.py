"""However an index came about, by loads, withdrawals and merges, it answers as a whole build of the same items does."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.errors import InvalidParameter
from shared.search import layout
from shared.search.directory import merging, prune, publish
from shared.search.index import SearchIndex
from shared.search.layout import SegmentEntry
from shared.search.model import Document, SearchQuery
from shared.search.paging import find
from tests.perf.search_sample import documents
from workers.search import build as building
from workers.search import writer
from workers.search.build import Sizes, Source, build, choose, merge_some, update

ITEMS = 240
SAMPLE = list(documents(2 * ITEMS))
QUERIES = [
    SearchQuery(q="classic", limit=7),
    SearchQuery(q="c", limit=50),
    SearchQuery(q="classic shirt", limit=9),
    SearchQuery(q="shirt cl", limit=20),
    SearchQuery(q="wooden clasic shirts", limit=5),
    SearchQuery(q="sh", limit=13, category="clothing"),
    SearchQuery(q="modern boots", limit=8, product_type="boots"),
    SearchQuery(q="blue zzzz red", limit=6),
    SearchQuery(q="IID-", limit=50),
    SearchQuery(q="IID-0000", limit=11, category="clothing"),
    SearchQuery(q=SAMPLE[3].item.name, limit=10),
    SearchQuery(q=SAMPLE[200].item.name.split()[0][:5], limit=10),
    SearchQuery(q="waterprof leathr", limit=10),
]


# Full runs and merges, and more candidates than are weighed: they take thousands of items otherwise.
SMALL = Sizes(run_postings_max=2_000, chunk_postings=100, first_tier=10, segments_per_tier=3)
CANDIDATES = 10


@pytest.fixture(autouse=True)
def common_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are common in a small index too. The bound belongs to the file format: writer and reader need the same."""
    monkeypatch.setattr(layout, "COMMON_DOCUMENTS_MIN", 20)


def changed(number: int, other: int) -> Document:
    """The item of a number with the texts of another."""
    texts = SAMPLE[other]
    return msgspec.structs.replace(texts, item=msgspec.structs.replace(texts.item, iid=SAMPLE[number].item.iid))


def pages(index: SearchIndex, query: SearchQuery) -> Iterator[bytes]:
    """Pages as they are shown, with their cursors."""
    for _ in range(8):
        page = find(index, query, candidates=CANDIDATES)
        yield msgspec.json.encode(page)
        if page.next is None:
            return
        query = msgspec.structs.replace(query, after=page.next)


def answers(index: SearchIndex) -> list[bytes]:
    return [answer for query in QUERIES for answer in answered(index, query)]


def answered(index: SearchIndex, query: SearchQuery) -> list[bytes]:
    try:
        return list(pages(index, query))
    except InvalidParameter as error:  # a filter that no item has any more is refused by both
        return [repr(error).encode()]


class Catalogue:
    """Items that change, with an index that follows them."""

    def __init__(self, directory: Path) -> None:
        self.items = {SAMPLE[number].item.iid: SAMPLE[number] for number in range(0, ITEMS, 2)}
        self._directory = directory / "followed"
        self._whole = directory / "whole"
        self.manifest = build(self._sorted(), self._directory, 1, sizes=SMALL)

    def _sorted(self) -> list[Document]:
        return [self.items[iid] for iid in sorted(self.items)]

    def load(self, entries: dict[int, int]) -> None:
        """Change or add items."""
        documents = {SAMPLE[number].item.iid: changed(number, other) for number, other in entries.items()}
        self.items |= documents
        self._follow(documents, sorted(documents))

    def withdraw(self, numbers: set[int]) -> None:
        """Remove items, or what is not there."""
        iids = sorted(SAMPLE[number].item.iid for number in numbers)
        for iid in iids:
            self.items.pop(iid, None)
        self._follow({}, iids)

    def _follow(self, documents: dict[str, Document], iids: list[str]) -> None:
        changed = [documents[iid] for iid in sorted(documents)]
        segments = update(self.manifest, changed, iids, self._directory, sizes=SMALL)
        self.manifest = publish(self._directory, self.manifest.data_version + 1, "", segments)

    def merge(self) -> None:
        """Merge what is to be merged next."""
        self.manifest = merge_some(self._directory, SMALL) or self.manifest
        prune(self._directory)

    def opened(self, former: SearchIndex | None = None) -> SearchIndex:
        return SearchIndex(self._directory, self.manifest, former)

    def built_whole(self) -> SearchIndex:
        return SearchIndex(self._whole, build(self._sorted(), self._whole, self.manifest.data_version, sizes=SMALL))


def after_three_loads(directory: Path) -> Catalogue:
    """A catalogue whose next merge has something to merge."""
    catalogue = Catalogue(directory)
    for first in (0, 20, 40):
        catalogue.load({number: number + 1 for number in range(first, first + 8)})
    return catalogue


NUMBERS = st.integers(0, ITEMS - 1)
STEPS = st.lists(
    st.one_of(
        st.builds(
            lambda entries: lambda catalogue: catalogue.load(entries), st.dictionaries(NUMBERS, NUMBERS, max_size=40)
        ),
        st.builds(lambda numbers: lambda catalogue: catalogue.withdraw(numbers), st.sets(NUMBERS, max_size=60)),
        st.just(Catalogue.merge),
    ),
    min_size=1,
    max_size=8,
)


EVERY = {identifier for document in SAMPLE for identifier in document.identifiers}

NEAR = {(scheme, f"{value[:-1]}{(ord(value[-1]) + 1) % 10}") for scheme, value in EVERY} - EVERY


def possible(index: SearchIndex) -> set[tuple[str, str]]:
    """Return the identifiers that an item of an index may have, of those that the sample has and others near them."""
    return {identifier for identifier in EVERY | NEAR if index.may_have(*identifier)}


def had(documents: list[Document]) -> set[tuple[str, str]]:
    """Return the identifiers that documents have, and those near them with the same hash."""
    hashes = {layout.identifier_hash(*identifier) for document in documents for identifier in document.identifiers}
    return {identifier for identifier in EVERY | NEAR if layout.identifier_hash(*identifier) in hashes}


@given(steps=STEPS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_segments_answer_byte_for_byte_as_one_whole_build(steps: list[Callable[[Catalogue], None]]) -> None:
    """And after each step they say of every identifier whether an item may have it."""
    with TemporaryDirectory() as directory:
        catalogue = Catalogue(Path(directory))
        index = catalogue.opened()
        for step in [*steps, Catalogue.merge]:
            step(catalogue)
            index = catalogue.opened(index)
            assert possible(index) == had(list(catalogue.items.values()))
        assert index.items == len(catalogue.items)
        assert answers(index) == answers(catalogue.built_whole())


def test_a_load_while_segments_are_merged_counts_in_the_merged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = after_three_loads(tmp_path)
    merged = building.merge

    def merge_beside_a_load(sources: list[Source], folder: Path, sizes: Sizes) -> None:
        merged(sources, folder, sizes)
        catalogue.load({3: 100, 21: 101, 239: 102})
        catalogue.withdraw({0, 41, 60})

    monkeypatch.setattr(building, "merge", merge_beside_a_load)
    before = len(catalogue.manifest.segments)
    catalogue.merge()
    assert len(catalogue.manifest.segments) < before
    assert catalogue.manifest.data_version == 6
    assert answers(catalogue.opened()) == answers(catalogue.built_whole())


def test_a_merge_of_segments_that_are_no_longer_there_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after_three_loads(tmp_path)
    merged = building.merge

    def merge_beside_a_build(sources: list[Source], folder: Path, sizes: Sizes) -> None:
        merged(sources, folder, sizes)
        build(SAMPLE[:50], tmp_path / "followed", 9, sizes=sizes)

    monkeypatch.setattr(building, "merge", merge_beside_a_build)
    assert merge_some(tmp_path / "followed", SMALL) is None
    found = layout.newest(tmp_path / "followed")
    assert found is not None
    assert (found.data_version, found.items) == (9, 50)


def test_a_merge_that_dies_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = after_three_loads(tmp_path)
    found = answers(catalogue.opened())
    with monkeypatch.context() as patch:
        patch.setattr(writer, "make_durable", lambda folder: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            catalogue.merge()
    assert layout.newest(tmp_path / "followed") == catalogue.manifest
    with merging(tmp_path / "followed") as alone:
        assert alone
    assert not list((tmp_path / "followed").rglob(".merging-*"))
    assert answers(catalogue.opened()) == found


def test_one_process_at_a_time_merges(tmp_path: Path) -> None:
    with merging(tmp_path) as first, merging(tmp_path) as second:
        assert (first, second) == (True, False)


@given(sizes=st.lists(st.integers(1, 5_000), max_size=60))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_merges_bound_the_number_of_segments(sizes: list[int]) -> None:
    segments: tuple[SegmentEntry, ...] = ()
    for number, size in enumerate(sizes):
        segments += (SegmentEntry(str(number), size),)
        while chosen := choose(segments, SMALL):
            left = tuple(segment for segment in segments if segment not in chosen)
            segments = (*left, SegmentEntry(f"m{number}-{len(left)}", sum(segment.live for segment in chosen)))
    tiers_used = 2 + max(0, math.ceil(math.log(max(1, sum(sizes)) / SMALL.first_tier, 8)))
    assert len(segments) <= (SMALL.segments_per_tier - 1) * tiers_used
    assert sum(segment.live for segment in segments) == sum(sizes)


def test_a_segment_of_which_much_is_deleted_is_written_anew() -> None:
    kept, worn = SegmentEntry("kept", 100, 25, "x"), SegmentEntry("worn", 100, 26, "y")
    assert choose((kept,), SMALL) == []
    assert choose((kept, worn), SMALL) == [worn]
