"""Reading the files of an evaluation: two record files and pair files, as differently as people write them."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shared.errors import ItemIndexError
from workers.articles.matching.records import MatchRecord

_ID = ("id", "record_id", "key")
_NAME = ("name", "title", "product_name", "product_title")
_BRAND = ("brand", "manufacturer", "maker", "vendor")
_MPN = ("modelno", "mpn", "model", "model_number", "modelnumber", "part_number", "partno")
_CATEGORY = ("category", "product_category", "categories")
_DESCRIPTION = ("description", "product_description", "spec_table_content", "specs")
_LEFT = ("left_id", "left", "ltable_id", "id1", "id_left", "idabt", "idamazon", "idwalmart")
_RIGHT = ("right_id", "right", "rtable_id", "id2", "id_right", "idbuy", "idgooglebase", "idgoogle")
_LABEL = ("label", "match", "is_match", "gold", "same")
_YES = {"1", "1.0", "true", "t", "yes", "y", "match"}
_NO = {"0", "0.0", "false", "f", "no", "n", "nonmatch", "non-match"}
_LONGEST_FIELD = 1_000_000


class UnusableFile(ItemIndexError):
    """A file of an evaluation cannot be read as records or pairs."""


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs of ids with labels, in the order of the file, repetitions included.

    `labelled` is false where the file has no label column and so lists every match. `unknown` counts left-out pairs
    whose ids are in no record file.
    """

    pairs: tuple[tuple[str, str], ...]
    labels: tuple[bool, ...]
    labelled: bool
    unknown: int


def read_records(path: Path, source: str) -> dict[str, MatchRecord]:
    """Return the records of a CSV file by their id; `source` names the side.

    Prices are left out, as in loads: an evaluation says what a deployment gets.
    """
    records: dict[str, MatchRecord] = {}
    for line, row in _rows(path):
        key = _first(row, _ID)
        if not key:
            raise UnusableFile(f"{path}, line {line}: a record needs an id (column {' or '.join(_ID)})")
        if key in records:
            raise UnusableFile(f"{path}, line {line}: the id {key!r} occurs twice")
        brand, mpn = _first(row, _BRAND), _first(row, _MPN)
        category, description = _first(row, _CATEGORY), _first(row, _DESCRIPTION)
        name = _first(row, _NAME)
        records[key] = MatchRecord(f"{source}/{key}", source, name, brand, mpn, category, description)
    if not records:
        raise UnusableFile(f"{path} has no records")
    if not any(record.name for record in records.values()):
        raise UnusableFile(f"{path} has no name in any record (column {' or '.join(_NAME)})")
    return records


def read_labels(path: Path) -> list[tuple[str, str, bool]]:
    """Return the pairs of ids of a CSV file, each with its label, in the order of the file."""
    return [(*pair, _label(_first(row, _LABEL), path, line)) for line, row, pair in _pairs(path)]


def read_pairs(path: Path, left: dict[str, MatchRecord], right: dict[str, MatchRecord]) -> LabelledPairs:
    """Return the pairs of a CSV file whose ids are known; refuse a file of which no id is."""
    pairs, labels, unknown, labelled = [], [], 0, True
    for line, row, pair in _pairs(path):
        labelled = any(column in row for column in _LABEL)
        label = _label(_first(row, _LABEL), path, line) if labelled else True
        if pair[0] in left and pair[1] in right:
            pairs.append(pair)
            labels.append(label)
        else:
            unknown += 1
    if not pairs:
        raise UnusableFile(f"{path} has no pair whose two ids are in the record files ({unknown} have unknown ids)")
    return LabelledPairs(tuple(pairs), tuple(labels), labelled, unknown)


def _pairs(path: Path) -> Iterator[tuple[int, dict[str, str], tuple[str, str]]]:
    for line, row in _rows(path):
        pair = _first(row, _LEFT), _first(row, _RIGHT)
        if not all(pair):
            raise UnusableFile(f"{path}, line {line}: a pair needs two ids (columns left_id and right_id)")
        yield line, row, pair


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    limit = csv.field_size_limit(_LONGEST_FIELD)  # of the whole process: other readers keep theirs
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restkey="", restval="")
            for row in reader:
                # What stands beyond the last column is a list, and belongs to none.
                named = ((name, value) for name, value in row.items() if isinstance(value, str))
                yield reader.line_num, {(name or "").strip().lower(): value.strip() for name, value in named}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnusableFile(f"{path} cannot be read as CSV in UTF-8: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _first(row: dict[str, str], columns: tuple[str, ...]) -> str:
    return next((row[column] for column in columns if row.get(column)), "")


def _label(text: str, path: Path, line: int) -> bool:
    if text.lower() in _YES | _NO:
        return text.lower() in _YES
    raise UnusableFile(f"{path}, line {line}: the label {text!r} is neither 1 nor 0")
