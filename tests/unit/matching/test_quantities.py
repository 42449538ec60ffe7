"""Amounts that names state are read for matching as their sellers mean them."""

import pytest

from workers.articles.matching.quantities import amounts, contradictions


@pytest.mark.parametrize(
    ("text", "measures", "packs"),
    [
        ("paper 1,000 sheets", {"sheet": {1000}}, set()),
        ("paper 10 000 sheets", {"sheet": {10_000}}, set()),
        ("Kopierpapier 1.000 Blatt", {"sheet": {1000}}, set()),
        ("power bank 10,000 mAh", {"mah": {10_000}}, set()),
        ("Powerbank 10.000mAh", {"mah": {10_000}}, set()),
        ("flour 1,234.5 g", {"g": {1234.5}}, set()),
        ("Mehl 1.234,5 g", {"g": {1234.5}}, set()),
        ("salt 1.000.000 g", {"g": {1_000_000}}, set()),
        ("water 1,5 l", {"ml": {1500}}, set()),
        ("pill 0.500 g", {"g": {0.5}}, set()),
        ("Reis 1.000 kg", {"g": {1000}}, set()),
        ("screws 1,500 pcs", {}, {1500}),
        ("Schrauben 1.500 Stück", {}, {1500}),
        ("diamond 1.250 ct", {}, set()),
        ("board 1,220 x 2,440 mm", {"mm": {2440}}, set()),
        ("洗发水500ml装", {"ml": {500}}, set()),
        ("シャンプー500mlパック", {"ml": {500}}, set()),
        ("牛奶250ml装x6盒", {"ml": {250}}, {6}),
        ("湿巾20pcs装", {}, {20}),
        ("model 3ml5", {}, set()),
        ("Galaxy A52 5G 189 g", {"g": {189}}, set()),
        ("iPhone 128G", {}, set()),
        ("SUGAR 500G", {"g": {500}}, set()),
        ("sugar 5g", {"g": {5}}, set()),
        ("3M tape 5 m", {"mm": {5000}}, set()),
        ("正品3M胶带", {}, set()),
        ("HDMI cable 3M", {"mm": {3000}}, set()),
        ("labels 3.5 x 5 inches", {"mm": {127}}, set()),
        ("paper 8.5 x 11, letter", {}, set()),
    ],
)
def test_numbers_are_read_as_sellers_write_them(text: str, measures: dict[str, set[float]], packs: set[int]) -> None:
    read = amounts(text)
    assert (read.measures, read.packs) == (measures, packs)


@pytest.mark.parametrize("other", ["rice 1250 g", "rice 1250 kg"])
def test_three_digits_behind_a_comma_of_kilograms_contradict_neither_meaning(other: str) -> None:
    assert contradictions(amounts("rice 1,250 kg"), amounts(other)) == []


def test_packs_of_a_thousand_and_of_one_contradict_each_other() -> None:
    assert contradictions(amounts("labels 1,000 sheets"), amounts("labels 1 sheet")) == ["sheet"]
