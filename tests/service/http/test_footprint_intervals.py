"""GET /index/sustainability: each figure with its interval, what it rests on, and what second-hand sales avoid."""

import asyncio
import math
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.test_light_reads import SALES, SOY
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows

SOLD = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,7.00,5\n"


@pytest.fixture
def contents() -> Contents:
    return load_rows


def own_figure(settings: Settings, indicator: str, basis: str, *spread: float | None) -> None:
    """Give the soy milk a figure of 2 with what its source states of the spread: low, high, deviation."""
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "INSERT INTO impacts SELECT $1, $2, 2.0, $3, 'stated', id, '2026-01-01', $4, $5, $6 FROM sources",
            (mint("shop", "1").key, indicator, basis, *(spread or (None, None, None))),
        )


def factor(settings: Settings, code: str, samples: int, log_mean: float | None, log_deviation: float | None) -> None:
    """Add a factor of 2 kg CO2e a kilogram to a category."""
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(
            "INSERT INTO impact_factors SELECT 'category', $1, 'co2e_kg', 2.0, $2, 'mean', id, $3, $4 FROM sources",
            (code, samples, log_mean, log_deviation),
        )


async def rows(edge: Edge, key: str, query: str = "") -> dict[str, dict[str, object]]:
    """Return the answer's rows by indicator."""
    answer = await edge.get(f"/index/sustainability/{SOY}{query}", key=key)
    assert answer.status == 200, answer.json
    return {row["indicator"]: row for row in answer.json["data"]}


async def test_a_source_s_own_spread_takes_precedence_over_the_pedigree_matrix(
    edge: Edge, key: str, settings: Settings
) -> None:
    own_figure(settings, "co2e_kg", "measured", 1.5, 4.0, None)
    own_figure(settings, "water_l", "measured", None, None, 1.0)
    own_figure(settings, "waste_kg", "modelled")
    own_figure(settings, "land_use_m2a", "measured")
    found = await rows(edge, key)
    bounds, deviation, modelled, measured = (
        [found[name][bound] for bound in ("low", "central", "high", "interval_from")]
        for name in ("co2e_kg", "water_l", "waste_kg", "land_use_m2a")
    )
    assert bounds == [1.5, 2.0, 4.0, "source"]
    sigma = math.sqrt(math.log(1.25))
    median = 2 / math.sqrt(1.25)
    expected = [median * math.exp(z * sigma) for z in (-1.959964, 0, 1.959964)]
    assert deviation == [*(pytest.approx(one, rel=1e-6) for one in expected), "source"]
    # Published factors: measured 1.03, 1.03 and √1.05; modelled 1.54, 1.04, 1.1, 1.04, 1.18 and √1.05, as GSDs.
    narrow = math.hypot(math.log(1.03), math.log(1.03), math.log(1.05) / 2)
    wide = math.hypot(*map(math.log, (1.54, 1.04, 1.1, 1.04, 1.18)), math.log(1.05) / 2)
    for sigma, row in ((narrow, measured), (wide, modelled)):
        assert row == [
            pytest.approx(2 * math.exp(-1.959964 * sigma), rel=1e-6),
            2.0,
            pytest.approx(2 * math.exp(1.959964 * sigma), rel=1e-6),
            "pedigree",
        ]
    assert found["acidification_kg_so2e"]["low"] is None


async def test_a_category_average_is_as_wide_as_its_samples_and_says_how_many(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 9, math.log(1.8), 0.4)
    row = (await rows(edge, key))["co2e_kg"]
    assert (row["per_unit"], row["samples"], row["interval_from"]) == (2.0, 9, "samples")
    student = 2.306004  # 97.5 % of Student's distribution, 8 degrees of freedom
    reach = student * 0.4 * math.sqrt(1 + 1 / 9)
    expected = [1.8 * math.exp(-reach), 1.8, 1.8 * math.exp(reach)]
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(expected, rel=2e-4)


async def test_a_category_borrows_the_spread_within_the_others_and_those_of_one_group_count_once(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 2, math.log(1.8), 0.4)
    for code in ("a", "b"):  # one food group that stands for two categories
        factor(settings, code, 21, 0.7, 0.8)
    row = (await rows(edge, key))["co2e_kg"]
    student = 2.131450  # 97.5 % of Student's distribution, 1 + 14 degrees of freedom
    reach = student * math.sqrt((0.4**2 + 14 * 0.8**2) / 15 * (1 + 1 / 2))
    expected = [1.8 * math.exp(-reach), 1.8, 1.8 * math.exp(reach)]
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(expected, rel=2e-4)
    assert row["interval_from"] == "samples"


async def test_a_category_with_too_few_samples_gives_way_to_the_nearest_above_it_with_enough(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 4, 0.5, 0.1)
    alone = (await rows(edge, key))["co2e_kg"]
    assert (alone["code"], alone["samples"]) == ("drinks.soy-milk", 4)
    factor(settings, "drinks", 5, 0.6, 0.3)
    assert ((await rows(edge, key))["co2e_kg"]["code"], (await rows(edge, key))["co2e_kg"]["samples"]) == ("drinks", 5)
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    assert record["samples"] == 5


async def test_second_hand_sales_avoid_by_the_rate_that_the_caller_or_wrap_states(
    edge: Edge, key: str, settings: Settings, tmp_path: Path
) -> None:
    own_figure(settings, "co2e_kg", "measured", 1.0, 4.0, None)
    listed = (await rows(edge, key, "?displacement=resale"))["co2e_kg"]
    assert listed["avoided"] is None  # offers displace nothing
    await asyncio.to_thread(load_rows, settings, tmp_path, SOLD, text=SALES, name="sales.csv")
    plain = (await rows(edge, key))["co2e_kg"]
    assert (plain["cumulative_low"], plain["cumulative_central"], plain["cumulative_high"]) == (5.0, 10.0, 20.0)
    assert plain["avoided"] is None
    for query, rate in (("displacement_rate=0", 0), ("displacement_rate=1", 1), ("displacement=resale", 0.646)):
        row = (await rows(edge, key, f"?{query}"))["co2e_kg"]
        avoided = [row[name] for name in ("avoided_low", "avoided", "avoided_high")]
        assert avoided == pytest.approx([5 * rate, 10 * rate, 20 * rate])
    meta = (await edge.get(f"/index/sustainability/{SOY}?displacement=repair", key=key)).json["meta"]["displacement"]
    assert meta["rate"] == 0.822 and "WRAP" in meta["citation"]
    assert "those sold new included" in meta["counted"]


@pytest.mark.parametrize(
    "query",
    [
        "displacement=gift",
        "displacement_rate=1.1",
        "displacement_rate=-0.1",
        "displacement_rate=nan",
        "displacement_rate=%EF%BC%91",
        "displacement_rate=0_1",
        "displacement_rate=%200.5",
        "displacement_rate=0.5&displacement=resale",
    ],
)
async def test_a_rate_that_is_none_is_refused(edge: Edge, key: str, query: str) -> None:
    answer = await edge.get(f"/index/sustainability/{SOY}?{query}", key=key)
    assert answer.status == 400
    assert answer.json["errors"][0]["parameter"].startswith("displacement")
