"""Every form of file gives the same index; a broken one changes nothing, and a bad row is kept with its reason."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from shared.errors import LoadRefused
from shared.settings.settings import Settings
from tests.service.ingest.contents import ask, state
from tests.support.shop import HEADER, ROWS, load_rows, mapping
from workers.ingest.load import load

REJECTED = [
    (",No id,B,G,K,1,2026-07-01,N,1,", "no item id"),
    ("9,,B,G,K,1,2026-07-01,N,1,", "no name"),
    ("9,X,B,G,K,1,2026-02-30,N,1,", "no day"),
    ("9,X,B,G,K,1,01.07.2026,N,1,", "no day"),
    ("9,X,B,G,K,1,1850-07-01,N,1,", "before 1900"),
    ("9,X,B,G,K,1,2026-07-01,,1,", "no channel"),
    ("9,X,B,G,K,1,2026-07-01,N,-1,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,NaN,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,inf,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,1.005,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,1e5,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,99999999999999,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N", "has 8 columns instead of 10"),
    ("9," + "X" * 1001 + ",B,G,K,1,2026-07-01,N,1,", "1,000"),
    ("9,a\0b,B,G,K,1,2026-07-01,N,1,", "NUL"),
]


def test_a_row_that_cannot_be_used_is_kept_with_its_line_and_reason(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(f"{row}\n" for row, _ in REJECTED)
    summary = load_rows(settings, tmp_path, ROWS + rows + ROWS.splitlines()[0] + "\n")
    assert summary.counts["rejected"] == len(REJECTED)
    assert summary.counts["items_new"] == 3
    kept = ask(settings, "SELECT file, line, reason FROM rejects ORDER BY line")
    for line, ((row, reason), reported) in enumerate(zip(REJECTED, kept, strict=True), 7):
        assert reported[:2] == ("shop.csv", line)
        assert reason in reported[2], row


def test_bad_utf8_spoils_only_its_row(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "bytes.csv"
    path.write_bytes((HEADER + ROWS).encode() + b"9,\xff\xfe,B,G,K,1,2026-07-01,N,1,\n")
    summary = load(settings, mapping(tmp_path), [path])
    assert summary.counts["observations_new"] == 5
    assert ask(settings, "SELECT line, reason FROM rejects") == [(7, "is not valid UTF-8")]


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.csv", b"", "empty"),
        ("cut.csv.gz", gzip.compress((HEADER + ROWS * 50).encode())[:-40], "broken"),
        ("other.csv", b"a,b\n1,2\n", "sku"),
        ("noise.csv.gz", b"\x1f\x8b" + os.urandom(200), "broken"),
        ("noise.parquet", b"PAR1" + os.urandom(100), "broken"),
    ],
    ids=["empty", "cut", "other", "noise in gzip", "noise in parquet"],
)
def test_a_broken_file_changes_nothing_and_says_why(
    settings: Settings, tmp_path: Path, name: str, content: bytes, word: str
) -> None:
    load_rows(settings, tmp_path)
    before = state(settings)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LoadRefused, match=word):
        load(settings, mapping(tmp_path), [path])
    assert state(settings) == before
    assert ask(settings, "SELECT state FROM loads ORDER BY started_at DESC LIMIT 1") == [("failed",)]


@pytest.mark.parametrize("form", ["csv.gz", "csv.zst", "ndjson", "ndjson.gz", "parquet", "bom.csv", "crlf.csv"])
def test_every_form_of_file_gives_the_same_index(settings: Settings, tmp_path: Path, form: str) -> None:
    text, path = HEADER + ROWS, tmp_path / f"shop.{form}"
    table = pyarrow.csv.read_csv(
        pa.BufferReader(text.encode()),
        convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(HEADER.strip().split(","), pa.string())),
    )
    if form == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif form.startswith("ndjson"):
        raw = "\n".join(json.dumps(row) for row in table.to_pylist()).encode()
        path.write_bytes(gzip.compress(raw) if form.endswith("gz") else raw)
    elif form == "csv.zst":
        path.write_bytes(pa.compress(text.encode(), "zstd", asbytes=True))
    else:
        raw = {
            "csv.gz": gzip.compress(text.encode()),
            "bom.csv": b"\xef\xbb\xbf" + text.encode(),
            "crlf.csv": text.replace("\n", "\r\n").encode(),
        }[form]
        path.write_bytes(raw)
    summary = load(settings, mapping(tmp_path), [path])
    assert (summary.counts["items_new"], summary.counts["observations_new"]) == (3, 5)
    assert ask(settings, "SELECT sum(price_minor) FROM observations") == [(6490,)]
