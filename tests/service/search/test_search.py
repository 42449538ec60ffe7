"""The identifiers of the index are those by which PostgreSQL finds items, after every load, act and undo."""

import random
from pathlib import Path

import pytest

from deploy.local.derived import bring_up_to_date
from edge.index.identifiers import SQL as IDENTIFIERS
from shared.index.identifiers import LAYOUT
from shared.search import layout
from shared.search.index import SearchIndex
from shared.settings.settings import Settings
from tests.service.ingest.test_undo import IIDS, ONE, OTHER, Happening, in_transaction, something
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows
from workers.provenance.undo import undo
from workers.search.job import make_index

# So many that what the others do is an update of the index.
OTHERS = "".join(f"base-{n:03},Other {n},,,,,2026-05-01,NORTH,1,\n" for n in range(150))

_LIVE = "SELECT n FROM ({resolved}) resolved WHERE iids <> '{{}}'"


def others(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, OTHERS, text=MAPPING.replace('"shop"', '"base"'))


@pytest.fixture
def contents() -> Contents:
    return others


def indexed(settings: Settings) -> SearchIndex:
    make_index(settings.worker_database_url, settings.search_dir, updates_max=2)
    found = layout.newest(settings.search_dir)
    assert found is not None
    index = SearchIndex(settings.search_dir, found)
    [newest] = execute(settings, "SELECT version, committed_at::text FROM data_versions ORDER BY version DESC LIMIT 1")
    assert (index.data_version, index.committed_at, index.identifiers) == (*newest, LAYOUT)
    return index


def found_by_postgresql(settings: Settings, identifiers: list[tuple[str, str]]) -> set[tuple[str, str]]:
    schemes, values = (list(column) for column in zip(*identifiers, strict=True))
    anything = [""] * len(identifiers)
    query = _LIVE.format(resolved=IDENTIFIERS.resolved.rstrip().rstrip(";"))
    return {identifiers[n - 1] for (n,) in execute(settings, query, schemes, values, anything, anything)}


def near(value: str) -> str:
    return f"{value[:-1]}{(int(value[-1]) + 1) % 10}" if value[-1:].isdigit() else f"{value}1"


def test_an_identifier_is_possible_where_postgresql_finds_an_item_and_nowhere_else(
    settings: Settings, tmp_path: Path
) -> None:
    chance = random.Random(1)
    index = indexed(settings)
    first = {segment.id for segment in index.segments}
    known: set[tuple[str, str]] = {("gtin", f"0{ONE}"), ("gtin", f"0{OTHER}")}
    updates, history = 0, []
    for number in range(8):
        if history and chance.random() < 0.25:
            undone = history.pop(chance.randrange(len(history)))
            in_transaction(settings, lambda connection, no=undone: undo(connection, str(no), "tests", None))
        else:
            no = something(chance).happen(settings, tmp_path, number)
            history += [] if no is None else [no]
        index = indexed(settings)
        updates += bool(first & {segment.id for segment in index.segments})
        known |= {(scheme, value) for scheme, value in execute(settings, "SELECT scheme, value FROM item_identifiers")}
        asked = sorted(known | {(scheme, near(value)) for scheme, value in known})
        assert {one for one in asked if index.may_have(*one)} == found_by_postgresql(settings, asked)
    assert updates


def test_identifiers_of_a_merged_item_lead_to_the_survivor_in_the_index_too(settings: Settings, tmp_path: Path) -> None:
    Happening("load", "shop_a", "1,Item 1,,,,,2026-05-01,NORTH,1,HKD\n").happen(settings, tmp_path, 1)
    Happening("load", "shop_b", "3,Item 3,,,,,2026-05-01,NORTH,1,HKD\n").happen(settings, tmp_path, 2)
    before = indexed(settings)
    assert before.may_have("gtin", f"0{ONE}")
    Happening("merge", iids=(IIDS[1], IIDS[7])).happen(settings, tmp_path, 3)
    merged = indexed(settings)
    assert merged.find(IIDS[1]) is None
    assert merged.may_have("gtin", f"0{ONE}")
    Happening("withdraw", iids=(IIDS[7],)).happen(settings, tmp_path, 4)
    assert not indexed(settings).may_have("gtin", f"0{ONE}")


def test_an_index_of_a_former_release_is_built_anew_with_identifiers(settings: Settings) -> None:
    indexed(settings)
    [path] = settings.search_dir.glob("*.json")
    path.write_text(path.read_text().replace(f',"identifiers":{LAYOUT}', ""))
    found = layout.newest(settings.search_dir)
    assert found is not None
    assert found.identifiers is None
    assert indexed(settings).may_have("sku", "base-007")


def test_where_a_load_has_not_derived_its_identifiers_the_index_says_so(settings: Settings) -> None:
    execute(settings, "UPDATE identifiers_derived SET event_no = event_no - 1")
    make_index(settings.worker_database_url, settings.search_dir)
    found = layout.newest(settings.search_dir)
    assert found is not None
    assert found.identifiers is None


def test_an_index_that_only_an_earlier_version_reads_is_built_anew_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(layout, "FORMAT", layout.FORMAT - 1)
        make_index(settings.database_url, settings.search_dir)
    assert layout.newest(settings.search_dir) is None
    for reported in (["built the search index, in the format of this version"], []):
        said: list[str] = []
        bring_up_to_date(settings, said.append)
        assert said == reported
        found = layout.newest(settings.search_dir)
        assert found is not None and found.items == len(OTHERS.splitlines())
