"""Quantities in names: spellings of one are equal, and different ones never are."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge.analytics.price_history import unit_prices
from shared.units import names
from shared.units.names import compare, contents, read
from shared.units.quantity import decimal_text, units
from shared.units.reader import NUMBER_WORDS, PACK_NUMBER_WORDS, NameReader
from shared.units.tokens import plain, tokens


def families() -> dict[str, list[list[str]]]:
    """Return the groups of equal endings of each product."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for line in Path(__file__).with_name("families.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            product, endings = line.split(": ", 1)
            found[product].append([f"{product} {ending.strip()}" for ending in endings.split(" | ")])
    return found


FAMILIES = families()


def texts(name: str) -> list[str]:
    """Return the quantities of a name as text."""
    return [quantity.text for quantity in read(name).quantities]


def test_all_spellings_of_one_quantity_are_equal() -> None:
    pairs = [pair for groups in FAMILIES.values() for group in groups for pair in combinations(group, 2)]
    assert len(pairs) > 100
    assert [pair for pair in pairs if not compare(*pair).equal] == []


def test_different_quantities_of_one_product_are_never_equal() -> None:
    groups = [pair for groups in FAMILIES.values() for pair in combinations(groups, 2)]
    assert len(groups) > 40
    assert [(a, b) for first, second in groups for a in first for b in second if compare(a, b).equal] == []


def test_names_that_look_alike_but_differ_are_different() -> None:
    for first, second in (
        ("water 1.5 l", "water 15 l"),
        ("water 1,5 l", "water 15 l"),
        ("bolt M8x20", "bolt 8x20"),
        ("wire 14 gauge", "wire 1/4 gauge"),
        ("sugar 5 kg", "sugar 5 lb"),
        ("cream 8 oz", "cream 8 fl oz"),
        ("cable 3 m", "cable 3 mm"),
        ("timer 5 m", "timer 5 min"),
        ("shoes EU 42", "shoes UK 42"),
        ("phone 12", "phone 12 inch"),
        ("freezer bag -18 °C", "freezer bag 18 °C"),
        ("jeans W32 L34", "jeans W34 L32"),
        ("memory 16GB (1x16GB)", "memory 16GB (2x8GB)"),
        ("batteries AA 4 pack", "batteries AAA 4 pack"),
        ("paper 24 rolls", "paper 24 sheets"),
        ("juice 6x1.5l", "juice 6 x 15 l"),
        ("bulb 9W (60W equivalent)", "bulb 60W"),
        ("soda 7 Up 330ml", "soda 7 x 330ml"),
    ):
        assert not compare(first, second).equal, first


# Words with which a number means something else, or begins an amount of its own, and plain ones.
ODD_WORDS = (
    "memory,DDR,phone,iPhone,router,laser,gold,pack,twin,dozen,two,half,size,M,XL,UK,EU,box,set,of,per,x,X5,minus,baby,"
    "romper,flour,Rice & Co,Butter,a,in,self-raising,Kellogg's,Milk - Oat,t-x,S-M,level-g"
).split(",")


@given(
    st.lists(st.sampled_from(ODD_WORDS), min_size=1, max_size=4).map(" ".join),
    st.integers(1, 99_999),
    st.sampled_from(["", " "]),
    st.sampled_from(["g", "G", "kg", "ml", "L", "l", "Kg", "pack", "Pack"]),
)
@settings(max_examples=400, deadline=None)
def test_a_plain_name_holds_what_the_whole_grammar_reads(words: str, number: int, space: str, unit: str) -> None:
    name = f"{words} {number}{space}{unit}"
    # With a space behind it no name is plain, and the grammar reads the same.
    assert [content[:2] for content in contents(name, {})] == [content[:2] for content in contents(f"{name} ", {})], (
        name
    )


