"""What one row of a batch, or one data extension, may say: bounded, since a row costs the same whatever it says."""

import pytest

from edge.http.problems import Problem
from edge.reconcile.extension import read_extension
from edge.reconcile.queries import read_queries
from shared.json_types import JsonValue


def row(*properties: JsonValue) -> dict[str, JsonValue]:
    return {"q0": {"query": "Soy milk", "properties": list(properties)}}


@pytest.mark.parametrize(
    "properties",
    [
        [{"pid": "gtin", "v": str(number)} for number in range(21)],
        [{"pid": "brand", "v": ["a"] * 11}, {"pid": "brand", "v": ["b"] * 10}],
        [{"pid": "gtin", "v": ["1"] * 21}],
        [{"pid": "size", "v": ["330 ml " * 100, "6 x 1 l " * 100]}],
    ],
)
def test_a_query_whose_properties_say_too_much_is_refused(properties: list[JsonValue]) -> None:
    with pytest.raises(Problem) as refused:
        read_queries("queries", row(*properties))
    assert "at most" in str(refused.value.detail)


def test_values_of_a_property_that_comes_twice_are_all_read() -> None:
    query = read_queries("queries", row({"pid": "size", "v": "330"}, {"pid": "size", "v": ["ml"]}))["q0"]
    assert query.row.size == "330 ml"


def test_a_column_that_is_asked_for_many_times_is_one() -> None:
    asked: dict[str, JsonValue] = {"ids": ["x"], "properties": [{"id": "name"}, {"id": "gtin"}, {"id": "name"}] * 5_000}
    assert [one.id for one in read_extension("extend", asked).columns] == ["name", "gtin"]
