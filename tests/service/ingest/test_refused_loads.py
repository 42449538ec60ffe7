"""Nothing that a load could not use, or that it joined or took apart, goes without a word, and what it keeps is bounded."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.ctl.ingest import WITH_REJECTS
from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.service.articles.support import HEADER as ARTICLES_HEADER
from tests.service.articles.support import SOY, A, B, gtins, row, shop, text_of
from tests.service.ingest.conftest import Command
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import HEADER, MAPPING, ROWS, load_rows
from workers.dispatcher.gauges import measure_loads
from workers.dispatcher.retention import statements
from workers.ingest.load.summary import sentences

BAD = "9,X,B,G,K,1,{},N,1,\n"


def files(folder: Path, rows: str, text: str = MAPPING, header: str = HEADER) -> tuple[str, ...]:
    (folder / "m.toml").write_text(text)
    (folder / "f.csv").write_text(header + rows)
    return ("ingest", "--mapping", str(folder / "m.toml"), str(folder / "f.csv"))


def contents(settings: Settings) -> list[Any]:
    tables = ("loads", "load_files", "rejects", "events", "items", "observations", "links", "event_log", "sources")
    return [execute(settings, f"SELECT count(*) FROM {table}") for table in tables]


def test_a_load_of_which_every_row_is_rejected_fails_and_says_why(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    load = files(tmp_path, BAD.format("45931") + BAD.format("45932") + "9,,B,G,K,1,2026-07-01,N,1,\n")
    failed = command(*load)
    assert failed.exit_code == 1 and isinstance(failed.exception, LoadRefused)
    assert str(failed.exception).splitlines() == [
        "3 rows were read, and none of them can be used; nothing is loaded",
        "  2 × has no day of the form %Y-%m-%d; for example f.csv line 2, day `45931`",
        "  1 × has no name; for example f.csv line 4, name",
    ]
    assert execute(settings, "SELECT state, rows_read, rows_rejected FROM loads") == [("failed", 3, 3)]
    assert execute(settings, "SELECT count(*) FROM rejects") == [(3,)]
    assert execute(settings, "SELECT count(*) FROM data_versions") == [(0,)]


@begins_with(load_rows)
@pytest.mark.parametrize("content", ["", BAD.format("soon")])
def test_a_source_keeps_what_it_had_when_nothing_of_a_later_file_can_be_used(
    settings: Settings, tmp_path: Path, content: str
) -> None:
    with pytest.raises(LoadRefused, match=r"nothing is loaded|not one row"):
        load_rows(settings, tmp_path, content, name="later.csv")
    assert execute(settings, "SELECT count(*) FROM observations") == [(5,)]


def test_factors_of_which_none_can_be_used_do_not_end_those_before(settings: Settings, tmp_path: Path) -> None:
    text = 'source = "f"\ntitle = "T"\nlicense = "L"\n[factors]\ncode = "g"\nmethod = "m"\nindicators = { co2e_kg = "c" }\n'
    load_rows(settings, tmp_path, "drinks,2\n", text=text, header="g,c\n")
    with pytest.raises(LoadRefused, match="be used; nothing is loaded"):
        load_rows(settings, tmp_path, "drinks,x\n", text=text, header="g,c\n", name="later.csv")
    assert execute(settings, "SELECT count(*) FROM factor_claims") == [(1,)]


def test_a_load_states_in_words_what_it_read_changed_and_refused(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    text = MAPPING.replace('list_price = "list"', 'list_price = { column = "list", on_error = "field" }')
    load = files(tmp_path, ROWS + BAD.format("soon") + "8,Y,B,G,K,1,2026-07-01,N,1,x\n", text)
    said = command(*load, "--strict")
    assert said.exit_code == WITH_REJECTS, said.exception
    for line in (
        "Read: 7 rows, 6 of them usable.",
        "Changed: 4 items new, 6 observations new.",
        "Rejected: 1 row, and 1 value in other rows:",
        "  1 × has no day of the form %Y-%m-%d; for example f.csv line 7, day `soon`",
        "Merged: nothing.",
        "Split: nothing.",
        "Awaiting review: nothing.",
    ):
        assert line in said.output.splitlines()
    assert "f.csv line 8, list `x`" in said.output
    # Another day may take what was rejected, so that such files are read again: nothing changes, and the rejects stay.
    again = command(*load, "--strict")
    assert (again.exit_code, "Changed: nothing" in again.output) == (WITH_REJECTS, True), again.output
    listed = json.loads(command("loads", "list", "--json").output)[-1]
    assert (listed["rows_rejected"], listed["fields_rejected"]) == (1, 1)


def test_a_load_with_rejects_ends_well_unless_it_is_strict(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    load = files(tmp_path, ROWS + BAD.format("soon"))
    assert command(*load, "--dry-run").exit_code == 0
    assert command(*load, "--dry-run", "--strict").exit_code == WITH_REJECTS
    assert command(*load).exit_code == 0
    corrected = command(*files(tmp_path, ROWS.replace("10.90", "10.80")), "--strict")
    assert (corrected.exit_code, "Changed: 1 observation replaced." in corrected.output) == (0, True), corrected.output


def test_a_dry_run_shows_and_rejects_what_the_load_would(settings: Settings, tmp_path: Path, command: Command) -> None:
    text = 'source = "{}"\ntitle = "T"\nlicense = "L"\n[item]\nid = "id"\niid = "iid"\nname = "name"\n'
    load_rows(settings, tmp_path, "1,IID-TAKEN-1,Tea\n", text=text.format("a"), header="id,iid,name\n")
    load = files(tmp_path, "9,IID-TAKEN-1,Coffee\n8,IID-FREE-1,Milk\n", text.format("b"), "id,iid,name\n")
    dry = command(*load, "--dry-run", "--strict", "--json")
    shown = json.loads(dry.output)
    assert ([item["name"] for item in shown["items"]], shown["counts"]["items_read"]) == (["Milk"], 1)
    assert [row["reason"] for row in shown["rejects"]] == ["has an IID that belongs to another item"]
    assert (dry.exit_code, command(*load, "--strict").exit_code) == (WITH_REJECTS, WITH_REJECTS)


def test_a_load_states_what_it_joined_and_what_waits(settings: Settings, tmp_path: Path, command: Command) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY) + row("2", "5901234123457", "Tea 100 g"))
    rows = row("x", SOY) + row("y", "5901234123457", "Tea 250 g")
    load = files(tmp_path, rows, text_of("shop_b"), ARTICLES_HEADER)
    before = contents(settings)
    dry = command(*load, "--dry-run")
    assert contents(settings) == before
    loaded = command(*load)
    for said in (dry, loaded):
        assert said.exit_code == 0, said.exception
        assert "Merged: 1 item, now part of another item:" in said.output
        assert f"{B} (Soy milk 1L) into {A} (Soy milk 1L)" in said.output
        assert "Awaiting review: 1 pair of items" in said.output
        assert "Changed: 2 items new, 2 observations new." in said.output
    assert "this is what a load would do; nothing was loaded" in dry.output


def test_what_a_load_takes_apart_is_said_and_is_an_event(settings: Settings, tmp_path: Path, command: Command) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    shop(settings, tmp_path, "shop_b", row("x", SOY))
    load = files(tmp_path, row("1", SOY), text_of("shop_a", "[match]\nnever = true\n"), ARTICLES_HEADER)
    [document] = [json.loads(command(*load, "--dry-run", "--json").output)["load"]]
    assert document["parted"] == [f"{B} (Soy milk 1L) from {A} (Soy milk 1L)"]
    assert execute(settings, "SELECT count(*) FROM event_log WHERE type = 'item.split'") == [(0,)]
    said = command(*load)
    assert "Split: 1 item, no longer part of another item:" in said.output
    assert f"  {B} (Soy milk 1L) from {A} (Soy milk 1L)" in said.output.splitlines()
    assert execute(settings, "SELECT data FROM event_log WHERE type = 'item.split'") == [
        ({"iid": B, "survivor_iid": A},)
    ]


def test_a_dry_run_is_refused_as_the_load_would_be_and_leaves_nothing(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    codes = gtins(12)
    shop(settings, tmp_path, "shop_a", "".join(row(f"a{n}", code, f"Milk {n}") for n, code in enumerate(codes)))
    rows = "".join(row(f"b{n}", code, f"Milk {n}") for n, code in enumerate(codes))
    load = files(tmp_path, rows, text_of("shop_b"), ARTICLES_HEADER)
    before = contents(settings)
    refused = command(*load, "--dry-run")
    assert refused.exit_code == 1
    assert "would merge 12 items, more than a tenth of the 12" in str(refused.exception)
    allowed = command(*load, "--dry-run", "--allow-merges")
    assert "Merged: 12 items, now part of another item:" in allowed.output
    assert contents(settings) == before


def test_rejects_are_kept_up_to_a_bound_and_counted_beyond_it(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    bounded = replace(settings, rejects_kept_max=2)
    summary = load_rows(bounded, tmp_path, ROWS + BAD.format("soon") * 3 + "9,,B,G,K,1,2026-07-01,N,1,\n")
    assert (summary.rows_rejected, sorted(summary.rejects.values())) == (4, [1, 3])
    assert sentences(summary)[-4].endswith(f"loads rejects {summary.load_id}` lists the first 2.")
    assert execute(settings, "SELECT line FROM rejects ORDER BY 1") == [(7,), (8,)]
    assert execute(settings, "SELECT rows_rejected, summary ->> 'rejects_dropped' FROM loads") == [(4, "2")]
    document = json.loads(command("loads", "rejects", "--json").output)
    assert (document["rejected"], len(document["rejects"])) == (4, 2)
    assert "4 rejects, of which the first 2 are kept" in " ".join(command("loads", "rejects").output.split())


@pytest.mark.parametrize("rows", [BAD.format("soon"), ROWS.replace("2026", "2025") + BAD.format("soon")])
def test_a_load_that_is_tried_again_does_not_keep_its_rejects_twice(
    settings: Settings, tmp_path: Path, rows: str
) -> None:
    text = f"rejects_max = 0\n{MAPPING}"
    for _ in range(3):
        with pytest.raises(LoadRefused):
            load_rows(settings, tmp_path, rows, text=text)
    assert execute(settings, "SELECT count(*), count(DISTINCT load_id) FROM rejects") == [(1, 1)]
    assert execute(settings, "SELECT rows_rejected FROM loads") == [(1,)] * 3
    with pytest.raises(LoadRefused):
        load_rows(settings, tmp_path, rows, text=text, name="another.csv")
    assert execute(settings, "SELECT count(*) FROM rejects") == [(2,)]


def test_rejects_loads_and_files_end_with_their_time_and_what_can_be_undone_stays(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    load_rows(settings, tmp_path, ROWS + BAD.format("soon"))
    load_rows(settings, tmp_path, ROWS.replace("10.90", "10.80"), name="second.csv")
    load_rows(settings, tmp_path, ROWS.replace("10.90", "10.80"), name="second.csv")
    with pytest.raises(LoadRefused):
        load_rows(settings, tmp_path, BAD.format("soon"), name="third.csv")
    for days, rejects, loads, names in ((29, 2, 4, 4), (31, 0, 4, 4), (91, 0, 2, 1)):
        age(settings, days)
        sweep(settings)
        found = execute(settings, "SELECT (SELECT count(*) FROM rejects), count(*) FROM loads")
        assert (found, len(execute(settings, "SELECT name FROM load_files"))) == ([(rejects, loads)], names), days
    assert metrics.load_rejects.labels("kept")._value.get() == 0
    assert metrics.loads_listed.labels("loads")._value.get() == 2
    assert load_rows(settings, tmp_path, ROWS.replace("10.90", "10.80"), name="second.csv").state == "unchanged"
    for number in ("2", "1"):
        assert command("loads", "undo", number).exit_code == 0
    assert execute(settings, "SELECT count(*) FROM items") == [(0,)]


def age(settings: Settings, days: int) -> None:
    execute(settings, "UPDATE loads SET started_at = now() - make_interval(days => $1)", days)


def sweep(settings: Settings) -> None:
    """Delete what is old with the rights of a dispatcher."""
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for statement in statements(settings):
            statement.execute(connection, Log("tests"))
        measure_loads(connection)


def test_a_load_that_failed_is_listed_without_a_number(settings: Settings, tmp_path: Path, command: Command) -> None:
    assert command(*files(tmp_path, BAD.format("soon"))).exit_code == 1
    [listed] = json.loads(command("loads", "list", "--json").output)
    assert (listed["no"], listed["kind"], listed["state"]) == (None, "load", "failed")
    assert "be used; nothing is loaded" in listed["reason"]
