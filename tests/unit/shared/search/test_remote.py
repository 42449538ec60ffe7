"""An index that comes through the object store is the one that was built, or is not used."""

import asyncio
import io
import shutil
from functools import partial
from pathlib import Path

import pytest

from edge.search.engine import SearchEngine
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.search import layout, remote
from shared.search.directory import prune, publish
from shared.search.layout import Manifest
from shared.search.model import SearchQuery
from shared.telemetry.log import Log
from tests.support.search_catalogue import catalogue, iids
from workers.search.build import build, update


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    """The object store."""
    (tmp_path / "store" / ".partial").mkdir(parents=True)
    return DirectoryStore(tmp_path / "store")


@pytest.fixture
def built(tmp_path: Path, store: DirectoryStore, with_deletions: tuple[Path, Manifest]) -> Manifest:
    """An index that a worker built and put into the store."""
    folder, manifest = with_deletions
    shutil.copytree(folder, tmp_path / "worker")
    remote.upload(store, tmp_path / "worker", manifest)
    return manifest


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
    newer = publish(tmp_path / "worker", 3, "", update(built.segments, [], ["IID-A0001"], tmp_path / "worker"))
    remote.upload(store, tmp_path / "worker", newer)
    for path in stored(tmp_path, "segments"):
        path.unlink()
    assert remote.fetch(store, tmp_path / "edge")
    assert "IID-A0001" not in iids(tmp_path / "edge", "IID-")


def test_a_file_damaged_in_transfer_is_not_used(tmp_path: Path, store: DirectoryStore, built: Manifest) -> None:
    remote.fetch(store, tmp_path / "edge")
    changed = [catalogue()[5]]
    newer = publish(
        tmp_path / "worker",
        3,
        "",
        update(built.segments, changed, [changed[0].item.iid, "IID-A0001"], tmp_path / "worker"),
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


def test_what_a_fetch_that_was_killed_left_is_removed_by_the_next(
    tmp_path: Path, store: DirectoryStore, built: Manifest
) -> None:
    left = tmp_path / "edge" / layout.SEGMENTS / built.segments[0].id / ".unfinished-hits"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert remote.fetch(store, tmp_path / "edge")
    assert not left.exists()
    assert iids(tmp_path / "edge", "IID-") == iids(tmp_path / "worker", "IID-") != []


def test_no_name_of_a_file_leads_out_of_its_segment() -> None:
    for path in (
        "../x",
        "segments/../../x",
        "segments/a/vocabulary/..",
        "/x",
        "other/x",
        "segments/a/b/c/d",
        "segments",
    ):
        assert remote.PATH.fullmatch(path) is None, path
    for path in ("segments/a/vocabulary/.managed.json", "segments/a/hits", "deletions/a"):
        assert remote.PATH.fullmatch(path), path


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
