"""Estimates from categories, and the command that holds figures out."""

import csv
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.random import default_rng

from deploy.ctl.calc import calc
from deploy.ctl.demo import DATA
from shared.errors import InvalidFile
from shared.uncertainty import evaluation as csv_file
from shared.uncertainty.evaluation import Sample, summary, without_category, without_item
from shared.uncertainty.stated import nearest, of_category, of_others


def population(categories: int, each: int, between: float, within: float, seed: int) -> list[Sample]:
    """Make figures of categories that differ, log-normal around their categories."""
    rng = default_rng(seed)
    samples = []
    for number in range(categories):
        middle = rng.normal(0, between)
        values = np.exp(middle + rng.normal(0, within, each))
        samples += [Sample(f"{number}.{n}", f"c{number}", "kg", float(value)) for n, value in enumerate(values)]
    return samples


@pytest.mark.parametrize(("between", "within"), [(1.0, 0.3), (0.1, 0.8), (1.5, 1.5)])
def test_of_the_held_out_figures_nine_tenths_are_inside(between: float, within: float) -> None:
    samples = [one for seed in range(8) for one in population(20, 8, between, within, seed)]
    shares = [summary(way(samples))["share_inside"] for way in (without_category, without_item)]
    assert all(share >= 0.9 for share in shares)


def test_intervals_are_no_wider_than_they_must_be() -> None:
    found = summary(without_item(population(30, 40, 1.0, 0.5, 3)))
    assert found["share_inside"] <= 0.99
    assert found["median_high_over_low"] == pytest.approx(math.exp(2 * 1.96 * 0.5), rel=0.15)


def test_a_category_with_enough_samples_is_its_own_basis_and_says_how_many() -> None:
    estimate = nearest("a.b", {"a.b": [1.0, 2.0, 3.0, 4.0, 5.0], "a.c": [100.0] * 9})
    assert (estimate.samples, estimate.categories) == (5, 1)
    assert estimate == of_category([1.0, 2.0, 3.0, 4.0, 5.0])


def test_a_category_with_few_samples_is_estimated_below_its_nearest_ancestor_that_has_enough() -> None:
    groups = {"a.b": [1.0, 2.0], "a.c": [2.0, 3.0, 4.0], "z": [1e6] * 20}
    estimate = nearest("a.b", groups)
    assert (estimate.samples, estimate.categories) == (5, 2)
    assert estimate.figure.median < 10
    assert nearest("q", groups).samples == 25


def test_one_other_category_alone_is_widened_for_the_difference_that_it_cannot_show() -> None:
    values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0]
    assert of_others({"a": values}).figure.sigma > of_category(values).figure.sigma + 0.5


def test_two_categories_alone_make_no_interval_without_end() -> None:
    groups = {"a": [1.0, 1.2, 0.9] * 9, "b": [4.0, 3.5, 5.0] * 9}
    low, central, high = of_others(groups).figure.interval
    assert low < min(groups["a"]) < central < max(groups["b"]) < high
    assert high / low < 1e5


def test_fewer_samples_make_a_wider_interval() -> None:
    few, many = of_category([1.0, 2.0, 4.0]), of_category([1.0, 2.0, 4.0] * 10)
    assert few.figure.sigma > 2 * many.figure.sigma


def test_columns_are_found_by_their_headers_and_can_be_named() -> None:
    lines = [
        "subcategory,manufacturer,name,gwp_total,unit,category",
        'Laptop,X,A,"1,200.5",kg,IT',
        "Laptop,X,B,0,kg,IT",
    ]
    found = csv_file.read(lines, {})
    assert found.samples == [Sample("A", "it", "kg", 1200.5)]
    assert found.unusable == 1
    assert csv_file.read(lines, {"category": "subcategory"}).samples[0].category == "laptop"
    with pytest.raises(InvalidFile, match="lacks the column nothing"):
        csv_file.read(lines, {"value": "nothing"})
    with pytest.raises(InvalidFile, match="category"):
        csv_file.read(["name,gwp", "a,1"], {})


def test_figures_of_different_units_are_apart() -> None:
    kilograms = population(6, 5, 0.2, 0.2, 1)
    litres = [one._replace(unit="l", value=one.value * 1e6) for one in kilograms]
    apart, alone = without_category([*kilograms, *litres]), without_category(kilograms)
    assert [one.estimate.figure.sigma for one in apart[: len(alone)]] == [one.estimate.figure.sigma for one in alone]


def test_the_command_prints_the_share_inside_and_each_category(tmp_path: Path) -> None:
    file = tmp_path / "devices.csv"
    with file.open("w", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(["name", "category", "value", "unit"])
        writer.writerows((one.name, one.category, one.value, one.unit) for one in population(8, 6, 1.0, 0.5, 2))
    result = CliRunner().invoke(calc, ["footprint", str(file), "--json"], catch_exceptions=False)
    answer = json.loads(result.output)
    held_out = answer["leave_one_category_out"]
    assert held_out["estimated"] == 48
    assert held_out["share_inside"] == round(held_out["inside"] / 48, 6) >= 0.9
    assert sum(row["inside"] for row in answer["categories"]) == held_out["inside"]
    assert {row["categories"] for row in answer["categories"]} == {7}


@pytest.mark.parametrize(("file", "figures"), [("carbon_catalogue.csv.gz", 866), ("rivm_food_footprints.csv", 238)])
def test_of_published_footprints_held_out_by_category_nine_tenths_lie_inside(file: str, figures: int) -> None:
    content = (DATA / file).read_bytes()
    text = (gzip.decompress(content) if file.endswith(".gz") else content).decode("utf-8-sig")
    read = csv_file.read(text.splitlines(keepends=True), {})
    found = summary(without_category(read.samples))
    assert found["estimated"] == figures
    assert found["share_inside"] >= 0.9
