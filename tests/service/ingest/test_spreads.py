"""How wide a source says that its figures are, and how wide the samples of a factor lie apart."""

import math
from pathlib import Path
from statistics import fmean, stdev

import pytest

from shared.settings.settings import Settings
from tests.service.ingest.contents import ask
from tests.service.ingest.test_exact import FIGURES, put, rejected

BOUNDS = (
    FIGURES + 'low = { column = "lo", multiply = 1000 }\nhigh = { column = "hi", multiply = 1000 }\ndeviation = "sd"\n'
)
BOUNDS = BOUNDS.replace('value = "co2"', 'value = { column = "co2", multiply = 1000 }')
FACTORS = """
source = "food"
title = "F"
license = "CC0-1.0"
[factors]
code = "group"
method = "mean"
indicators = { co2e_kg = "gwp" }
"""


def test_bounds_and_deviations_are_loaded_exactly_in_the_unit_of_the_figure(settings: Settings, tmp_path: Path) -> None:
    rows = "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\nb,0.5,,,90\nc,0.5,0.4,,\nd,0.5,,,\n"
    put(settings, tmp_path, BOUNDS, rows)
    found = ask(
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


@pytest.mark.parametrize(("low", "high"), [("0.6", "0.7"), ("0.1", "0.4"), ("0", "1"), ("-1", "1"), ("x", "1")])
def test_bounds_that_do_not_enclose_their_figure_are_rejects(
    settings: Settings, tmp_path: Path, low: str, high: str
) -> None:
    put(settings, tmp_path, BOUNDS, f"id,co2,lo,hi,sd\na,0.5,{low},{high},\nb,0.5,0.4,0.7,\n")
    assert [(row[1], row[2], row[3], row[5]) for row in rejected(settings)] == [(2, "lo", low, "row")]
    assert ask(settings, "SELECT count(*) FROM impacts") == [(1,)]


def test_another_spread_is_another_content_and_replaces_the_figure(settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\n")
    summary = put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.3,0.7,\n")
    assert summary.counts["impacts_replaced"] == 1
    assert ask(settings, "SELECT low::text FROM impacts") == [("300.0",)]


def test_a_factor_keeps_mean_and_deviation_of_its_samples_logarithms(settings: Settings, tmp_path: Path) -> None:
    values = [1.5, 2.5, 9.75]
    rows = "group,gwp\n" + "".join(f"bread,{value}\n" for value in values) + "milk,1\ntea,0\ntea,2\n"
    put(settings, tmp_path, FACTORS, rows)
    found = {
        row[0]: row[1:] for row in ask(settings, "SELECT code, samples, log_mean, log_deviation FROM impact_factors")
    }
    logs = [math.log(value) for value in values]
    assert found["bread"] == (3, pytest.approx(fmean(logs)), pytest.approx(stdev(logs)))
    assert found["milk"] == (1, None, None)
    assert found["tea"] == (2, None, None)
