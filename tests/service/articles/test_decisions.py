"""What a person decides of a pair holds until it is undone, whatever later loads find."""

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.ctl.healthcheck import wait_until_healthy
from deploy.ctl.matches import matches
from deploy.local.paths import free_port
from shared.articles import ALL, Filters
from shared.articles import SQL as PAIRS
from shared.db.connect import Connection, connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import SOY, A, B, articles, row, shop
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import undone
from workers.provenance import events, item_acts, reviews
from workers.provenance.item_acts import ActRefused

C = mint("shop_c", "y").iid


def run(settings: Settings, *arguments: str) -> Result:
    environment = {"DATABASE_URL": settings.database_url, "MATCH_DIR": str(settings.match_dir)}
    return CliRunner().invoke(matches, arguments, env=environment, catch_exceptions=False)


def printed(settings: Settings, *arguments: str) -> list[dict[str, object]]:
    found = json.loads(run(settings, *arguments, "--json").stdout)
    return found if isinstance(found, list) else [found]


def two_shops(settings: Settings, folder: Path, other: str = "Soy milk 2L") -> None:
    shop(settings, folder, "shop_a", row("1", SOY))
    shop(settings, folder, "shop_b", row("x", SOY, other, "2026-07-02"))


@begins_with(two_shops)
def test_an_accepted_pair_is_one_article_and_undo_takes_it_apart(settings: Settings) -> None:
    [waiting] = printed(settings, "list")
    assert {waiting["left_iid"], waiting["right_iid"]} == {A, B}
    run(settings, "decide", "same", A, B)
    assert articles(settings) == {A: A, B: A}
    assert printed(settings, "list") == []
    run(settings, "decide", "undo", B, A)
    assert articles(settings) == {A: A, B: B}
    assert len(printed(settings, "list")) == 1


@begins_with(two_shops)
def test_a_rejected_pair_is_never_asked_again(settings: Settings, tmp_path: Path) -> None:
    [(before,)] = execute(settings, "SELECT max(version) FROM data_versions")
    run(settings, "decide", "different", A, B)
    assert execute(settings, "SELECT max(version) FROM data_versions") == [(before,)]
    shop(settings, tmp_path, "shop_b", row("x", SOY, "Soy milk 1L", "2026-07-03"))
    assert articles(settings) == {A: A, B: B}
    assert printed(settings, "list") == []


def test_undoing_a_link_of_a_load_is_remembered(settings: Settings, tmp_path: Path) -> None:
    two_shops(settings, tmp_path, "Soy milk 1L")
    assert articles(settings) == {A: A, B: A}
    run(settings, "decide", "undo", A, B)
    assert articles(settings) == {A: A, B: B}
    shop(settings, tmp_path, "shop_b", row("x", SOY, "Soy milk 1L bottle", "2026-07-03"))
    assert articles(settings) == {A: A, B: B}
    [stats] = printed(settings, "list", "--counts")
    assert (stats["links_undone"], stats["rejected"], stats["precision"]) == (1, 1, 0.0)


@begins_with(two_shops)
def test_a_split_gives_both_records_back_as_they_were_before_the_link(settings: Settings) -> None:
    columns = "iid, name, identifiers, version, updated_at, status, survivor_iid, first_seen_on, field_sources"
    before = execute(settings, f"SELECT {columns} FROM items ORDER BY iid")
    run(settings, "decide", "same", A, B)
    assert execute(settings, f"SELECT {columns} FROM items ORDER BY iid") != before
    run(settings, "decide", "different", A, B)
    assert execute(settings, f"SELECT {columns} FROM items ORDER BY iid") == before


def test_a_name_that_a_spreadsheet_would_compute_is_exported_as_text(settings: Settings, tmp_path: Path) -> None:
    two_shops(settings, tmp_path, '=HYPERLINK(""x"") 2L')
    run(settings, "decide", "different", A, B)
    [exported] = csv.DictReader(io.StringIO(run(settings, "list", "--decisions").output))
    assert "=HYPERLINK" in exported["left_name"] + exported["right_name"]
    assert not {name[:1] for name in exported.values()} & {"=", "+", "-", "@"}


