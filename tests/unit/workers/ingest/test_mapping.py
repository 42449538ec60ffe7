"""A mapping: its mistakes, where its fields come from, and which days it reads."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from shared.errors import LoadRefused
from shared.index.identifiers import slug
from shared.text import in_ascii
from shared.units.names import contents
from workers.ingest import clean, read_amounts
from workers.ingest.batches import Batch
from workers.ingest.clean import quantity
from workers.ingest.fields import Field
from workers.ingest.mapping import read

PROJECT = Path(__file__).parents[4]

GOOD = 'source = "s"\ntitle = "T"\nlicense = "L"\n[item]\nid = "a"\nname = "b"\n'


def test_shipped_mappings_can_be_used() -> None:
    for path in sorted((PROJECT / "deploy/mappings").glob("*.toml")):
        mapping = read(path)
        assert mapping.source == path.stem, path
        assert mapping.columns, path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source = ", "TOML"),
        (GOOD.replace('"s"', '"S x"'), "lower-case"),
        (GOOD.replace("license", "licence"), "does not know `licence`"),
        (GOOD.replace('title = "T"\n', ""), "needs `title`"),
        (GOOD.replace('name = "b"\n', ""), "needs `name`"),
        (GOOD + "[factors]\n", "either"),
        ('source = "s"\ntitle = "T"\nlicense = "L"\n', "either"),
        (GOOD.replace('"b"', '{ column = "b", constant = "c" }'), "exactly one of"),
        (GOOD.replace('"b"', '{ colum = "b" }'), "does not know `colum`"),
        (GOOD.replace('"b"', '{ column = "b", match = "(" }'), "regular expression"),
        (GOOD.replace('"b"', "7"), "column's name"),
        (GOOD.replace('"b"', '{ column = "b", match = "(a)(b)" }'), "one group"),
        (GOOD + '[observation]\nday = "d"\nchannel = "c"\nprice = "p"\ncurrency = { constant = "hkd" }\n', "ISO 4217"),
        (GOOD.replace('"b"', '{ column = "b", round = "up" }'), "one of half-even"),
        # No date follows that month, and none precedes that year: loads and reports would fail on such days.
        (GOOD.replace('"b"', '{ column = "b", max = "9999-12-31" }'), "a day from 1000-01-01 to 9998-12-31"),
        (GOOD.replace('"b"', '{ column = "b", min = "0001-01-01" }'), "a day from 1000-01-01 to 9998-12-31"),
        (
            GOOD + '[observation]\nday = "d"\nchannel = "c"\nprice = "p"\ncurrency = "u"\nkind = "gift"\n',
            "one of listing, sale, or a table that names a column",
        ),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(LoadRefused) as raised:
        read(path)
    assert words in str(raised.value)
    assert str(raised.value).startswith("m.toml: ")


def _batch(*texts: str | None) -> Batch:
    return Batch({"x": pa.array(texts, pa.string())}, list(range(len(texts))))


def test_a_text_is_cleaned() -> None:
    for field, text, cleaned in (
        (Field(column="x"), "  a ", "a"),
        (Field(column="x", null=("", "n/a")), "n/a", None),
        (Field(column="x", case="upper"), "ab", "AB"),
        (Field(column="x", match="-(?P<value>[0-9]+)$"), "a-12", "12"),
        (Field(column="x", replace=(("-", " "),)), "a-b", "a b"),
        (Field(column="x", crosswalk=(("a", "b"),)), "a", "b"),
        (Field(column="x", crosswalk=(("a", "b"),)), "z", None),
        (Field(constant="k"), "a", "k"),
        (Field(file_name=r"(\d{4})"), "a", "2026"),
        (Field(column="x"), "", None),
    ):
        assert clean.texts(field, _batch(text), Path("prices-2026.csv")).to_pylist() == [cleaned], field


def test_an_amount_is_exact_rounded_as_asked_or_nothing() -> None:
    for field, text, currency, minor in (
        (Field(column="x"), "10.9", "HKD", 1090),
        (Field(column="x", strip="€", thousands=".", decimal=","), "€ 1.234,50", "EUR", 123_450),
        (Field(column="x"), "10.900", "HKD", 1090),
        (Field(column="x"), "10.901", "HKD", None),
        (Field(column="x"), "7", "JPY", 7),
        (Field(column="x", round="half-even"), "10.905", "USD", 1090),
        (Field(column="x", round="half-even"), "10.915", "USD", 1092),
        (Field(column="x", round="half-even"), "10.9050000001", "USD", 1091),
        (Field(column="x", round="half-even"), "10.9", "USD", 1090),
        (Field(column="x", round="half-even"), "7.5", "JPY", 8),
        (Field(column="x", round="half-even"), "999999999999.999", "USD", 100_000_000_000_000),
        (Field(column="x", round="half-even"), "1." + "3" * 21, "USD", None),
        (Field(column="x", round="half-even"), "x", "USD", None),
        (Field(column="x"), "7.5", "JPY", None),
        (Field(column="x"), "٣٫٥", "HKD", 350),
        (Field(column="x", strip="，", thousands="٬", decimal="٫"), "٣٬٠٠٠٫٥", "HKD", 300_050),
        (Field(column="x"), "1_0", "HKD", None),
    ):
        read = read_amounts.amounts(field, _batch(text), Path("f"), currency)
        assert read.values.to_pylist() == [minor], field
        assert read.given.to_pylist() == [in_ascii(text)], field


def test_a_weight_is_read_as_unit_prices_read_it() -> None:
    for text, weight in (
        ("Bun 210g", "0.21"),
        ("Rice 1.5 KG", "1.5"),
        ("Cola 2x330g", "0.66"),
        ("SEAWEED 3'S X 5G", "0.015"),
        ("Water 3 × 250 ml", None),
        ("Noodles 5 packs x 100g", "0.5"),
        ("Butter 0,25 kg", "0.25"),
        ("Type 2x0g", None),
        ("Model X5 KG", None),
        ("Juice 1.000.5 kg", None),
        ("Tea", None),
        (None, None),
        ("Nil 0g", None),
        ("Oats 1KG+200G", None),
        ("Oats 1 kg + 200 g", None),
        ("Oats 1kg+2x200g", None),
        ("Chicken 800-1000g", None),
        ("Butter 1/2 kg", "0.5"),
        ("Powder 2,500 g", "2.5"),
        ("Coffee 36g x 10", "0.36"),
        ("Oatmeal 175g (35g x 5)", "0.175"),
        ("Butter 195 GM (unsalted)", "0.195"),
        ("Third 1/3 kg", "0.333333333333333333333333333333"),
        ("Powder 0,500 kg", "0.5"),
        ("Farine 1\u00a0500 g", "1.5"),
        ("Mehl 1'500 g", "1.5"),
        ("Dark Roast 8 200g", "0.2"),
        ("Powder 2.500 kg", "2.5"),
        ("Sunscreen PA++++ 80g", "0.08"),
        ("Sunscreen SPF50+ 80g", "0.08"),
        ("Ham - 200g", "0.2"),
        ("Ham-200g", "0.2"),
    ):
        assert quantity(text, "kg") == weight, text
        priced = [content.amount for content in contents(text or "", {}) if content.per == "kg"]
        assert priced == ([pytest.approx(Fraction(weight), rel=1e-20)] if weight else []), text


def test_a_volume_is_read_as_unit_prices_read_it() -> None:
    for text, volume in (
        ("Water 3 × 250 ml", "0.75"),
        ("Milk 1L", "1"),
        ("Wine 75cl.", "0.75"),
        ("Beer 24's x 330ML", "7.92"),
        ("Milk 250mL x 6", "1.5"),
        ("Milk 1 LT", "1"),
        ("Bun 210g", None),
    ):
        assert quantity(text, "l") == volume, text


def test_a_slug() -> None:
    for text, made in (("Crème & Co.", "creme-co"), ("嘉頓", "嘉頓"), ("--", "other"), ("A/B  C", "a-b-c")):
        assert slug(text) == made, text
