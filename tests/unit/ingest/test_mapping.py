"""A mapping with a mistake says which one; a text is cleaned as the mapping says."""

from pathlib import Path

import pyarrow as pa
import pytest

from shared.errors import LoadRefused
from shared.index.slugs import slug
from workers.ingest import clean
from workers.ingest.batches import Batch
from workers.ingest.fields import Field
from workers.ingest.mapping import read
from workers.ingest.normalize import quantity

PROJECT = Path(__file__).parents[3]
GOOD = 'source = "s"\ntitle = "T"\nlicense = "L"\n[item]\nid = "a"\nname = "b"\n'


@pytest.mark.parametrize("path", sorted((PROJECT / "deploy/mappings").glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_mappings_can_be_used(path: Path) -> None:
    mapping = read(path)
    assert mapping.source == path.stem
    assert mapping.columns


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


@pytest.mark.parametrize(
    ("field", "text", "cleaned"),
    [
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
    ],
)
def test_a_text_is_cleaned(field: Field, text: str, cleaned: str | None) -> None:
    assert clean.texts(field, _batch(text), Path("prices-2026.csv")).to_pylist() == [cleaned]


@pytest.mark.parametrize(
    ("field", "text", "currency", "minor"),
    [
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
        (Field(column="x"), "٣", "HKD", None),
        (Field(column="x"), "1_0", "HKD", None),
    ],
)
def test_an_amount_is_exact_rounded_as_asked_or_nothing(
    field: Field, text: str, currency: str, minor: int | None
) -> None:
    read = clean.amounts(field, _batch(text), Path("f"), currency)
    assert read.values.to_pylist() == [minor]
    assert read.given.to_pylist() == [text]


@pytest.mark.parametrize(
    ("form", "text", "day"),
    [
        ("%Y-%m-%d", "2000-01-02", 1),
        ("%d.%m.%Y", "02.01.2000", 1),
        ("%Y", "2000", 365),
        ("%Y-%m-%d", "2026-02-30", None),
        ("%Y-%m-%d", "2026-2-3", None),
        ("%Y", "20", None),
    ],
)
def test_a_day_is_a_real_day_or_nothing(form: str, text: str, day: int | None) -> None:
    assert clean.days(Field(column="x", format=(form,)), _batch(text, text), Path("f")).values.to_pylist() == [day, day]


@pytest.mark.parametrize(
    ("text", "weight"),
    [
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
        ("Butter 1/2 kg", None),
        ("Powder 2,500 g", None),
        ("Powder 0,500 kg", "0.5"),
        ("Powder 2.500 kg", "2.5"),
        ("Sunscreen PA++++ 80g", "0.08"),
        ("Sunscreen SPF50+ 80g", "0.08"),
        ("Ham - 200g", "0.2"),
        ("Ham-200g", "0.2"),
    ],
)
def test_a_weight_that_ends_a_name(text: str | None, weight: str | None) -> None:
    assert quantity(text, "kg") == weight


@pytest.mark.parametrize(
    ("text", "volume"),
    [
        ("Water 3 × 250 ml", "0.75"),
        ("Milk 1L", "1"),
        ("Wine 75cl.", "0.75"),
        ("Beer 24's x 330ML", "7.92"),
        ("Bun 210g", None),
    ],
)
def test_a_volume_that_ends_a_name(text: str, volume: str | None) -> None:
    assert quantity(text, "l") == volume


@pytest.mark.parametrize(
    ("text", "made"), [("Crème & Co.", "creme-co"), ("嘉頓", "嘉頓"), ("--", "other"), ("A/B  C", "a-b-c")]
)
def test_a_slug(text: str, made: str) -> None:
    assert slug(text) == made
