"""The steps of a load, each by itself."""

import gc
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from deploy.ctl.main import cli
from shared.errors import LoadRefused
from shared.index.iid import item_key, mint
from tests.perf.generate import MAPPING as MARKET_MAPPING
from workers.articles.matching.records import Record
from workers.ingest import clean, preview
from workers.ingest.batches import DEFAULT_BUFFERS, LoadBuffers
from workers.ingest.item_tracker import ItemTracker
from workers.ingest.linking import REPEATED, Linking, faults
from workers.ingest.mapping import Mapping
from workers.ingest.mapping import read as read_mapping
from workers.ingest.observations import OBSERVATION
from workers.ingest.rates import read
from workers.ingest.readers import alternating, prefetch
from workers.ingest.readers import read as batches
from workers.ingest.stage import Chunk, Months, Spool, in_order
from workers.ingest.transform import Transformer
from workers.provenance.acts import Act, EffectiveActs, replay

# What merges and withdrawals come to, whatever was undone before.


THERE = {1: 0, 2: 0, 3: 0, 4: 0}


def owners(standing: EffectiveActs) -> dict[int, int | None]:
    """Return every merged or withdrawn item with its owner."""
    return {item_id: standing.owner(item_id) for item_id in {*standing.merged_into, *standing.withdrawn}}


def test_a_merged_item_belongs_to_the_end_of_its_chain() -> None:
    standing = replay([Act(1, 1, 2), Act(2, 2, 3)], THERE)
    assert owners(standing) == {1: 3, 2: 3}
    assert (standing.root(1), standing.root(2)) == (3, 3)


def test_an_item_merged_into_a_withdrawn_one_has_no_owner_and_still_redirects() -> None:
    standing = replay([Act(1, 1, 2), Act(2, 2)], THERE)
    assert owners(standing) == {1: None, 2: None}
    assert (standing.root(1), standing.withdrawn) == (2, {2})


def test_an_act_on_an_item_that_came_later_holds_nothing() -> None:
    standing = replay([Act(5, 1, 2)], {1: 0, 2: 6})
    assert (owners(standing), standing.effective) == ({}, [])


def test_an_act_that_rests_on_one_without_effect_is_judged_anew() -> None:
    # Without item 2 the merge 1 into 2 was refused; then 1 was active, and its withdrawal holds.
    assert owners(replay([Act(5, 1, 2), Act(6, 1)], {1: 0})) == {1: None}
    assert owners(replay([Act(5, 1, 2), Act(6, 1)], THERE)) == {1: 2}


def test_two_items_cannot_be_merged_into_each_other() -> None:
    assert owners(replay([Act(1, 1, 2), Act(2, 2, 1), Act(3, 1, 1)], THERE)) == {1: 2}


ACTS = st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(1, 4)), max_size=12)


@given(ACTS)
def test_every_owner_is_active_and_every_chain_ends(listed: list[tuple[int, int | None]]) -> None:
    standing = replay([Act(no, *act) for no, act in enumerate(listed, 1)], THERE)
    assert all(owner is None or owner not in owners(standing) for owner in owners(standing).values())
    assert {act.item_id for act in standing.effective} == owners(standing).keys()


# Which identifiers are rejects because they cannot be followed.


GTIN = "04901777018686"


def record(key: str, *, separate: bool = False) -> Record:
    return Record(key, "shop", "Oat drink", gtins=(GTIN,), separate=separate)


def test_two_items_of_a_source_with_one_identifier_are_a_fault() -> None:
    records = [record("1"), record("2")]
    assert list(faults(records, lambda identifier: records)) == [(REPEATED, f"gtin:{GTIN}", ["1", "2"])]


def test_items_that_the_mapping_never_links_have_no_fault() -> None:
    records = [record("1", separate=True), record("2", separate=True)]
    assert list(faults(records, lambda identifier: records)) == []


# Observations are ordered by month, equal events numbered, states superseded, in memory that is bounded.


CONSTANTS: dict[str, object] = {"source_id": 1, "kind": "s"}


def _written(chunk: Chunk) -> Any:
    """Return all that COPY is given of a chunk: each table is gone when the next is requested."""
    return np.concatenate([table.copy() for table in chunk.written()])


