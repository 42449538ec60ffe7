"""`itemindex loads`, `itemindex items` and `itemindex observations`, as an operator calls them."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner, Result

from deploy.ctl.main import cli
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.shop import ROWS, load_rows

SOY, CUSTARD = mint("shop", "1").iid, mint("shop", "2").iid


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, catch_exceptions=True)

    return run


def ask(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connect(settings.database_url, application="tests") as connection:
        return connection.execute(query, values or None).fetchall()


def test_a_load_is_listed_shown_counted_and_undone(command: Any, settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path)
    [listed] = json.loads(command("loads", "list", "--json").stdout)
    assert (listed["no"], listed["kind"], listed["source"], listed["state"]) == (1, "load", "shop", "committed")
    [shown] = json.loads(command("loads", "show", summary.load_id, "--json").stdout)
    assert (shown["no"], list(shown["files"]), shown["rows_read"]) == (1, ["shop.csv"], 5)
    counted = {"observations": 5, "other_claims": 0, "items": 3, "items_vanishing": 3, "factors": 0, "rates": 0}
    dry = command("loads", "undo", "1", "--dry-run", "--json")
    assert json.loads(dry.stdout) == [{**counted, "data_version": None}]
    assert ask(settings, "SELECT count(*) FROM observations") == [(5,)]
    done = command("loads", "undo", summary.load_id, "--reason", "wrong [red]file", "--json")
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
        assert ask(settings, f"SELECT count(*) FROM {table}") == [(0,)], table
    [listed] = json.loads(command("loads", "list", "--json").stdout)
    assert listed["state"] == "undone"
    assert ask(settings, "SELECT undone_reason FROM events WHERE no = 1") == [("wrong [red]file",)]
    assert ask(settings, "SELECT kind, state, data_version FROM jobs ORDER BY data_version")[-1] == (
        "search-index",
        "queued",
        2,
    )


def test_a_load_that_was_undone_can_be_loaded_again(command: Any, settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    assert load_rows(settings, tmp_path).state == "unchanged"
    command("loads", "undo", "1")
    again = load_rows(settings, tmp_path)
    assert (again.state, again.counts["items_new"], again.counts["observations_new"]) == ("committed", 3, 5)


@pytest.mark.parametrize(
    "named", ["0", "7", "x", "0190163d-8694-739b-aea5-966c26f8ad90", "99999999999", "1; DROP TABLE items"]
)
def test_an_event_that_is_no_load_cannot_be_undone(command: Any, settings: Settings, named: str) -> None:
    refused = command("loads", "undo", named)
    assert refused.exit_code == 1 and isinstance(refused.exception, ItemIndexError)
    assert ask(settings, "SELECT count(*) FROM data_versions") == [(0,)]


def test_a_load_is_undone_once(command: Any, settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    assert command("loads", "undo", "1").exit_code == 0
    assert "undone on" in str(command("loads", "undo", "1").exception)


def test_observations_are_deleted_by_source_item_and_days_and_come_back(
    command: Any, settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, ROWS + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-08-01,NORTH,99,\n")
    options = ("--source", "shop", "--iid", CUSTARD.lower(), "--from", "2026-07-15", "--json")
    dry = command("observations", "delete", "--dry-run", *options)
    assert json.loads(dry.stdout) == [{"month": "2026-08-01", "observations": 1, "items": 1}]
    assert ask(settings, "SELECT count(*) FROM observations") == [(6,)]
    assert command("observations", "delete", *options).exit_code == 0
    assert ask(settings, "SELECT max(day)::text, count(*) FROM observations") == [("2026-07-02", 5)]
    assert ask(settings, "SELECT sum(n) FROM month_cells WHERE scope = 'a'") == [(5,)]
    assert ask(settings, "SELECT version FROM items WHERE iid = $1", CUSTARD) == [(2,)]
    assert command("loads", "undo", "2").exit_code == 0
    assert ask(settings, "SELECT max(day)::text, count(*) FROM observations") == [("2026-08-01", 6)]
    assert ask(settings, "SELECT version FROM items WHERE iid = $1", CUSTARD) == [(1,)]


def test_the_files_of_deleted_observations_can_be_loaded_again(
    command: Any, settings: Settings, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path)
    command("observations", "delete", "--source", "shop")
    assert ask(settings, "SELECT count(*) FROM observations") == [(0,)]
    assert load_rows(settings, tmp_path).counts["observations_new"] == 5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "not meant"),
        (("--source", "unknown"), "no source"),
        (("--iid", "IID-NONE"), "no item"),
        (("--iid", "x"), "an IID is"),
        (("--from", "01.02.2099"), "YYYY-MM-DD"),
        (("--source", "shop", "--from", "2099-01-01"), "no observation"),
    ],
)
def test_a_deletion_of_nothing_or_of_everything_is_refused(
    command: Any, settings: Settings, tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    load_rows(settings, tmp_path)
    assert reason in str(command("observations", "delete", *options).exception)
    assert ask(settings, "SELECT count(*), (SELECT count(*) FROM events WHERE no > 0) FROM observations") == [(5, 1)]


def test_items_are_merged_split_withdrawn_and_restored(command: Any, settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    before = ask(settings, "SELECT iid, version, updated_at, status FROM items ORDER BY iid")
    assert command("items", "merge", SOY, CUSTARD, "--reason", "one product").exit_code == 0
    assert ask(settings, "SELECT status FROM items WHERE iid = $1", SOY) == [("merged",)]
    assert command("items", "restore", SOY).exit_code == 0
    assert command("items", "withdraw", SOY).exit_code == 0
    assert ask(settings, "SELECT status FROM items WHERE iid = $1", SOY) == [("withdrawn",)]
    assert command("items", "restore", SOY).exit_code == 0
    assert ask(settings, "SELECT iid, version, updated_at, status FROM items ORDER BY iid") == before
    kept = ask(settings, "SELECT kind, actor <> '', reason, undone_at IS NOT NULL FROM events WHERE no > 1 ORDER BY no")
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
    command: Any, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    guide = (PROJECT / "deploy/guides/bring-your-own-data.md").read_text()
    assert name in guide.partition("A mapping is a TOML file")[0]
    guess, check, load = (line.partition("  #")[0] for line in guide.split("```")[1].strip().splitlines())
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
        program, *arguments = shlex.split(line.replace("feed.xml", name).partition(" > ")[0])
        assert program == "itemindex"
        result = command(*arguments, *more)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    text = run(guess)
    assert guess.rstrip().endswith("> mine.toml")
    text = text.replace('license = "unknown"', 'license = "own"').replace('"SHOP"', '"North"')
    Path("mine.toml").write_text(text.replace('currency = "?"', 'currency = { constant = "EUR" }'))
    run(check)
    assert ask(settings, "SELECT count(*) FROM items") == [(0,)]
    run(load, "--json")  # without it the command waits for the search index
    assert ask(settings, "SELECT count(*) FROM observations") == [(rows,)]
