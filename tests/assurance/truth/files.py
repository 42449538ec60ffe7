"""Files of the bulk interfaces, read by DuckDB and held against the expected tables row by row."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index

_HERE = Path(__file__).parent
DATASETS = ("items", "observations", "impacts", "brands", "categories")
# How each column of a file is read so that every format gives the same value; the others are taken as text.
_CASTS = {
    "alt_names": "{}::VARCHAR[]",
    "top_categories": "{}::VARCHAR[]",
    "channels": "{}::VARCHAR[]",
    "identifiers": 'from_json({}::JSON, \'[{{"scheme": "VARCHAR", "value": "VARCHAR"}}]\')',
    "attributes": "list_sort(map_entries({}::JSON::MAP(VARCHAR, VARCHAR)))",
    "first_seen_on": "{}::DATE",
    "day": "{}::DATE",
    "as_of": "{}::DATE",
    "item_count": "{}::BIGINT",
    "level": "{}::BIGINT",
    "price": "{}::DECIMAL(20, 4)",
    "list_price": "{}::DECIMAL(20, 4)",
    "price_minor": "{}::BIGINT",
    "list_minor": "{}::BIGINT",
    "units": "{}::BIGINT",
    "per_unit": "{}::DOUBLE",
}
_SHOWN_MAX = 10


def expected(index: Index, dataset: str) -> str:
    """Return the query of a dataset's expected rows."""
    texts = re.split(r"-- name: (\w+)\n", (_HERE / "datasets.sql").read_text())
    return dict(zip(texts[1::2], texts[2::2], strict=True))[dataset]


def compared(index: Index, text: str, dataset: str, files: Sequence[Path], where: str = "true") -> Iterator[Question]:
    """Yield one question for all rows that are as expected, and one for each row that is missing or too many."""
    index.db.execute(f"CREATE OR REPLACE TEMP TABLE theirs AS SELECT * FROM ({expected(index, dataset)}) WHERE {where}")
    names = [row[0] for row in index.db.execute("DESCRIBE theirs").fetchall()]
    _read(index, files, names)
    listed = ", ".join(f'"{name}"' for name in names)
    total = index.column("SELECT count(*) FROM theirs")[0]
    missing = index.rows(f"SELECT {listed} FROM theirs EXCEPT ALL SELECT {listed} FROM ours ORDER BY ALL")
    extra = index.rows(f"SELECT {listed} FROM ours EXCEPT ALL SELECT {listed} FROM theirs ORDER BY ALL")
    yield Question(f"{text}: {total} rows", None, None, weight=max(1, total - len(missing)))
    by_key = {row[names[0]]: row for row in extra}
    for row in missing:
        yield Question(f"{text} row {row[names[0]]}", by_key.pop(row[names[0]], "(absent)"), row)
    for row in by_key.values():
        yield Question(f"{text} row {row[names[0]]}", row, "(absent)")


def _read(index: Index, files: Sequence[Path], names: Sequence[str]) -> None:
    suffix = files[0].name.split(".", 1)[1] if files else "parquet"
    paths = [str(file) for file in files]
    if not files:
        index.db.execute("CREATE OR REPLACE TEMP TABLE ours AS SELECT * FROM theirs LIMIT 0")
        return
    if suffix == "arrows":
        table = pa.concat_tables(pa.ipc.open_stream(path).read_all() for path in paths)
        index.db.register("file_rows", table)
        source = "file_rows"
    elif suffix.startswith("parquet"):
        source = f"read_parquet({paths!r})"
    elif suffix.startswith("csv"):
        source = f"read_csv({paths!r}, header = true, all_varchar = true)"
    else:
        spelled = ", ".join(f"'{name}': 'JSON'" for name in names)
        source = f"read_json({paths!r}, format = 'newline_delimited', columns = {{{spelled}}})"
    columns = [f"{_value(name, suffix)} AS {name}" for name in names]
    index.db.execute(f"CREATE OR REPLACE TEMP TABLE ours AS SELECT {', '.join(columns)} FROM {source}")


def _value(name: str, suffix: str) -> str:
    """Return the expression that reads a column of a file."""
    text = name
    if suffix.startswith("csv"):
        # A cell that a spreadsheet would run begins with an apostrophe there; lists are JSON.
        text = f"regexp_replace({name}, '^''([=+@\\t\\r\\n-])', '\\1')"
        if _CASTS.get(name, "").endswith("VARCHAR[]"):
            return f"from_json({name}::JSON, '[\"VARCHAR\"]')"
    elif suffix.startswith("ndjson"):
        text = f"({name} ->> '$')"
        if _CASTS.get(name, "").endswith("VARCHAR[]"):
            return f"from_json({name}, '[\"VARCHAR\"]')"
    cast = _CASTS.get(name, "{}::VARCHAR")
    return cast.format(text)
