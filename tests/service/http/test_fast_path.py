"""The fast path responds as the ordinary way does, byte for byte, and leaves to it what is unusual."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from edge.fast_path import FastPath, FastPathProtocol
from edge.index.identifiers import AskedIdentifier
from edge.resources import Resources
from shared.config import Settings
from shared.ids import mint
from shared.telemetry.metrics import REGISTRY
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows, open_shop

SOY = mint("shop", "1").iid
WITH_GTIN = MAPPING.replace('sku = "sku"', 'gtin = "sku"')
BARCODE, BARCODE_IID = "4006381333931", mint("barcodes", "4006381333931").iid
BY_BARCODE = f"/v1/index/resolve?ean={BARCODE}"
REQUEST_ID = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def contents() -> Contents:
    def shop_with_a_barcode(settings: Settings, folder: Path) -> None:
        open_shop(settings, folder)
        rows = (
            f"{BARCODE},Pens,Pen,Office,Pens,,2026-07-01,NORTH,2,\n20000004,Apples,,Food,Fruit,,2026-07-01,NORTH,2,\n"
        )
        load_rows(settings, folder, rows, text=WITH_GTIN.replace('"shop"', '"barcodes"'), name="barcodes.csv")

    return shop_with_a_barcode


def _head(
    edge: Edge, charge: int, *, address: str, credential: str | None = None, extra: str = "", target: str = ""
) -> bytes:
    credential = credential or f"X-Service-Public-Token: {edge.settings.anonymous_token}"
    return (
        f"GET {target or f'/v1/index/lookup/{SOY}'} HTTP/1.1\r\nHost: testserver\r\nX-Real-IP: {address}\r\n"
        f"X-Request-Id: {REQUEST_ID}\r\nX-Charge-Id: {charge:032x}\r\n{credential}\r\n{extra}\r\n"
    ).encode()


async def _exchange(edge: Edge, *requests: bytes) -> list[bytes]:
    reader, writer = await asyncio.open_unix_connection(edge.path)
    answers = []
    for request in requests:
        writer.write(request)
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        length = int(re.search(rb"Content-Length: (\d+)", head)[1])  # type: ignore[index]
        answers.append(head + await reader.readexactly(length))
    writer.close()
    return answers


def _alike(answer: bytes) -> bytes:
    """Leave out what differs between two moments: the date, the seconds until midnight, and what is left."""
    answer = re.sub(rb"Date: [^\r]+", b"Date: -", answer)
    answer = re.sub(rb"(-burst\";r=)\d+", rb"\1-", answer)
    answer = re.sub(rb"(;t=|Retry-After: |\"retry_after\":)\d+", rb"\1-", answer)
    return re.sub(rb"Content-Length: \d+", b"Content-Length: -", answer)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each request, whether the fast path took it."""
    seen: list[bool] = []
    original = FastPathProtocol._answered

    def watched(self: FastPathProtocol, data: bytes) -> bool:
        seen.append(original(self, data))
        return seen[-1]

    monkeypatch.setattr(FastPathProtocol, "_answered", watched)
    return seen


@pytest.mark.parametrize("target", ["", BY_BARCODE, f"/v1/index/resolve?upc=0{BARCODE}"])
@pytest.mark.parametrize("caller", ["anonymous", "free", "key"])
async def test_both_ways_give_the_same_bytes(
    settings: Settings, tmp_path: Path, taken: list[bool], caller: str, target: str
) -> None:
    credential = {
        "anonymous": None,
        "free": f"X-Service-Public-Token: {free_token(settings)}",
        "key": f"Authorization: ApiKey {api_key(settings)}",
    }[caller]
    async with running_edge(settings, tmp_path) as edge:  # which hears of no new account then
        # Warms what the fast path needs.
        await _exchange(edge, _head(edge, 1, address="192.0.2.9", credential=credential, target=target))
        taken.clear()
        lane, slow = [], []
        for n in range(5):  # the anonymous caller is refused from the fourth on
            lane += await _exchange(
                edge, _head(edge, 100 + n, address="192.0.2.10", credential=credential, target=target)
            )
            # Another order of header lines means the same and is not nginx's form: the ordinary way answers it.
            other = "Accept: application/json\r\n"
            slow += await _exchange(
                edge, _head(edge, 200 + n, address="192.0.2.11", credential=credential, extra=other, target=target)
            )
    assert taken == [True, False] * 5
    if caller == "key":  # one organization, one counter: each call sees the one before
        lane, slow = ([re.sub(rb"r=\d+", b"r=-", answer) for answer in answers] for answers in (lane, slow))
    assert [_alike(a) for a in lane] == [_alike(a).replace(b"192.0.2.11", b"192.0.2.10") for a in slow]


