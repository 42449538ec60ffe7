"""Documents, which need no credential, are sent from memory: the same bytes in each form, and no more of them than fit."""

import re
from pathlib import Path

import pytest

from edge.http.answer_cache import PUBLIC, AnswerKey
from shared.settings.settings import Settings
from tests.service.http.test_kept_answers import GZIP
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.wire import OTHER, alike, exchange, head


@pytest.fixture
def contents() -> Contents:
    return open_shop


PATHS = (
    "/v1/openapi.json",
    "/v1/openapi.yaml",
    "/v1/docs",
    "/v1/docs/reference",
    "/v1/errors",
    "/v1/errors/rate-limited",
    "/static/dashboard.css",
    "/static/vendor/htmx.min.js",
)

BROWSER = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"

FORMS = ("", "Accept: */*\r\n", BROWSER, "Accept: text/markdown\r\n", "Accept: application/json\r\n")


async def _ask_kept_documents(edge: Edge, target: str, extra: str, credential: bytes = b"") -> bytes:
    request = head(edge, 1, target, address="192.0.2.1", credential="-", extra=extra).replace(b"-\r\n", credential, 1)
    return alike((await exchange(edge, request))[0])


async def test_a_document_is_the_same_from_memory_in_every_form_and_coding(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    kept = 0
    async with running_edge(settings, tmp_path) as edge:
        for target in PATHS:
            for form in FORMS:
                for coding in ("", GZIP):
                    for condition in ("", "If-None-Match: *\r\n"):
                        extra = form + coding + condition
                        fresh = await _ask_kept_documents(edge, target, OTHER + extra)
                        taken.clear()
                        assert await _ask_kept_documents(edge, target, extra) == fresh, (target, extra)
                        assert fresh[9:12] == (b"304" if condition else b"200"), (target, extra)
                        kept += taken == [True]
                        # It looks at no credential, also at none that is wrong.
                        assert (
                            await _ask_kept_documents(edge, target, extra, b"X-Service-Public-Token: wrong\r\n")
                            == fresh
                        )
        edge.resources.access_log.flush()
    # Pages that show the plans are kept for a second only, which a busy machine may exceed; so is no document of the others.
    assert kept >= 4 * (len(PATHS) - 2) * len(FORMS)
    lines = [
        re.sub(r'"(ts|us|span_id)":("[^"]+"|\d+)', "", line)
        for line in Path(settings.access_log).read_text().splitlines()
    ]
    assert lines[::3] == lines[1::3] == lines[2::3]


async def test_an_answer_that_needs_a_credential_is_found_by_no_caller_without_one(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    async with running_edge(settings, tmp_path) as edge:
        await edge.get("/index/brands")
        known = next(key for key in edge.resources.answers._answers if key.target == b"/v1/index/brands")
        for accept in ("", f"Accept: {known.representation}\r\n"):
            assert (await _ask_kept_documents(edge, "/v1/index/brands", accept)).startswith(b"HTTP/1.1 401")


async def test_a_caller_who_varies_accept_fills_no_more_than_the_place_of_documents(edge: Edge) -> None:
    await edge.get("/index/brands")
    before = len(edge.resources.answers)
    for number in range(100):
        await edge.get("/errors", anonymous=False, head={"Accept": f"application/json, x/{number}"})
    answers = edge.resources.answers
    assert len(answers) == before + 64
    assert answers.find(AnswerKey(b"/v1/errors", "application/json, x/99", PUBLIC)) is not None
    assert answers.find(AnswerKey(b"/v1/errors", "application/json, x/0", PUBLIC)) is None


async def test_a_coding_that_our_nginx_never_names_is_not_used_and_its_answer_is_not_kept(edge: Edge) -> None:
    answer = await edge.get("/openapi.json", anonymous=False, head={"Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in answer.head
    assert len(edge.resources.answers) == 0
