"""A DuckLake catalogue of the kept releases: one database file of DuckDB that names their files (DuckLake 1.0).

A release is a snapshot whose number is its data_version, so `AT (VERSION => …)` reads what is kept. The catalogue names
files by their addresses below the API and holds no data: a reader shows its key for the catalogue and for each file.
"""

import hashlib
import re
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from shared.bulk.schema import LIST, ColumnDocument, FileStatistics, catalogue_key
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.objects.directory import ResultStore

SQL = load_queries(__file__, "catalogue.sql")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:item-index:ducklake")
_TYPES = {
    "string": "varchar",
    "date": "date",
    "timestamp": "timestamptz",
    "integer": "int32",
    "long": "int64",
    "double": "float64",
    LIST: "list",
}

# The tables of version 1.0 of the specification, all of them: a reader asks for those that are empty too.
_DUCKLAKE = """
column: column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, table_id BIGINT, column_order BIGINT,
    column_name VARCHAR, column_type VARCHAR, initial_default VARCHAR, default_value VARCHAR, nulls_allowed BOOLEAN,
    parent_column BIGINT, default_value_type VARCHAR, default_value_dialect VARCHAR
column_mapping: mapping_id BIGINT, table_id BIGINT, "type" VARCHAR
column_tag: table_id BIGINT, column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, "key" VARCHAR, "value"
    VARCHAR
data_file: data_file_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT, path
    VARCHAR, path_is_relative BOOLEAN, file_format VARCHAR, record_count BIGINT, file_size_bytes BIGINT, footer_size
    BIGINT, row_id_start BIGINT, partition_id BIGINT, encryption_key VARCHAR, mapping_id BIGINT, partial_max BIGINT
delete_file: delete_file_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, data_file_id
    BIGINT, path VARCHAR, path_is_relative BOOLEAN, format VARCHAR, delete_count BIGINT, file_size_bytes BIGINT,
    footer_size BIGINT, encryption_key VARCHAR, partial_max BIGINT
files_scheduled_for_deletion: data_file_id BIGINT, path VARCHAR, path_is_relative BOOLEAN, schedule_start
    TIMESTAMPTZ
file_column_stats: data_file_id BIGINT, table_id BIGINT, column_id BIGINT, column_size_bytes BIGINT, value_count
    BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR
file_partition_value: data_file_id BIGINT, table_id BIGINT, partition_key_index BIGINT, partition_value VARCHAR
file_variant_stats: data_file_id BIGINT, table_id BIGINT, column_id BIGINT, variant_path VARCHAR, shredded_type
    VARCHAR, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR,
    contains_nan BOOLEAN, extra_stats VARCHAR
inlined_data_tables: table_id BIGINT, table_name VARCHAR, schema_version BIGINT
macro: schema_id BIGINT, macro_id BIGINT, macro_name VARCHAR, begin_snapshot BIGINT, end_snapshot BIGINT
macro_impl: macro_id BIGINT, impl_id BIGINT, dialect VARCHAR, "sql" VARCHAR, "type" VARCHAR
macro_parameters: macro_id BIGINT, impl_id BIGINT, column_id BIGINT, parameter_name VARCHAR, parameter_type VARCHAR,
    default_value VARCHAR, default_value_type VARCHAR
metadata: "key" VARCHAR, "value" VARCHAR, "scope" VARCHAR, scope_id BIGINT
name_mapping: mapping_id BIGINT, column_id BIGINT, source_name VARCHAR, target_field_id BIGINT, parent_column
    BIGINT, is_partition BOOLEAN
partition_column: partition_id BIGINT, table_id BIGINT, partition_key_index BIGINT, column_id BIGINT, "transform"
    VARCHAR
partition_info: partition_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT
schema: schema_id BIGINT, schema_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_name VARCHAR, path
    VARCHAR, path_is_relative BOOLEAN
schema_versions: begin_snapshot BIGINT, schema_version BIGINT, table_id BIGINT
snapshot: snapshot_id BIGINT, snapshot_time TIMESTAMPTZ, schema_version BIGINT, next_catalog_id BIGINT, next_file_id
    BIGINT
snapshot_changes: snapshot_id BIGINT, changes_made VARCHAR, author VARCHAR, commit_message VARCHAR,
    commit_extra_info VARCHAR
sort_expression: sort_id BIGINT, table_id BIGINT, sort_key_index BIGINT, expression VARCHAR, dialect VARCHAR,
    sort_direction VARCHAR, null_order VARCHAR
sort_info: sort_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT
table: table_id BIGINT, table_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, table_name
    VARCHAR, path VARCHAR, path_is_relative BOOLEAN
table_column_stats: table_id BIGINT, column_id BIGINT, contains_null BOOLEAN, contains_nan BOOLEAN, min_value
    VARCHAR, max_value VARCHAR, extra_stats VARCHAR
table_stats: table_id BIGINT, record_count BIGINT, next_row_id BIGINT, file_size_bytes BIGINT
tag: object_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, "key" VARCHAR, "value" VARCHAR
view: view_id BIGINT, view_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, view_name
    VARCHAR, dialect VARCHAR, "sql" VARCHAR, column_aliases VARCHAR
"""


