"""However an index came about, by loads, withdrawals and updates that were joined, it answers as one segment does."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.errors import InvalidParameter
from shared.search import layout, planner
from shared.search.directory import prune, publish
from shared.search.index import SearchIndex
from shared.search.layout import SegmentEntry
from shared.search.model import Brand, Document, Item, SearchQuery
from shared.search.paging import find
from shared.search.suggesting import Suggester
from tests.assurance.perf.search_sample import documents
from workers.search.build import build, update

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
    SearchQuery(q="c", limit=9, facets=("brand", "category", "channel")),
    SearchQuery(q="shirt", limit=9, channel="SHOP3", facets=("category",)),
    SearchQuery(q="classic", limit=9, currency="HKD", price_min=20_000.0, price_max=70_000.0),
    SearchQuery(q="c", limit=9, currency="HKD", sort="price"),
    SearchQuery(q="c", limit=9, currency="HKD", sort="unit_price"),
    SearchQuery(q="classic", limit=9, sort="-seen", seen_since=20_300),
    SearchQuery(q="IID-0000", limit=11, seen_since=20_300),
]
TYPED = ["c", "cl", "sh", "clothing", "classic sh", "boots", "zzzz"]


# Builds of several segments, and more candidates than are weighed: they take thousands of items otherwise.
SMALL = 2_000


@pytest.fixture(autouse=True)
def common_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are common in a small index too. The bound belongs to the file format: writer and reader need the same."""
    monkeypatch.setattr(layout, "COMMON_DOCUMENTS_MIN", 20)
    monkeypatch.setattr(planner, "CANDIDATES", 10)


def changed(number: int, other: int) -> Document:
    """The item of a number with the texts of another."""
    texts = SAMPLE[other]
    return msgspec.structs.replace(texts, item=msgspec.structs.replace(texts.item, iid=SAMPLE[number].item.iid))


def pages(index: SearchIndex, query: SearchQuery) -> Iterator[bytes]:
    """Pages as they are shown, with their cursors."""
    for _ in range(8):
        page = find(index, query)
        yield msgspec.json.encode(page)
        if page.next is None:
            return
        query = msgspec.structs.replace(query, after=page.next)


def answers(index: SearchIndex) -> list[bytes]:
    suggester = Suggester(index)
    suggested = [msgspec.json.encode(suggester.suggest(q, 8)) for q in TYPED]
    return suggested + [answer for query in QUERIES for answer in answered(index, query)]


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
        self._changed: set[str] = set()
        self.manifest = build(self._sorted(), self._directory, 1, postings_max=SMALL)

    def _sorted(self) -> list[Document]:
        return [self.items[iid] for iid in sorted(self.items)]

    def load(self, entries: dict[int, int]) -> None:
        """Change or add items."""
        documents = {SAMPLE[number].item.iid: changed(number, other) for number, other in entries.items()}
        self.items |= documents
        self._follow(sorted(documents))

    def withdraw(self, numbers: set[int]) -> None:
        """Remove items, or what is not there."""
        iids = sorted(SAMPLE[number].item.iid for number in numbers)
        for iid in iids:
            self.items.pop(iid, None)
        self._follow(iids)

    def _follow(self, iids: list[str]) -> None:
        self._changed |= set(iids)
        self._update(self.manifest.segments, iids, self.manifest.data_version + 1)

    def join(self) -> None:
        """Write all changes as one update."""
        built = [segment for segment in self.manifest.segments if not segment.update]
        self._update(built, sorted(self._changed), self.manifest.data_version)
        prune(self._directory)

    def _update(self, segments: Sequence[SegmentEntry], iids: list[str], version: int) -> None:
        changed = [self.items[iid] for iid in iids if iid in self.items]
        written = update(segments, changed, iids, self._directory, postings_max=SMALL)
        self.manifest = publish(self._directory, version, "", written, built_version=1)

    def opened(self, former: SearchIndex | None = None) -> SearchIndex:
        return SearchIndex(self._directory, self.manifest, former)

    def built_whole(self) -> SearchIndex:
        return SearchIndex(self._whole, build(self._sorted(), self._whole, self.manifest.data_version))


NUMBERS = st.integers(0, ITEMS - 1)
STEPS = st.lists(
    st.one_of(
        st.builds(
            lambda entries: lambda catalogue: catalogue.load(entries), st.dictionaries(NUMBERS, NUMBERS, max_size=40)
        ),
        st.builds(lambda numbers: lambda catalogue: catalogue.withdraw(numbers), st.sets(NUMBERS, max_size=60)),
        st.just(Catalogue.join),
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
        for step in [*steps, Catalogue.join]:
            step(catalogue)
            index = catalogue.opened(index)
            assert possible(index) == had(list(catalogue.items.values()))
        assert index.items == len(catalogue.items)
        assert answers(index) == answers(catalogue.built_whole())


def test_brands_of_one_name_have_one_order_in_whatever_order_their_segments_came(tmp_path: Path) -> None:
    later, first = (
        Document(Item(iid, "Tea", Brand(number, "Tona", slug), None, None))
        for number, iid, slug in ((1, "IID-1", "tona-9"), (2, "IID-2", "tona-1"))
    )
    manifest = build([later], tmp_path, 1)
    index = SearchIndex(tmp_path, publish(tmp_path, 2, "", update(manifest.segments, [first], ["IID-2"], tmp_path)))
    assert [one.value for one in Suggester(index).suggest("tona", 8)][:2] == ["tona-1", "tona-9"]
