"""From PostgreSQL's items to hits."""

import errno
import shutil
from pathlib import Path

import psycopg
import pytest

from shared.objects.directory import DirectoryStore
from shared.search import layout, remote
from shared.search.index import SearchIndex
from shared.search.model import Page, SearchQuery
from shared.search.paging import find
from workers.search import segment_writer
from workers.search.job import make_index

Owner = psycopg.Connection[tuple[object, ...]]

_ITEMS = """
INSERT INTO items (id, iid, name, alt_names, brand_id, category_id, product_type, attributes, status, survivor_iid,
                   first_seen_on, data_version)
SELECT id, iid, name, alt_names, brand, category, type, attributes::jsonb, status, survivor, '2026-01-01', 1
FROM (VALUES
    (3, 'IID-B2', 'Oat Drink', '{}'::text[], 2, 2, 'oat drink', '{"description": "cappuccino"}', 'active', NULL),
    (1, 'IID-A1', 'Soy Milk 1L', '{維他奶豆奶}', 1, 2, 'soy milk', '{}', 'active', NULL),
    (2, 'IID-A2', 'Soy Milk 2L', '{}', NULL, NULL, NULL, '{}', 'active', NULL),
    (4, 'IID-C1', 'Soy Milk withdrawn', '{}', 1, 2, 'soy milk', '{}', 'withdrawn', NULL),
    (5, 'IID-C2', 'Soy Milk merged', '{}', 1, 2, 'soy milk', '{}', 'merged', 'IID-A1')
) AS row (id, iid, name, alt_names, brand, category, type, attributes, status, survivor)
"""


@pytest.fixture
def filled(owner: Owner) -> Owner:
    owner.execute(
        "INSERT INTO brands (slug, name, folded_name)"
        " VALUES ('vitasoy', 'Vitasoy', 'vitasoy'), ('oatly', 'Oatly', 'oatly')"
    )
    owner.execute(
        "INSERT INTO categories (code, path) VALUES ('drinks', '{Drinks}'), ('drinks.plant', '{Drinks,Plant drinks}')"
    )
    owner.execute(_ITEMS)
    owner.execute("INSERT INTO data_versions (version) VALUES (1)")
    return owner


def ask(directory: Path, q: str, **more: str) -> Page:
    found = layout.newest(directory)
    assert found is not None
    return find(SearchIndex(directory, found), SearchQuery(q=q, **more))


def test_without_a_load_there_is_no_index(database: str, owner: Owner, tmp_path: Path) -> None:
    assert make_index(database, tmp_path)["data_version"] == 0
    assert layout.newest(tmp_path) is None


def test_active_items_are_found_with_all_that_a_hit_shows(database: str, filled: Owner, tmp_path: Path) -> None:
    assert make_index(database, tmp_path) == {"data_version": 1, "items": 3}
    page = ask(tmp_path, "vitasoy soy")
    item = page.hits[0].item
    assert (item.iid, item.name, item.product_type) == ("IID-A1", "Soy Milk 1L", "soy milk")
    assert item.brand is not None and (item.brand.id, item.brand.name, item.brand.slug) == (1, "Vitasoy", "vitasoy")
    assert item.category is not None and item.category.path == ["Drinks", "Plant drinks"]
    assert ask(tmp_path, "豆奶").hits[0].item.iid == "IID-A1"
    assert ask(tmp_path, "cappuccino").hits[0].item.iid == "IID-B2"
    assert {hit.item.iid for hit in ask(tmp_path, "milk", category="drinks").hits} == {"IID-A1"}
    bare = ask(tmp_path, "IID-A2").hits[0].item
    assert (bare.brand, bare.product_type, bare.category) == (None, None, None), "unknown parts of an item"
    assert {hit.item.iid for hit in ask(tmp_path, "soy milk").hits} == {"IID-A1", "IID-A2"}
    assert ask(tmp_path, "IID-C").hits == [], "neither withdrawn nor merged items"

    filled.execute("UPDATE items SET name = 'Rice Drink' WHERE id = 2")
    filled.execute("INSERT INTO data_versions (version) VALUES (2)")
    assert make_index(database, tmp_path)["data_version"] == 2
    page = ask(tmp_path, "rice")
    assert (page.data_version, page.hits[0].item.iid) == (2, "IID-A2"), "a new data_version brings a new index"


def segments(directory: Path) -> list[str]:
    """The ids of the index's segments."""
    found = layout.newest(directory)
    assert found is not None
    return [segment.id for segment in found.segments]


def more_items(owner: Owner, count: int) -> None:
    owner.execute(
        "INSERT INTO items (id, iid, name, first_seen_on, data_version)"
        " SELECT 100 + n, 'IID-N' || n, 'Rye Crackers ' || n, '2026-01-01', 1 FROM generate_series(1, %s) AS n",
        (count,),
    )


def found(directory: Path, q: str) -> list[str]:
    return sorted(hit.item.iid for hit in ask(directory, q).hits if hit.all_words)


@pytest.fixture
def updated(database: str, filled: Owner, tmp_path: Path) -> Path:
    """An index of enough items that a change of a few of them is an update."""
    more_items(filled, 17)
    make_index(database, tmp_path)
    return tmp_path


def commit(owner: Owner, version: int) -> None:
    owner.execute("INSERT INTO data_versions (version) VALUES (%s)", (version,))


