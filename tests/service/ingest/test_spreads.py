"""How wide a source says that its figures are, and how wide the samples of a factor lie apart."""

import math
from pathlib import Path
from statistics import stdev

import pytest

from shared.settings.settings import Settings
from tests.service.ingest.test_values import put, rejected
from tests.support.database import execute
from tests.support.shop import MEASURED

BOUNDS = (
    MEASURED + 'low = { column = "lo", multiply = 1000 }\nhigh = { column = "hi", multiply = 1000 }\ndeviation = "sd"\n'
)

BOUNDS = BOUNDS.replace('value = "co2"', 'value = { column = "co2", multiply = 1000 }')

QUALITY = MEASURED + 'pedigree = "dq"\nreference_year = "year"\n'

FACTORS = """
source = "food"
title = "F"
license = "CC0-1.0"
[factors]
code = "group"
method = "mean"
reference_year = 2021
indicators = { co2e_kg = "gwp" }
"""


def test_bounds_and_deviations_are_loaded_exactly_in_the_unit_of_the_figure(settings: Settings, tmp_path: Path) -> None:
    rows = "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\nb,0.5,,,90\nc,0.5,0.4,,\nd,0.5,,,\n"
    put(settings, tmp_path, BOUNDS, rows)
    found = execute(
        settings,
        "SELECT source_item_id, low::text, high::text, deviation::text FROM impacts JOIN item_sources USING (item_id)"
        " ORDER BY 1",
    )
    assert found == [
        ("a", "400.0", "700.0", None),
        ("b", None, None, "90"),
        ("c", None, None, None),
        ("d", None, None, None),
    ]
    assert rejected(settings) == []


def test_the_quality_of_a_figure_is_kept_in_one_notation_and_other_texts_are_rejects(
    settings: Settings, tmp_path: Path
) -> None:
    rows = 'id,co2,dq,year\na,1,(2;3;1;2;4),2024\nb,1,"2, 3, 1, 2, 4",\nc,1,,1999\nd,,"(1,1,1,1,1)",2024\n'
    put(settings, tmp_path, QUALITY, rows + 'e,1,"(2,3,1,2)",\nf,1,"(2,3,1,2,6)",\ng,1,,24\nh,1,,1899\n')
    statement = (
        "SELECT source_item_id, pedigree, reference_year FROM impacts JOIN item_sources USING (item_id) ORDER BY 1"
    )
    assert execute(settings, statement) == [
        ("a", "(2,3,1,2,4)", 2024),
        ("b", "(2,3,1,2,4)", None),
        ("c", None, 1999),
    ]
    reasons = [reason for reason, *_ in execute(settings, "SELECT reason FROM rejects ORDER BY line")]
    scores, year = "is not five scores from 1 to 5, such as (2,3,1,2,4)", "is not a year from 1900 to 2199"
    assert reasons == [scores, scores, year, year]


def test_another_quality_is_another_content_and_replaces_the_figure(settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path, QUALITY, 'id,co2,dq,year\na,1,"(2,3,1,2,4)",2024\n')
    summary = put(settings, tmp_path, QUALITY, 'id,co2,dq,year\na,1,"(1,3,1,2,4)",2024\n')
    assert summary.counts["impacts_replaced"] == 1
    assert execute(settings, "SELECT pedigree, reference_year FROM impacts") == [("(1,3,1,2,4)", 2024)]


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_the_quality_is_that_of_the_preferred_source_whichever_was_loaded_first(
    settings: Settings, tmp_path: Path, order: tuple[str, str]
) -> None:
    put(settings, tmp_path, QUALITY.replace("[[impacts]]", "").partition('indicator = "co2e_kg"')[0], "id\na\n")
    joined = QUALITY.replace('name = { constant = "Thing" }', 'join_by = "id"\njoin_source = "lab"')
    rows = {"first": 'a,1,"(2,3,1,2,4)",2024\n', "second": 'a,2,"(1,1,1,1,1)",2020\n'}
    for name in order:
        rank = ("first", "second").index(name)
        mapping = joined.replace('source = "lab"\ntitle', f'source = "{name}"\nrank = {rank}\ntitle')
        put(settings, tmp_path, mapping, "id,co2,dq,year\n" + rows[name])
    found = execute(settings, "SELECT per_unit::float8, pedigree, reference_year FROM impacts")
    assert found == [(1, "(2,3,1,2,4)", 2024)]


def test_another_spread_is_another_content_and_replaces_the_figure(settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\n")
    summary = put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.3,0.7,\n")
    assert summary.counts["impacts_replaced"] == 1
    assert execute(settings, "SELECT low::text FROM impacts") == [("300.0",)]


def test_a_factor_keeps_the_spread_of_its_samples_that_are_above_0(settings: Settings, tmp_path: Path) -> None:
    values = [1.5, 2.5, 9.75]
    rows = "group,gwp\n" + "".join(f"bread,{value}\nrolls,{value}\n" for value in values)
    put(settings, tmp_path, FACTORS, rows + "rolls,0\nmilk,1\ntea,0\ntea,2\nwater,0\n")
    statement = "SELECT code, per_kg::float8, samples, log_samples, log_deviation FROM impact_factors"
    found = {row[0]: row[1:] for row in execute(settings, statement)}
    assert {*execute(settings, "SELECT reference_year FROM impact_factors")} == {(2021,)}
    deviation = pytest.approx(stdev(map(math.log, values)))
    assert found["bread"] == (pytest.approx(13.75 / 3), 3, 3, deviation)
    assert found["rolls"] == (pytest.approx(13.75 / 4), 4, 3, deviation)
    assert found["milk"] == (1, 1, 1, None)
    assert found["tea"] == (1, 2, 1, None)
    assert found["water"] == (0, 1, 0, None)
