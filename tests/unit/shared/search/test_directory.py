"""An index is whole or not there."""

import gc
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from shared.search import layout
from shared.search.directory import is_of_former_format, is_whole, prune
from shared.search.index import SearchIndex
from shared.search.layout import Manifest
from shared.search.model import SearchQuery
from shared.search.paging import find
from shared.search.segment import Segment
from tests.assurance.perf import search_sample
from tests.support.search_catalogue import catalogue, document, iids, opened
from tests.unit.shared.search import test_segments as loads
from workers.search import segment_writer
from workers.search.build import build
from workers.search.entries import analyze


def names(directory: Path) -> list[str]:
    """What is in a directory of an index, without what is in its segments."""
    return sorted(str(path.relative_to(directory)) for path in [*directory.iterdir(), *directory.glob("segments/*")])


def test_a_finished_build_leaves_a_segment_and_a_manifest_that_names_it(tmp_path: Path) -> None:
    manifest = build(catalogue(), tmp_path, 7)
    assert names(tmp_path) == ["7.0.json", "segments", f"segments/{manifest.segments[0].id}"]
    assert layout.newest(tmp_path) == manifest
    assert (manifest.data_version, manifest.items) == (7, len(catalogue()))


def test_each_file_of_a_segment_has_its_digest(tmp_path: Path) -> None:
    [entry] = build(catalogue(), tmp_path, 7).segments
    folder = tmp_path / layout.SEGMENTS / entry.id
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert entry.files == {name: (len(bytes_), sha256(bytes_).hexdigest()) for name, bytes_ in found.items()}


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
    monkeypatch.setattr(segment_writer, died, lambda *given: 1 / 0)
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
    prune(tmp_path)
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
    index = opened(documents, tmp_path, postings_max=loads.SMALL)
    words = [set(analyze(document).words) for document in documents]
    beginnings = {word[:length] for of in words for word in of for length in range(1, len(word) + 1)}
    for beginning in sorted(beginnings | {"zzzz", "0"}):
        expected = sum(any(word.startswith(beginning) for word in of) for of in words)
        assert index.frequency(layout.PREFIXES, beginning) == expected, beginning


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux says which pages are mapped")
def test_a_touched_segment_has_all_pages_of_its_files_mapped(tmp_path: Path) -> None:
    manifest = build(search_sample.documents(400), tmp_path, 1)
    gc.collect()  # the build's own maps
    [folder] = (tmp_path / layout.SEGMENTS).iterdir()
    segment = Segment(folder, manifest.items)
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
