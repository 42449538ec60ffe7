"""Exports of what is released are read from the release: when it holds all that is wanted, and only then."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from shared.bulk.schema import key_of
from shared.db.connect import Connection
from shared.objects.directory import DirectoryStore
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from tests.service.exports.test_faults import MANY_PARTS, expected, rows_in, run_in_parts
from tests.support.database import execute
from tests.support.exports import WANTED, column, made, manifest_of, ordered, parameters, read
from tests.support.releases import cut
from tests.support.s3 import in_bucket
from tests.support.servers import Contents, begins_with
from tests.support.shop import load_rows
from tests.support.workers import run
from workers.bulk import export_part as part_worker
from workers.bulk.part import RELEASE, ExportPart
from workers.dispatcher.dispatch import SQL as RELAY
from workers.jobs.services import WorkerServices


def things(settings: Settings, folder: Path) -> None:
    days = ("2026-06-30", "2026-07-01", "2026-07-31", "2026-08-15")
    rows = "".join(
        f"{n},Thing {n},Vita,Drinks,Tea,1,{days[n % 4]},{'NORTH' if n % 3 else 'SOUTH'},{n},\n" for n in range(1, 121)
    )
    load_rows(settings, folder, rows)


def released_things(settings: Settings, folder: Path) -> None:
    things(settings, folder)
    cut(settings)


@pytest.fixture
def contents() -> Contents:
    return released_things


def plan_of(settings: Settings, job: str) -> list[tuple[str, int]]:
    """Return what each part read, and at which attempt it was made."""
    query = """
