"""Where a field's value comes from: the first of several columns, or one beside another."""

from pathlib import Path

import pyarrow as pa
import pytest

from shared.errors import LoadRefused
from workers.ingest import clean, read_amounts, row_faults
from workers.ingest.batches import Batch
from workers.ingest.fields import Field
from workers.ingest.mapping import read

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
    assert read_amounts.amounts(field, BATCH, Path(), "EUR").values.to_pylist() == [100, 200, 200, None]
    assert [row_faults.raw(field, BATCH, Path(), row) for row in range(4)] == ["1.00", "2.00", "2.00", None]


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
