"""An answer that is sent again is the one that would be made anew, byte for byte, to callers who may have it."""

import gzip
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.service.http.test_unread_searches import SOY
from tests.support.accounts import api_key, free_token
from tests.support.client import running_edge
from tests.support.database import execute
from tests.support.kept_answers import FORMATS, ONLY_PAID, Asker, until, used
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from workers.search.job import make_index


@pytest.fixture
def contents() -> Contents:
    return open_shop


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
            await until(lambda secret=secret: edge.resources.credentials.peek(secret) is None)
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
