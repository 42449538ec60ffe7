"""The demo data, which is real: prices of supermarkets in Hong Kong, and footprints of food."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from deploy.ctl.demo import load_demo
from deploy.terminal import Terminal
from edge.analytics.reports.declared import REPORTS_BY_KIND
from shared.analytics.results import Rows, digest
from shared.articles import SQL as MATCHES
from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.support.reports import quiet
from tests.support.servers import Servers
from tests.support.weights import store_weights
from workers.analytics.reports.publish import COMPUTATIONS

PROJECT = Path(__file__).parents[3]
README, TOUR = PROJECT / "README.md", PROJECT / "docs" / "guides" / "tour.md"


@pytest.fixture(scope="module")
def demo(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with servers.fresh(tmp_path_factory.mktemp("demo")) as settings:
        load_demo(settings, Terminal(quiet=True))
        yield settings


@pytest.fixture
def connection(demo: Settings) -> Iterator[Connection]:
    with connect(demo.worker_database_url, application="tests", autocommit=True) as opened_connection:
        yield opened_connection


def test_every_report_of_the_demo_says_something(demo: Settings, connection: Connection) -> None:
    seen = connection.execute(
        "SELECT code FROM categories JOIN month_cells m ON scope = 't' AND m.id = categories.id LIMIT 1"
    )
    [(code,)] = seen.fetchall()
    for kind, make in COMPUTATIONS.items():
        must_name = REPORTS_BY_KIND[kind].endpoints[0].query().validate({})
        if "weights" in must_name:
            weights = store_weights(demo, [("food", "", "1")], date(2020, 1, 1))
            answer = make(connection, weights | {"currency": "NZD"}, quiet)
        else:
            answer = make(connection, {"category": [code]} if must_name else {}, quiet)
        # The sources of the demo bring no list prices, so nothing is announced as a reduction.
        assert (answer.table.num_rows > 0) is (kind != "reductions"), kind
        assert digest(answer.rows) == digest(Rows.of(answer.table.to_pylist(), answer.rows.schema)), kind
        assert answer.days.first <= answer.days.last
        covered = answer.coverage
        assert covered["observed_days"] + covered["missing_days"] == covered["days"]


def test_food_in_new_zealand_is_dearest_in_its_winter(connection: Connection) -> None:
    asked = {"category": ["food"], "currency": "NZD", "from": "2012-06-01", "to": "2022-05-31"}
    rows = COMPUTATIONS["seasons"](connection, asked, quiet).table.to_pylist()
    assert all(row["seasonal"] for row in rows)
    factors = {row["period"].month: row["factor"] for row in rows}
    assert max(factors, key=factors.__getitem__) in (7, 8)
    assert min(factors, key=factors.__getitem__) == 12


def test_the_demo_has_as_many_items_as_the_documents_say(demo: Settings) -> None:
    with connect(demo.database_url, application="tests") as owner:
        counts = owner.execute(
            "SELECT s.name, count(*) FROM item_sources t JOIN sources s ON s.id = t.source_id GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
    assert counts == [("hk_pricewatch", 2_623), ("carbon_catalogue", 866), ("stats_nz_food_prices", 155)]
    [readme, tour] = (" ".join(path.read_text().split()) for path in (README, TOUR))
    assert "3,644 items of three sources" in readme and "3,644 items of three sources" in tour
    assert all(f"{count:,} " in tour for _, count in counts)


def test_a_month_without_a_price_is_no_price_and_an_average_is_no_product(demo: Settings) -> None:
    with connect(demo.database_url, application="tests") as owner:
        [(rows, months, outliers, least)] = owner.execute(
            "SELECT count(*), count(DISTINCT day), count(outlier), min(price_minor) FROM observations o "
            "JOIN sources s ON s.id = o.source_id WHERE s.name = 'stats_nz_food_prices'"
        ).fetchall()
        [summary] = owner.execute("SELECT summary FROM loads ORDER BY started_at DESC LIMIT 1").fetchall()
        joined = owner.execute(
            "SELECT i.name FROM items i JOIN item_sources t ON t.item_id = i.id JOIN sources s ON s.id = t.source_id "
            "WHERE s.name = 'stats_nz_food_prices' AND i.status <> 'active'"
        ).fetchall()
    assert (rows, months, outliers, joined) == (27_121, 192, 0, [])
    assert least > 0
    assert (summary[0]["observations_absent"], summary[0]["rejected"]) == (82, 0)


def test_as_many_pairs_of_the_demo_wait_for_review_as_the_readme_says(demo: Settings) -> None:
    with connect(demo.database_url, application="tests") as owner:
        waiting = owner.execute(MATCHES.pairs, ("waiting", *[None] * 7)).fetchall()
        linked = owner.execute(MATCHES.pairs, ("linked", *[None] * 7)).fetchall()
    assert (len(linked), len(waiting)) == (0, 1), waiting
    assert "one pair waits for review" in " ".join(README.read_text().split())