SELECT parameters->'part'->>'snapshot', attempt FROM jobs WHERE parent_id = $1 AND state = 'succeeded'
ORDER BY parameters->'part'->>'number'"""
    return execute(settings, query, job)


def test_unfiltered_parquet_is_the_releases_own_bytes(settings: Settings) -> None:
    manifest = made(settings, parameters("observations", "parquet", "zstd"), split_rows=MANY_PARTS)
    files = execute(
        settings, "SELECT sha256, rows, bytes FROM release_files WHERE dataset = 'observations' ORDER BY place"
    )
    assert len(files) == 3
    assert [(file.sha256, file.rows, file.bytes) for file in manifest.files] == files
    assert [(file.min_key, file.max_key) for file in manifest.files][1] == ("2026-07-01", "2026-07-31")
    for file in manifest.files:
        read(settings, file)


@begins_with(things)
def test_out_of_a_bucket_and_into_it(settings: Settings, s3: str) -> None:
    bucket = in_bucket(settings, s3)
    cut(bucket)
    for format, compression in (("parquet", "zstd"), ("csv", "none")):
        wanted = {**WANTED, "format": format, "compression": compression}
        job = ordered(bucket, wanted)
        assert run_in_parts(bucket, job) == "succeeded"
        assert {source for source, _ in plan_of(settings, job)} == {RELEASE}
        for file in manifest_of(bucket, job).files:
            reader = open_object_store(bucket).open(file.key)
            assert hashlib.sha256(reader.read(0, file.bytes)).hexdigest() == file.sha256
            reader.close()
    assert not (settings.results_dir / job).exists()


def test_days_choose_files_and_then_rows(settings: Settings) -> None:
    wanted = parameters(
        "observations",
        "csv",
        "none",
        columns=["iid", "day", "price_minor"],
        channel=["SOUTH"],
        **{"from": "2026-07-31", "to": "2026-08-31"},
    )
    job = ordered(settings, wanted)
    assert run_in_parts(settings, job) == "succeeded"
    assert plan_of(settings, job) == [(RELEASE, 1), (RELEASE, 1)]
    found = rows_in(settings, manifest_of(settings, job))
    assert 0 < len(found) < 40
    assert found == expected(settings, wanted)


def test_rows_that_the_files_lack_come_from_postgresql(settings: Settings) -> None:
    wanted: tuple[dict[str, Any], ...] = ({"brand": ["vita"]}, {"category": ["drinks"]}, {"since": 1})
    for more in wanted:
        job = ordered(settings, parameters("observations", "csv", "none", **more))
        assert run_in_parts(settings, job) == "succeeded", more
        assert RELEASE not in {source for source, _ in plan_of(settings, job)}, more


def test_a_release_of_an_older_version_is_not_read(settings: Settings, queued_job: str, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "500,New,Vita,Drinks,Tea,1,2026-07-05,NORTH,9,\n", name="n.csv")
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert RELEASE not in {source for source, _ in plan_of(settings, queued_job)}
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


@pytest.mark.parametrize("harm", ["gone", "short"])
def test_a_release_that_has_lost_a_file_is_not_read(settings: Settings, queued_job: str, harm: str) -> None:
    [[sha256]] = execute(settings, "SELECT sha256 FROM release_files WHERE dataset = 'observations' AND place = 1")
    path = settings.results_dir / key_of(sha256)
    if harm == "gone":
        DirectoryStore(settings.results_dir).remove(key_of(sha256))
    else:
        path.write_bytes(path.read_bytes()[:-1])
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert RELEASE not in {source for source, _ in plan_of(settings, queued_job)}
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


def test_bytes_that_were_changed_in_the_store_are_never_handed_on(settings: Settings) -> None:
    [[sha256]] = execute(settings, "SELECT sha256 FROM release_files WHERE dataset = 'observations' AND place = 1")
    path = settings.results_dir / key_of(sha256)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    job = ordered(settings, parameters("observations", "parquet", "zstd"))
    assert run_in_parts(settings, job) == "failed"
    assert column(settings, job, "result") is None


def test_small_files_are_read_together(settings: Settings, queued_job: str) -> None:
    assert run(settings, queued_job) == "succeeded"
    assert plan_of(settings, queued_job) == [(RELEASE, 1)]
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


def test_a_part_that_fails_is_repeated_alone(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, failed = part_worker.write_part, []

    def once(services: WorkerServices, connection: Connection, part: ExportPart, *rest: Any) -> Any:
        if part.number == 2 and not failed:
            failed.append(part.number)
            raise RuntimeError
        return write(services, connection, part, *rest)

    monkeypatch.setattr(part_worker, "write_part", once)
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert plan_of(settings, queued_job) == [(RELEASE, 1), (RELEASE, 2), (RELEASE, 1)]
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


@begins_with(things)
def test_a_release_that_comes_between_two_workers_is_split_anew(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Nothing of this process continues."""

    def die(*arguments: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(part_worker, "write_part", die)
        with pytest.raises(Killed):
            run_in_parts(settings, queued_job)
    cut(settings)
    expired = "UPDATE jobs SET lease_until = now() - interval '1 minute' WHERE state = 'running' RETURNING 1"
    assert len(execute(settings, expired)) == 2
    assert queued_job in [row[0] for row in execute(settings, RELAY.requeue_expired)]
    assert run_in_parts(settings, queued_job) == "succeeded"
    assert {source for source, _ in plan_of(settings, queued_job)} == {RELEASE}
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)


def test_a_release_that_lacks_a_column_is_not_read_for_it(settings: Settings) -> None:
    """Code from before may have cut it: then PostgreSQL is asked, and the column is there."""
    execute(
        settings,
        "UPDATE releases SET columns = jsonb_path_query_array(columns, '$[*] ? (@.name != \"sources\")')"
        " WHERE dataset = 'items' RETURNING 1",
    )
    wanted = parameters("items", "ndjson", "none", columns=["iid", "sources"])
    job = ordered(settings, wanted)
    assert run_in_parts(settings, job) == "succeeded"
    assert RELEASE not in {snapshot for snapshot, _ in plan_of(settings, job)}
    older = ordered(settings, parameters("items", "ndjson", "none", columns=["iid", "name"]))
    assert run_in_parts(settings, older) == "succeeded"
    assert {snapshot for snapshot, _ in plan_of(settings, older)} == {RELEASE}
