"""From PostgreSQL's items to hits."""

from pathlib import Path

import psycopg
import pytest

from edge.search.index import SearchIndex
from edge.search.paging import find
from shared.search import layout
from shared.search.model import Page, SearchQuery
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
    return find(SearchIndex(*found), SearchQuery(q=q, **more))


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


def test_unknown_parts_of_an_item_are_none(database: str, filled: Owner, tmp_path: Path) -> None:
    make_index(database, tmp_path)
    item = ask(tmp_path, "IID-A2").hits[0].item
    assert (item.brand, item.product_type, item.category) == (None, None, None)


def test_withdrawn_and_merged_items_are_not_found(database: str, filled: Owner, tmp_path: Path) -> None:
    make_index(database, tmp_path)
    assert {hit.item.iid for hit in ask(tmp_path, "soy milk").hits} == {"IID-A1", "IID-A2"}
    assert ask(tmp_path, "IID-C").hits == []


def test_a_new_data_version_brings_a_new_index(database: str, filled: Owner, tmp_path: Path) -> None:
    make_index(database, tmp_path)
    filled.execute("UPDATE items SET name = 'Rice Drink' WHERE id = 2")
    filled.execute("INSERT INTO data_versions (version) VALUES (2)")
    assert make_index(database, tmp_path)["data_version"] == 2
    page = ask(tmp_path, "rice")
    assert (page.data_version, page.hits[0].item.iid) == (2, "IID-A2")
