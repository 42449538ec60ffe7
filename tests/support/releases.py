"""Releases for tests: ordered and cut through the real path."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from psycopg.types.json import Jsonb

from shared.bulk.schema import KeptReleaseFile, key_of
from shared.db.connect import connect
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from tests.support.database import execute, owner
from tests.support.shop import load_rows
from tests.support.workers import run
from workers.bulk.releases import order


def cut(settings: Settings, **changed: Any) -> dict[str, int]:
    """Cut the newest data_version, with some of the worker's services `changed`; return what the job came to."""
    [(version,)] = execute(settings, "SELECT max(version) FROM data_versions")
    job = order(owner(settings), version)
    state = run(settings, job, **changed)
    [(result, error)] = execute(settings, "SELECT result, error FROM jobs WHERE id = $1", job)
    assert state == "succeeded", error
    return dict(result)


def files_of(settings: Settings, dataset: str, version: int) -> list[KeptReleaseFile]:
    """Return the files of a release, in their order."""
    rows = execute(
        settings,
        "SELECT name, sha256, rows, bytes, min_key, max_key, statistics FROM release_files "
        "WHERE dataset = $1 AND data_version = $2 ORDER BY place",
        dataset,
        version,
    )
    return [KeptReleaseFile(*row) for row in rows]


def without_column(settings: Settings, dataset: str, version: int, name: str) -> None:
    """Make a release one of older code, which did not have the column yet."""
    with connect(settings.database_url, application="tests") as connection:
        for file in files_of(settings, dataset, version):
            sink = pa.BufferOutputStream()
            table = pq.read_table(settings.results_dir / key_of(file.sha256)).drop_columns([name])
            pq.write_table(table, sink, compression="zstd")
            content = sink.getvalue().to_pybytes()
            sha256 = hashlib.sha256(content).hexdigest()
            with open_object_store(settings).create(key_of(sha256)) as stored:
                stored.write(content)
            for ends in ("minValues", "maxValues", "nullCount"):
                file.statistics[ends].pop(name, None)
            connection.execute(
                "UPDATE release_files SET sha256 = $1, bytes = $2, statistics = $3 "
                "WHERE dataset = $4 AND data_version = $5 AND name = $6",
                (sha256, len(content), Jsonb(file.statistics), dataset, version, file.name),
            )
        connection.execute(
            "UPDATE releases SET bytes = (SELECT sum(bytes) FROM release_files f WHERE f.dataset = $1 AND f.data_version = $2), "
            "columns = (SELECT jsonb_agg(c) FROM jsonb_array_elements(columns) c WHERE c->>'name' <> $3) "
            "WHERE dataset = $1 AND data_version = $2",
            (dataset, version, name),
        )


def released_shop(settings: Settings, folder: Path) -> None:
    """Load the shop's rows and cut their release."""
    load_rows(settings, folder)
    cut(settings)