class KeptRelease(NamedTuple):
    """One dataset at one data_version."""

    dataset: str
    data_version: int
    columns: list[ColumnDocument]
    rows: int
    bytes: int
    created_at: datetime


class KeptFile(NamedTuple):
    """One file of a kept release."""

    dataset: str
    data_version: int
    name: str
    sha256: str
    rows: int
    bytes: int
    statistics: FileStatistics


def refresh(connection: Connection, store: ResultStore, base_url: str) -> bool:
    """Publish a new catalogue where other releases are kept than the last one names; return whether it was made."""
    releases = [KeptRelease(*row) for row in connection.execute(SQL.kept)]
    for (sha256,) in connection.execute(SQL.expire).fetchall():
        named = connection.execute(SQL.named, (sha256,)).fetchone()
        if named is not None and not named[0]:
            store.remove(catalogue_key(sha256))
    kept = ",".join(f"{release.dataset}/{release.data_version}" for release in releases)
    made_from = hashlib.sha256(f"{base_url} {kept}".encode()).hexdigest()
    newest = connection.execute(SQL.newest).fetchone()
    if not releases or (newest is not None and newest[0] == made_from):
        return False
    files = [KeptFile(*row) for row in connection.execute(SQL.files)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue"
        write_ducklake(path, releases, files, f"{base_url}/index/datasets/")
        content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    with store.create(catalogue_key(sha256)) as file:
        file.write(content)
    connection.execute(SQL.publish, (sha256, len(content), made_from))
    return True


def write_ducklake(path: Path, releases: list[KeptRelease], files: list[KeptFile], data_path: str) -> None:
    """Write the catalogue of these releases into a new file."""
    import duckdb  # both are loaded only where a catalogue is made
    import pyarrow as pa

    tables = _tables(releases, files)
    metadata = {"version": "1.0", "created_by": "Item Index", "data_path": data_path, "encrypted": "false"}
    tables["metadata"] = [(name, value, None, None) for name, value in metadata.items()]
    try:
        with duckdb.connect(config={"threads": 1}) as database:
            # The oldest format, which every version of DuckDB that knows DuckLake can read.
            database.execute(f"ATTACH '{path}' AS catalogue (STORAGE_VERSION 'v1.0.0')")
            database.execute("USE catalogue")
            for name, columns in re.findall(r"^(\w+): (.*(?:\n    .*)*)", _DUCKLAKE, re.MULTILINE):
                database.execute(f"CREATE TABLE ducklake_{name} ({columns})")
                if tables.get(name):
                    arrays = [pa.array(column) for column in zip(*tables[name], strict=True)]
                    rows = pa.table(arrays, [str(number) for number in range(len(arrays))])
                    database.from_arrow(rows).insert_into(f"ducklake_{name}")
            database.execute("USE memory")
            database.execute("DETACH catalogue")
    except duckdb.IOException as error:
        raise StoreUnavailable("results", state="takes no catalogue") from error  # a full disk: it is tried again


def _tables(releases: list[KeptRelease], files: list[KeptFile]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of the catalogue's tables by their names."""
    versions = sorted({release.data_version: release.created_at for release in releases}.items())
    numbers = {name: number for number, name in enumerate(dict.fromkeys(r.dataset for r in releases), 1)}
    first, builder = versions[0][0], _ColumnHistory()
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in ("table", "table_stats", "schema_versions")}
    rows["schema"] = [(0, _id("main"), first, None, "main", "", True)]
    schema_of_version: dict[int, int] = {}
    for release in releases:
        number = numbers[release.dataset]
        if builder.change(number, release):
            rows["schema_versions"].append((release.data_version, builder.schema_version, number))
        schema_of_version[release.data_version] = builder.schema_version
    for dataset, number in numbers.items():
        own = [release for release in releases if release.dataset == dataset]
        table = (number, _id(dataset), own[0].data_version, None, 0, dataset, f"{dataset}/releases/", True)
        rows["table"].append(table)
        rows["table_stats"].append((number, own[-1].rows, own[-1].rows, own[-1].bytes))
    data_files = list(_data_files(releases, files))
    rows["data_file"], rows["file_column_stats"] = [], []
    for number, (file, begin, end) in enumerate(data_files, 1):
        table_number = numbers[file.dataset]
        path = f"{file.data_version}/files/{file.name}"
        size = (file.rows, file.bytes, None, 0, None, None, builder.mappings[table_number, begin], None)
        rows["data_file"].append((number, table_number, begin, end, None, path, True, "parquet", *size))
        columns = builder.at(table_number, begin)
        rows["file_column_stats"] += [(number, table_number, *stats) for stats in _statistics(file, columns)]
    last = builder.next_id
    rows["snapshot"] = [(v, moment, schema_of_version[v], last, len(data_files) + 1) for v, moment in versions]
    rows["snapshot_changes"] = [(version, "", None, None, None) for version, _ in versions]
    return {**rows, **builder.rows}


class _ColumnHistory:
    """The columns of all tables through their snapshots: one that changes its type is another column."""

    def __init__(self) -> None:
        self.next_id = 1
        self.schema_version = 0
        self.mappings: dict[tuple[int, int], int] = {}
        self.rows: dict[str, list[tuple[object, ...]]] = {"column": [], "column_mapping": [], "name_mapping": []}
        self._of_version: dict[tuple[int, int], dict[str, tuple[str, int]]] = {}
        self._newest_mapping: dict[int, int] = {}
        self._current: dict[int, dict[str, tuple[str, int]]] = {}

    def at(self, table: int, version: int) -> dict[str, tuple[str, int]]:
        """Return the columns of a table's version by their names, each with its type and its id."""
        return self._of_version[table, version]

    def change(self, table: int, release: KeptRelease) -> bool:
        """Enter a release's columns; return whether they are others than those of the release before it."""
        before, version = self._current.get(table, {}), release.data_version
        now: dict[str, tuple[str, int]] = {}
        ended = {number for name, (_, number) in before.items()}
        for order, column in enumerate(release.columns, 1):
            name, kind = column["name"], column["type"]
            if name in before and before[name][0] == kind:
                now[name] = before[name]
                ended.discard(before[name][1])
                continue
            now[name] = (kind, self._number())
            self._add(table, version, now[name][1], order, name, kind, column["nullable"], None)
            if kind == LIST:
                self._add(table, version, self._number(), 1, "element", "string", False, now[name][1])
        same = bool(before) and now == before
        if not same:
            self._end(ended, version)
            self._map(table, now)
            self.schema_version += 1
        self._current[table] = self._of_version[table, version] = now
        self.mappings[table, version] = self._newest_mapping[table]
        return not same

    def _number(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    def _add(
        self,
        table: int,
        version: int,
        number: int,
        order: int,
        name: str,
        kind: str,
        nullable: bool,
        parent: int | None,
    ) -> None:
        typed = _TYPES.get(kind, kind)  # a decimal is written alike
        default = (None, None, nullable, parent, "", "duckdb")
        self.rows["column"].append((number, version, None, table, order, name, typed, *default))

    def _end(self, numbers: set[int], version: int) -> None:
        def is_ended(row: tuple[object, ...]) -> bool:
            return row[2] is None and (row[0] in numbers or row[10] in numbers)

        columns = self.rows["column"]
        self.rows["column"] = [(*row[:2], version, *row[3:]) if is_ended(row) else row for row in columns]

    def _map(self, table: int, columns: dict[str, tuple[str, int]]) -> None:
        """Files have no field ids: their columns are found by name."""
        mapping = len(self.rows["column_mapping"]) + 1
        self.rows["column_mapping"].append((mapping, table, "map_by_name"))
        self._newest_mapping[table] = mapping
        names = self.rows["name_mapping"]
        for name, (kind, number) in columns.items():
            place = len(names)
            names.append((mapping, place, name, number, None, False))
            if kind == LIST:
                names.append((mapping, place + 1, "list", number + 1, place, False))


def _data_files(releases: list[KeptRelease], files: list[KeptFile]) -> Iterable[tuple[KeptFile, int, int | None]]:
    """Return each file with the snapshot that it is in first and the first that it is not in any more."""
    by_release: dict[tuple[str, int], dict[str, KeptFile]] = {}
    for file in files:
        by_release.setdefault((file.dataset, file.data_version), {})[file.sha256] = file
    for dataset in dict.fromkeys(release.dataset for release in releases):
        versions = [release.data_version for release in releases if release.dataset == dataset]
        held: dict[str, tuple[KeptFile, int]] = {}
        for version in versions:
            now = by_release.get((dataset, version), {})
            for sha256 in held.keys() - now.keys():
                yield *held.pop(sha256), version
            # Named by the newest release that has it, which is kept longest.
            held = {sha256: (file, held[sha256][1] if sha256 in held else version) for sha256, file in now.items()}
        for file, begin in held.values():
            yield file, begin, None


def _statistics(file: KeptFile, columns: dict[str, tuple[str, int]]) -> Iterable[tuple[object, ...]]:
    kept = file.statistics
    nulls, least, most = kept.get("nullCount", {}), kept.get("minValues", {}), kept.get("maxValues", {})
    for name in nulls:
        if name in columns:
            ends = tuple(str(value) if value is not None else None for value in (least.get(name), most.get(name)))
            yield columns[name][1], None, file.rows - nulls[name], nulls[name], *ends, None, None


def _id(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))
