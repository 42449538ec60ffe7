"""An index of search: built, extended by loads, withdrawn from, merged, and brought through the object store."""

import asyncio
import gc
import io
import re
import shutil
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.search.engine import SearchEngine
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.search import layout, remote
from shared.search import scoring as bitmaps
from shared.search.directory import is_of_former_format, is_whole, prune, publish
from shared.search.index import SearchIndex
from shared.search.layout import Manifest
from shared.search.model import Document, SearchQuery
from shared.search.paging import find
from shared.search.segment import Segment, bits
from shared.telemetry.log import Log
from tests.perf import search_sample
from tests.unit.search import test_search_segments as loads
from tests.unit.search.conftest import catalogue, document, opened
from tests.unit.search.test_search_segments import SAMPLE, Catalogue
from workers.search import writer
from workers.search.build import analyze, build, update

# However an index came about, it says which identifiers its items may have.


common_words = loads.common_words


def test_an_identifier_of_several_items_is_possible_while_one_of_them_is_left(tmp_path: Path) -> None:
    shared = [Document(document.item, identifiers=[("gtin", "04006381333931")]) for document in SAMPLE[:100]]
    catalogue = Catalogue(tmp_path)
    catalogue.withdraw(set(range(loads.ITEMS)))
    iids = [one.item.iid for one in shared]
    segments = update(catalogue.manifest, shared, iids, tmp_path / "followed", sizes=loads.SMALL)
    catalogue.manifest = loads.publish(tmp_path / "followed", 9, "", segments)
    catalogue.withdraw(set(range(99)))
    assert catalogue.opened().may_have("gtin", "04006381333931")
    catalogue.withdraw({99})
    assert not catalogue.opened().may_have("gtin", "04006381333931")


def test_a_segment_of_a_former_release_is_opened_without_identifiers(tmp_path: Path) -> None:
    manifest = build(SAMPLE[:10], tmp_path, 1)
    folder = tmp_path / layout.SEGMENTS / manifest.segments[0].id
    description = msgspec.json.decode((folder / layout.SEGMENT).read_bytes(), type=layout.SegmentInfo)
    del description.files[layout.IDENTIFIERS]
    (folder / layout.SEGMENT).write_bytes(msgspec.json.encode(description))
    assert len(Segment(folder).identifiers) == 0
    assert manifest.identifiers is None


# Rows of bits, against numpy's own reading of them.


ITEMS = 300_001


@given(st.sets(st.integers(0, ITEMS - 1), max_size=40), st.integers(0, 50), st.sampled_from([0, 9_000]))
def test_the_first_documents_are_found_wherever_a_row_has_them(some: set[int], most: int, many: int) -> None:
    documents = np.array(sorted(some | set(range(ITEMS - many, ITEMS))), np.uint32)
    row = bits(documents, ITEMS)
    assert bitmaps.first(row, most).tolist() == documents[:most].tolist()
    assert bitmaps.first(row, ITEMS).tolist() == documents.tolist()
    assert bitmaps.count(row) == len(documents)


# An index is whole or not there.


def names(directory: Path) -> list[str]:
    """What is in a directory of an index, without what is in its segments."""
    return sorted(str(path.relative_to(directory)) for path in [*directory.iterdir(), *directory.glob("segments/*")])


def test_a_finished_build_leaves_a_segment_and_a_manifest_that_names_it(tmp_path: Path) -> None:
    manifest = build(catalogue(), tmp_path, 7)
    assert names(tmp_path) == ["7.0.json", "segments", f"segments/{manifest.segments[0].id}"]
    assert layout.newest(tmp_path) == manifest
    assert (manifest.data_version, manifest.items) == (7, len(catalogue()))


def test_each_file_of_a_segment_has_its_digest(tmp_path: Path) -> None:
    folder = tmp_path / layout.SEGMENTS / build(catalogue(), tmp_path, 7).segments[0].id
    described = msgspec.json.decode((folder / layout.SEGMENT).read_bytes(), type=layout.SegmentInfo).files
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del found[layout.SEGMENT]
    assert described == {name: (len(bytes_), sha256(bytes_).hexdigest()) for name, bytes_ in found.items()}