@begins_with(two_shops)
def test_decisions_are_exported_as_training_data(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_c", row("y", SOY, "Soy milk 3L", "2026-07-04"))
    run(settings, "decide", "same", A, B)
    run(settings, "decide", "different", A, C)
    for options, expected in (((), {(A, B): "1", (A, C): "0"}), (("--source", "shop_c"), {(A, C): "0"})):
        rows = list(csv.DictReader(io.StringIO(run(settings, "list", "--decisions", *options).output)))
        labels = {frozenset((one["left_id"], one["right_id"])): one["label"] for one in rows}
        assert labels == {frozenset(pair): label for pair, label in expected.items()}
        documents = printed(settings, "list", "--decisions", *options)
        assert {(one["left_id"], one["right_id"], str(one["label"])) for one in documents} == {
            (row["left_id"], row["right_id"], row["label"]) for row in rows
        }


def test_counts_are_of_all_pairs_and_refuse_options_that_choose_some(settings: Settings) -> None:
    refused = run(settings, "list", "--counts", "--source", "shop_a")
    assert refused.exit_code == 2
    assert "--counts counts all pairs" in refused.output


@pytest.mark.parametrize("option", [("--state", "linked"), ("--limit", "20"), (A, B)])
@pytest.mark.parametrize("instead", ["--counts", "--decisions"])
def test_what_is_listed_instead_of_pairs_refuses_options_that_it_would_ignore(
    settings: Settings, instead: str, option: tuple[str, str]
) -> None:
    refused = run(settings, "list", instead, *option)
    assert refused.exit_code == 2
    assert "leave out the IID" in refused.output or "take neither a second IID nor --state or --limit" in refused.output


@begins_with(two_shops)
def test_decisions_of_the_dashboard_become_events_of_one_data_version(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_c", row("y", SOY, "Soy milk 3L", "2026-07-04"))
    ids = dict(execute(settings, "SELECT iid, id FROM items"))
    note(settings, ids[A], ids[B], "accept")
    note(settings, ids[A], ids[C], "reject")
    assert [one["state"] for one in printed(settings, "list", "--state", "accepted")] == ["accepted"]
    [(before,)] = execute(settings, "SELECT max(version) FROM data_versions")
    assert apply(settings) == (2, before + 1)
    assert articles(settings) == {A: A, B: A, C: C}
    assert apply(settings) == (0, None)
    note(settings, ids[A], ids[B], "undo")
    assert apply(settings) == (1, before + 2)
    assert articles(settings) == {A: A, B: B, C: C}


def test_a_decision_on_an_item_that_is_gone_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    load = shop(settings, tmp_path, "shop_b", row("x", SOY, "Soy milk 2L"))
    ids = dict(execute(settings, "SELECT iid, id FROM items"))
    note(settings, ids[A], ids[B], "accept")
    undone(settings, load.load_id)
    assert apply(settings) == (1, None)
    assert articles(settings) == {A: A}


def note(settings: Settings, one: int, other: int, decision: str, batch: str | None = None) -> None:
    execute(
        settings,
        "INSERT INTO match_reviews (left_id, right_id, decision, person_id, person, batch_id) "
        "VALUES ($1, $2, $3, uuidv7(), 'Grace', $4)",
        min(one, other),
        max(one, other),
        decision,
        batch,
    )


def apply(settings: Settings) -> tuple[int, int | None]:
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        return reviews.apply(connection)


@begins_with(two_shops)
def test_a_decision_is_applied_by_the_service_that_waits_for_it_and_answers_health_checks(settings: Settings) -> None:
    ids = dict(execute(settings, "SELECT iid, id FROM items"))
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "deploy.ctl.main", "matches", "apply", "--watch"]
    environment = {**os.environ, "DATABASE_URL": settings.database_url, "METRICS_LISTEN": listen}
    service = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert service.stderr is not None
        started = json.loads(service.stderr.readline())
        assert (started["part"], started["event"]) == ("matches", "started")
        assert wait_until_healthy({"METRICS_LISTEN": listen}, 60.0)
        note(settings, ids[A], ids[B], "accept")
        deadline = time.monotonic() + 60.0
        while articles(settings) != {A: A, B: A} and time.monotonic() < deadline:
            time.sleep(0.1)
        assert articles(settings) == {A: A, B: A}
        assert service.poll() is None
    finally:
        service.terminate()
        service.communicate(timeout=30.0)


def test_an_article_that_was_withdrawn_stays_so_whichever_source_brings_it_again(
    settings: Settings, tmp_path: Path
) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY))
    acted(settings, lambda one: item_acts.withdraw(one, A, "tests", None))
    shop(settings, tmp_path, "shop_b", row("x", SOY, day="2026-07-02"))
    assert set(execute(settings, "SELECT iid, status, survivor_iid FROM items")) == {
        (A, "withdrawn", None),
        (B, "merged", A),
    }
    assert execute(settings, "SELECT count(*) FROM month_cells") == [(0,)]
    acted(settings, lambda one: item_acts.restore(one, A, "tests", None))
    assert articles(settings) == {A: A, B: A}


