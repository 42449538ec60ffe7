"""What changed between two releases, row by row and why, computed by DuckDB from the files that they do not share."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from shared.bulk.schema import CHANGES, DATASETS, Dataset, KeptReleaseFile, arrow_schema, changes_of, key_of
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.objects.directory import ResultStore
from workers.bulk.part import ExportPart
from workers.bulk.sources.release import SQL as RELEASE_SQL
from workers.bulk.sources.release import ObjectFile

SQL = load_queries(__file__, "changes.duckdb.sql")
_BATCH_ROWS = 65_536
_MEMORY = "1GB"
# What tells a dataset's rows apart: the identities of loads, and so of sales also what was paid for how many.
_SALE = "CASE WHEN kind = 'sale' THEN hash(price_minor, list_minor, units) END"
_KEYS = {
    "items": "iid",
    "observations": f"iid, day, channel, kind, source, currency, {_SALE}",
    "impacts": "iid, indicator",
    "brands": "slug",
    "categories": "code",
    "merged": '"from"',
    "training_pairs": "left_iid, right_iid",
    "cards": "iid",
}
_USUAL = {"merged": "merge"}
_GROUPS = {"brands": "brand", "categories": "category"}
_CAME = ("insert", "update_postimage")

_SIGNED = (pa.field("_sign", pa.int32()), pa.field("_reason", pa.string()), pa.field("_version", pa.int64()))
_PAIRED = (
    pa.field("_place", pa.int64()),
    pa.field("_after", pa.bool_()),
    pa.field("_is_update", pa.bool_()),
    pa.field("_reason", pa.string()),
)


class ReleaseComparison:
    """Takes the rows that two releases differ in, and yields the changes. Its folder holds what memory does not."""

    def __init__(self, folder: Path) -> None:
        import duckdb  # loaded only where releases are compared

        limits: dict[str, str | bool | int | float | list[str]] = {
            "threads": 2,
            "memory_limit": _MEMORY,
            "temp_directory": str(folder),
        }
        self._database = duckdb.connect(str(folder / "changes.duckdb"), config=limits)
        for name, dataset in DATASETS.items():
            rows = pa.schema([*_plain(dataset), *_PAIRED]).empty_table()
            self._database.from_arrow(rows).create(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def take(self, dataset: Dataset, batches: Iterator[pa.RecordBatch]) -> None:
        """Take all signed rows of a dataset that may have one key. Raises what reading them raises."""
        from duckdb import Error, IOException

        schema, failures = pa.schema([*_plain(dataset), *_SIGNED]), list[Exception]()
        self._database.register("signed", pa.RecordBatchReader.from_batches(schema, _note_failures(batches, failures)))
        flag = dataset.name == "observations"
        unflagged = "hash(price_minor, list_minor, units)" if flag else "0"
        try:
            self._run(SQL.pairs, dataset, flag=str(flag), unflagged=unflagged)
        except Error as error:
            if failures:
                raise failures[0] from None  # DuckDB has only the text of what failed
            if isinstance(error, IOException):  # a full disk, where it keeps what does not fit into memory
                raise StoreUnavailable("results", state="has no room for a comparison") from error
            raise
        self._database.unregister("signed")

    def explain(self) -> None:
        """Give each change its reason, from what all datasets of the two releases say together."""
        for query in (SQL.moves, SQL.touched, SQL.moved):
            self._database.execute(query)
        for name, dataset in DATASETS.items():
            if name == "brands":
                self._database.execute(SQL.touched_groups)
            usual, kind = _USUAL.get(name, "source"), _GROUPS.get(name, "item")
            self._run(SQL.reasons, dataset, usual=usual, kind=kind, column=dataset.order[0])

    def changes(self, dataset: Dataset, version: int) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a dataset as record batches, as the release `version` names them."""
        schema = arrow_schema(CHANGES[changes_of(dataset.name)])
        order = ", ".join(f'"{column}"' for column in dataset.order)
        query = self._text(SQL.changes, dataset, order=order)
        for batch in self._database.sql(query, params={"version": version}).to_arrow_reader(_BATCH_ROWS):
            yield pa.RecordBatch.from_arrays(
                [_cast(batch.column(field.name), field.type) for field in schema], schema=schema
            )

    def _run(self, query: str, dataset: Dataset, **named: str) -> None:
        self._database.execute(self._text(query, dataset, **named))

    def _text(self, query: str, dataset: Dataset, **named: str) -> str:
        columns = ", ".join(f'"{column.name}"' for column in dataset.columns)
        return query.format(table=dataset.name, columns=columns, key=_KEYS[dataset.name], **named)


