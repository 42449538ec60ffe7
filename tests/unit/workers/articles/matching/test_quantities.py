"""Amounts that names state are read for matching as their sellers mean them."""

from workers.articles.matching.quantities import amounts, contradictions


def test_numbers_are_read_as_sellers_write_them() -> None:
    for text, measures, packs in (
        ("paper 10 000 sheets", {"sheet": {10_000}}, set()),
        ("power bank 10,000 mAh", {"mAh": {10_000}}, set()),
        ("Powerbank 10.000mAh", {"mAh": {10_000}}, set()),
        ("flour 1,234.5 g", {"g": {1234.5}}, set()),
        ("Mehl 1.234,5 g", {"g": {1234.5}}, set()),
        ("salt 1.000.000 g", {"g": {1_000_000}}, set()),
        ("water 1,5 l", {"ml": {1500}}, set()),
        ("screws 1,500 pcs", {}, {1500}),
        ("diamond 1.250 ct", {"g": {0.25}}, set()),
        ("board 1,220 x 2,440 mm", {"mm": {1220, 2440}}, set()),
        ("牛奶250ml装x6盒", {"ml": {250}}, {6}),
        ("湿巾20pcs装", {}, {20}),
        ("model 3ml5", {}, set()),
        ("Galaxy A52 5G 189 g", {"g": {189}}, set()),
        ("iPhone 128G", {"MB": {128_000}}, set()),
        ("SUGAR 500G", {"g": {500}}, set()),
        ("sugar 5g", {"g": {5}}, set()),
        ("3M tape 5 m", {"mm": {5000}}, set()),
        ("HDMI cable 3M", {"mm": {3000}}, set()),
        ("labels 3.5 x 5 inches", {"mm": {88.9, 127}}, set()),
        ("paper 8.5 x 11, letter", {}, set()),
    ):
        read = amounts(text)
        assert (read.measures, read.packs) == (measures, packs), text


def test_three_digits_behind_a_comma_of_kilograms_contradict_neither_meaning() -> None:
    for other in ("rice 1250 g", "rice 1250 kg"):
        assert contradictions(amounts("rice 1,250 kg"), amounts(other)) == [], other


def test_packs_of_a_thousand_and_of_one_contradict_each_other() -> None:
    assert contradictions(amounts("labels 1,000 sheets"), amounts("labels 1 sheet")) == ["sheet"]


def test_so_many_packed_together_contradict_one_alone() -> None:
    for left, right, against in (
        ("Cola 330 ml can", "Cola 24 x 330 ml cans", ["pack"]),
        ("Cola 330 ml", "Cola 330 ml, pack of 24", ["pack"]),
        ("Cola 12 x 330 ml", "Cola 24 x 330 ml", ["pack"]),
        ("Cola 24 x 330 ml", "Cola cans 330ml (24 pack)", []),
        ("Cola 24 x 330 ml", "Cola 7.92 l", []),
        ("Cola", "Cola 24 x 330 ml", []),
        ("memory kit 16GB (2x8GB)", "memory kit 16 GB", []),
        ("memory 8GB", "memory kit 2x8GB", ["pack"]),
        ("tea 20 bags 40 g", "tea 40 g", []),
        ("raisins 9 bags 125 g", "raisins 9包裝 125克", []),
        ("vitamin C 60 tablets", "vitamin C 90 capsules", ["pack"]),
    ):
        assert (
            contradictions(amounts(left), amounts(right)) == contradictions(amounts(right), amounts(left)) == against
        ), left


def test_what_an_attribute_states_of_one_of_a_pack_does_not_make_the_pack_a_single() -> None:
    pack = amounts("Cola 24 x 330 ml", "330 ml")
    assert contradictions(pack, amounts("Cola 330 ml")) == ["pack"]
    assert contradictions(amounts("Cola 330 ml", "24 cans"), amounts("Cola 330 ml")) == ["pack"]
