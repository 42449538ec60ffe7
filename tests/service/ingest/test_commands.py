"""`itemindex loads`, `itemindex items` and `itemindex observations`, as an operator calls them."""

import json
import shlex
import shutil
from pathlib import Path

import openpyxl
import pytest

from shared.errors import ItemIndexError
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.conftest import Command
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import ROWS, load_rows

SOY, CUSTARD = mint("shop", "1").iid, mint("shop", "2").iid


@begins_with(load_rows)
def test_a_load_is_listed_shown_counted_undone_once_and_loaded_again(
    command: Command, settings: Settings, tmp_path: Path
) -> None:
    [listed] = json.loads(command("loads", "list", "--json").stdout)
    assert (listed["no"], listed["kind"], listed["source"], listed["state"]) == (1, "load", "shop", "committed")
    [(load_id,)] = execute(settings, "SELECT id::text FROM loads")
    [shown] = json.loads(command("loads", "list", load_id, "--json").stdout)
    assert (shown["no"], list(shown["files"]), shown["rows_read"]) == (1, ["shop.csv"], 5)
    counted = {"observations": 5, "other_claims": 0, "items": 3, "items_vanishing": 3, "factors": 0, "rates": 0}
    dry = command("loads", "undo", "1", "--dry-run", "--json")
    assert json.loads(dry.stdout) == [{**counted, "data_version": None}]
    assert execute(settings, "SELECT count(*) FROM observations") == [(5,)]
    assert load_rows(settings, tmp_path).state == "unchanged"
    done = command("loads", "undo", load_id, "--reason", "wrong [red]file", "--json")
    assert json.loads(done.stdout) == [{**counted, "data_version": 2}]
    for table in (
        "items",
        "observations",
        "observation_claims",
        "item_claims",
        "item_contents",
        "brands",
        "categories",
        "channels",
        "month_cells",
        "category_tree",
        "item_changes",
        "item_sources",
    ):
        assert execute(settings, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert {one["no"]: one["state"] for one in json.loads(command("loads", "list", "--json").stdout)}[1] == "undone"
    assert execute(settings, "SELECT undone_reason FROM events WHERE no = 1") == [("wrong [red]file",)]
    assert execute(settings, "SELECT kind, state, data_version FROM jobs ORDER BY data_version")[-1] == (
        "search-index",
        "queued",
        2,
    )
    assert "undone on" in str(command("loads", "undo", "1").exception)
    again = load_rows(settings, tmp_path)
    assert (again.state, again.counts["items_new"], again.counts["observations_new"]) == ("committed", 3, 5)


def test_an_event_that_is_no_load_cannot_be_undone(command: Command, settings: Settings) -> None:
    for named in ("0", "7", "x", "0190163d-8694-739b-aea5-966c26f8ad90", "99999999999", "1; DROP TABLE items"):
        refused = command("loads", "undo", named)
        assert refused.exit_code == 1 and isinstance(refused.exception, ItemIndexError), named
    assert execute(settings, "SELECT count(*) FROM data_versions") == [(0,)]


def test_observations_are_deleted_by_source_item_and_days_and_come_back(
    command: Command, settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, ROWS + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-08-01,NORTH,99,\n")
    options = ("--source", "shop", "--iid", CUSTARD.lower(), "--from", "2026-07-15", "--json")
    dry = command("observations", "delete", "--dry-run", *options)
    assert json.loads(dry.stdout) == [{"month": "2026-08-01", "observations": 1, "items": 1}]
    assert execute(settings, "SELECT count(*) FROM observations") == [(6,)]
    assert command("observations", "delete", *options).exit_code == 0
    assert execute(settings, "SELECT max(day)::text, count(*) FROM observations") == [("2026-07-02", 5)]
    assert execute(settings, "SELECT sum(n) FROM month_cells WHERE scope = 'a'") == [(5,)]
    assert execute(settings, "SELECT version FROM items WHERE iid = $1", CUSTARD) == [(2,)]
    assert command("loads", "undo", "2").exit_code == 0
    assert execute(settings, "SELECT max(day)::text, count(*) FROM observations") == [("2026-08-01", 6)]
    assert execute(settings, "SELECT version FROM items WHERE iid = $1", CUSTARD) == [(1,)]


@begins_with(load_rows)
def test_the_files_of_deleted_observations_can_be_loaded_again(
    command: Command, settings: Settings, tmp_path: Path
) -> None:
    command("observations", "delete", "--source", "shop")
    assert execute(settings, "SELECT count(*) FROM observations") == [(0,)]
    assert load_rows(settings, tmp_path).counts["observations_new"] == 5


@begins_with(load_rows)
def test_a_deletion_of_nothing_or_of_everything_is_refused(command: Command, settings: Settings) -> None:
    for options, reason in (
        ((), "not meant"),
        (("--source", "unknown"), "no source"),
        (("--iid", "IID-NONE"), "no item"),
        (("--iid", "x"), "an IID is"),
        (("--from", "01.02.2099"), "YYYY-MM-DD"),
        (("--source", "shop", "--from", "2099-01-01"), "no observation"),
    ):
        refused = command("observations", "delete", *options)
        assert reason in f"{refused.output}{refused.exception}", options
    left = "SELECT count(*), (SELECT count(*) FROM events WHERE no > 0) FROM observations"
    assert execute(settings, left) == [(5, 1)]


@begins_with(load_rows)
def test_items_are_merged_split_withdrawn_and_restored(command: Command, settings: Settings) -> None:
    before = execute(settings, "SELECT iid, version, updated_at, status FROM items ORDER BY iid")
    assert command("items", "merge", SOY, CUSTARD, "--reason", "one product").exit_code == 0
    assert execute(settings, "SELECT status FROM items WHERE iid = $1", SOY) == [("merged",)]
    assert command("items", "restore", SOY).exit_code == 0
    assert command("items", "withdraw", SOY).exit_code == 0
    assert execute(settings, "SELECT status FROM items WHERE iid = $1", SOY) == [("withdrawn",)]
    assert command("items", "restore", SOY).exit_code == 0
    assert execute(settings, "SELECT iid, version, updated_at, status FROM items ORDER BY iid") == before
    kept = execute(
        settings, "SELECT kind, actor <> '', reason, undone_at IS NOT NULL FROM events WHERE no > 1 ORDER BY no"
    )
    assert kept == [("merge", True, "one product", True), ("withdrawal", True, None, True)]


PROJECT = Path(__file__).parents[3]

COMMONEST = {  # each with its rows
    "feed.xml": ("40_merchant.xml", 2),
    "products_export.csv": ("42_shopify_new.csv", 3),
    "wc-product-export.csv": ("43_woocommerce.csv", 2),
    "prices.xlsx": ("", 2),
    "export.csv": ("31_de_kasse.csv", 3),
}


@pytest.mark.parametrize("name", COMMONEST)
def test_the_three_commands_of_the_guide_load_the_commonest_files(
    command: Command, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    guide = (PROJECT / "docs/guides/bring-your-own-data.md").read_text()
    assert name in guide.partition("A mapping is a TOML file")[0]
    commands = next(block for block in guide.split("```") if block.strip().startswith("itemindex ingest guess"))
    guess, check, load = (line.partition("  #")[0] for line in commands.strip().splitlines())
    file, rows = COMMONEST[name]
    monkeypatch.chdir(tmp_path)
    if file:
        shutil.copy(PROJECT / "tests/data/files" / file, name)
    else:
        book = openpyxl.Workbook()
        for row in (["Article", "Description", "Price"], ["0017", "Käsereibe", 12.5], ["0018", "Bürste", 2]):
            book.active.append(row)
        book.save(name)

    def run(line: str, *more: str) -> str:
        program, *arguments = shlex.split(line.replace("prices.csv", name).partition(" > ")[0])
        assert program == "itemindex"
        result = command(*arguments, *more)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    text = run(guess)
    assert guess.rstrip().endswith("> mine.toml")
    text = text.replace('license = "unknown"', 'license = "own"').replace('"SHOP"', '"North"')
    Path("mine.toml").write_text(text.replace('currency = "?"', 'currency = { constant = "EUR" }'))
    run(check)
    assert execute(settings, "SELECT count(*) FROM items") == [(0,)]
    run(load, "--json")  # without it the command waits for the search index
    assert execute(settings, "SELECT count(*) FROM observations") == [(rows,)]
