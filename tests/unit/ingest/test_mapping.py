"""A mapping: its mistakes, where its fields come from, and which days it reads."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from shared.errors import LoadRefused
from shared.index.identifiers import slug
from shared.text import in_ascii
from shared.units.names import contents
from workers.ingest import clean
from workers.ingest.batches import Batch
from workers.ingest.calendar_days import is_format, parsed, shown
from workers.ingest.clean import quantity
from workers.ingest.fields import Field
from workers.ingest.mapping import read

# A mapping with a mistake says which one; a text is cleaned as the mapping says.


PROJECT = Path(__file__).parents[3]

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
        read = clean.amounts(field, _batch(text), Path("f"), currency)
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


# Where a field's value comes from: the first of several columns, or one beside another.


BATCH = Batch(
    {
        "sale": pa.array(["1.00", " ", None, "-"]),
        "price": pa.array(["2.00", "2.00", "2.00", None]),
        "kind": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
    },
    [2, 3, 4, 5],
)


def test_of_several_columns_the_first_that_has_a_text_counts() -> None:
    field = Field(first_of=("sale", "price"), null=("", "-"))
    assert clean.texts(field, BATCH, Path()).to_pylist() == ["1.00", "2.00", "2.00", None]
    assert clean.amounts(field, BATCH, Path(), "EUR").values.to_pylist() == [100, 200, 200, None]
    assert [clean.raw(field, BATCH, Path(), row) for row in range(4)] == ["1.00", "2.00", "2.00", None]


def test_a_value_beside_an_empty_cell_does_not_count() -> None:
    for column, values in (("price", ["2.00", None, None, None]), ("kind", ["a", None, None, "b"])):
        field = Field(column=column, beside="sale")
        assert clean.texts(field, BATCH, Path()).to_pylist() == values, column


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ('{ first_of = ["a", "b"], column = "c" }', "exactly one of column, columns, first_of"),
        ('{ first_of = "a" }', "must be a list of strings"),
        ('"?"', r'price is still "\?": choose one of the readings'),
        ('{ constant = "?" }', r'price is still "\?"'),
        ('{ column = "a", crosswalk = { "x" = "?" } }', r'price is still "\?"'),
    ],
)
def test_a_field_that_is_not_decided_is_refused(tmp_path: Path, price: str, said: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        'source = "s"\ntitle = "T"\nlicense = "L"\n[item]\nid = "id"\nname = "n"\n[observation]\nday = "d"\n'
        f'channel = "s"\ncurrency = "c"\nprice = {price}\n'
    )
    with pytest.raises(LoadRefused, match=said):
        read(path)


def test_the_columns_of_a_field_must_be_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        'source = "s"\ntitle = "T"\nlicense = "L"\n[item]\nid = "id"\nname = { first_of = ["a", "b"] }\n'
        'brand = { column = "c", beside = "d" }\n'
    )
    assert read(path).columns == ("id", "a", "b", "c", "d")


# Only days that exist are read, by the first format that fits.


def test_a_text_that_is_no_day_is_not_read() -> None:
    for text, form in (
        ("31.02.2026", "%d.%m.%Y"),
        ("31.04.2026", "%d.%m.%Y"),
        ("20260230", "%Y%m%d"),
        ("Feb 30, 2026", "%b %d, %Y"),
        ("2026-02-30T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z"),
        ("2026-13-01T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z"),
        ("366 2025", "%j %Y"),
        ("2025 53 1", "%Y %W %w"),
        ("2025-W53", "%G-W%V"),
        ("2026-W00", "%G-W%V"),
        ("2026-W5", "%Y-%m"),
        ("2026111", "%Y%m%d"),
        ("2026-2-3", "%Y-%m-%d"),
        ("20260805", "%Y-%m-%d"),
        ("2026-08-05", "%d.%m.%Y"),
        ("", "%Y"),
        ("13", "%Y"),
        ("2026-08-05 and more", "%Y-%m-%d"),
        ("0000-01-01", "%Y-%m-%d"),
        ("30 février 2026", "%d %B %Y"),
        ("3 marso 2026", "%d %B %Y"),
    ):
        assert parsed(text, (form,)) is None, text


def test_a_day_is_read_as_it_is_written() -> None:
    for text, form, day in [
        ("2024-02-29", "%Y-%m-%d", date(2024, 2, 29)),
        ("5.8.2026", "%d.%m.%Y", date(2026, 8, 5)),
        ("AUG 5, 2026", "%b %d, %Y", date(2026, 8, 5)),
        ("366 2024", "%j %Y", date(2024, 12, 31)),
        ("2026-2-3", "%Y-%-m-%-d", date(2026, 2, 3)),
        ("2013", "%Y", date(2013, 12, 31)),
        ("2024-02", "%Y-%m", date(2024, 2, 29)),
        ("2026-W05", "%G-W%V", date.fromisocalendar(2026, 5, 7)),
        ("2020-W53", "%G-W%V", date.fromisocalendar(2020, 53, 7)),
        ("2026-W5", "%G-W%V", date.fromisocalendar(2026, 5, 7)),
        ("KW 05/2026", "KW %V/%G", date.fromisocalendar(2026, 5, 7)),
        ("2026-W05-3", "%G-W%V-%u", date.fromisocalendar(2026, 5, 3)),
        ("2026-08-05T01:00:00+08:00", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 4)),
        ("2026-08-05T20:00:00-08:00", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 6)),
        ("2026-08-05T20:00:00Z", "%Y-%m-%dT%H:%M:%S%z", date(2026, 8, 5)),
        ("2026年08月05日", "%Y年%m月%d日", date(2026, 8, 5)),
        ("20260805", "%Y%m%d", date(2026, 8, 5)),
        ("٢٠٢٦-٠١-٠١", "%Y-%m-%d", date(2026, 1, 1)),
        ("２０２６年１月2日", "%Y年%-m月%-d日", date(2026, 1, 2)),
        ("2026-08-05", "%F", date(2026, 8, 5)),
        # Months by their names in the languages whose names of columns are known.
        ("1er août 2026", "%d %B %Y", date(2026, 8, 1)),
        ("12 DÉC. 2026", "%d %b %Y", date(2026, 12, 12)),
        ("12 Dez. 2026", "%d %b %Y", date(2026, 12, 12)),
        ("12 dic 2026", "%d %b %Y", date(2026, 12, 12)),
        ("7 paź 2026", "%d %b %Y", date(2026, 10, 7)),
        ("7 de out. de 2026", "%d de %b de %Y", date(2026, 10, 7)),
        ("15 fevrier 2026", "%d %B %Y", date(2026, 2, 15)),  # without its accent
        ("3. listopadu 2026", "%d. %B %Y", date(2026, 11, 3)),
        ("12 сентября 2026", "%d %B %Y", date(2026, 9, 12)),
        ("5 Ağustos 2026", "%d %B %Y", date(2026, 8, 5)),
        ("9 يناير 2026", "%d %B %Y", date(2026, 1, 9)),
        ("17 Μαΐου 2026", "%d %B %Y", date(2026, 5, 17)),
        ("15 fe\u0301vrier 2026", "%d %B %Y", date(2026, 2, 15)),  # the accent as a character of its own
    ]:
        number = parsed(text, (form,))
        assert number is not None, text
        assert shown(number) == day, text


def test_the_first_format_that_fits_counts() -> None:
    formats = ("%Y-%m-%d", "%B %d %Y", "%Y")
    days = [parsed(text, formats) for text in ("2026-01-02", "January 17 2023", "2013", "soon")]
    assert [None if day is None else str(shown(day)) for day in days] == [
        "2026-01-02",
        "2023-01-17",
        "2013-12-31",
        None,
    ]


def test_a_format_with_a_mistake_is_found() -> None:
    for form, usable in (
        ("%d.%m.%Y", True),
        ("%D", True),
        ("%G-W%V-%u", True),
        ("%d.%m.", False),
        ("%H:%M", False),
        ("%Q", False),
        ("%", False),
        ("day", False),
        ("%Y %Y", False),
    ):
        assert is_format(form) is usable, form
