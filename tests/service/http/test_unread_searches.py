"""A search that was not asked before is answered on the fast path: the same bytes, charged once, and kept."""

import asyncio
import gzip
import itertools
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from edge.http.answer_cache import PUBLIC, Key, representation_of
from shared.errors import StoreUnavailable
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.kept_answers import FORMATS, ONLY_PAID, Asker, until, used
from tests.support.releases import cut
from tests.support.reports import work
from tests.support.servers import Contents
from tests.support.shop import HEADER, load_rows, open_shop
from tests.support.wire import OTHER, alike, exchange, head
from workers.search.build import make_index

# A search that was not asked before is answered on the fast path: the same bytes, charged once, and kept.


SOY = mint("shop", "1").iid


@pytest.fixture
def contents() -> Contents:
    return open_shop


async def _ask(edge: Edge, key: str, number: int, query: str, extra: str = "") -> bytes:
    target = f"/v1/index/search?{query}"
    return (await exchange(edge, head(edge, number, target, address="192.0.2.1", credential=key, extra=extra)))[0]


async def _known(edge: Edge, key: str) -> None:
    """Let the edge remember the principal, which the fast path needs."""
    await exchange(edge, head(edge, 1, f"/v1/index/lookup/{SOY}", address="192.0.2.1", credential=key))


def _comparable(answer: bytes) -> bytes:
    return re.sub(rb"r=\d+", b"r=-", alike(answer))


