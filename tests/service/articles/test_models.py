"""What people decide trains a model, which loads use until the choice is undone; and decisions on many pairs at once."""

import csv
import io
import json
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from deploy.ctl.matches import matches
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import HEADER, articles, text_of
from tests.service.articles.test_decisions import apply, note, printed, run
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows, undone
from tests.support.worlds import World, worlds
from workers.articles import models
from workers.articles.matching import training
from workers.articles.matching.model import Model


@cache
def catalogues() -> World:
    """Two shops' invented items."""
    return next(worlds(1, seed=99, articles=90))


def two_catalogues(settings: Settings, folder: Path) -> None:
    """Load both shops."""
    world = catalogues()
    for source, records in (("shop_a", world.left), ("shop_b", world.right)):
        rows = io.StringIO()
        csv.writer(rows).writerows(
            (one.key, "", one.name, one.brand, "Goods", "Goods", "", "2026-07-01", "NORTH", "1", "") for one in records
        )
        text = text_of(source)
        load_rows(
            settings, folder, rows.getvalue(), text=text, name=f"{source}.csv", header=HEADER, merges_allowed=True
        )


@pytest.fixture
def contents() -> Contents:
    return two_catalogues


@pytest.fixture
def decisions(tmp_path: Path) -> Path:
    """A file of the shops' pairs: twins, and the twins of others."""
    twins = sorted(catalogues().matches)
    others = [(left, right) for (left, _), (_, right) in zip(twins, twins[1:] + twins[:1], strict=True)]
    decided = tmp_path / "decisions.csv"
    with decided.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("left_id", "right_id", "label"))
        writer.writerows((*pair, int(pair in catalogues().matches)) for pair in twins + others)
    return decided


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let decisions train smaller models: they are few, and the tests ask what becomes of a model."""
    monkeypatch.setitem(training._DECIDED, "max_iter", 25)


def links(settings: Settings) -> list[tuple[object, ...]]:
    return execute(settings, "SELECT left_id, right_id, kind, score, decision FROM links ORDER BY left_id, right_id")


def train(settings: Settings, decisions: Path, *more: str) -> dict[str, object]:
    named = ("--decisions", str(decisions), "--left-source", "shop_a", "--right-source", "shop_b")
    [said] = printed(settings, "train", *named, *more)
    return said


def test_a_model_that_is_activated_judges_all_pairs_and_undo_gives_the_links_back(
    settings: Settings, decisions: Path
) -> None:
    before = links(settings), articles(settings)
    with decisions.open("a") as file:
        file.write("nowhere,neither,1\r\n")
    said = train(settings, decisions, "--activate", "--allow-merges")
    assert links(settings) != before[0]
    assert said["unknown_ids"] == 1
    assert {one["bound"] for one in said["measured"]} >= {0.99, 0.5}
    assert all(one["precision_low"] <= one["precision"] <= one["precision_high"] for one in said["measured"])
    assert [(one["digest"], one["active"]) for one in printed(settings, "models")] == [
        (said["digest"], True),
        ("shipped", False),
    ]
    undone(settings, str(said["load"]))
    assert (links(settings), articles(settings)) == before
    assert [one["active"] for one in printed(settings, "models")] == [False, True]


def test_a_model_is_chosen_by_the_beginning_of_its_digest_and_the_shipped_one_by_its_name(
    settings: Settings, decisions: Path
) -> None:
    before = links(settings)
    digest = str(train(settings, decisions)["digest"])
    assert links(settings) == before, "only --activate, or `models --use`, changes links"
    for unknown in ("ffffffff", digest[:5]):
        with pytest.raises(models.UnknownModel, match="6 characters"):
            run(settings, "models", "--use", unknown)
    run(settings, "models", "--use", digest[:8], "--allow-merges")
    chosen = links(settings)
    assert chosen != before
    run(settings, "models", "--use", "shipped")
    assert links(settings) == before


def test_a_model_that_would_merge_a_tenth_of_the_index_is_used_only_if_that_is_meant(settings: Settings) -> None:
    eager = Model.shipped().with_bounds(link=0.36, link_coded=0.36, review=0.35, link_learned=0.36).encoded()
    execute(
        settings,
        "INSERT INTO match_models (digest, model, trained_on, bounds, created_by) VALUES ($1, $2, '{}', '{}', 'x')",
        "e" * 64,
        eager,
    )
    before = links(settings), articles(settings)
    with pytest.raises(LoadRefused, match=r"the model would merge .* more than a tenth .*--allow-merges"):
        run(settings, "models", "--use", "eeeeee")
    assert (links(settings), articles(settings)) == before
    run(settings, "models", "--use", "eeeeee", "--allow-merges")
    assert articles(settings) != before[1]


def test_too_few_decisions_train_nothing_and_the_most_doubtful_pairs_are_named(
    settings: Settings, decisions: Path
) -> None:
    few = decisions.with_name("few.csv")
    few.write_text("".join(decisions.read_text().splitlines(keepends=True)[:11]))
    said = train(settings, few, "--activate")
    assert (said["decisions"], said["missing"]) == (10, 40)
    doubts = [abs(float(one["score"]) - 0.5) for one in said["decide_first"]]
    assert doubts == sorted(doubts)
    assert len(doubts) > 3
    assert execute(settings, "SELECT count(*) FROM match_models") == [(0,)]


def test_a_pair_that_is_decided_from_either_side_is_one_decision(settings: Settings, decisions: Path) -> None:
    [header, pair, *_] = decisions.read_text().splitlines(keepends=True)
    left, right, _ = pair.split(",")
    run(settings, "decide", "same", mint("shop_b", right).iid, mint("shop_a", left).iid)
    decisions.write_text(header + pair)
    assert train(settings, decisions)["decisions"] == 1


def test_a_file_of_ids_that_are_not_in_the_index_is_refused(settings: Settings, decisions: Path) -> None:
    with pytest.raises(models.UnknownIds, match="--left-source"):
        run(settings, "train", "--decisions", str(decisions))


def bulk(settings: Settings, *arguments: str, answers: str = "") -> str:
    environment = {"DATABASE_URL": settings.database_url, "MATCH_DIR": str(settings.match_dir)}
    return CliRunner().invoke(matches, arguments, env=environment, input=answers, catch_exceptions=False).output


def test_a_bulk_decision_is_one_event_that_one_undo_takes_back(settings: Settings) -> None:
    before = articles(settings)
    waiting = printed(settings, "list", "--min-score", "0.6", "--limit", "1000")
    said = json.loads(bulk(settings, "decide", "same", "--min-score", "0.6", "--sample", "0", "--yes", "--json"))
    assert said["pairs"] == len(waiting) > 5
    assert execute(settings, "SELECT count(*) FROM events WHERE part_of = $1", said["load"]) == [(len(waiting),)]
    assert articles(settings) != before
    assert printed(settings, "list", "--min-score", "0.6") == []
    undone(settings, str(said["load"]))
    assert articles(settings) == before
    assert printed(settings, "list", "--min-score", "0.6", "--limit", "1000") == waiting
    assert execute(settings, "SELECT count(*) FROM events WHERE part_of IS NOT NULL AND undone_at IS NULL") == [(0,)]


def test_a_sample_is_decided_first_and_its_interval_is_shown(settings: Settings) -> None:
    waiting = len(printed(settings, "list", "--limit", "1000"))
    output = bulk(settings, "decide", "different", "--sample", "4", answers="y\nn\nn\nn\ny\n")
    assert "3 of 4" in output
    assert "95 % Wilson interval 30.1% to 95.4%" in output
    assert dict(execute(settings, "SELECT kind, count(*) FROM events WHERE part_of IS NOT NULL GROUP BY kind")) == {
        "link": 1,
        "separation": waiting - 1,
    }
    [(reason,)] = execute(settings, "SELECT reason FROM events WHERE kind = 'decisions'")
    assert reason == "rejected in bulk (all that wait)"


def test_a_sample_of_all_pairs_leaves_nothing_to_ask_about(settings: Settings) -> None:
    waiting = len(printed(settings, "list", "--limit", "1000"))
    output = bulk(settings, "decide", "same", "--sample", "1000", answers="y\n" * waiting)
    assert f"decided {waiting} pairs" in output


def test_a_decision_on_many_pairs_in_json_asks_nothing(settings: Settings) -> None:
    for options in (("--yes",), ("--sample", "0")):
        assert "add --sample 0 --yes" in bulk(settings, "decide", "same", *options, "--json")
    assert execute(settings, "SELECT count(*) FROM events WHERE part_of IS NOT NULL") == [(0,)]


def test_a_pair_that_another_person_decides_meanwhile_is_left_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    [*_, theirs] = waiting = printed(settings, "list", "--limit", "1000")

    def confirm(question: str, **options: object) -> bool:
        run(settings, "decide", "different", theirs["left_iid"], theirs["right_iid"])
        return True

    monkeypatch.setattr(click, "confirm", confirm)
    output = bulk(settings, "decide", "same", "--sample", "0")
    assert "left alone: 1" in output
    assert f"decided {len(waiting) - 1} pairs" in output
    assert [one["left_iid"] for one in printed(settings, "list", "--state", "rejected")] == [theirs["left_iid"]]


def test_declining_after_the_sample_keeps_the_sample_alone(settings: Settings) -> None:
    bulk(settings, "decide", "same", "--sample", "2", answers="y\nn\nn\n")
    assert execute(settings, "SELECT count(*) FROM events WHERE part_of IS NOT NULL") == [(2,)]


def test_a_bulk_decision_of_the_dashboard_becomes_one_event_and_its_undo_too(settings: Settings) -> None:
    before = articles(settings)
    execute(
        settings,
        """INSERT INTO match_reviews (left_id, right_id, decision, person_id, person, batch_id, batch)
        SELECT left_id, right_id, 'accept', uuidv7(), 'Grace', '018f3c5e-0000-7000-8000-000000000001', '{"min_score": 0.6}'
        FROM links WHERE decision = 'review' AND score >= 0.6""",
    )
    count, _ = apply(settings)
    [(number, actor, reason)] = execute(settings, "SELECT no, actor, reason FROM events WHERE kind = 'decisions'")
    assert execute(settings, "SELECT count(*) FROM events WHERE part_of = $1", number) == [(count,)]
    assert (actor, reason) == ("Grace", "decided in the dashboard (min score 0.6)")
    assert articles(settings) != before
    [(one, other)] = execute(settings, "SELECT left_id, right_id FROM match_reviews ORDER BY id LIMIT 1")
    note(settings, one, other, "undo", batch="018f3c5e-0000-7000-8000-000000000001")
    apply(settings)
    assert articles(settings) == before
    assert execute(settings, "SELECT undone_by FROM events WHERE kind = 'decisions'") == [("Grace",)]
