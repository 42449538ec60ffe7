"""The fast path responds as the ordinary way does, byte for byte, and leaves to it what is unusual."""

import asyncio
import itertools
import re
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from edge.composition import Services
from edge.connection import EdgeHandler
from edge.fast_path.fast_path import FastPath
from edge.index.identifiers import RequestedIdentifier
from shared.index.iid import mint
from shared.organizations import credentials
from shared.settings.settings import Settings
from shared.telemetry.metrics import REGISTRY
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.passes import file_passes
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows, open_shop
from tests.support.wire import OTHER, REQUEST_ID, alike, comparable, exchange, head

SOY = mint("shop", "1").iid
WITH_GTIN = MAPPING.replace('sku = "sku"', 'gtin = "sku"')
BARCODE, BARCODE_IID = "4006381333931", mint("barcodes", "4006381333931").iid
BY_BARCODE = f"/v1/index/resolve?ean={BARCODE}"


def shop_with_a_barcode(settings: Settings, folder: Path) -> None:
    open_shop(settings, folder)
    rows = f"{BARCODE},Pens,Pen,Office,Pens,,2026-07-01,NORTH,2,\n20000004,Apples,,Food,Fruit,,2026-07-01,NORTH,2,\n"
    load_rows(settings, folder, rows, text=WITH_GTIN.replace('"shop"', '"barcodes"'), name="barcodes.csv")


@pytest.fixture
def contents() -> Contents:
    return shop_with_a_barcode


def _head(
    edge: Edge, charge: int, *, address: str, credential: str | None = None, extra: str = "", target: str = ""
) -> bytes:
    target = target or f"/v1/index/lookup/{SOY}"
    return head(edge, charge, target, address=address, credential=credential, extra=extra)


@pytest.mark.parametrize("caller", ["anonymous", "free", "key"])
async def test_both_ways_give_the_same_bytes(
    settings: Settings, tmp_path: Path, taken: list[bool], caller: str
) -> None:
    credential = {
        "anonymous": None,
        "free": f"X-Service-Public-Token: {free_token(settings)}",
        "key": f"Authorization: ApiKey {api_key(settings)}",
    }[caller]
    charges = itertools.count(1)
    async with running_edge(settings, tmp_path) as edge:  # which hears of no new account then
        for place, target in enumerate(("", BY_BARCODE, f"/v1/index/resolve?upc=0{BARCODE}")):
            own, other = f"192.0.2.1{place}", f"192.0.2.2{place}"

            async def ask(address: str, extra: str = "", target: str = target) -> list[bytes]:
                charge = next(charges)
                request = _head(edge, charge, address=address, credential=credential, extra=extra, target=target)
                return await exchange(edge, request)

            await ask("192.0.2.9")  # warms what the fast path needs
            taken.clear()
            lane, slow = [], []
            for _ in range(5):  # the anonymous caller is refused from the fourth on
                lane += await ask(own)
                slow += await ask(other, OTHER)
            assert taken == [True, False] * 5, target
            if caller == "key":  # one organization, one counter: each call sees the one before
                lane, slow = ([re.sub(rb"r=\d+", b"r=-", answer) for answer in answers] for answers in (lane, slow))
            named = [alike(answer).replace(other.encode(), own.encode()) for answer in slow]
            assert [alike(answer) for answer in lane] == named, target


CLIENTS = {
    "curl": "Accept: */*\r\n",
    "requests, Go": "",
    "axios": "Accept: application/json, text/plain, */*\r\n",
    "Java": "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\n",
    "a browser's fetch": "Accept: */*\r\nOrigin: https://shop.example\r\n",
    "a browser": "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8\r\n",
    "JSON asked for": "Accept: application/json\r\nContent-Type: application/json\r\n",
    "traced": "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
    "wrongly traced": "traceparent: 00-zz-b7ad6b7169203331-01\r\n",
    "revalidating": "If-None-Match: *\r\n",
    "revalidating another": 'If-None-Match: "no", W/"such"\r\n',
    "all of it": "Accept: */*\r\nIf-None-Match: W/*\r\nPrefer: wait=3\r\nOrigin: null\r\ntraceparent: x\r\n",
}