def test_only_what_changed_is_indexed_again(database: str, filled: Owner, updated: Path) -> None:
    before = segments(updated)
    filled.execute("UPDATE items SET name = 'Rice Drink', data_version = 2 WHERE id = 2")
    filled.execute("INSERT INTO removed_items (iid, item_id, data_version) SELECT iid, id, 2 FROM items WHERE id = 101")
    filled.execute("DELETE FROM items WHERE id = 101")
    commit(filled, 2)
    assert make_index(database, updated) == {"data_version": 2, "items": 19}
    assert segments(updated)[:1] == before
    assert len(segments(updated)) == 2
    assert found(updated, "rice drink") == ["IID-A2"]
    assert found(updated, "soy milk") == ["IID-A1"]
    assert "IID-N1" not in found(updated, "rye crackers")


def test_each_change_of_an_item_its_brand_or_its_category_is_noticed(
    database: str, filled: Owner, updated: Path
) -> None:
    before = segments(updated)
    filled.execute("UPDATE items SET status = 'withdrawn' WHERE id = 1")
    filled.execute("UPDATE items SET status = 'active', survivor_iid = NULL WHERE id = 5")
    commit(filled, 2)
    make_index(database, updated)
    assert segments(updated)[0] == before[0]
    assert found(updated, "soy milk") == ["IID-A2", "IID-C2"], "withdrawn, and no longer merged"
    renamed = {
        "UPDATE brands SET name = 'Plainly' WHERE slug = 'oatly'": "plainly",
        "UPDATE categories SET path = '{Drinks,Grain}' WHERE code = 'drinks.plant'": "grain oat",
    }
    for version, (change, q) in enumerate(renamed.items(), 3):
        filled.execute(change)
        commit(filled, version)
        make_index(database, updated)
        assert segments(updated)[0] == before[0], q
        assert found(updated, q) == ["IID-B2"]
    filled.execute("DELETE FROM items WHERE id = 101")
    commit(filled, 5)
    assert make_index(database, updated)["items"] == 19
    assert set(before).isdisjoint(segments(updated)), "a change that its row does not record rebuilds the whole index"


def test_the_index_of_another_database_is_not_continued(database: str, filled: Owner, updated: Path) -> None:
    before = segments(updated)
    filled.execute("UPDATE data_versions SET committed_at = committed_at - interval '1 day'")
    make_index(database, updated)
    assert set(before).isdisjoint(segments(updated))


@pytest.mark.parametrize("loaded", [1, 2])
def test_an_index_that_lacks_files_is_built_anew(database: str, filled: Owner, updated: Path, loaded: int) -> None:
    shutil.rmtree(updated / layout.SEGMENTS / segments(updated)[0])
    if loaded > 1:
        filled.execute("UPDATE items SET name = 'Soy Milk', data_version = 2 WHERE id = 2")
        commit(filled, 2)
    assert make_index(database, updated) == {"data_version": loaded, "items": 20}
    assert found(updated, "soy milk") == ["IID-A1", "IID-A2"]


def test_builds_that_find_no_room_leave_the_files_of_one_attempt(
    database: str, filled: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(segment_writer, "write_vocabulary", full)
        for _ in range(3):
            with pytest.raises(OSError, match="no space left"):
                make_index(database, tmp_path)
    assert len(list((tmp_path / layout.SEGMENTS).iterdir())) == 1
    make_index(database, tmp_path)
    assert [path.name for path in (tmp_path / layout.SEGMENTS).iterdir()] == segments(tmp_path)


def test_many_loads_leave_few_segments_and_all_items(database: str, filled: Owner, updated: Path) -> None:
    before = segments(updated)
    for version in range(2, 6):
        filled.execute(
            "UPDATE items SET name = name || ' new', data_version = %s WHERE id = 100 + %s", (version, version)
        )
        commit(filled, version)
        assert make_index(database, updated, updates_max=2) == {"data_version": version, "items": 20}
        assert len(segments(updated)) <= 3
        assert segments(updated)[:1] == before
    assert found(updated, "rye new") == [f"IID-N{number}" for number in range(2, 6)]
    kept = {path.name for path in (updated / layout.SEGMENTS).iterdir()}
    assert len(kept) < 6


def test_workers_and_edges_without_a_shared_disk_meet_in_the_store(
    database: str, filled: Owner, tmp_path: Path
) -> None:
    (tmp_path / "store" / ".partial").mkdir(parents=True)
    store = DirectoryStore(tmp_path / "store")
    more_items(filled, 17)
    make_index(database, tmp_path / "worker-a", objects=store)
    assert remote.fetch(store, tmp_path / "edge")
    first = segments(tmp_path / "edge")
    filled.execute("UPDATE items SET name = 'Rice Drink' WHERE id = 2")
    commit(filled, 2)
    make_index(database, tmp_path / "worker-b", objects=store)
    assert remote.fetch(store, tmp_path / "edge")
    assert segments(tmp_path / "edge")[:1] == first
    assert (found(tmp_path / "edge", "rice drink"), found(tmp_path / "edge", "soy milk")) == (["IID-A2"], ["IID-A1"])


def test_a_file_damaged_in_the_store_is_replaced_by_the_next_load(database: str, filled: Owner, tmp_path: Path) -> None:
    (tmp_path / "store" / ".partial").mkdir(parents=True)
    store = DirectoryStore(tmp_path / "store")
    make_index(database, tmp_path / "worker", objects=store)
    damaged = next((tmp_path / "store" / "search" / "segments").glob("*/hits"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    with pytest.raises(remote.Damaged):
        remote.fetch(store, tmp_path / "edge")
    commit(filled, 2)
    make_index(database, tmp_path / "another worker", objects=store)
    assert remote.fetch(store, tmp_path / "edge")
    assert found(tmp_path / "edge", "soy milk") == ["IID-A1", "IID-A2"]
