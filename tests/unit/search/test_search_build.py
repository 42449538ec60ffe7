"""An index is whole or not there."""

from pathlib import Path

import pytest

from edge.search.paging import find
from shared.search import layout
from shared.search.model import SearchQuery
from tests.unit.search.conftest import catalogue, opened
from workers.search import build as building
from workers.search.build import build, prune


def test_a_finished_build_leaves_one_folder_with_a_manifest(tmp_path: Path) -> None:
    folder = build(catalogue(), tmp_path, 7)
    assert [path.name for path in tmp_path.iterdir()] == ["7"]
    manifest = layout.read_manifest(folder)
    assert manifest is not None
    assert (manifest.data_version, manifest.items) == (7, len(catalogue()))


def test_documents_out_of_order_are_refused_and_nothing_is_published(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="order of their IIDs"):
        build(reversed(catalogue()), tmp_path, 1)
    assert layout.newest(tmp_path) is None
    prune(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_dies_before_its_end_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(catalogue(), tmp_path, 1)
    monkeypatch.setattr(building, "_make_durable", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build(catalogue(), tmp_path, 2)
    found = layout.newest(tmp_path)
    assert found is not None
    assert found[1].data_version == 1


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
    for version in (1, 2, 9, 10):
        build(catalogue(), tmp_path, version)
    assert prune(tmp_path) == [2, 1]
    assert layout.versions(tmp_path) == [10, 9]


def test_an_index_of_another_format_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(catalogue(), tmp_path, 1)
    monkeypatch.setattr(layout, "FORMAT", layout.FORMAT + 1)
    assert layout.newest(tmp_path) is None


def test_items_that_outgrow_one_segment_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.perf.search_sample import documents

    monkeypatch.setattr(building, "WRITER_BYTES_MAX", 15_000_000)
    with pytest.raises(building.IndexTooLarge):
        build(documents(20_000), tmp_path, 1)
    assert layout.newest(tmp_path) is None
