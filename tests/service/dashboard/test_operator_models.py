"""Operators see how good the models of matching are, train another one, use it, and go back."""

from dataclasses import replace

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.articles.test_models import catalogues, links, two_catalogues
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.operators import ordered, recorded
from tests.support.database import execute
from tests.support.servers import Contents
from workers.articles.matching import training
from workers.provenance import item_acts, standing

PAGE = "/models"


@pytest.fixture
def contents() -> Contents:
    return two_catalogues


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let decisions train smaller models: they are few, and the tests ask what becomes of a model."""
    monkeypatch.setitem(training._DECIDED, "max_iter", 25)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The operator is Ada."""
    return replace(settings, staff="ada@example.org")


def decide_all_pairs(settings: Settings) -> int:
    """Decide that all twins of the two shops are one item, and that others are not; return how many decisions."""
    twins = sorted(catalogues().matches)
    others = [(left, right) for (left, _), (_, right) in zip(twins, twins[1:] + twins[:1], strict=True)]
    pairs = {pair: pair in catalogues().matches for pair in twins + others}
    ids = dict(execute(settings, "SELECT source_item_id, item_id FROM item_sources"))
    decided = [(ids[one], ids[other], same) for (one, other), same in pairs.items()]
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.decide_all(connection, decided, {}, "x", "y")
    return len(pairs)


async def test_without_decisions_the_shipped_model_is_in_force_and_training_is_refused(operator: Browser) -> None:
    shown = await ordered(operator, PAGE, wanted="model.train")
    assert 'data-figure="in-force">the shipped model<' in shown
    assert "Refused: Train" in shown and "0 decisions are too few" in shown and "decide 50 more" in shown
    assert "Go back" not in shown
    assert execute(operator.edge.settings, "SELECT count(*) FROM match_models") == [(0,)]


async def test_a_model_is_trained_used_and_taken_back(operator: Browser) -> None:
    settings = operator.edge.settings
    decided = decide_all_pairs(settings)
    before = links(settings)
    shown = await ordered(operator, PAGE, wanted="model.train")
    [(digest, kept, ranking, by)] = execute(
        settings,
        "SELECT digest, (trained_on ->> 'decisions')::int, (trained_on ->> 'ranking')::float8, created_by FROM match_models",
    )
    assert (kept, by) == (decided, "Ada")
    assert f"{decided} <span" in shown and f"{ranking:.3f}" in shown and digest[:12] in shown
    assert links(settings) == before, "a trained model is not in force"
    assert shown.count('<td class="number">') >= 9, "its figures at each probability"
    used = {"wanted": "model.use", "digest": digest, "reason": "more decisions", "merges_allowed": "yes"}
    shown = await ordered(operator, PAGE, **used)
    assert f'data-figure="in-force">{digest[:12]}<' in shown and "chosen by <bdi>Ada</bdi>" in shown
    [(number, actor, reason)] = execute(settings, "SELECT no, actor, reason FROM events WHERE kind = 'model'")
    assert (actor, reason) == ("Ada", "more decisions")
    assert links(settings) != before
    shown = await ordered(operator, PAGE, wanted="load.undo", number=str(number))
    assert 'data-figure="in-force">the shipped model<' in shown
    assert links(settings) == before
    assert [row[1:] for row in recorded(operator)] == [
        ("model.train", "", "done"),
        ("model.use", digest, "done"),
        ("load.undo", str(number), "done"),
    ]


async def test_going_back_from_an_old_page_and_models_that_nobody_keeps_are_refused(operator: Browser) -> None:
    page = "/dashboard/operator/models"
    assert await operator.send(page, wanted="load.undo", number="1") == 409
    for digest in ("", "abc", "e" * 63, "E" * 64, "../" + "e" * 61):
        assert await operator.send(page, wanted="model.use", digest=digest) == 404, digest
    assert await operator.send(page, wanted="load.undo") == 409
    assert await operator.send(page, wanted="loads.everything") == 400
    assert recorded(operator) == []
    shown = await ordered(operator, PAGE, wanted="model.use", digest="e" * 64)
    assert "Refused: Use" in shown and "no model has a digest" in shown


async def test_the_edge_reads_no_model_itself_and_of_events_only_the_choice(operator: Browser) -> None:
    with connect(operator.edge.settings.edge_database_url, application="tests") as connection:
        connection.execute("SELECT digest, trained_on FROM match_models")
        for query in ("SELECT model FROM match_models", "SELECT terms FROM events"):
            with pytest.raises(Exception, match="permission denied"), connection.transaction():
                connection.execute(query)