def test_an_operators_merge_of_a_linked_item_joins_its_whole_article_and_no_circle_is_made(
    settings: Settings, tmp_path: Path
) -> None:
    two_shops(settings, tmp_path, "Soy milk 1L")
    shop(settings, tmp_path, "shop_c", row("y", "", "Coffee beans", "2026-07-04"))
    acted(settings, lambda one: item_acts.merge(one, B, C, "tests", None))
    assert len(set(articles(settings).values())) == 1
    with pytest.raises(ActRefused, match=f"is merged into another item; `itemindex items restore {B}`"):
        acted(settings, lambda one: item_acts.merge(one, B, A, "tests", None))
    with pytest.raises(ActRefused, match="is merged"):
        acted(settings, lambda one: item_acts.merge(one, C, B, "tests", None))


def acted(settings: Settings, act: Callable[[Connection], object]) -> None:
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        act(connection)


@begins_with(two_shops)
def test_pairs_are_chosen_by_source_score_evidence_and_brand(settings: Settings) -> None:
    found = {
        Filters(source="shop_a"): 1,
        Filters(source="shop_c"): 0,
        Filters(evidence="identifier"): 1,
        Filters(evidence="likeness"): 0,
        Filters(evidence="gtin"): 1,
        Filters(evidence="colour"): 0,
        Filters(brand="VITA"): 1,
        Filters(brand="Maison"): 0,
        Filters(min_score=0.0): 1,
        Filters(max_score=0.0): 0,
    }
    for filters, count in found.items():
        options = [
            part for name, value in filters.chosen.items() for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        assert len(printed(settings, "list", *options)) == count, filters
        assert len(execute(settings, PAIRS.waiting, None, *filters)) == count, filters


NAMES = {"1": "Soy milk 1L", "2": "Oat biscuits", "x": "Green tea", "y": "Olive oil"}


def _pairs(settings: Settings, *arguments: str) -> set[frozenset[str]]:
    """Return the pairs that the command lists; the dashboard, which has a statement of its own, shows the same."""
    found = printed(settings, "list", *arguments)
    if not arguments:
        listed = execute(settings, PAIRS.pairs, "waiting", None, None, *ALL)
        assert execute(settings, PAIRS.waiting, None, *ALL) == listed
    return {frozenset((str(one["left_name"]), str(one["right_name"]))) for one in found}


def _pair(one: str, other: str) -> frozenset[str]:
    return frozenset((NAMES[one], NAMES[other]))


def test_a_pair_waits_unseen_while_both_of_its_records_have_a_better_one(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", "", NAMES["1"]) + row("2", "", NAMES["2"]))
    shop(settings, tmp_path, "shop_b", row("x", "", NAMES["x"]) + row("y", "", NAMES["y"]))
    items = {name: (number, iid) for name, number, iid in execute(settings, "SELECT name, id, iid FROM items")}
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DELETE FROM links")  # what the loads found
        for one, other, score in (("1", "x", 0.9), ("2", "y", 0.8), ("1", "y", 0.5), ("2", "x", 0.85)):
            ids = sorted((items[NAMES[one]][0], items[NAMES[other]][0]))
            connection.execute("INSERT INTO links VALUES ($1, $2, 'likeness', $3, 'review', '[]')", (*ids, score))
    everything = {_pair(one, other) for one in "12" for other in "xy"}
    assert _pairs(settings) == everything - {_pair("1", "y")}
    assert _pairs(settings, items[NAMES["1"]][1]) == {_pair("1", "x"), _pair("1", "y")}
    run(settings, "decide", "different", items[NAMES["2"]][1], items[NAMES["y"]][1])
    assert _pairs(settings) == {_pair("1", "x"), _pair("2", "x"), _pair("1", "y")}
