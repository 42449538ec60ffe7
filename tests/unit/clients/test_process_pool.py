"""The Python client in a pool of processes: a refusal reaches the process that ordered the work, and the pool continues."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import httpx
import pytest
from itemindex_client import JobFailed, NotFound, RateLimited

from tests.unit.clients.answering import answers, client, job, problem


def look_up(iid: str) -> str:
    """Look an item up, of which there are only some."""
    if iid == "none":
        return client(
            answers(problem(404, "iid-not-found", errors=[{"parameter": "iid", "detail": "has a typo"}]))
        ).lookup(iid)["iid"]
    if iid == "late":
        return client(answers(problem(429, "rate-limited", retry_after=40_000))).lookup(iid)["iid"]
    return client(answers(httpx.Response(200, json={"iid": iid}))).lookup(iid)["iid"]


def failing_report() -> None:
    """Order a report whose job fails."""
    failed = job("failed", error={"detail": "It took too long."})
    client(answers(httpx.Response(202, json=failed))).report.price_index(brand="b").wait()


def test_a_refusal_comes_out_of_a_process_pool_whole() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(NotFound, match="has a typo") as missing:
            pool.submit(look_up, "none").result()
        assert (missing.value.slug, missing.value.status) == ("iid-not-found", 404)
        assert (missing.value.request_id, missing.value.errors[0]["parameter"]) == ("abcdefgh", "iid")
        with pytest.raises(RateLimited) as late:
            pool.submit(look_up, "late").result()
        assert late.value.retry_after == 40_000
        with pytest.raises(JobFailed, match="It took too long") as failed:
            pool.submit(failing_report).result()
        assert failed.value.job["id"] == "j"
        assert pool.submit(look_up, "IID-1").result() == "IID-1"