def _rows(count: int, *, seed: int = 1, days: int = 31, items: int = 5) -> Any:
    """Few items, days and marks, so that equal ones are frequent; the price tells in which place a row came."""
    random = np.random.default_rng(seed)
    rows = np.zeros(count, OBSERVATION)
    # Two keys and two marks that differ only in bits which the quick order does not see.
    rows["item"] = np.array([7, 8, 1 << 40, 1 << 62, (1 << 62) + 1])[random.integers(0, items, count)]
    rows["mark"] = np.array([0, 1 << 16, 1 << 62])[random.integers(0, 3, count)]
    rows["day"] = random.integers(0, days, count)
    rows["price"], rows["list"], rows["units"], rows["currency"] = np.arange(count), -1, 1, b"USD"
    return rows


def _identity(rows: Any) -> list[tuple[int, int, int]]:
    return list(zip(rows["item"].tolist(), rows["day"].tolist(), rows["mark"].tolist(), strict=True))


def test_equal_events_are_numbered_in_their_order() -> None:
    rows = _rows(3_000)
    expected, seen = [], dict[tuple[int, int, int], int]()
    for key, price in zip(_identity(rows), rows["price"].tolist(), strict=True):
        seen[key] = seen.get(key, -1) + 1
        expected.append((*key[:2], key[2] + seen[key], price))
    ordered = in_order(rows, events=True)
    got = [(*key, price) for key, price in zip(_identity(ordered), ordered["price"].tolist(), strict=True)]
    assert sorted(got) == sorted(expected)
    assert len(set(_identity(ordered))) == len(rows)


def test_of_equal_states_the_last_stays() -> None:
    rows = _rows(3_000)
    last = dict(zip(_identity(rows), rows["price"].tolist(), strict=True))
    ordered = in_order(rows, events=False)
    assert dict(zip(_identity(ordered), ordered["price"].tolist(), strict=True)) == last
    assert len(ordered) == len(last)


def test_rows_without_equals_come_in_the_order_of_the_index() -> None:
    rows = _rows(2_000)
    rows["item"] = np.random.default_rng(2).integers(0, 2**63 - 1, len(rows))
    ordered = in_order(rows, events=True)
    assert _identity(ordered) == sorted(_identity(rows))


def test_a_month_is_passed_when_the_file_has_gone_on() -> None:
    rows = _rows(600, days=70)
    rows.sort(order="day")
    gathered = Months(CONSTANTS, events=False, buffers=DEFAULT_BUFFERS)
    chunks = list(gathered.take(rows, ["NORTH"]))
    assert [(str(chunk.month), chunk.passed) for chunk in chunks] == [("2000-01-01", True), ("2000-02-01", True)]
    assert [(str(chunk.month), chunk.passed) for chunk in gathered.rest()] == [("2000-03-01", False)]


def test_rows_in_no_order_are_all_written_and_few_are_kept() -> None:
    for days in (31, 365):
        buffers = LoadBuffers(kept_bytes=64 * 1024, chunk_rows=100)
        gathered, chunks = Months(CONSTANTS, events=True, buffers=buffers), list[Chunk]()
        for n in range(10):
            chunks += gathered.take(_rows(1_000, seed=n, days=days), ["NORTH", "SOUTH"])
            assert gathered.kept_bytes() <= 64 * 1024, days
        chunks += gathered.rest()
        assert sum(len(chunk.rows) for chunk in chunks) == 10_000, days
        assert max(len(chunk.rows) for chunk in chunks) <= 100, days
        prices = np.concatenate([_written(chunk)["price_minor"] for chunk in chunks])
        assert np.bincount(prices.astype("i8")).tolist() == [10] * 1_000, days


def test_a_row_is_as_long_as_it_has_values() -> None:
    rows = _rows(4)
    rows["list"] = [-1, 5, -1, 6]
    with_list, without = (
        Months(CONSTANTS | {"units": 1, "currency": "USD"}, events=True, buffers=DEFAULT_BUFFERS),
        Months(CONSTANTS, events=True, buffers=DEFAULT_BUFFERS),
    )
    for gathered, fields in ((with_list, 6), (without, 8)):
        [*_], chunks = list(gathered.take(rows.copy(), ["NORTH"])), list(gathered.rest())
        tables = [_written(chunk) for chunk in chunks]
        assert [table.dtype.names.count("list_minor") for table in tables] == [1, 0]
        assert {int(table["fields"][0]) for table in tables} == {fields} == {len(gathered.columns)}
        assert [table["list_minor_bytes"].tolist() for table in tables] == [[8, 8], [-1, -1]]