def test_a_name_is_read_as_people_read_it() -> None:
    for name, expected in (
        ("DDR4 cable 2 m", ["2000 mm"]),
        ("WD-40 spray 100 ml", ["100 ml"]),
        ("WD-40ml", []),
        ("Ham-200g", ["200 g"]),
        ("SSD-512GB", []),
        ("Juice 1.000.5 kg", []),
        ("4K smart TV", ["4 k pixels"]),
        ("panel 4000K", ["4000 K"]),
        ("5G phone 128G", ["128000 MB"]),
        ("flour 128 g", ["128 g"]),
        ("coffee 3 in 1 20 sachets", ["20 sachet"]),
        ("vitamin C 2 a day", []),
        ("tea bags 25's", ["25 pieces"]),
        ("iPhone 5s", []),
        ("rice 1.000 kg", ["1000 g"]),
        ("pill 0.500 g", ["0.5 g"]),
        ("charger 5W-30W", ["5 W to 30 W"]),
        ("oil 10W-40", ["size SAE 10 40"]),
        ("cat food sachets multipack of 4 to 6", ["4 pieces to 6 pieces"]),
        ("crackers, box of 10 or 12", ["10 pieces to 12 pieces"]),
        ("spring rolls 10 or 12 pack", ["10 pieces to 12 pieces"]),
        ("pack of 2 - 500 ml", ["2 x 500 ml"]),
        ("3M Command hooks", []),
        ("3m hdmi cable", ["3000 mm"]),
        ("BMW X 5", []),
        ("soda 500ml 24-pack", ["24 x 500 ml"]),
        ("juice 8.4 fl oz (250 ml)", ["248.417648325 ml"]),
        ("ham 8oz 227g", ["226.796185 g"]),
        ("sausage (12.7oz) 360g", ["360.0389436875 g"]),
        ("set 100 ml 100 ml", ["100 ml", "100 ml"]),
        ("chocolate stick 32g", ["32 g"]),
        ("usb stick 32G", ["32000 MB"]),
        ("pine 2x4x8 ft", ["50.8 mm x 101.6 mm x 2438.4 mm"]),
        ("氣泡水 330毫升 x 6", ["6 x 330 ml"]),
        ("洗发水500ml装", ["500 ml"]),
        ("シャンプー500mlパック", ["500 ml"]),
        ("レノボ16GBメモリ", ["16000 MB"]),
        ("消毒酒精75%乙醇500ML瓶装", ["75 %", "500 ml"]),
        ("U盘32G高速", ["32000 MB"]),
        ("华为5G手机", []),
        ("苹果6s手机壳", []),
        ("正品3M胶带", []),
        ("数据线3m长", ["3000 mm"]),
        ("Kopierpapier A4 1.000 Blatt", ["1000 sheet"]),
        ("Schrauben 1.500 Stück", ["1500 pieces"]),
        ("paper 1,000 sheets", ["1000 sheet"]),
        ("paper 1 000 sheets", ["1000 sheet"]),
        ("pads 2 500 sheets", ["500 sheet"]),
        ("Instant Coffee - Dark Roast 8 200g", ["200 g"]),
        ("Canola Oil\\3 900 ML", ["900 ml"]),
        ("Reis 1 000 g", ["1000 g"]),
        ("sucre 1\u00a0000,5 g", ["1000.5 g"]),
        ("Zucker 1'000 g", ["1000 g"]),
        ("Sauger 1’200 W", ["1200 W"]),
        ("board 6'10\"", ["2082.8 mm"]),
        ("", []),
    ):
        assert texts(name) == expected, name


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error_and_keeps_its_order_of_words(text: str) -> None:
    reading = read(text)
    assert all(quantity.text for quantity in reading.quantities)
    assert compare(text, text).equal


_SPELLED = sorted({*NUMBER_WORDS, *PACK_NUMBER_WORDS, *units(), "of", "dozen", "x", "XL", "tea"})


@given(st.lists(st.sampled_from(_SPELLED) | st.text("abX1 \t'", max_size=4), max_size=5))
def test_texts_of_words_alone_are_read_as_all_others(words: list[str]) -> None:
    text = " ".join(words)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(names, "_may_state_some", lambda text: True)
        expected = read.__wrapped__(text)
    assert read.__wrapped__(text) == expected


def test_no_quantity_begins_with_a_word_that_is_passed_over() -> None:
    names_read = [one for groups in FAMILIES.values() for group in groups for one in group]
    words = {token.text for one in names_read for token in tokens(one)} | set(units())
    words |= {"+", "-", "extra", "minus", "plus", "sz", "w", "xxl", *NUMBER_WORDS, *PACK_NUMBER_WORDS}
    words |= names.HOLDS | {"us", "uk", "eu", "eur", "it", "fr", "jp", "cn", "au"}
    endings = (" of 6", "6 °C", " 6 °C", "32 l 34", " size 6", " 6 x 20", " large", " pack", " shirt", " ml", "")
    wrong = []
    for text in (word + ending for word in sorted(words) for ending in endings):
        reader = NameReader(plain(text))
        if names._read_at(reader, 0) and not names._may_begin(reader.tokens[0]):
            wrong.append(text)
    assert wrong == []