async def test_a_request_without_an_id_takes_the_fast_path_and_is_given_a_uuid_of_version_7(
    edge: Edge, taken: list[bool]
) -> None:
    def bare(charge: int, extra: str = "") -> bytes:
        own = f"X-Request-Id: {REQUEST_ID}\r\n".encode()
        return _head(edge, charge, address="192.0.2.9", extra=extra).replace(own, b"")

    answers = await _exchange(edge, bare(1), bare(2), bare(3, "Accept: application/json\r\n"))
    assert taken == [False, True, False]
    made = [UUID(re.search(rb"X-Request-Id: ([^\r]+)", answer)[1].decode()) for answer in answers]  # type: ignore[index]
    assert ([one.version for one in made], len(set(made))) == ([7, 7, 7], 3)


async def test_both_ways_say_the_same_where_nothing_can_be_counted(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    closed = replace(settings, state_url="unix:///nowhere/at/all.sock", quota_fail_mode="closed")
    async with running_edge(closed, tmp_path) as edge:
        await edge.resources.records.find(SOY)
        await _exchange(edge, _head(edge, 1, address="192.0.2.9"))  # the fast path needs the principal in memory
        lane = await _exchange(edge, _head(edge, 2, address="192.0.2.10"))
        slow = await _exchange(edge, _head(edge, 3, address="192.0.2.10", extra="Accept: application/json\r\n"))
        edge.resources.access_log.flush()
    assert taken[1:] == [True, False]
    assert lane[0].startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert [_alike(answer) for answer in lane] == [_alike(answer) for answer in slow]
    lines = Path(closed.access_log).read_text().splitlines()
    assert all('"status":503' in line and '"problem":"service-unavailable"' in line for line in lines)


@pytest.mark.parametrize(
    ("target", "extra"),
    [
        (f"/v1/index/lookup/{SOY.lower()}", ""),
        (f"/v1/index/lookup/{SOY}?x=1", ""),
        ("/v1/index/lookup/IID-NOBODY", ""),
        (f"/v1/index/lookup/{SOY}", "If-None-Match: *\r\n"),
        ("/v1/health", ""),
        (f"{BY_BARCODE}&source=barcodes", ""),
        ("/v1/index/resolve?ean=4006381333932", ""),
        ("/v1/index/resolve?gtin=036000291452", ""),
        ("/v1/index/resolve?gtin=20000004", ""),  # a code of a shop's own leads to a choice
        (BY_BARCODE, "If-None-Match: *\r\n"),
    ],
)
async def test_what_is_unusual_goes_the_ordinary_way(edge: Edge, taken: list[bool], target: str, extra: str) -> None:
    await _exchange(edge, _head(edge, 1, address="192.0.2.9"))
    taken.clear()
    reader, writer = await asyncio.open_unix_connection(edge.path)
    writer.write(_head(edge, 2, address="192.0.2.12", target=target, extra=extra))
    assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 ")
    writer.close()
    assert taken == [False]


async def test_a_second_request_before_the_first_answer_waits_its_turn(edge: Edge) -> None:
    await _exchange(edge, _head(edge, 1, address="192.0.2.9"))
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
async def test_the_fast_path_counts_lines_and_metrics_like_the_ordinary_way(
    edge: Edge, taken: list[bool], target: str
) -> None:
    await _exchange(edge, *[_head(edge, n, address="192.0.2.14", target=target) for n in range(1, 5)])
    edge.resources.access_log.flush()
    lines = Path(edge.settings.access_log).read_text().splitlines()
    assert taken == [False, True, True, True]
    assert [re.sub(r'"(ts|us)":("[^"]+"|\d+)', r'"\1":-', line) for line in lines[:2]] == [
        re.sub(r'"(ts|us)":("[^"]+"|\d+)', r'"\1":-', lines[0])
    ] * 2
    assert '"status":429' in lines[3]
    assert '"problem":"rate-limited"' in lines[3]


_COUNTED = re.compile(
    r"itemindex_(requests|request_seconds_count|record_reads|identifier_reads|quota_decisions|quota_unverified)"
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

    def noted(self: FastPath, resources: Resources) -> None:
        made(self, resources)
        paths.append(self)

    monkeypatch.setattr(FastPath, "__init__", noted)
    if state != "counts":
        settings = replace(settings, state_url="unix:///nowhere/at/all.sock", quota_fail_mode=state)
    async with running_edge(settings, tmp_path) as edge:
        await edge.resources.records.find_many([SOY, BARCODE_IID])
        await edge.resources.resolutions.find(AskedIdentifier("gtin", f"0{BARCODE}").key)
        # So that the caller's principal is remembered.
        await _exchange(edge, _head(edge, 1, address="192.0.2.9", target=target))
        taken.clear()
        added = []
        for address, extra in (("192.0.2.10", ""), ("192.0.2.11", "Accept: application/json\r\n")):
            before = _counts()
            for n in range(5):  # three are served and two refused, or what the outage's policy says
                await _exchange(edge, _head(edge, n + 100, address=address, extra=extra, target=target))
            for path in paths:
                path.flush()
            added.append({key: value - before.get(key, 0.0) for key, value in _counts().items()})
    assert taken == [True] * 5 + [False] * 5
    fast, ordinary = ({key: value for key, value in one.items() if value} for one in added)
    assert fast == ordinary
    assert any(name.startswith("itemindex_requests") for name, _ in fast)
