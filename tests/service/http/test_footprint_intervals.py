"""GET /index/sustainability: each figure with its interval, what it rests on, and what second-hand sales avoid."""

import asyncio
import math
import random
from collections import Counter
from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.test_price_history import SALES, SOY
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows


@pytest.fixture(scope="module")
def contents() -> Contents:
    return load_rows


SOLD = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,7.00,5\n"


def own_figure(settings: Settings, indicator: str, basis: str, *spread: float | None) -> None:
    """Give the soy milk a figure of 2 with what its source states of the spread: low, high, deviation."""
    insert = "INSERT INTO impacts SELECT $1, $2, 2.0, $3, 'stated', id, '2026-01-01', $4, $5, $6 FROM sources"
    execute(settings, insert, mint("shop", "1").key, indicator, basis, *(spread or (None, None, None)))


def factor(
    settings: Settings, code: str, samples: int, log_deviation: float, per_kg: float = 2.0, basis: str = "as_sold"
) -> None:
    """Add a factor of CO2e a kilogram to a category."""
    insert = """INSERT INTO impact_factors (scope, code, indicator, per_kg, samples, log_samples, log_deviation, basis,
        method, source_id) SELECT 'category', $1, 'co2e_kg', $2, $3, $3, $4, $5, 'mean', id FROM sources"""
    execute(settings, insert, code, per_kg, samples, log_deviation, basis)


def around(mean: float, sigma: float) -> list[float]:
    """Return the bounds and the median of a log-normal with this mean."""
    median = mean * math.exp(-(sigma**2) / 2)
    return [median * math.exp(z * sigma) for z in (-1.959964, 0, 1.959964)]


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
    [_, median, _] = around(2.0, math.log(4.0 / 1.5) / (2 * 1.959964))
    assert bounds == [1.5, pytest.approx(median, rel=1e-6), 4.0, "source"]
    expected = around(2.0, math.sqrt(math.log(1.25)))
    assert deviation == [*(pytest.approx(one, rel=1e-6) for one in expected), "source"]
    # Published factors: measured 1.03, 1.03 and √1.05; modelled 1.54, 1.04, 1.1, 1.04, 1.18 and √1.05, as GSDs.
    narrow = math.hypot(math.log(1.03), math.log(1.03), math.log(1.05) / 2)
    wide = math.hypot(*map(math.log, (1.54, 1.04, 1.1, 1.04, 1.18)), math.log(1.05) / 2)
    for sigma, row in ((narrow, measured), (wide, modelled)):
        assert row == [*(pytest.approx(one, rel=1e-6) for one in around(2.0, sigma)), "pedigree"]
    assert found["acidification_kg_so2e"]["low"] is None
    assert (found["co2e_kg"]["as_of"], found["acidification_kg_so2e"]["as_of"]) == ("2026-01-01", None)


async def test_the_pedigree_that_a_source_states_takes_the_place_of_the_one_that_is_assumed(
    edge: Edge, key: str, settings: Settings
) -> None:
    for indicator, *spread in (("co2e_kg",), ("water_l", None, None, 1.0)):
        own_figure(settings, indicator, "modelled", *spread)
    execute(settings, "UPDATE impacts SET pedigree = '(2,3,1,2,4)', reference_year = 2024")
    found = await rows(edge, key)
    # Published factors of these scores: 1.54, 1.04, 1, 1.04, 2.08 and √1.05, as GSDs.
    sigma = math.hypot(*map(math.log, (1.54, 1.04, 1.04, 2.08)), math.log(1.05) / 2)
    co2e, water = found["co2e_kg"], found["water_l"]
    assert [co2e[name] for name in ("low", "central", "high")] == pytest.approx(around(2.0, sigma), rel=1e-6)
    assert (co2e["interval_from"], co2e["pedigree"], co2e["reference_year"]) == ("pedigree", "(2,3,1,2,4)", 2024)
    expected = around(2.0, math.sqrt(math.log(1.25)))  # the source's deviation says how wide the figure itself is
    assert [water[name] for name in ("low", "central", "high")] == pytest.approx(expected, rel=1e-6)
    assert (water["interval_from"], water["pedigree"]) == ("source", "(2,3,1,2,4)")
    assert found["waste_kg"]["pedigree"] is None
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    assert (record["pedigree"], record["reference_year"]) == ("(2,3,1,2,4)", 2024)


async def test_a_category_average_is_as_wide_as_its_samples_and_says_how_many(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 9, 0.4)
    row = (await rows(edge, key))["co2e_kg"]
    assert (row["per_unit"], row["samples"], row["interval_from"]) == (2.0, 9, "samples")
    student = 2.306004  # 97.5 % of Student's distribution, 8 degrees of freedom
    sigma = student / 1.959964 * 0.4 * math.sqrt(1 + 1 / 9)
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(around(2.0, sigma), rel=3e-4)


async def test_a_category_borrows_the_spread_within_the_others_and_those_of_one_group_count_once(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 2, 0.4)
    for code in ("a", "b"):  # one food group that stands for two categories
        factor(settings, code, 21, 0.8, per_kg=3.0)
    row = (await rows(edge, key))["co2e_kg"]
    student = 2.131450  # 97.5 % of Student's distribution, 1 + 14 degrees of freedom
    sigma = student / 1.959964 * math.sqrt((0.4**2 + 14 * 0.8**2) / 15 * (1 + 1 / 2))
    assert [row[name] for name in ("low", "central", "high")] == pytest.approx(around(2.0, sigma), rel=3e-4)
    assert row["interval_from"] == "samples"


