"""Read the beginning of a file of any form.

Rows come from the readers of a load, so that what is guessed is what a load reads."""

import io
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.errors import LoadRefused
from workers.ingest.files import xml_groups
from workers.ingest.files.encodings import encoding_of
from workers.ingest.files.forms import UNPACKED_BYTES_MAX, Opened, form_of, form_of_text, opened
from workers.ingest.files.mended_xml import MendedXml
from workers.ingest.files.read_ndjson import line_objects
from workers.ingest.files.text_stream import ByteStream, TextStream
from workers.ingest.files.xml_groups import GroupTree
from workers.ingest.sampling.csv_dialect import sample_of_csv
from workers.ingest.sampling.documents import sample_of_json, sample_of_objects, sample_of_parquet, sample_of_xml
from workers.ingest.sampling.sample import SAMPLE_BYTES, Sample
from workers.ingest.sampling.workbooks import sample_of_workbook

_FIRST_BYTES = 1 << 9


def sample(path: Path, *, member: str = "", sheet: str = "", unpacked_bytes_max: int = UNPACKED_BYTES_MAX) -> Sample:
    """Read the beginning of a file. Raises LoadRefused where it is empty or broken, or nothing can be made of it."""
    with opened(path, member, unpacked_bytes_max) as (_, found):
        return sample_of(found, member=member, sheet=sheet)


def sample_of(found: Opened, *, member: str, sheet: str) -> Sample:
    """Read the beginning of a file that is open, as `sample` does; `member` is what it is called within an archive."""
    read = _sample_of_form(found, sheet)
    if not read.rows:
        below = f" below line {read.header}, which seems to name the columns" if read.header > 1 else ""
        raise LoadRefused(f"the file has no row{below}: export it again with the rows, or leave it out")
    if member:
        read.form["member"] = member
    return read


def category_paths(
    path: Path, form: dict[str, Any], tree: GroupTree, unpacked_bytes_max: int
) -> dict[str, tuple[str, ...]] | None:
    """Return the names of each category of a document by its id, from the widest, as `xml_groups` does."""
    row = form["records"].rpartition("/")[2].rpartition(":")[2]
    with opened(path, form.get("member", ""), unpacked_bytes_max) as (_, found), ExitStack() as files:

        def again() -> ByteStream:
            file = files.enter_context(found.path.open("rb"))
            text = TextStream(found.name, file, form.get("encoding", "utf-8"), unpacked_bytes_max)
            return MendedXml(text) if form.get("mend_xml") else text

        return xml_groups.category_paths(found.name, again, tree, row)


def _sample_of_form(found: Opened, sheet: str) -> Sample:
    form = form_of(found.name, found.file, found.path)
    if form == "parquet":
        return sample_of_parquet(found)
    if form == "sheet":
        return sample_of_workbook(found, sheet)
    with ExitStack() as files:

        def stream(encoding: str) -> TextStream:
            file = files.enter_context(found.path.open("rb"))
            return TextStream(found.name, file, encoding, found.unpacked_bytes_max)

        return _sample_of_text(found.name, stream)


def _sample_of_text(name: str, stream: Callable[[str], TextStream]) -> Sample:
    """Read the rows of a text; `stream` begins it anew in an encoding."""
    raw = _beginning(stream("utf-8"))
    if not raw.strip():
        raise LoadRefused("the file is empty: export it again, and look at it before it is loaded")
    encoding, doubt = encoding_of(raw, lambda: stream("utf-8"))
    if b"\0" in raw[:_FIRST_BYTES] and not encoding.startswith("utf-16"):
        raise LoadRefused("the file is not text, nor in another form that can be read; export it as CSV, JSON or XLSX")
    keys = {"encoding": encoding} if encoding != "utf-8" else {}
    form = form_of_text(name, stream(encoding).beginning)
    if form == "xml":
        made = sample_of_xml(name, lambda: stream(encoding))
    elif form == "json":
        made = sample_of_json(name, lambda: stream(encoding))
    elif form == "ndjson":
        objects = line_objects(name, io.BytesIO(_beginning(stream(encoding))), [])
        made = replace(sample_of_objects(objects, {}), part="member")
        if not made.rows:
            raise LoadRefused(
                "no line of the file's beginning is a JSON object: write each row as an object in a line of its own, "
                "or all of them as one list in a file whose name ends with .json"
            )
        if len(made.rows) == 1 and not name.endswith((".ndjson", ".jsonl")):  # a whole document on one line
            document = sample_of_json(name, lambda: stream(encoding))
            if document.form:
                document.form["form"] = "json"
                made = document
    else:
        text = stream(encoding)
        begun = _beginning(text)
        made = sample_of_csv(begun, whole=len(begun) < SAMPLE_BYTES or not text.read(1))
    return replace(made, form=keys | made.form, doubts=(*([f"encoding: {doubt}"] if doubt else []), *made.doubts))


def _beginning(stream: ByteStream) -> bytes:
    raw = b""
    while len(raw) < SAMPLE_BYTES and (chunk := stream.read(SAMPLE_BYTES)):
        raw += chunk
    return raw[:SAMPLE_BYTES]