@given(
    st.integers(1, 9999),
    st.integers(0, 3),
    st.sampled_from([one for one, unit in units().items() if len(one) > 3 and one.isascii() and unit.size > 0]).filter(
        lambda one: one not in ("cell", "tablet")  # after a small number they name a device or its accessory
    ),
)
def test_a_quantity_is_its_number_times_its_unit(digits: int, places: int, spelling: str) -> None:
    value = Fraction(digits, 10**places)
    unit = units()[spelling]
    written = f"thing {digits / 10**places:.{places}f} {spelling}"
    found = read(written).quantities
    # A point before three digits that end in 0 groups thousands, where no name states thousandths of the unit.
    groups = places == 3 and unit.whole and digits >= 1000 and digits % 10 == 0
    expected = unit.in_base(1000 * value if groups else value)
    memory = unit.dimension == "memory" and value % 1024 == 0
    assert len(found) == 1
    assert memory or found[0].measures[0][:2] == (unit.dimension, expected)


def test_contents_are_what_one_article_holds() -> None:
    for name, attributes, expected in (
        ("Soya Bean Milk 1L", {}, {("l", "1", "name")}),
        ("Cola 6 x 330 ml", {}, {("l", "1.98", "name"), ("piece", "6", "name")}),
        ("Rice", {"net_content": "5kg"}, {("kg", "5", "attributes.net_content")}),
        ("Eggs dozen", {}, {("piece", "12", "name")}),
        ("Tissue 3 ply 10 rolls", {}, {("piece", "10", "name")}),
        ("Switch 8 port", {}, set()),
        ("Twin set 100 ml 200 ml", {}, set()),
        ("Nothing", {}, set()),
        ("Air 0 kg", {}, set()),
    ):
        found = {
            (one.per, str(float(one.amount)).removesuffix(".0"), one.read_in) for one in contents(name, attributes)
        }
        assert found == expected, name


def test_prices_per_unit_are_exact_and_rounded_once() -> None:
    statistics = [{"days": 7, "currency": "HKD", "kind": "listing", "low": "9.90", "median": None, "high": "20.00"}]
    found = {row["per"]: row for row in unit_prices(statistics, contents("Cola 6 x 330 ml", {}))}
    assert found.keys() == {"l", "piece"}
    assert [found["l"][name] for name in ("content", "low", "median", "high")] == [
        "1.98",
        "5.000000",
        None,
        "10.101010",
    ]
    assert [found["piece"][name] for name in ("content", "low", "high")] == ["6", "1.650000", "3.333333"]
    assert list(unit_prices(statistics, contents("Cola", {}))) == []


def test_a_long_row_that_means_nothing_reads_each_of_its_parts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read_number = NameReader.number

    def counted(reader: NameReader, position: int) -> object:
        asked.append(position)
        return read_number(reader, position)

    monkeypatch.setattr(NameReader, "number", counted)
    reading = names.read.__wrapped__("1 g x " * 600)
    assert len(reading.quantities) <= 1
    assert len(asked) < 10 * len(NameReader("1 g x " * 600).tokens)


def test_descriptions_are_not_kept_in_memory() -> None:
    kept = read.cache_info().currsize
    for number in range(5):
        assert names.indexed_quantities(f"{'a description ' * 40} of {number} kg") == [f"{number * 1000}_g_"]
    assert read.cache_info().currsize == kept


def test_a_value_is_written_in_digits_where_these_end() -> None:
    for value, text in (
        ("0", "0"),
        ("-1/2", "-0.5"),
        ("1/1000", "0.001"),
        ("7/3", "7/3"),
        ("-12345/8", "-1543.125"),
        ("1/25", "0.04"),
    ):
        assert decimal_text(Fraction(value)) == text, value
    assert decimal_text(Fraction(1, 10**3_000)) == f"0.{'0' * 2_999}1"


PARTS = sorted({part for groups in FAMILIES.values() for group in groups for text in group for part in text.split()})


@given(st.lists(st.sampled_from([*PARTS, "ab12", "x", "-", "WD40"]), max_size=6), st.sampled_from([" ", "", "-", ", "]))
@settings(max_examples=400)
def test_every_quantity_that_is_read_is_indexed(parts: list[str], between: str) -> None:
    """Also where a look at a text says that it states none."""
    text = between.join(parts)
    assert bool(names.indexed_quantities(text)) == bool(read(text).quantities), text
