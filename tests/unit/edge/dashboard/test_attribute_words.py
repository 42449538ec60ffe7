"""Attributes of sources have any name: those of measures carry their unit in it."""

import pytest

from edge.dashboard.attribute_words import attribute_words


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("volume_l", "1", ("Volume", "1 l")),
        ("density_kg_per_l", 1.04, ("Density", "1.04 kg/l")),
        ("weight_basis", "as_consumed", ("Weight basis", "as consumed")),
        ("carbon_intensity", "1.46", ("Carbon intensity", "1.46")),
        ("Colour", "Dark_Blue", ("Colour", "Dark_Blue")),
        ("l", "1", ("L", "1")),
        ("_", "a_b", ("", "a b")),
    ],
)
def test_an_attribute_in_words(name: str, value: object, words: tuple[str, str]) -> None:
    assert attribute_words(name, value) == words