@pytest.mark.parametrize("target", ["", f"/v1/index/lookup/{SOY.lower()}", BY_BARCODE])
async def test_the_headers_of_real_clients_take_the_fast_path_to_the_same_bytes(
    settings: Settings, tmp_path: Path, taken: list[bool], target: str
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await exchange(edge, _head(edge, 1, address="192.0.2.9", credential=key, target=target))
        taken.clear()
        for n, (client, extra) in enumerate(CLIENTS.items(), 2):
            both = [
                _head(edge, n * 100 + way, address="192.0.2.10", credential=key, target=target, extra=lines)
                for way, lines in enumerate((extra, OTHER + extra))
            ]
            fast, ordinary = (comparable(answer) for answer in await exchange(edge, *both))
            assert fast == ordinary, client
            assert fast.startswith(b"HTTP/1.1 304" if "-Match: *" in extra else b"HTTP/1.1 200"), client
        edge.resources.access_log.flush()
    assert taken == [True, False] * len(CLIENTS)
    lines = [
        re.sub(r'"(ts|us|span_id)":("[^"]+"|\d+)', r'"\1":-', line)
        for line in Path(settings.access_log).read_text().splitlines()
    ]
    assert lines[1::2] == lines[2::2]


async def test_a_304_costs_nothing_and_is_refused_where_a_200_would_be(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    async with running_edge(settings, tmp_path) as edge:
        await exchange(edge, _head(edge, 1, address="192.0.2.9"))

        async def ask(charge: int, extra: str) -> bytes:
            [answer] = await exchange(edge, _head(edge, charge, address="192.0.2.10", extra=extra))
            return answer.split(b" ")[1]

        unchanged = "If-None-Match: *\r\n"
        seen = [await ask(n, unchanged) for n in range(10, 20)]  # ten of three a day
        seen += [await ask(n, "") for n in range(20, 24)]
        seen += [await ask(24, unchanged), await ask(25, OTHER + unchanged)]
    assert seen == [b"304"] * 10 + [b"200"] * 3 + [b"429"] * 3
    assert taken == [False] + [True] * 15 + [False]


async def test_a_request_without_an_id_takes_the_fast_path_and_is_given_a_uuid_of_version_7(
    edge: Edge, taken: list[bool]
) -> None:
    def bare(charge: int, extra: str = "") -> bytes:
        own = f"X-Request-Id: {REQUEST_ID}\r\n".encode()
        return _head(edge, charge, address="192.0.2.9", extra=extra).replace(own, b"")

    answers = await exchange(edge, bare(1), bare(2), bare(3, OTHER))
    assert taken == [False, True, False]
    made = [UUID(re.search(rb"X-Request-Id: ([^\r]+)", answer)[1].decode()) for answer in answers]  # type: ignore[index]
    assert ([one.version for one in made], len(set(made))) == ([7, 7, 7], 3)


async def test_a_key_in_place_of_a_request_id_is_not_taken_over(edge: Edge, taken: list[bool]) -> None:
    def named(charge: int, request_id: str) -> bytes:
        return _head(edge, charge, address="192.0.2.9").replace(REQUEST_ID.encode(), request_id.encode())

    key = api_key(edge.settings)
    await exchange(edge, named(1, REQUEST_ID))
    taken.clear()
    answers = await exchange(edge, named(2, "my_own_id"), named(3, key))
    edge.resources.access_log.flush()
    assert taken == [True, False]
    assert b"X-Request-Id: my_own_id\r\n" in answers[0]
    assert key[10:].encode() not in answers[1] + Path(edge.settings.access_log).read_bytes()


async def test_both_ways_say_the_same_where_nothing_can_be_counted(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    closed = replace(settings, state_url="unix:///nowhere/at/all.sock", quota_fail_mode="closed")
    async with running_edge(closed, tmp_path, without_state=True) as edge:
        await edge.resources.records.find(SOY)
        await exchange(edge, _head(edge, 1, address="192.0.2.9"))  # the fast path needs the principal in memory
        lane = await exchange(edge, _head(edge, 2, address="192.0.2.10"))
        slow = await exchange(edge, _head(edge, 3, address="192.0.2.10", extra=OTHER))
        edge.resources.access_log.flush()
    assert taken[1:] == [True, False]
    assert lane[0].startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert [alike(answer) for answer in lane] == [alike(answer) for answer in slow]
    lines = Path(closed.access_log).read_text().splitlines()
    assert all('"status":503' in line and '"problem":"service-unavailable"' in line for line in lines)


async def test_an_unusual_request_takes_the_ordinary_way(edge: Edge, taken: list[bool]) -> None:
    for target, extra in [
        (f"/v1/index/lookup/{SOY}?x=1", ""),
        (f"/v1/index/lookup/{SOY}", OTHER),
        (f"/v1/index/lookup/{SOY}", "Accept: text/csv\r\n"),
        (f"/v1/index/lookup/{SOY}", "Range: bytes=0-1\r\n"),
        ("/v1/health", ""),
        (f"{BY_BARCODE}&source=barcodes", ""),
        ("/v1/index/resolve?ean=4006381333932", ""),
        ("/v1/index/resolve?gtin=036000291452", ""),
        ("/v1/index/resolve?gtin=20000004", ""),  # a code of a shop's own leads to a choice
    ]:
        await exchange(edge, _head(edge, 1, address="192.0.2.9"))
        taken.clear()
        reader, writer = await asyncio.open_unix_connection(edge.path)
        writer.write(_head(edge, 2, address="192.0.2.12", target=target, extra=extra))
        assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 "), target
        writer.close()
        assert taken == [False], target


async def test_a_second_request_before_the_first_answer_waits_its_turn(edge: Edge) -> None:
    await exchange(edge, _head(edge, 1, address="192.0.2.9"))
    reader, writer = await asyncio.open_unix_connection(edge.path)
    writer.write(_head(edge, 2, address="192.0.2.13"))
    await asyncio.sleep(0)
    writer.write(_head(edge, 3, address="192.0.2.13"))
    writer.write(_head(edge, 4, address="192.0.2.13", target="/v1/health"))
    for expected in (b"lookup", b"lookup", b"status"):
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        body = await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", head)[1]))  # type: ignore[index]
        assert expected in body
    writer.close()


@pytest.mark.parametrize("target", ["", BY_BARCODE])
async def test_the_fast_path_writes_the_lines_of_the_ordinary_way(edge: Edge, taken: list[bool], target: str) -> None:
    await exchange(edge, *[_head(edge, n, address="192.0.2.14", target=target) for n in range(1, 5)])
    edge.resources.access_log.flush()
    lines = Path(edge.settings.access_log).read_text().splitlines()
    assert taken == [False, True, True, True]
    assert [re.sub(r'"(ts|us)":("[^"]+"|\d+)', r'"\1":-', line) for line in lines[:2]] == [
        re.sub(r'"(ts|us)":("[^"]+"|\d+)', r'"\1":-', lines[0])
    ] * 2
    assert '"status":429' in lines[3]
    assert '"problem":"rate-limited"' in lines[3]


_COUNTED = re.compile(
    r"itemindex_(requests|request_seconds_count|record_reads|identifier_reads|quota_decisions|quota_degraded)"
)


def _counts() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
        if _COUNTED.match(sample.name) and not sample.name.endswith("_created")
    }


@pytest.mark.parametrize("target", ["", BY_BARCODE])
@pytest.mark.parametrize("state", ["counts", "open", "closed"])
async def test_the_fast_path_counts_the_same_metrics_as_the_ordinary_way(
    settings: Settings, tmp_path: Path, taken: list[bool], monkeypatch: pytest.MonkeyPatch, state: str, target: str
) -> None:
    paths: list[FastPath] = []
    made = FastPath.__init__

    def noted(self: FastPath, services: Services) -> None:
        made(self, services)
        paths.append(self)

    monkeypatch.setattr(FastPath, "__init__", noted)
    if state != "counts":
        settings = replace(settings, state_url="unix:///nowhere/at/all.sock", quota_fail_mode=state)
    async with running_edge(settings, tmp_path, without_state=state != "counts") as edge:
        await edge.resources.records.find_many([SOY, BARCODE_IID])
        await edge.resources.resolutions.find(RequestedIdentifier("gtin", f"0{BARCODE}").key)
        # So that the caller's principal is remembered.
        await exchange(edge, _head(edge, 1, address="192.0.2.9", target=target))
        taken.clear()
        added = []
        for address, extra in (("192.0.2.10", ""), ("192.0.2.11", OTHER)):
            before = _counts()
            for n in range(5):  # three are served and two refused, or what the outage's policy says
                await exchange(edge, _head(edge, n + 100, address=address, extra=extra, target=target))
            for path in paths:
                path.flush()
            added.append({key: value - before.get(key, 0.0) for key, value in _counts().items()})
    assert taken == [True] * 5 + [False] * 5
    fast, ordinary = ({key: value for key, value in one.items() if value} for one in added)
    assert fast == ordinary
    assert any(name.startswith("itemindex_requests") for name, _ in fast)


async def test_where_the_fast_path_fails_the_ordinary_way_responds_once_and_the_call_is_charged_once(
    edge: Edge, taken: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = api_key(edge.settings)
    while secret[credentials.ID] not in edge.resources.credentials._changed:  # it has heard of the new key
        await asyncio.sleep(0.01)
    key = f"Authorization: ApiKey {secret}"
    requests = [_head(edge, n, address="192.0.2.15", credential=key) for n in range(1, 5)]
    answers = await exchange(edge, requests[0])

    def broken(*given: object) -> None:
        raise RuntimeError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr("edge.fast_path.fast_path.response_of", broken)  # before there is a response
        answers += await exchange(edge, requests[1])
    with monkeypatch.context() as patch:
        patch.setattr("edge.fast_path.accounting.Accounting.record", broken)  # after it
        answers += await exchange(edge, *requests[2:])
    assert taken == [False, True, True, True]
    left = [int(found[1]) for answer in answers if (found := re.search(rb"\";r=(\d+)", alike(answer)))]
    assert left == [left[0] - n for n in range(4)]
    assert len({comparable(answer) for answer in answers}) == 1


_PASSES_MAX = 11


async def test_a_lookup_passes_from_file_to_file_at_most_eleven_times_until_its_response_is_written(
    edge: Edge, taken: list[bool]
) -> None:
    await exchange(edge, *[_head(edge, n, address="192.0.2.16") for n in range(1, 3)])
    with file_passes() as passed:
        await exchange(edge, _head(edge, 3, address="192.0.2.16"))
    assert taken[-1]
    called = [name for name, _ in passed]
    begins, ends = called.index(FastPath.serve.__qualname__), called.index(EdgeHandler._write.__qualname__)
    passes = called[begins : ends + 1]
    assert len(passes) <= _PASSES_MAX, passes
