"""The amounts of cells, read as a load reads them with each habit of thousands and decimals. Pure."""

from pathlib import Path

import pyarrow as pa

from workers.ingest import read_amounts
from workers.ingest.batches import Batch
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.fields import Field
from workers.ingest.guess.cell_kinds import EXPONENT
from workers.ingest.guess.currency_marks import mark_of, meant_by

HABITS = (("", "."), (",", "."), (".", ","), ("", ","), (" ", ","), (" ", "."), ("'", "."), ("'", ","))


def read_numbers(spec: ColumnSpec, texts: list[str]) -> list[str | None]:
    """Read the numbers of amounts as a load does, which takes none with an exponent for a price."""
    read = read_amounts.numbers(_field(spec), Batch({"": pa.array(texts, pa.string())}, []), Path(), signed=True)
    values = zip(texts, read.values.to_pylist(), strict=True)
    return [None if value is None or EXPONENT.search(text) else str(value) for text, value in values]


def free_amounts(spec: ColumnSpec, texts: list[str]) -> list[int | None]:
    """Read amounts as a load does, each in the currency that it states."""
    by_currency: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        by_currency.setdefault(min(meant_by(mark_of(text)), default=""), []).append(place)
    read: list[int | None] = [None] * len(texts)
    # One batch for each currency: Arrow costs as much for one row as for a thousand.
    for currency, places in by_currency.items():
        batch = Batch({"": pa.array([texts[place] for place in places], pa.string())}, [])
        values = read_amounts.amounts(_field(spec), batch, Path(), currency).values.to_pylist()
        for place, value in zip(places, values, strict=True):
            read[place] = value
    return read


def _field(spec: ColumnSpec) -> Field:
    return Field(
        column="",
        replace=tuple(spec.get("replace", {}).items()),
        strip=spec.get("strip", ""),
        thousands=spec.get("thousands", ""),
        decimal=spec.get("decimal", "."),
        free_form=spec.get("free_form", False),
    )


def differ(one: str, other: str) -> bool:
    """Return whether two readings of an amount are not the same amount."""
    return float(one) != float(other)
