"""A dry run reads the whole file, shows every kind in the units that people use, and is one document for programs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.ctl.main import cli
from workers.ingest import clean, read_amounts
from workers.ingest.load import preview

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
    read_for, amounts = list[str](), read_amounts.amounts

    def counted(*given: Any) -> clean.Read:
        read_for.append(given[-1])
        return amounts(*given)

    monkeypatch.setattr(read_amounts, "amounts", counted)
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