async def test_a_category_with_too_few_samples_gives_way_to_the_nearest_above_it_with_enough(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks.soy-milk", 4, 0.1)
    alone = (await rows(edge, key))["co2e_kg"]
    assert (alone["code"], alone["samples"]) == ("drinks.soy-milk", 4)
    factor(settings, "drinks", 5, 0.3, per_kg=3.0)
    assert ((await rows(edge, key))["co2e_kg"]["code"], (await rows(edge, key))["co2e_kg"]["samples"]) == ("drinks", 5)
    record = (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"]
    assert record["samples"] == 5


async def test_a_factor_applies_where_the_item_weighs_on_its_basis(edge: Edge, key: str, settings: Settings) -> None:
    """A kilogram of powder is not a kilogram of the drink."""
    factor(settings, "drinks", 9, 0.4, basis="as_consumed")
    assert (await rows(edge, key))["co2e_kg"]["per_unit"] is None
    assert (await edge.get(f"/index/lookup/{SOY}")).json["sustainability"] is None
    factor(settings, "drinks", 9, 0.4, per_kg=7.0)
    assert (await rows(edge, key))["co2e_kg"]["per_unit"] == 7.0
    change = "UPDATE items SET attributes = attributes || $1::jsonb, version = version + 1 WHERE iid = $2"
    execute(settings, change, '{"weight_basis": "as_consumed"}', SOY)
    row = (await rows(edge, key))["co2e_kg"]
    assert (row["per_unit"], row["weight_basis"]) == (2.0, "as_consumed")


async def test_the_weight_of_a_volume_is_its_litres_times_their_density(
    edge: Edge, key: str, settings: Settings
) -> None:
    factor(settings, "drinks", 9, 0.4)
    change = "UPDATE items SET attributes = $1::jsonb WHERE iid = $2"
    for attributes, weight in (
        ('{"volume_l": "1.5", "density_kg_per_l": "1.03"}', 1.545),
        ('{"weight_kg": "1.4", "volume_l": "1.5", "density_kg_per_l": "1.03"}', 1.4),
        ('{"volume_l": "1.5"}', None),
        ('{"volume_l": "1.5", "density_kg_per_l": "heavy"}', None),
    ):
        execute(settings, change, attributes, SOY)
        row = (await rows(edge, key))["co2e_kg"]
        assert row["weight_kg"] == weight, attributes
        assert row["per_unit"] == (None if weight is None else pytest.approx(2.0 * weight)), attributes


async def test_second_hand_sales_avoid_by_the_rate_that_the_caller_or_wrap_states(
    edge: Edge, key: str, settings: Settings, tmp_path: Path
) -> None:
    own_figure(settings, "co2e_kg", "measured", 1.0, 4.0, None)
    listed = (await rows(edge, key, "?displacement=resale"))["co2e_kg"]
    assert listed["avoided"] is None  # offers displace nothing
    await asyncio.to_thread(load_rows, settings, tmp_path, SOLD, text=SALES, name="sales.csv")
    plain = (await rows(edge, key))["co2e_kg"]
    assert (plain["cumulative_low"], plain["cumulative"], plain["cumulative_high"]) == (5.0, 10.0, 20.0)
    assert plain["cumulative_low"] < plain["cumulative_central"] < plain["cumulative"]  # a median is below the mean
    assert plain["avoided"] is None
    for query, rate in (("displacement_rate=0", 0), ("displacement_rate=1", 1), ("displacement=resale", 0.646)):
        row = (await rows(edge, key, f"?{query}"))["co2e_kg"]
        avoided = [row[name] for name in ("avoided_low", "avoided", "avoided_high")]
        assert avoided == pytest.approx([5 * rate, 10 * rate, 20 * rate])
    meta = (await edge.get(f"/index/sustainability/{SOY}?displacement=repair", key=key)).json["meta"]["displacement"]
    assert meta["rate"] == 0.822 and "WRAP" in meta["citation"]
    assert "those sold new included" in meta["counted"]


async def test_each_channel_has_its_observations_and_its_last_day(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    dice = random.Random(3)
    counted, last = Counter({"NORTH": 3, "SOUTH": 2}), {"NORTH": "2026-07-02", "SOUTH": "2026-07-02"}
    for load in range(3):
        rows = set()
        for _ in range(300):
            day = f"2026-0{dice.choice('3456')}-{dice.randint(1, 30):02}"
            rows.add((dice.randint(10 + load * 100, 109 + load * 100), day, dice.choice(["EAST", "west", "Ω-shop"])))
        for _, day, channel in rows:
            counted[channel] += 1
            last[channel] = max(day, last.get(channel, ""))
        lines = (f"{item},Item {item},Vita,Drinks,Tea,1,{day},{channel},5,\n" for item, day, channel in sorted(rows))
        load_rows(settings, tmp_path, "".join(lines), name=f"{load}.csv")
    key = api_key(settings)
    found, cursor = [], ""
    for _ in range(3):
        page = (await edge.get(f"/index/channels?limit=2{cursor}", key=key)).json
        assert page["total"] == {"value": 5, "relation": "eq"}
        found += page["data"]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert found == [
        {"code": code, "observations": counted[code], "last_seen_on": last[code]} for code in sorted(counted)
    ]
    begun = (await edge.get("/index/channels?q=%CF%89", key=key)).json  # a small omega
    assert [entry["code"] for entry in begun["data"]] == ["Ω-shop"]
