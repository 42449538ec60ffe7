"""Exports whose files cannot be written: a full disk leaves nothing, and a store that is back lets them continue."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pytest

from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.service.exports.test_faults import (
    MANY_PARTS,
    expected,
    owed,
    parts_of,
    patched,
    rows_in,
    things,
)
from tests.support.database import execute
from tests.support.exports import WANTED, column, manifest_of, ordered
from tests.support.servers import Contents
from tests.support.workers import run, worker


@pytest.fixture
def contents() -> Contents:
    return things


class FullDisk(DirectoryStore):
    """A directory on a disk that is full after a few bytes."""

    @contextmanager
    def create(self, key: str) -> Iterator[BinaryIO]:
        with super().create(key) as file:
            yield _Full(file)  # type: ignore[misc]


class _Full:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = 60

    def write(self, data: Any) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)


def test_a_full_disk_puts_the_export_off_and_leaves_nothing(settings: Settings) -> None:
    for format in ("csv", "parquet", "ndjson", "arrow"):
        job = ordered(settings, {**WANTED, "format": format})
        owed(settings, job)
        full = worker(settings, objects=FullDisk(settings.results_dir), split_rows=MANY_PARTS)
        assert full.run(job) == "queued", format
        reason = {"slug": "job-failed", "detail": "the results store is full"}
        assert (column(settings, job, "error"), column(settings, job, "result")) == (reason, None), format
        refund = "(SELECT refund_due FROM job_orders WHERE job_id = jobs.id)"
        execute(settings, "UPDATE jobs SET created_at = created_at - interval '1 hour', attempts_max = attempt + 1")
        assert full.run(job) == "failed", format
        assert (column(settings, job, "error"), column(settings, job, refund)) == (reason, True), format
        assert list(DirectoryStore(settings.results_dir).attempts()) == [], format
        assert [path for path in settings.results_dir.rglob("*") if path.is_file()] == [], format


def test_an_outage_of_the_store_is_no_attempt_at_a_part_and_puts_the_export_off(
    settings: Settings, queued_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    available = False

    def from_the_second_on(number: int) -> None:
        if number >= 2 and not available:
            raise StoreUnavailable("results")

    patched(monkeypatch, from_the_second_on)
    for _ in range(5):  # more often than a part may be attempted
        assert run(settings, queued_job, split_rows=MANY_PARTS) == "queued"
    states = parts_of(settings, queued_job)
    assert (states[1][:2], states[2][:2]) == (("succeeded", 1), ("queued", 5))
    available = True
    assert run(settings, queued_job, split_rows=MANY_PARTS) == "succeeded"
    assert parts_of(settings, queued_job)[1] == states[1], "a part that was done is made again"
    assert rows_in(settings, manifest_of(settings, queued_job)) == expected(settings)