def test_many_rows_are_written_table_by_table_as_they_are() -> None:
    rows = _rows(10_000)
    gathered = Months(CONSTANTS, events=True, buffers=DEFAULT_BUFFERS)
    [*_], [chunk] = list(gathered.take(rows, ["NORTH"])), list(gathered.rest())
    assert all(table.nbytes <= 128 * 1024 for table in chunk.written())
    written = _written(chunk)
    assert len(list(chunk.written())) > 1
    for name, own in (("item_id", "item"), ("mark", "mark"), ("price_minor", "price"), ("day", "day")):
        assert written[name].astype("i8").tolist() == chunk.rows[own].tolist()


# A dry run reads the whole file, shows every kind in the units that people use, and is one document for programs.


MAPPING = """
source = "s"
title = "T"
license = "L"
[item]
id = "id"
name = "name"
[item.identifiers]
gtin = "ean"
[observation]
day = "day"
channel = { constant = "S" }
price = "price"
list_price = "list"
currency = { constant = "USD" }
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "measured"
method = "m"
"""

HEADER = "id,name,ean,day,price,list,co2\n"


def dry_run(folder: Path, content: str, *options: str, mapping: str = MAPPING) -> Result:
    (folder / "m.toml").write_text(mapping)
    (folder / "a.csv").write_text(content)
    # Without a data directory of its own it would try the load on a service that runs in the clone.
    chosen = ["--mapping", str(folder / "m.toml"), "--dry-run", "--data-dir", str(folder), *options]
    return CliRunner().invoke(cli, ["ingest", *chosen, str(folder / "a.csv")])


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.exception
    found = json.loads(result.output)
    assert isinstance(found, dict)
    return found


def test_the_whole_file_is_read_and_all_kinds_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "_BATCH_ROWS", 64)
    rows = "".join(f"{n},[/bold] {n},96385074,2026-07-01,12.50,15,0.5\n" for n in range(70))
    found = document(dry_run(tmp_path, HEADER + rows + "x,bad,,soon,1,,\n", "--json", "--rows", "2"))
    assert (found["counts"]["rows"], found["counts"]["rejected"], found["counts"]["items_read"]) == (71, 1, 70)
    assert found["reasons"] == {"has no day of the form %Y-%m-%d": 1}
    [reject] = found["rejects"]
    assert (reject["line"], reject["column"], reject["value"]) == (72, "day", "soon")
    assert len(found["items"]) == len(found["observations"]) == len(found["impacts"]) == 2
    assert found["observations"][0]["price"] == "12.50"
    assert found["observations"][0]["list_price"] == "15.00"
    assert found["items"][0]["identifiers"] == {"gtin": "96385074"}
    assert found["impacts"][0]["per_unit"] == "0.5"


def test_each_figure_of_a_stage_is_shown_once(tmp_path: Path) -> None:
    mapping = MAPPING.replace('list_price = "list"\n', "").replace('value = "co2"', 'value = "co2"\nstage = "list"')
    found = document(dry_run(tmp_path, HEADER + "1,A,,2026-07-01,1,Use,0.5\n", "--json", mapping=mapping))
    assert found["impacts"] == [{"item": "A", "indicator": "co2e_kg", "per_unit": "0.5", "stage": "Use"}]


def test_markup_in_data_is_shown_as_it_is(tmp_path: Path) -> None:
    result = dry_run(tmp_path, HEADER + "1,[red]Wid[/x]get,,2026-07-01,1,,\n2,\x1b]0;x\x07,,soon,1,,\n")
    assert result.exit_code == 0, result.exception
    assert "[red]Wid[/x]get" in result.output
    assert "\x1b" not in result.output


