"""Whatever a file has in it, a guess gives a mapping that can be read or refuses with a sentence."""

import csv
import io
import json
import re
import tempfile
import tomllib
from copy import deepcopy
from pathlib import Path

import openpyxl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from shared.errors import LoadRefused
from workers.ingest.column_names import role_names
from workers.ingest.guess.column_roles import by_names
from workers.ingest.guess.guess import _Writer, guess
from workers.ingest.mapping import parse
from workers.ingest.sampling.read_sample import sample

TITLES = sorted({name for names in role_names().values() for name in names[:6]})
AMOUNTS = ["1.50", "1,50", "1.234,50", "1,234", "1 234,50", "€ 2", "$3.10", "4,20 €/ud.", "5 kr", "-1", "0", "1e9999"]
DAYS = ["2026-07-01", "1.7.2026", "01/02/2026", "2026W27", "Jul 2026", "46204", "99999999"]
TEXTS = ["Food", "Food > Tea", "Drinks/Tea", "Tea", "yes", "n/a", "NULL", "12 kg", "3017620422003", "1.23E+12", "ü", ""]
ODD = ["a\nb", 'say "x"', "a;b,c|d", "\t", "\u202e", "\\", "'007", "=1+1", "9" * 400, "\ufeff", "#REF!", "100%"]
cells = some.one_of(some.sampled_from(AMOUNTS + DAYS + TEXTS + ODD), some.text(max_size=6))
COMMON = ["sku", "name", "category", "subcategory", "department", "price", "date"]
titles = some.one_of(some.sampled_from(COMMON), some.sampled_from(TITLES), some.text(max_size=8))


@some.composite
def tables(draw: some.DrawFn) -> list[list[str]]:
    """Draw a header and rows; some columns have one kind of cells, some are empty, some are formulas."""
    header = draw(some.lists(titles, min_size=2, max_size=8))
    kinds = [draw(some.sampled_from([AMOUNTS, DAYS, TEXTS, [""], None])) for _ in header]
    formulas = [draw(some.integers(0, 3)) == 0 for _ in header]
    rows = [header]
    for _ in range(draw(some.integers(0, 6))):
        row = [draw(some.sampled_from(kind) if kind else cells) for kind in kinds]
        rows.append([f'="{text}"' if is_formula else text for text, is_formula in zip(row, formulas, strict=True)])
    return rows


def as_csv(table: list[list[str]], delimiter: str, quoting: int, encoding: str) -> bytes:
    written = io.StringIO()
    options = {"quotechar": '"', "escapechar": "\\", "quoting": quoting}
    csv.writer(written, delimiter=delimiter, **options).writerows(table)  # type: ignore[arg-type]
    return written.getvalue().encode(encoding, "replace")


def guess_or_refuse(name: str, content: bytes) -> str:
    """Return the text of a mapping, an empty one for a refusal; every other error fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            text = guess(path).text
        except LoadRefused:
            return ""
    tomllib.loads(text)
    refusal = ""
    try:
        parse(text)
    except LoadRefused as error:
        refusal = str(error)
    assert not refusal or '"?"' in refusal, text  # what a person must write is open, and nothing else is wrong
    return text


many = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@many
@given(
    tables(),
    some.sampled_from([",", ";", "\t", "|"]),
    some.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_NONE]),
    some.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1250", "cp932"]),
)
def test_any_csv(table: list[list[str]], delimiter: str, quoting: int, encoding: str) -> None:
    guess_or_refuse("a.csv", as_csv(table, delimiter, quoting, encoding))


values = some.recursive(
    some.one_of(cells, some.none(), some.booleans(), some.integers(), some.floats()),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(titles, inner, max_size=3),
    max_leaves=8,
)


@many
@given(some.lists(some.dictionaries(titles, values, max_size=6), max_size=5), some.booleans())
def test_any_json(rows: list[dict[str, object]], is_lines: bool) -> None:
    if is_lines:
        guess_or_refuse("a.ndjson", "\n".join(map(json.dumps, rows)).encode())
    else:
        guess_or_refuse("a.json", json.dumps({"products": rows}).encode())


@many
@given(tables())
def test_any_sheet(table: list[list[str]]) -> None:
    book = openpyxl.Workbook()
    for row in table:
        book.active.append([re.sub(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]", "", text) for text in row])
    written = io.BytesIO()
    book.save(written)
    guess_or_refuse("a.xlsx", written.getvalue())


@many
@given(some.binary(max_size=300), some.sampled_from(["a.csv", "a.json", "a.xml", "a.xlsx", "a.parquet", "a.csv.gz"]))
def test_any_bytes(content: bytes, name: str) -> None:
    guess_or_refuse(name, content)


def test_categories_of_codes_that_are_formulas_are_guessed() -> None:
    text = guess_or_refuse("a.csv", b'sku,name,category,subcategory,price\n1,Tea,="Food","=""Drinks""",2.50\n')
    category = tomllib.loads(text)["item"]["category"]
    assert [field["column"] for field in category] == ["category", "subcategory"]
    assert all(field["replace"] == {'="': "", '"': ""} for field in category)


def test_a_guess_changes_nothing_that_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('sku,name,category,price,sale price,gtin\n="1",="Tea",="A/B",="2.50",="0",="3017620422003"\n')
    sampled = sample(path)
    fields = by_names(sampled).fields
    before = deepcopy((sampled, fields))
    _Writer(path, sampled, fields, None).guess()
    assert (sampled, fields) == before
