"""A load is known again only by all that it was read from; where anything else counts too, its files are read again."""

import json
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.service.ingest.test_values import put, rejected
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import load_rows, mapping
from workers.ingest.load import input_files as inputs
from workers.ingest.load.load import load

ITEM = 'source = "{}"\ntitle = "T"\nlicense = "CC0-1.0"\n[item]\nid = "id"\nname = "name"\n'

PRICES = '[observation]\nday = {}\nchannel = {{ constant = "S" }}\nprice = "price"\ncurrency = {{ constant = "EUR" }}\n'

BY_NAME = ITEM.format("m") + PRICES.format('{ file_name = "([0-9]{4}-[0-9-]{5})" }')

BY_COLUMN = ITEM.format("m") + PRICES.format('"day"')

OBSERVED = "SELECT day::text, price_minor FROM observations ORDER BY day"


def test_the_same_bytes_under_the_name_of_another_day_are_of_that_day(settings: Settings, tmp_path: Path) -> None:
    for day in ("2026-07-01", "2026-07-02"):
        put(settings, tmp_path, BY_NAME, "id,name,price\n1,A,2.50\n", f"prices-{day}.csv")
    assert execute(settings, OBSERVED) == [("2026-07-01", 250), ("2026-07-02", 250)]


def test_a_corrected_file_of_other_names_is_read(settings: Settings, tmp_path: Path) -> None:
    text = BY_NAME.replace('name = "name"\n', 'name = "name"\nalt_names = { file = "names.json" }\n')
    for name in ("Soja", "Sojadrink"):
        (tmp_path / "names.json").write_text(json.dumps({"1": {"name": name}}))
        put(settings, tmp_path, text, "id,name,price\n1,Soy,2.50\n", "2026-07-01.csv")
        assert execute(settings, "SELECT alt_names FROM items") == [([name],)]


def test_files_in_another_order_are_another_load(settings: Settings, tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, price in zip(paths, ("1.00", "2.00"), strict=True):
        path.write_text(f"id,name,day,price\n1,A,2026-07-01,{price}\n")
    load(settings, mapping(tmp_path, BY_COLUMN), paths)
    load(settings, mapping(tmp_path, BY_COLUMN), paths[::-1])
    assert execute(settings, OBSERVED) == [("2026-07-01", 100)]


def test_files_of_one_name_are_both_read_from(settings: Settings, tmp_path: Path) -> None:
    paths = [tmp_path / folder / "prices.csv" for folder in "ab"]
    for n, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(f"id,name,day,price\n1,A,2026-07-0{n + 1},1.00\n")
    assert load(settings, mapping(tmp_path, BY_COLUMN), paths).counts["rows"] == 2
    assert load(settings, mapping(tmp_path, BY_COLUMN), paths).counts["rows"] == 0
    assert load(settings, mapping(tmp_path, BY_COLUMN), paths[1:]).counts["rows"] == 1


def test_prices_that_found_no_item_are_loaded_when_it_is_there(settings: Settings, tmp_path: Path) -> None:
    feed = BY_COLUMN.replace('"m"', '"feed"').replace('name = "name"', 'join_by = "gtin"')
    rows = "id,day,price\n4006381333931,2026-07-01,1.00\n73513537,2026-07-02,2.00\n"
    items = ITEM.format("m") + '[item.identifiers]\nean = "ean"\n'
    put(settings, tmp_path, items, "id,name,ean\n1,A,4006381333931\n", "items.csv")
    assert put(settings, tmp_path, feed, rows, "feed.csv").state == "committed"
    assert execute(settings, OBSERVED) == [("2026-07-01", 100)]
    put(settings, tmp_path, items, "id,name,ean\n2,B,73513537\n", "more.csv")
    put(settings, tmp_path, feed, rows, "feed.csv")
    assert execute(settings, OBSERVED) == [("2026-07-01", 100), ("2026-07-02", 200)]


def test_a_load_that_may_come_out_otherwise_another_day_is_read_again(settings: Settings, tmp_path: Path) -> None:
    head = "id,name,day,price\n1,A,2026-07-01,1.00\n"
    kept = 0
    for number, (text, rows) in enumerate(
        (
            (BY_COLUMN, f"{head}2,B,2026-07-01,much\n"),
            (BY_COLUMN, f"{head}2,B,2099-07-01,1.00\n"),  # not for ever in the future
            (BY_COLUMN, f"{head}2,B,,\n"),  # an item that has the day of the load
            (ITEM.format("m"), "id,name\n1,A\n"),
        )
    ):
        of_its_own = text.replace('"m"', f'"m{number}"')
        first = put(settings, tmp_path, of_its_own, rows)
        again = put(settings, tmp_path, of_its_own, rows)
        read = (again.state, again.counts["rows"], again.rejects)
        assert read == ("unchanged", rows.count("\n") - 1, first.rejects), rows
        kept += 2 * first.rows_rejected
        assert len(rejected(settings)) == kept, rows


@begins_with(load_rows)
def test_a_load_of_before_or_by_other_rules_of_reading_is_read_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_rows(settings, tmp_path).counts["rows"] == 0
    execute(settings, "UPDATE loads SET inputs = NULL")
    again = load_rows(settings, tmp_path)
    assert (again.state, again.counts["rows"]) == ("unchanged", 5)
    monkeypatch.setattr(inputs, "LAYOUT", inputs.LAYOUT + 1)
    again = load_rows(settings, tmp_path)
    assert (again.state, again.counts["rows"]) == ("unchanged", 5)
