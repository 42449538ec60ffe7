"""Reads CSV files of people whose columns may have other names than ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from shared.errors import InvalidFile

FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
COLUMN = click.option("--column", "columns", multiple=True, help="NAME=COLUMN if a column has another name: item=sku.")


class CsvFile(NamedTuple):
    """Rows of a file as text, and the columns that a command needs by its names, without spaces around values."""

    rows: pa.Table
    columns: dict[str, pa.ChunkedArray]


def csv_file(
    path: Path,
    names: Mapping[str, Sequence[str]],
    named: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    *,
    whole: bool = False,
) -> CsvFile:
    """Read a CSV file, plain or compressed. `names` are the names that a column may have, in any case.

    `named` are the values of --column, of a command that has this option; the rows have the needed columns alone unless
    they are to be `whole`. Raises InvalidFile for a file that is not CSV in UTF-8 or has no rows, and for a column that
    it has not, or twice.
    """
    given = _columns_by_name(named or (), names)
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    try:
        header = arrow_csv.open_csv(path, parse_options=parse).schema.names
        found = _labels_of(header, names, given, optional, asks=named is not None)
        read = header if whole else list(dict.fromkeys(found.values()))
        as_text = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(read, pa.string()), include_columns=None if whole else read
        )
        rows = arrow_csv.read_csv(path, parse_options=parse, convert_options=as_text)
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as error:
        raise InvalidFile(f"the file cannot be read as CSV in UTF-8: {error}") from None
    if not rows.num_rows:
        raise InvalidFile("the file has no row below its header")
    return CsvFile(rows, {column: pc.utf8_trim_whitespace(rows.column(label)) for column, label in found.items()})


def _labels_of(
    header: list[str],
    names: Mapping[str, Sequence[str]],
    given: Mapping[str, str],
    optional: Sequence[str],
    *,
    asks: bool,
) -> dict[str, str]:
    """Return the file's label of each column that it has; `asks`: whether --column can name another."""
    usual = [name.strip().lower().replace(" ", "_") for name in header]
    found = {}
    for column, known in names.items():
        labels, wanted = (header, [given[column]]) if column in given else (usual, known)
        name = next((name for name in wanted if name in labels), None)
        if name is not None:
            if labels.count(name) > 1:
                raise InvalidFile(f"the file has more than one column `{name}`")
            found[column] = header[labels.index(name)]
        elif column not in optional or column in given:
            remedy = f"; name it by --column {column}=COLUMN" if asks else ""
            if any(separator in name for name in header for separator in ";\t|"):
                remedy = ": commas separate columns"
            raise InvalidFile(f"the file has no column `{wanted[0]}`{remedy}")
    return found


def _columns_by_name(named: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    given = dict(text.partition("=")[::2] for text in named)
    if not given.keys() <= names.keys() or "" in given.values():
        raise click.BadParameter(f"NAME=COLUMN with a name of {', '.join(names)}", param_hint="--column")
    return given