def test_files_of_which_nothing_can_be_used_are_shown_and_refused(tmp_path: Path) -> None:
    empty = dry_run(tmp_path, HEADER, "--json")
    assert empty.exit_code == 1
    assert str(empty.exception) == (
        "a.csv: has 31 bytes and not one row: leave the file out if nothing is missing from it, else make `delimiter`, "
        "`quote` and `encoding` of the mapping those of the file"
    )
    broken = dry_run(tmp_path, HEADER + '1,"open,,2026-07-01,1,,\n', "--json")
    assert (broken.exit_code, json.loads(broken.output)["counts"]["rejected"]) == (1, 1)
    assert "a.csv line 2" in str(broken.exception)


def test_a_cell_of_any_size_ends_no_process(tmp_path: Path) -> None:
    found = document(
        dry_run(tmp_path, HEADER + '1,"' + "x" * (40 << 20) + '",,2026-07-01,1,,\n2,B,,2026-07-01,1,,\n', "--json")
    )
    assert found["counts"]["rejected"] == 1
    assert found["counts"]["items_read"] == 1


def test_a_price_in_a_currency_that_never_was_is_rejected_with_the_reason(tmp_path: Path) -> None:
    mapping = MAPPING.replace('{ constant = "USD" }', '"currency"')
    rows = "".join(
        f"{n},Item {n},,2026-07-01,1.5,,,{code}\n" for n, code in enumerate(("USD", "QQQ", "XXX", "usd", "DEM"), 1)
    )
    found = document(dry_run(tmp_path, HEADER.replace("\n", ",currency\n") + rows, "--json", mapping=mapping))
    assert {row["currency"] for row in found["observations"]} == {"USD", "DEM"}
    rejected = {(row["line"], row["value"], row["reason"]) for row in found["rejects"]}
    assert rejected == {
        (line, code, "is no currency (ISO 4217)") for line, code in ((3, "QQQ"), (4, "XXX"), (5, "usd"))
    }


def test_a_column_that_is_no_currency_is_read_no_oftener_than_one_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_for, amounts = list[str](), clean.amounts

    def counted(*given: Any) -> clean.Read:
        read_for.append(given[-1])
        return amounts(*given)

    monkeypatch.setattr(clean, "amounts", counted)
    mapping = MAPPING.replace('list_price = "list"', "").replace('{ constant = "USD" }', '"list"')
    texts = [*(f"SKU-{n}" for n in range(500)), "JPY", "USD", ""]
    rows = "".join(f"{n},Item {n},,2026-07-01,15,{text},\n" for n, text in enumerate(texts))
    found = document(dry_run(tmp_path, HEADER + rows, "--json", "--rows", "999", mapping=mapping))
    assert sorted(read_for) == ["", "JPY", "USD"]
    assert [(row["price"], row["currency"]) for row in found["observations"]] == [("15", "JPY"), ("15.00", "USD")]
    rejected = {(row["line"], row["value"], row["reason"]) for row in found["rejects"]}
    assert rejected == {
        *((n + 2, f"SKU-{n}", "is no currency (ISO 4217)") for n in range(500)),
        (504, "", "has no currency (ISO 4217)"),
    }


def test_factors_are_shown_with_their_means(tmp_path: Path) -> None:
    mapping = 'source = "s"\ntitle = "T"\nlicense = "L"\n[factors]\ncode = "g"\nmethod = "m"\nindicators = { co2e_kg = "c" }\n'
    found = document(dry_run(tmp_path, "g,c\na,1\na,2\nb,x\n", "--json", mapping=mapping))
    assert found["factors"] == [{"code": "a", "indicator": "co2e_kg", "per_kg": "1.5", "samples": 2}]
    assert [(row["column"], row["value"]) for row in found["rejects"]] == [("c", "x")]


# Files of exchange rates as the European Central Bank writes them, and what is refused of others.


HISTORY = "Date,USD,JPY,CYP,\n2026-07-03,1.1520,170.25,N/A,\n2026-07-02,1.1497,169.9,0.5842,\n"

DAILY = "Date, USD, JPY, \n3 July 2026, 1.1520, 170.25, \n"

