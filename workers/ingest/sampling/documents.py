"""The beginning of XML, JSON and Parquet: each object a row, each of its members a column."""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow.parquet

from shared.errors import LoadRefused
from workers.ingest.column_names import WHOLE, name_score, role_names
from workers.ingest.files.forms import Opened
from workers.ingest.files.mended_xml import MendedXml, mended_in
from workers.ingest.files.object_batches import Constant, member_paths, spread
from workers.ingest.files.read_json import json_rows, list_path
from workers.ingest.files.read_xml import KEY_AND_VALUE, root_attributes, row_path, xml_rows
from workers.ingest.files.text_stream import ByteStream, TextStream
from workers.ingest.sampling.sample import COLUMNS_MAX, SAMPLE_ROWS, Row, Sample

# The attributes and parts that name a part.
_NAMES_OF_PARTS = ("@name", "@domain", *KEY_AND_VALUE[0])
_PRICED = re.compile("price", re.IGNORECASE)
_LEVELS_MAX = 8


def sample_of_parquet(found: Opened) -> Sample:
    batches = pyarrow.parquet.ParquetFile(found.path).iter_batches(SAMPLE_ROWS)  # each ends with its row group
    rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
    try:
        return sample_of_objects(enumerate(rows, 1), {}, lists=False)
    except (OverflowError, ValueError) as error:  # Python has no days after 9999, and no nanoseconds
        raise LoadRefused(f"a day or a time cannot be read: {str(error)[:200]}") from None


def sample_of_xml(name: str, stream: Callable[[], TextStream]) -> Sample:
    mended = mended_in(stream())

    def text() -> ByteStream:
        return MendedXml(stream()) if mended else stream()

    at = row_path(name, text())
    made = sample_of_objects(
        map(_by_name, xml_rows(name, text(), at)), {"records": at} | ({"mend_xml": True} if mended else {})
    )
    made = replace(made, titles=tuple(root_attributes(name, text())), part="part")
    said = f"mend_xml: the file is no well-formed XML: {mended} are mended; is the text right in the first rows?"
    return replace(made, doubts=(said, *made.doubts)) if mended else made


def sample_of_json(name: str, stream: Callable[[], TextStream]) -> Sample:
    """Read the objects of a document: those of its list of products, unless the document itself is the item."""

    def rows(path: str, *, in_list: bool) -> Sample:
        found = json_rows(name, stream(), path, in_list=in_list)
        return replace(sample_of_objects(found, {"records": path} if path else {}), part="member")

    if stream().beginning.lstrip().startswith(b"["):
        return rows("", in_list=True)
    return rows(list_path(name, stream()), in_list=False)


def _by_name(numbered: tuple[int, Row]) -> tuple[int, Row]:
    """Leave out the places of parts that a row has by their names: in another row another part stands there."""
    number, row = numbered
    keys = [column for column in row if column.lower().endswith(_NAMES_OF_PARTS)]
    pairs = {column.rpartition(".")[0]: row[column] for column in keys if "." in column}
    named = {place for place, name in pairs.items() if f"{re.sub(r'[.][0-9]+$', '', place)}[{name}]" in row}
    return number, {
        column: text for column, text in row.items() if column not in named and column.rpartition(".")[0] not in named
    }


def sample_of_objects(
    objects: Iterable[tuple[int, dict[str, Any]]], form: dict[str, Any], *, lists: bool = True
) -> Sample:
    """Return objects as rows: each value under the path of its member.

    `lists`: where only the members of a list have prices, each of them is a row, as `each` of a mapping makes them.
    """
    columns: dict[str, None] = {}
    rows, lines = [], []
    begun = list(itertools.islice(objects, SAMPLE_ROWS))
    each = _list_with_prices([row for _, row in begun]) if lists else ""
    form = form | ({"each": each} if each else {})
    members = ((number, one) for number, row in begun for one in spread(row, each))
    for number, row in itertools.islice(members, SAMPLE_ROWS):
        members_of_row = list(member_paths(row))
        flat = {path: value for path, value in members_of_row if not isinstance(value, dict | list | Constant)}
        flat |= _levels(members_of_row)
        columns.update(dict.fromkeys(itertools.islice(flat, max(0, COLUMNS_MAX - len(columns)))))
        rows.append({name: text for name, value in flat.items() if value is not None and (text := str(value).strip())})
        lines.append(number)
    filled = {name for row in rows for name in row}
    objects_met = {name.rpartition(".")[0] for name in columns}  # such a one is null in some rows
    return Sample(tuple(name for name in columns if name in filled or name not in objects_met), rows, lines, form)


def _levels(members: list[tuple[str, Any]]) -> dict[str, str]:
    """Return the texts of a list that is a category, each under its place: scrapers write a path so."""
    return {
        f"{path}.{place}": text
        for path, value in members
        if isinstance(value, list) and all(isinstance(one, str) for one in value) and _is_category(path)
        for place, text in enumerate(value[:_LEVELS_MAX])
    }


@cache
def _is_category(path: str) -> bool:
    return name_score(path, role_names()["category"]) >= WHOLE - 50


def _list_with_prices(objects: list[dict[str, Any]]) -> str:
    """Return the list whose members have prices where the objects around it have none; an empty text without one."""
    names = dict.fromkeys(name for one in objects for name in one)
    if any(map(_PRICED.search, names)):
        return ""
    for name in names:
        found = [one[name] for one in objects if isinstance(one.get(name), list)]
        members = {key for listed in found for member in listed if isinstance(member, dict) for key in member}
        if any(len(listed) > 1 for listed in found) and any(map(_PRICED.search, members)):
            return name
    return ""