def _note_failures(batches: Iterator[pa.RecordBatch], failures: list[Exception]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except Exception as failure:
        failures.append(failure)
        raise


def differing_batches(
    store: ResultStore, dataset: Dataset, before: list[KeptReleaseFile], after: list[KeptReleaseFile]
) -> Iterator[Iterator[pa.RecordBatch]]:
    """Yield the signed rows of the files that only one of two releases has, month by month where files are split so.

    Raises ResultGone if a file is not in the store any more.
    """
    shared = {file.sha256 for file in before} & {file.sha256 for file in after}
    groups: dict[str, list[tuple[int, KeptReleaseFile]]] = {}
    for sign, files in ((-1, before), (1, after)):
        for file in files:
            if file.sha256 not in shared:
                month = file.name[: len("2026-07")] if dataset.split_by == "month" else ""
                groups.setdefault(month, []).append((sign, file))
    for listed in groups.values():
        yield _signed_batches(store, dataset, listed)


def _signed_batches(
    store: ResultStore, dataset: Dataset, files: Iterable[tuple[int, KeptReleaseFile]]
) -> Iterator[pa.RecordBatch]:
    for sign, file in files:
        for batch in _batches_of(store, file.sha256):
            signs = pa.repeat(pa.scalar(sign, pa.int32()), batch.num_rows)
            unknown = (pa.nulls(batch.num_rows, field.type) for field in _SIGNED[1:])
            yield _batch(dataset, batch, [signs, *unknown])


def changed_batches(connection: Connection, store: ResultStore, part: ExportPart) -> Iterator[pa.RecordBatch]:
    """Yield what changed between the two releases of an export's part. What changed back in between did not change."""
    dataset = next(released for released in DATASETS.values() if changes_of(released.name) == part.request.dataset)
    files = connection.execute(RELEASE_SQL.changed, (part.request.dataset, part.data_version, part.id_from)).fetchall()
    with TemporaryDirectory() as folder, ReleaseComparison(Path(folder)) as comparison:
        comparison.take(dataset, steps(store, dataset, [sha256 for (sha256,) in files]))
        yield from comparison.changes(dataset, part.data_version)


def steps(store: ResultStore, dataset: Dataset, digests: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files of changes, signed, so that a row that came and went is nothing."""
    for sha256 in digests:
        for batch in _batches_of(store, sha256):
            kinds = batch.column("_change_type").cast(pa.string()).to_pylist()
            signs = pa.array([1 if kind in _CAME else -1 for kind in kinds], pa.int32())
            reasons = batch.column("_change_reason").cast(pa.string())
            yield _batch(dataset, batch, [signs, reasons, batch.column("_data_version")])


def _batches_of(store: ResultStore, sha256: str) -> Iterator[pa.RecordBatch]:
    with ObjectFile(store.open(key_of(sha256))) as opened:
        yield from pq.ParquetFile(opened, pre_buffer=True).iter_batches(_BATCH_ROWS)


def _batch(dataset: Dataset, batch: pa.RecordBatch, signed: list[pa.Array]) -> pa.RecordBatch:
    """Return rows in the present schema of the dataset, whatever the schema of their release was."""
    schema = pa.schema([*_plain(dataset), *_SIGNED])
    there = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type) if field.name in there else pa.nulls(batch.num_rows, field.type)
        for field in _plain(dataset)
    ]
    return pa.RecordBatch.from_arrays([*columns, *signed], schema=schema)


def _plain(dataset: Dataset) -> list[pa.Field]:
    """Return the columns without dictionaries, which differ from file to file."""
    return [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in arrow_schema(dataset)
    ]


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column.cast(kind)