async def test_a_first_search_has_the_bytes_and_the_price_of_the_ordinary_way_and_is_kept(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    charges = itertools.count(2)
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        for fields in ("", "Accept: */*\r\nAccept-Encoding: gzip\r\n"):
            for query, status, units, on_the_fast_path in (
                ("q=soy+milk", b"200", 1, True),
                ("q=s&limit=1", b"200", 1, True),
                ("q=no-such-thing", b"200", 1, True),
                ("q=milk+4006381333931", b"200", 1, True),
                (f"q={SOY[:7].lower()}", b"200", 1, True),
                ("q=soy&brand=no-such", b"400", 0, True),
                ("q=soy&cursor=Zm9v", b"400", 0, True),
                ("q=soy&limit=51", b"400", 0, False),
                ("limit=5", b"400", 0, False),
            ):
                edge.resources.answers.clear()
                before = await used(edge, key)
                taken.clear()
                first = await _ask(edge, key, next(charges), query, fields)
                cost = await used(edge, key) - before
                assert len(edge.resources.answers) == (status == b"200"), (query, fields)
                ordinary = await _ask(edge, key, next(charges), query, fields + OTHER)
                assert await used(edge, key) - before == 2 * cost, (query, fields)
                assert taken == [on_the_fast_path, False], (query, fields)
                assert (first.split(b" ")[1], cost) == (status, units), (query, fields)
                assert _comparable(first) == _comparable(ordinary), (query, fields)

        # A cursor leads to the next page on the fast path.
        edge.resources.answers.clear()
        taken.clear()
        seen, query = [], "q=s&limit=1"
        for _ in range(3):
            document = msgspec.json.decode((await _ask(edge, key, next(charges), query)).partition(b"\r\n\r\n")[2])
            seen += [hit["iid"] for hit in document["data"]]
            if document["next_cursor"] is None:
                break
            query = f"q=s&limit=1&cursor={document['next_cursor']}"
        assert len(seen) == len(set(seen)) > 1
        assert taken == [True] * len(seen)

        # Other requests for a search take the ordinary way.
        taken.clear()
        for fields in ("Accept: text/csv\r\n", 'Accept: */*\r\nIf-None-Match: "x"\r\n'):
            edge.resources.answers.clear()
            await _ask(edge, key, next(charges), "q=soy", fields)
    assert taken == [False, False]


async def test_an_answer_that_postgresql_might_have_changed_is_given_but_not_kept(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")

    async def down(*arguments: object, **named: object) -> None:
        raise StoreUnavailable("database", 5)

    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        monkeypatch.setattr(edge.resources.database, "fetch", down)
        answers = [
            await _ask(edge, key, 2, "q=milk+4006381333931"),
            await _ask(edge, key, 3, "q=milk+4006381333931", OTHER),
        ]
        assert len(edge.resources.answers) == 0
    assert taken == [False, True, False]
    assert answers[0].startswith(b"HTTP/1.1 200 ")
    assert _comparable(answers[0]) == _comparable(answers[1])


async def test_with_too_many_searches_waiting_a_first_search_is_503_and_costs_nothing(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _known(edge, key)
        before = await used(edge, key)
        monkeypatch.setattr(edge.resources.search, "_pending_max", 0)
        answers = [await _ask(edge, key, 2, "q=soy"), await _ask(edge, key, 3, "q=soy", OTHER)]
        assert await used(edge, key) == before
    assert taken == [False, True, False]
    assert answers[0].startswith(b"HTTP/1.1 503 ")
    assert _comparable(answers[0]) == _comparable(answers[1])


# An answer that is sent again is the one that would be made anew, byte for byte, to callers who may have it.


FREE = (
    "/v1/index/brands",
    "/v1/index/brands?sort=items&limit=1",
    "/v1/index/brands?q=no-such",
    "/v1/index/categories",
    "/v1/index/channels?limit=1",
    "/v1/index/search?q=soy%20milk",
    "/v1/index/search?q=milk&limit=1",
    f"/v1/index/search?q={SOY[:9].lower()}",
    f"/v1/index/resolve?iid={SOY}",
    "/v1/index/resolve?sku=1&source=shop",
)

PAID = (
    f"/v1/index/pricing/{SOY}",
    f"/v1/index/pricing/{SOY.lower()}?from=2026-07-02&channel=NORTH",
    f"/v1/index/pricing/{SOY}/reference",
    f"/v1/index/sustainability/{SOY}",
)


def _credentials(settings: Settings) -> dict[str, str]:
    return {
        "anonymous": f"X-Service-Public-Token: {settings.anonymous_token}",
        "free": f"X-Service-Public-Token: {free_token(settings)}",
        "brand": f"Authorization: ApiKey {api_key(settings)}",
        "institutional": f"Authorization: ApiKey {api_key(settings, 'institutional')}",
    }


async def test_every_endpoint_and_format_gives_every_credential_the_same_bytes_before_and_after_a_load(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    execute(settings, "UPDATE plans SET burst_units = 100000")
    credentials = _credentials(settings)
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)

        async def all_of_it() -> dict[tuple[str, str, str], bytes]:
            found = {}
            for name, credential in credentials.items():
                for target in (*FREE, *PAID):
                    for extra in (*FORMATS, *(ONLY_PAID if target in PAID else ())):
                        found[name, target, extra] = await asker.both(target, credential, extra)
            return found

        before = await all_of_it()
        version = edge.resources.version.current
        load_rows(settings, tmp_path, "9,Oat milk,Vita,Drinks,Soy milk,1,2026-07-03,EAST,3,\n", name="more.csv")
        make_index(settings.worker_database_url, settings.search_dir)
        await until(lambda: edge.resources.version.current > version == edge.resources.search.data_version - 1)
        after = await all_of_it()
    served = [key for key, answer in before.items() if answer.startswith(b"HTTP/1.1 200")]
    assert len(served) == 4 * len(FREE) * len(FORMATS) + 2 * len(PAID) * (len(FORMATS) + len(ONLY_PAID))
    assert [key for key in served if not after[key].startswith(b"HTTP/1.1 200")] == []
    stale = [key for key in served if b"data_version" in before[key] and before[key] == after[key]]
    assert stale == []


GZIP = "Accept-Encoding: gzip\r\n"


async def test_an_answer_is_compressed_once_and_found_only_by_those_who_read_gzip(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    days = "".join(f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-{day:02},NORTH,10.90,12\n" for day in range(3, 30))
    load_rows(settings, tmp_path, days, name="more.csv")
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        for target in (PAID[0], FREE[-1]):
            plain = await asker.both(target, key)
            packed = await asker.both(target, key, GZIP)
            assert await asker.both(target, key) == plain
            large = target == PAID[0]
            assert (b"Content-Encoding: gzip\r\n" in packed, b"Vary: Accept-Encoding\r\n" in packed) == (large, large)
            head, _, body = packed.partition(b"\r\n\r\n")
            assert (gzip.decompress(body) if large else body) == plain.partition(b"\r\n\r\n")[2]
            for condition in ("If-None-Match: *\r\n", 'If-None-Match: "other"\r\n'):
                again = await asker.both(target, key, GZIP + condition)
                assert again.startswith(b"HTTP/1.1 304" if "*" in condition else head[:12])
                assert not large or b'ETag: W/"' in again
    assert b"Content-Encoding" not in plain


async def test_a_304_is_made_of_a_kept_answer(settings: Settings, tmp_path: Path, taken: list[bool]) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        for target in (*PAID, f"/v1/index/resolve?iid={SOY}"):
            for condition in ("If-None-Match: *\r\n", 'If-None-Match: "other"\r\n'):
                status = (await asker.both(target, key, condition)).split(b" ")[1]
                assert status == (b"304" if "*" in condition else b"200")


async def test_a_kept_answer_is_given_to_those_who_may_have_it_now(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        for statement, status in (
            ("UPDATE organizations SET plan = 'institutional'", b"200"),
            ("UPDATE organizations SET plan = 'free'", b"403"),
            ("UPDATE organizations SET state = 'suspended'", b"401"),
            ("UPDATE api_keys SET revoked_at = now()", b"401"),
            ("DELETE FROM api_keys", b"401"),
        ):
            secret = api_key(settings)
            key = f"Authorization: ApiKey {secret}"
            assert (await asker.both(PAID[0], key)).startswith(b"HTTP/1.1 200"), statement
            execute(settings, statement)
            await until(lambda secret=secret: edge.resources.credentials.cached(secret) is None)
            assert (await asker.both(PAID[0], key)).split(b" ")[1] == status, statement


async def test_an_answer_from_memory_is_charged_once_and_needs_no_database(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        await asker.both(PAID[0], key)
        await asker.both(FREE[0], key)
        before = await used(edge, key)
        taken.clear()
        with monkeypatch.context() as without:
            without.setattr(edge.resources.database, "fetch", _no_database)
            for target in (PAID[0], FREE[0], PAID[0]):
                assert (await asker.ask(target, key)).startswith(b"HTTP/1.1 200")
        assert taken == [True] * 3
        assert await used(edge, key) - before == 2 + 1 + 2


async def _no_database(*arguments: object, **named: object) -> None:
    raise AssertionError("PostgreSQL was asked")


async def test_an_answer_that_was_begun_before_the_data_changed_is_not_kept(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        fetch = edge.resources.database.fetch

        async def overtaken(*arguments: object, **named: object) -> object:
            rows = await fetch(*arguments, **named)  # type: ignore[arg-type]
            edge.resources.answers.clear()
            return rows

        monkeypatch.setattr(edge.resources.database, "fetch", overtaken)
        credential = f"X-Service-Public-Token: {settings.anonymous_token}"
        await asker.ask(FREE[0], credential)
        await asker.ask(FREE[0], credential)
    assert taken == [False, False]


# Documents, which need no credential, are sent from memory: the same bytes in each form, and no more of them than
# fit.


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
    assert answers.find(Key(b"/v1/errors", "application/json, x/99", PUBLIC)) is not None
    assert answers.find(Key(b"/v1/errors", "application/json, x/0", PUBLIC)) is None


async def test_a_coding_that_our_nginx_never_names_is_not_kept(edge: Edge) -> None:
    answer = await edge.get("/openapi.json", anonymous=False, head={"Accept-Encoding": "br, gzip"})
    assert answer.head["Content-Encoding"] == "gzip"
    assert len(edge.resources.answers) == 0


# Stored reports and the list of datasets from memory: the same bytes, the same price, and no longer than they hold.


REPORTS = ("/v1/index/cohorts?brand=vita", "/v1/index/rollups/sustainability?category=drinks")

DATASETS = "/v1/index/datasets"


async def _make(asker: Asker, settings: Settings, credential: str, targets: tuple[str, ...]) -> None:
    """Have reports made, in every format, and paid for by one organization."""
    for target in targets:
        for extra in (*FORMATS, *ONLY_PAID):
            if (await asker.ask(target, credential, f"{extra}Prefer: wait=0\r\n")).startswith(b"HTTP/1.1 202"):
                assert await work(settings) == ["succeeded"]


async def test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    execute(settings, "UPDATE plans SET burst_units = 100000, daily_units = 100000")
    brand, institutional, other = (
        f"Authorization: ApiKey {api_key(settings, plan)}" for plan in ("brand", "institutional", "institutional")
    )
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)

        async def all_of_it() -> dict[tuple[str, str], bytes]:
            await _make(asker, settings, institutional, REPORTS)
            found = {}
            for target in REPORTS:
                for extra in (*FORMATS, *ONLY_PAID):
                    found[target, extra] = await asker.both(target, institutional, extra)
                    condition = extra + "If-None-Match: *\r\n"
                    assert (await asker.both(target, institutional, condition)).startswith(b"HTTP/1.1 304")
            # What is kept is found by every organization where all of them pay the same for it.
            taken.clear()
            assert (await asker.ask(REPORTS[0], brand)).startswith(b"HTTP/1.1 200")
            assert (await asker.ask(REPORTS[0], brand)).startswith(b"HTTP/1.1 200")
            assert taken[-1]
            return found

        before = await all_of_it()
        assert {answer.split(b" ")[1] for answer in before.values()} == {b"200"}
        # This one costs an organization that never ordered it as much as a new one: only its owner finds it kept.
        await asker.ask(DATASETS, other)
        before_other = await used(edge, other)
        taken.clear()
        assert b'"cost_units":20' in await asker.ask(REPORTS[1], other)
        assert b'"cost_units":1,' in await asker.ask(REPORTS[1], other, OTHER)
        assert (taken, await used(edge, other) - before_other) == ([False, False], 21)
        version = edge.resources.version.current
        load_rows(settings, tmp_path, "9,Oat milk,Vita,Drinks,Soy milk,1,2026-07-03,EAST,3,\n", name="more.csv")
        await until(lambda: edge.resources.version.current > version)
        after = await all_of_it()
    json = [key for key in before if key[1] in FORMATS[:3]]
    assert [key for key in json if before[key] == after[key]] == []


async def test_a_stored_report_is_kept_no_longer_than_its_result(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        await asker.ask(REPORTS[0], key, "Prefer: wait=0\r\n")
        await work(settings)
        assert (await asker.ask(REPORTS[0], key)).startswith(b"HTTP/1.1 200")
        kept = edge.resources.answers.find(Key(REPORTS[0].encode(), representation_of(None), None))
    [(expires_at,)] = execute(settings, "SELECT expires_at FROM jobs WHERE kind = 'cohorts'")
    assert kept is not None
    assert kept.until == pytest.approx(expires_at.timestamp() - 60, abs=0.001)


async def test_the_list_of_datasets_is_kept_until_a_release_and_costs_no_unit(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    key, brand = (f"Authorization: ApiKey {api_key(settings, plan)}" for plan in ("institutional", "brand"))
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        empty = await asker.both(DATASETS, key)
        assert empty.count(b'"latest":null') > 0
        assert (await asker.both(DATASETS, brand)).startswith(b"HTTP/1.1 403")
        assert await used(edge, key) == 0
        generation = edge.resources.answers.generation
        await asyncio.to_thread(cut, settings)
        await until(lambda: edge.resources.answers.generation > generation)
        released = await asker.both(DATASETS, key)
        assert b'"latest":null' not in released
        execute(settings, "UPDATE plans SET burst_units = 1 WHERE name = 'institutional'")
        await until(lambda: edge.resources.credentials.plans["institutional"].burst_units == 1)
        await asker.ask("/v1/", key)
        many = await asyncio.gather(*(asker.ask(DATASETS, key, extra) for extra in ("", OTHER) * 6))
    refused = {answer for answer in many if answer.startswith(b"HTTP/1.1 429")}
    assert len(refused) == 1, refused
    assert set(many) <= {*refused, released}


ROWS = "AB-1234,Tea,Vita,Drinks,Tea,,2026-07-01,NORTH,8.5,\n"


class Reads:
    """Counts how often the edge asks PostgreSQL for rows; the questions are answered."""

    def __init__(self, edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        fetch = edge.resources.database.fetch

        async def counted(query: str, *arguments: Any, **named: Any) -> Any:
            self.count += "item_identifiers" in query
            return await fetch(query, *arguments, **named)

        monkeypatch.setattr(edge.resources.database, "fetch", counted)


async def names(edge: Edge, q: str, key: str) -> list[str]:
    return [hit["name"] for hit in (await edge.get(f"/index/search?q={q}", key=key)).json["data"]]


async def test_an_identifier_that_no_item_has_costs_postgresql_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        assert await names(edge, "soy+milk1l", key) == ["Soy milk 1L", "豆奶 Soy drink"]
        assert await names(edge, "4006381333931", key) == []
        assert reads.count == 0


async def test_until_the_index_follows_a_load_its_identifiers_are_found_in_postgresql(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    execute(settings, "UPDATE data_versions SET committed_at = committed_at - interval '1 day'")
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        await names(edge, "ab-1234", key)  # of the same number, but another moment: a database that was restored
        assert reads.count == 1
        load_rows(settings, tmp_path, ROWS, header=HEADER, name="more.csv")
        assert await edge.resources.version.read()
        await names(edge, "ab-1234", key)
        assert reads.count == 2
