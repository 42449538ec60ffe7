"""The demo's figures equal what DuckDB computes from the source files, endpoint by endpoint."""

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tests.assurance.truth import sets
from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question, Verdict, differences
from tests.assurance.truth.endpoints import ENDPOINTS
from tests.assurance.truth.exact import Near
from tests.assurance.truth.footprint import INDICATORS
from tests.assurance.truth.index import Index
from tests.assurance.truth.stack import Stack
from tests.system.conftest import Running

# Delta Sharing's client still passes pandas a keyword that is deprecated.
pytestmark = [pytest.mark.xdist_group("stack"), pytest.mark.filterwarnings("ignore:The copy keyword is deprecated")]
QUESTIONS = 6
FOODS = sets.SHIPPED / "stats_nz_food_prices.csv.gz"
YEARS = {"from": "2016-01-01", "to": "2022-05-31"}
# The prices of each item's last thirty days, which in the demo are of one currency and kind.
BANDS = """
SELECT iid, min(price) AS low, max(price) AS high, count(*) AS observations,
       ((list_sort(list(price))[(count(*) + 1) // 2] + list_sort(list(price))[count(*) // 2 + 1]) * 0.5)::DECIMAL(20, 6) AS median
FROM (FROM observations QUALIFY day > max(day) OVER (PARTITION BY iid) - 30) GROUP BY iid"""


@pytest.fixture(scope="module")
def client(stack: Running) -> Iterator[Client]:
    service = Stack(stack.folder, stack.state["base_url"])
    service.ctl("releases", "cut", "--wait")
    opened = service.client()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def index() -> Index:
    made = Index.of(sets.shipped())
    made.db.execute("SET threads = 1")  # the questions are small: a second thread would mostly wait, at full speed
    return made


@pytest.mark.parametrize("endpoint", list(ENDPOINTS))
def test_answers_equal_an_independent_computation(client: Client, index: Index, endpoint: str) -> None:
    verdict = Verdict(endpoint)
    for question in ENDPOINTS[endpoint](client, index, Random(endpoint), QUESTIONS):
        verdict.add(question)
    assert verdict.compared > 0
    assert verdict.differences == []


def test_every_factor_of_the_food_footprints_is_the_mean_of_its_group(client: Client, index: Index) -> None:
    factors = index.rows(
        "SELECT f.code, f.indicator, f.total, f.samples, min(a.iid) AS iid FROM factors f "
        "JOIN averages a USING (code, indicator) GROUP BY ALL ORDER BY ALL"
    )
    shown = [row for row in factors if row["indicator"] in INDICATORS]
    assert len({row["code"] for row in shown}) > 20
    for row in shown:
        answer = client.get(f"/index/sustainability/{row['iid']}").body["data"]
        [found] = [one for one in answer if one["indicator"] == row["indicator"]]
        mean = Near(Fraction(row["total"]) / row["samples"])
        ours = {name: found[name] for name in ("code", "per_kg", "samples")}
        theirs = {"code": row["code"], "per_kg": mean, "samples": row["samples"]}
        assert list(differences(Question(row["iid"], ours, theirs))) == []


def test_every_record_of_the_demo_shows_the_price_band_and_the_footprint_of_its_source(
    client: Client, index: Index
) -> None:
    iids = index.column("SELECT iid FROM active ORDER BY iid")
    bands = {row.pop("iid"): row for row in index.rows(BANDS)}
    own = {row["iid"]: row["value"] for row in index.rows("SELECT iid, value FROM own_figures")}
    with_outliers = 0
    assert len(bands) > 2_000 and len(own) == 866
    for start in range(0, len(iids), 1_000):
        for iid, record in _records(client, iids[start : start + 1_000]).items():
            band, expected = record["price_band"], bands.get(iid)
            if band and band["set_aside"]:
                # The files do not say which prices are outliers: only how many there are in all.
                with_outliers += 1
                band = {"observations": band["observations"] + band["set_aside"]}
                expected = expected and {"observations": expected["observations"]}
            elif band:
                band = {name: band[name] for name in ("low", "high", "observations", "median")}
            theirs = {"band": expected, "co2e_kg": Near(Fraction(own[iid])) if iid in own else None}
            co2e = record["sustainability"]["co2e_kg"] if iid in own else None
            assert list(differences(Question(iid, {"band": band, "co2e_kg": co2e}, theirs))) == []
    assert with_outliers < len(bands) / 20


def test_the_price_of_butter_is_the_files_in_each_month_of_years(client: Client, index: Index) -> None:
    months = index.rows(
        "SELECT date AS day, value::DECIMAL(20, 4) AS price FROM read_csv(?, types = {'value': 'VARCHAR'}) "
        "WHERE food = 'Butter - salted 500g' AND date >= DATE '2016-01-01' ORDER BY date",
        [str(FOODS)],
    )
    [hit] = client.get("/index/search", {"q": "salted butter", "category": "food", "limit": 1}).body["data"]
    assert (hit["name"], len(months)) == ("Butter - salted 500g", 77)
    history = client.get(f"/index/pricing/{hit['iid']}", YEARS).body
    ours = [{"day": row["day"], "price": row["close"]} for row in history["data"]]
    assert list(differences(Question("butter", ours, months))) == []
    [of_a_year] = [one for one in history["meta"]["unit_prices"] if one["days"] == 365]
    newest = [row["price"] for row in months[-12:]]
    theirs = {"per": "kg", "low": min(newest) * 2, "high": max(newest) * 2}  # it is sold by 500 g
    assert list(differences(Question("butter, by kg", {name: of_a_year[name] for name in theirs}, theirs))) == []


def test_the_yearly_index_of_all_foods_is_chained_from_the_prices_of_the_file(client: Client, index: Index) -> None:
    steps = index.db.execute(
        "WITH years AS (SELECT food, year(date) AS year, avg(ln(value)) AS log FROM read_csv(?) "
        "WHERE value IS NOT NULL AND date >= DATE '2016-01-01' GROUP BY ALL) "
        "SELECT b.year, exp(avg(b.log - a.log)) FROM years a JOIN years b ON a.food = b.food AND b.year = a.year + 1 "
        "GROUP BY b.year ORDER BY b.year",
        [str(FOODS)],
    ).fetchall()
    expected = {"2016-01-01": 100.0}
    for year, step in steps:
        expected[f"{year}-01-01"] = expected[f"{year - 1}-01-01"] * step
    asked = {**YEARS, "category": "food", "granularity": "year", "method": "jevons"}
    rows = client.get("/index/prices/index", asked).body["data"]
    assert len(rows) == 7
    assert {row["period"]: float(row["index"]) for row in rows} == pytest.approx(expected, abs=0.05)


def _records(client: Client, iids: list[str]) -> dict[str, Any]:
    """Return the records of some IIDs; those that the database of a busy machine owes (503) are requested again."""
    records: dict[str, Any] = {}
    for _ in range(10):
        entries = client.post("/index/lookup", {"iids": [iid for iid in iids if iid not in records]}).body["data"]
        assert {entry["status"] for entry in entries} <= {200, 503}, entries
        records |= {entry["iid"]: entry["record"] for entry in entries if entry["status"] == 200}
        if len(records) == len(iids):
            return records
    raise AssertionError(f"{len(iids) - len(records)} records were not to be had")