def test_documents_out_of_order_are_refused_and_nothing_is_published(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="order of their IIDs"):
        build(reversed(catalogue()), tmp_path, 1)
    assert layout.newest(tmp_path) is None
    prune(tmp_path)
    assert names(tmp_path) in ([], ["segments"])


@pytest.mark.parametrize("died", ["write_rows", "write_vocabulary", "make_durable"])
def test_a_build_that_dies_before_its_end_is_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died: str
) -> None:
    build(catalogue(), tmp_path, 1)
    whole = names(tmp_path)
    monkeypatch.setattr(writer, died, lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build(catalogue(), tmp_path, 2)
    found = layout.newest(tmp_path)
    assert found is not None
    assert found.data_version == 1
    prune(tmp_path)
    assert names(tmp_path) == whole


def test_the_same_version_can_be_built_again(tmp_path: Path) -> None:
    first = opened(catalogue(), tmp_path, 1)
    second = opened(catalogue()[:3], tmp_path, 1)
    assert first.id != second.id
    assert (len(find(first, SearchQuery(q="IID-")).hits), len(find(second, SearchQuery(q="IID-")).hits)) == (
        len(catalogue()),
        3,
    )


def test_an_index_of_nothing_finds_nothing(tmp_path: Path) -> None:
    index = opened([], tmp_path)
    for q in ("soy", "IID-", "s", "維他"):
        assert find(index, SearchQuery(q=q)).hits == []


def test_only_the_newest_versions_are_kept(tmp_path: Path) -> None:
    kept = [build(catalogue(), tmp_path, version) for version in (1, 2, 9, 10)][2:]
    assert prune(tmp_path) == [2, 1]
    assert [path.name for path in layout.manifests(tmp_path)] == ["10.0.json", "9.0.json"]
    segments = [f"segments/{manifest.segments[0].id}" for manifest in kept]
    assert names(tmp_path) == sorted(["10.0.json", "9.0.json", "segments", *segments])


def test_an_index_is_not_opened_where_a_file_is_missing_or_cut(
    tmp_path: Path, with_deletions: tuple[Path, Manifest]
) -> None:
    folder, manifest = with_deletions
    shutil.copytree(folder, tmp_path / "index")
    paths = [path for path in (tmp_path / "index").rglob("*/*") if path.is_file() and path.stat().st_size]
    assert len(paths) > 30
    for path in paths:
        content = path.read_bytes()
        for left in (content[:-8], content[: len(content) // 2], b"", None):
            path.unlink()
            if left is not None:
                path.write_bytes(left)
            assert not is_whole(tmp_path / "index", manifest), path
            with pytest.raises((OSError, ValueError)):
                SearchIndex(tmp_path / "index", manifest)
        path.write_bytes(content)
    assert is_whole(tmp_path / "index", manifest)


def test_an_index_of_another_format_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(catalogue(), tmp_path, 1)
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    assert layout.newest(tmp_path) is None


def test_an_index_of_the_former_format_stays_until_two_newer_ones_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_of_former_format(tmp_path, None)
    ours = layout.FORMAT
    monkeypatch.setattr(layout, "FORMAT", ours - 1)
    build(catalogue(), tmp_path, 7)
    monkeypatch.setattr(layout, "FORMAT", ours)
    assert is_of_former_format(tmp_path, None)
    # The new release makes its own for the same data_version.
    build([*catalogue(), document("IID-Z0009|Kettle|Siemens|kettle|Home/Kitchen|")], tmp_path, 7)
    prune(tmp_path)
    assert not is_of_former_format(tmp_path, None)
    monkeypatch.setattr(layout, "FORMAT", ours - 1)
    assert iids(tmp_path, "kettle") == [] and iids(tmp_path, "runner") == ["IID-C0004"]
    monkeypatch.setattr(layout, "FORMAT", ours)
    assert iids(tmp_path, "kettle") == ["IID-Z0009"]
    build(catalogue(), tmp_path, 8)
    prune(tmp_path)
    assert [path.name for path in layout.manifests(tmp_path)] == ["8.0.json", "7.1.json"]
    assert len(list((tmp_path / layout.SEGMENTS).iterdir())) == 2


def test_the_items_of_each_beginning_are_those_with_a_word_that_begins_so(tmp_path: Path) -> None:
    documents = list(search_sample.documents(80))
    index = opened(documents, tmp_path, sizes=loads.SMALL)
    words = [
        {key[1:].decode() for key in analyze(document).times if key.startswith(layout.key(layout.PLAIN, ""))}
        for document in documents
    ]
    beginnings = {word[:length] for of in words for word in of for length in range(1, len(word) + 1)}
    for beginning in sorted(beginnings | {"zzzz", "0"}):
        expected = sum(any(word.startswith(beginning) for word in of) for of in words)
        assert index.frequency(layout.PREFIXES, beginning) == expected, beginning


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux says which pages are mapped")
def test_a_touched_segment_has_all_pages_of_its_files_mapped(tmp_path: Path) -> None:
    build(search_sample.documents(400), tmp_path, 1)
    gc.collect()  # the build's own maps
    [folder] = (tmp_path / layout.SEGMENTS).iterdir()
    segment = Segment(folder)
    assert _pages_left(folder) > 0
    segment.touch()
    assert _pages_left(folder) == 0


def _pages_left(folder: Path) -> int:
    """Return how many kilobytes of the mapped files of a folder have no page in this process yet."""
    blocks = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path("/proc/self/smaps").read_text(), flags=re.MULTILINE)
    of_folder = [block for block in blocks if f"{folder}/" in block and f"/{layout.VOCABULARY}/" not in block]
    sizes = [re.search(rf"^{name}: +(\d+) kB$", block, re.MULTILINE) for block in of_folder for name in ("Size", "Rss")]
    kilobytes = [int(size[1]) for size in sizes if size]
    return sum(kilobytes[::2]) - sum(kilobytes[1::2])


# An index that comes through the object store is the one that was built, or is not used.


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    """The object store."""
    (tmp_path / "store" / ".partial").mkdir(parents=True)
    return DirectoryStore(tmp_path / "store")


@pytest.fixture(scope="module")
def with_deletions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    """The folder of an index that a worker built, with deletions."""
    folder, changed = tmp_path_factory.mktemp("worker"), [catalogue()[3]]
    segments = update(build(catalogue(), folder, 1), changed, [changed[0].item.iid, "IID-D0006"], folder)
    return folder, publish(folder, 2, "", segments)


@pytest.fixture
def built(tmp_path: Path, store: DirectoryStore, with_deletions: tuple[Path, Manifest]) -> Manifest:
    """An index that a worker built and put into the store."""
    folder, manifest = with_deletions
    shutil.copytree(folder, tmp_path / "worker")
    remote.upload(store, tmp_path / "worker", manifest)
    return manifest


def iids(directory: Path, q: str) -> list[str]:
    found = layout.newest(directory)
    assert found is not None
    return [hit.item.iid for hit in find(SearchIndex(directory, found), SearchQuery(q=q, limit=50)).hits]


def stored(tmp_path: Path, part: str) -> list[Path]:
    return sorted(path for path in (tmp_path / "store" / "search" / part).rglob("*") if path.is_file())


def test_an_edge_of_another_host_finds_the_same(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    assert remote.fetch(store, tmp_path / "edge")
    assert layout.newest(tmp_path / "edge") == built
    for q in ("IID-", "chocolate", "runing sho", "refr"):
        assert iids(tmp_path / "edge", q) == iids(tmp_path / "worker", q) != []
    assert not remote.fetch(store, tmp_path / "edge")


def test_only_what_is_new_is_fetched(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    remote.fetch(store, tmp_path / "edge")
    newer = publish(tmp_path / "worker", 3, "", update(built, [], ["IID-A0001"], tmp_path / "worker"))
    remote.upload(store, tmp_path / "worker", newer)
    for path in stored(tmp_path, "segments"):
        path.unlink()
    assert remote.fetch(store, tmp_path / "edge")
    assert "IID-A0001" not in iids(tmp_path / "edge", "IID-")


def test_a_file_damaged_in_transfer_is_not_used(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    remote.fetch(store, tmp_path / "edge")
    changed = [catalogue()[5]]
    newer = publish(
        tmp_path / "worker", 3, "", update(built, changed, [changed[0].item.iid, "IID-A0001"], tmp_path / "worker")
    )
    remote.upload(store, tmp_path / "worker", newer)
    new = [path for path in stored(tmp_path, "") if path.name != "newest-2.json"]
    new = [path for path in new if not (tmp_path / "edge" / path.relative_to(tmp_path / "store" / "search")).exists()]
    assert len(new) > 5
    for path in (path for path in new if path.stat().st_size):  # nothing of an empty file is read
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(remote.Damaged):
            remote.fetch(store, tmp_path / "edge")
        assert layout.newest(tmp_path / "edge") == built, path
        assert iids(tmp_path / "edge", "chocolate") != []
        path.write_bytes(content)
    assert remote.fetch(store, tmp_path / "edge")


def test_a_file_that_was_cut_here_is_fetched_again(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    remote.fetch(store, tmp_path / "edge")
    hits = next((tmp_path / "edge").rglob(layout.HITS))
    hits.write_bytes(hits.read_bytes()[:-1])
    assert remote.fetch(store, tmp_path / "edge")
    assert iids(tmp_path / "edge", "IID-") == iids(tmp_path / "worker", "IID-") != []
    assert not remote.fetch(store, tmp_path / "edge")


def test_a_file_that_is_gone_leaves_the_former_index(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    for path in stored(tmp_path, "segments")[5:6]:
        path.unlink()
    with pytest.raises(StoreUnavailable):
        remote.fetch(store, tmp_path / "edge")
    assert layout.newest(tmp_path / "edge") is None


def test_no_name_of_a_file_leads_out_of_its_segment() -> None:
    for name in ("../../x", "vocabulary/../../x", "vocabulary/..", "/x", ".x", "a/b/c", ""):
        assert remote.NAME.fullmatch(name) is None, name


def test_a_file_that_no_manifest_names_is_removed_from_the_store(
    tmp_path: Path, store: DirectoryStore, built: Manifest
) -> None:
    for version in (3, 4):
        remote.upload(store, tmp_path / "worker", build(catalogue()[:version], tmp_path / "worker", version))
    prune(tmp_path / "worker")
    remote.clean(store, tmp_path / "worker")
    left = {path.name for path in (tmp_path / "worker" / "segments").iterdir()}
    assert {
        path.relative_to(tmp_path / "store" / "search" / "segments").parts[0] for path in stored(tmp_path, "segments")
    } == left
    assert stored(tmp_path, "deletions") == []


async def test_an_edge_takes_up_what_is_in_the_store(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    fetch = partial(remote.fetch, store, tmp_path / "edge")
    engine = SearchEngine(tmp_path / "edge", Log("edge", stream=io.StringIO()), fetch=fetch, check_seconds=0.0)
    engine.refresh()
    async with asyncio.timeout(60):
        while engine.data_version != 2:
            await asyncio.sleep(0.01)
        remote.upload(store, tmp_path / "worker", build(catalogue(), tmp_path / "worker", 3))
        while (
            await engine.find(SearchQuery(q="IID-"))
        ).data_version != 3:  # found without a notice, by the next searches
            await asyncio.sleep(0.01)
    engine.close()


async def test_searches_continue_without_the_store(tmp_path: Path, built: Manifest, store: DirectoryStore) -> None:
    remote.fetch(store, tmp_path / "edge")
    lines = io.StringIO()

    def fetch() -> bool:
        raise StoreUnavailable("results")

    engine = SearchEngine(tmp_path / "edge", Log("edge", stream=lines), fetch=fetch, check_seconds=0.0)
    assert (await engine.find(SearchQuery(q="chocolate"))).hits
    engine.refresh()
    async with asyncio.timeout(60):
        while "search-fetch" not in lines.getvalue():
            await asyncio.sleep(0.01)
    assert (await engine.find(SearchQuery(q="chocolate"))).hits
    engine.close()
