"""The same releases out of an S3 bucket: cut, served, resumed, swept; and how each call answers while it is unavailable."""

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from shared.bulk.schema import PREFIX
from shared.db.connect import connect
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.releases import cut
from tests.support.reports import queued, quick
from tests.support.s3 import in_bucket
from tests.support.servers import Contents
from tests.support.shop import load_rows
from tests.support.workers import reporting, run
from workers.bulk.releases import expire
from workers.jobs.failed_rows import FailedRows


@pytest.fixture
def contents() -> Contents:
    return load_rows


@pytest.fixture
def bucket(settings: Settings, s3: str) -> Settings:
    return in_bucket(settings, s3)


async def test_a_release_out_of_a_bucket(bucket: Settings, tmp_path: Path) -> None:
    cut(bucket)
    key, store = api_key(bucket, "institutional"), open_object_store(bucket)
    assert not (bucket.results_dir / PREFIX).exists()
    async with running_edge(bucket, tmp_path) as edge:
        reported = (await edge.get("/index/datasets/observations/releases/latest", key=key)).json
        file = reported["files"][0]
        path = file["signed_url"].removeprefix("http://testserver/v1")
        whole = await edge.get(path, anonymous=False)
        assert hashlib.sha256(whole.body).hexdigest() == file["sha256"]
        etag = whole.head["ETag"]
        part = await edge.get(path, anonymous=False, head={"Range": "bytes=100-", "If-Range": etag})
        assert (part.status, whole.body[:100] + part.body) == (206, whole.body)
        with connect(bucket.worker_database_url, application="tests", autocommit=True) as connection:
            assert (
                expire(connection, store, Log("tests"), FailedRows("release-file", Log("tests")), orphan_seconds=-1)
                == 0
            )
        for found in list(store.list_objects(PREFIX)):
            store.remove(found.key)
        assert (await edge.get(path, anonymous=False)).status == 410
    away = replace(bucket, s3_endpoint="http://127.0.0.1:1")
    before = metrics.store_errors.labels("results")._value.get()
    async with running_edge(away, tmp_path) as edge:
        refused = await edge.get(path, anonymous=False)
        assert (refused.status, "Retry-After" in refused.head) == (503, True)
    assert metrics.store_errors.labels("results")._value.get() == before + 1


async def test_a_report_is_postponed_while_its_bucket_is_unavailable(bucket: Settings, tmp_path: Path) -> None:
    key, away = api_key(bucket), replace(bucket, s3_endpoint="http://127.0.0.1:1")
    async with running_edge(bucket, tmp_path) as edge:
        path = "/index/cohorts?brand=vita"
        assert (await edge.get(path, key=key, head={"Prefer": "respond-async"})).status == 202
        [job] = queued(bucket)
        for _ in range(4):  # more often than a job may fail
            assert await asyncio.to_thread(run, away, job, reporting(away, quick)) == "queued"
        assert await asyncio.to_thread(run, bucket, job, reporting(bucket, quick)) == "succeeded"
        answer = await edge.get(path, key=key)
        assert (answer.status, answer.json["meta"]["cached"]) == (200, True)