XML = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='2026-07-03'><Cube currency='USD' rate='1.1520'/><Cube currency='JPY' rate='170.25'/></Cube>
<Cube time='2026-07-02'><Cube currency='USD' rate='1.1497'/></Cube></Cube>
</gesmes:Envelope>
"""

THIRD, SECOND = date(2026, 7, 3), date(2026, 7, 2)


def written(folder: Path, content: str, name: str = "rates.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def test_the_history_has_a_column_for_each_currency_and_not_available_is_no_fault(tmp_path: Path) -> None:
    found = read(written(tmp_path, HISTORY))
    assert not found.rejects
    assert found.rates == {
        ("USD", THIRD): Decimal("1.1520"),
        ("JPY", THIRD): Decimal("170.25"),
        ("USD", SECOND): Decimal("1.1497"),
        ("JPY", SECOND): Decimal("169.9"),
        ("CYP", SECOND): Decimal("0.5842"),
    }


def test_the_daily_file_writes_its_day_in_words(tmp_path: Path) -> None:
    found = read(written(tmp_path, "\ufeff" + DAILY))
    assert found.rates == {("USD", THIRD): Decimal("1.1520"), ("JPY", THIRD): Decimal("170.25")}


def test_xml_has_the_rates_of_one_day_or_many(tmp_path: Path) -> None:
    found = read(written(tmp_path, XML, "eurofxref-hist-90d.xml"))
    assert found.rates[("USD", SECOND)] == Decimal("1.1497")
    assert len(found.rates) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2026-07-01,-1,1,1,", "is not a rate"),
        ("2026-07-01,0,1,1,", "is not a rate"),
        ("2026-07-01,1e3,1,1,", "is not a rate"),
        ("2026-07-01,NaN,1,1,", "is not a rate"),
        ("2026-07-03,1.1521,170.25,,", "another rate of the same day"),
        ("01/07/2026,1.1,1,1,", "is no day"),
    ],
)
def test_a_text_that_is_no_rate_is_rejected_with_its_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    found = read(written(tmp_path, HISTORY + line + "\n"))
    assert (found.rejects[0].line, found.rejects[0].column) == (4, "USD")
    assert reason in found.rejects[0].reason
    assert found.rates[("USD", THIRD)] == Decimal("1.1520")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "day,USD\n2026-07-01,1\n",
        "Date,USD,\n",
        "<html><body>not found</body></html>",
        "<Cube><Cube",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Cube>&b;</Cube>',
        'Date,USD\n2026-07-01,"1',
    ],
)
def test_a_file_in_another_form_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(LoadRefused):
        read(written(tmp_path, content))


# What is made ahead comes in its order, and its thread ends with the iteration.


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "read-ahead"]


def test_all_values_come_in_their_order() -> None:
    assert list(prefetch(iter(range(100)))) == list(range(100))
    assert _threads() == []


def test_the_thread_ends_when_the_consumer_fails_with_a_full_queue() -> None:
    with closing(prefetch(iter(range(1_000)))) as values:
        assert next(values) == 0
        assert _threads() == ["read-ahead"]
    assert _threads() == []


def test_an_error_of_the_maker_reaches_the_consumer() -> None:
    def made() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    values = prefetch(made())
    assert next(values) == 1
    with pytest.raises(ValueError, match="broken"):
        next(values)
    assert _threads() == []


def test_two_kinds_alternate_and_the_longer_one_ends() -> None:
    assert list(alternating(iter("abc"), iter("12345"))) == ["a", "1", "b", "2", "c", "3", "4", "5"]
    assert list(alternating(iter("abc"), iter("1"))) == ["a", "1", "b", "c"]


# The spool gives back what a new month's table will hold.


MAY, JUNE = date(2000, 5, 1), date(2000, 6, 1)


def _rows_spool(marks: list[int], prices: list[int], *, listed: bool, month: date = MAY) -> Any:
    """Make rows as the load writes them."""
    rows = np.zeros(len(marks), OBSERVATION)
    rows["item"], rows["mark"], rows["price"], rows["list"] = 7, marks, prices, 5 if listed else -1
    rows["day"] = (month - date(2000, 1, 1)).days
    rows["units"], rows["currency"] = 2, b"USD"
    months = Months({}, events=True, buffers=DEFAULT_BUFFERS)
    chunks = [*months.take(rows, ["NORTH"]), *months.rest()]
    return np.concatenate([chunk.rows for chunk in chunks])


def test_of_a_state_in_several_runs_the_last_stays() -> None:
    with Spool(events=False) as spool:
        spool.add(MAY, _rows_spool([1 << 16, 2 << 16], [10, 20], listed=True), begins=True)
        spool.add(JUNE, _rows_spool([1 << 16], [99], listed=False, month=JUNE), begins=True)
        spool.add(MAY, _rows_spool([2 << 16, 3 << 16], [21, 30], listed=False), begins=True)
        rows = spool.read(MAY)
        assert sorted(rows["price"].tolist()) == [10, 21, 30]
        assert spool.read(JUNE)["price"].tolist() == [99]
        assert sorted(rows["list"].tolist()) == [0, 0, 5]
        assert set(rows["units"].tolist()) == {2}
        assert set(rows["currency"].tolist()) == {b"USD"}


def test_equal_events_all_stay() -> None:
    with Spool(events=True) as spool:
        for begins in (True, False, True):
            spool.add(MAY, _rows_spool([1 << 16, 2 << 16], [10, 20], listed=begins), begins=begins)
        assert sorted(spool.read(MAY)["price"].tolist()) == [10, 10, 10, 20, 20, 20]


# A batch's items come some thousand at a time, and are those of the whole batch, newest rows last.


PATH = Path("prices.csv")


def _mapping(folder: Path) -> Mapping:
    (folder / "mapping.toml").write_text(MARKET_MAPPING)
    return read_mapping(folder / "mapping.toml")


def _file(folder: Path, names: list[str]) -> Path:
    path = folder / PATH
    rows = [f"A{n},{name},Acme,Food,Milk,Milk,North,1.50,2026-07-01\n" for n, name in enumerate(names)]
    path.write_text("id,name,brand,group,type,product_type,channel,price,day\n" + "".join(rows))
    return path


def test_parts_are_the_items_of_the_batch_in_their_order(tmp_path: Path) -> None:
    mapping = _mapping(tmp_path)
    [batch] = batches(_file(tmp_path, [f"Milk {n}" for n in range(5_000)]), mapping, batch_rows=10_000)
    whole = Transformer(mapping, {}).shape(batch, PATH)
    observed, items = Transformer(mapping, {}).begin(batch, PATH)
    parts = list(items)
    assert [len(part.items) for part in parts] == [2_048, 2_048, 904]
    assert [item for part in parts for item in part.items] == whole.items
    assert (observed.rows, len(observed.items), len(whole.items)) == (5_000, 0, 5_000)


def test_parts_may_be_taken_when_the_next_batch_has_begun(tmp_path: Path) -> None:
    mapping, taken = _mapping(tmp_path), []
    transformer, items = Transformer(mapping, {}), iter(())
    for names in (["Milk", "Oats"], ["Milk", "Rolled oats"]):
        [batch] = batches(_file(tmp_path, names), mapping, batch_rows=10)
        _, begun = transformer.begin(batch, PATH)
        taken += [item.name for part in items for item in part.items]
        items = begun
    taken += [item.name for part in items for item in part.items]
    assert taken == ["Milk", "Oats", "Rolled oats"]


@pytest.mark.parametrize("sizes", [(40, 30, 70), (64, 1, 64), (1, 200)])
def test_items_keep_their_keys_however_many_come_later(sizes: tuple[int, ...]) -> None:
    tracker = ItemTracker("shop", room=64)
    ids = [f"A{n}" for n in range(sum(sizes))]
    ends = np.cumsum(sizes)
    for end, size in zip(ends, sizes, strict=True):
        numbers = tracker.number(ids[end - size : end])
        tracker.extend_spans(numbers, numbers, numbers)
    keys, first, last = tracker.spans()
    assert keys.tolist() == [item_key(mint("shop", source_id).iid) for source_id in ids]
    assert first.tolist() == last.tolist() == list(range(len(ids)))


def test_the_collector_works_again_after_a_linking_that_failed() -> None:
    nothing: Any = None
    with pytest.raises(AttributeError):
        Linking().link(nothing, nothing, {})
    assert gc.isenabled()
