"""Refusals that nginx repeats for the rest of a second: the store is spared, and the limits stay exact."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from edge import rules
from edge.fast_path.call import PlainCall, caller_of
from edge.fast_path.plain_request import PLAIN_REQUEST, PlainRequest
from edge.fast_path.responses import response_of
from edge.http.answer_cache import StoredAnswer
from edge.quota.decision import NOT_COUNTED, REFUSED_DAY, REFUSED_SECOND, QuotaDecision
from shared.db.connect import connect
from shared.index.iid import mint
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from tests.support.accounts import free_token
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.system.nginx.front import Front

SOY = f"/v1/index/lookup/{mint('shop', '1').iid}"


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def token(settings: Settings) -> str:
    return f"X-Service-Public-Token: {settings.anonymous_token}"


@asynccontextmanager
async def _behind_nginx(edge: Edge, folder: Path) -> AsyncIterator[Front]:
    values = {
        "ANONYMOUS_TOKEN": edge.settings.anonymous_token,
        "FREE_READ_TIMEOUT": "10s",
        "REQUESTS_PER_SECOND": "9999",
    }
    with tempfile.TemporaryDirectory(prefix="front-") as sockets:
        (folder / "front").mkdir()
        front = Front(folder / "front", Path(sockets), Path(edge.path), **values)
        try:
            await front.start()
            yield front
        finally:
            await front.stop()


async def _status(front: Front, token: str, address: str = "127.0.0.1") -> int:
    return (await front.ask(SOY, token, source=address)).status


async def _scripts_run(edge: Edge) -> int:
    statistics = (await edge.resources.state.command("INFO", "commandstats")).decode()
    [line] = [line for line in statistics.splitlines() if line.startswith("cmdstat_evalsha:")]
    return int(line.partition("calls=")[2].partition(",")[0])


async def _use_up(front: Front, token: str, address: str) -> None:
    """Ask until the caller is refused, and until that refusal is one that nginx repeats."""
    asked = 0
    while len(front.logged()) == 0 or asked < 5:
        await _status(front, token, address)
        asked += 1


async def _taken(edge: Edge, account: str, units: int) -> list[QuotaDecision]:
    await edge.get(SOY.removeprefix("/v1"))  # by another caller: then the plan is in memory
    anonymous = edge.resources.credentials.peek(edge.settings.anonymous_token)
    assert anonymous is not None
    consume = edge.resources.limiter.consume
    taken = [await consume(account, anonymous.plan, 1, f"{account}-{n}") for n in range(units)]
    assert all(decision.allowed for decision in taken)
    return taken


async def test_a_flood_of_refused_calls_reaches_the_edge_twice_a_second_and_the_store_once(
    settings: Settings, tmp_path: Path, token: str
) -> None:
    async with running_edge(settings, tmp_path) as edge, _behind_nginx(edge, tmp_path) as front:
        await _use_up(front, token, "127.0.0.1")
        began, asked = int(time.time()), 0
        before, charged = len(front.logged()), await _scripts_run(edge)
        while asked < 50 or asked < 4 * (int(time.time()) - began + 1):
            assert await _status(front, token) == 429
            asked += 1
        charged = await _scripts_run(edge) - charged
        seconds = int(time.time()) - began + 1
    by_nginx = len(front.logged()) - before
    assert by_nginx >= asked - 2 * seconds > 0
    assert charged <= seconds


async def test_a_refund_lifts_a_repeated_refusal_within_a_second(
    settings: Settings, tmp_path: Path, token: str
) -> None:
    async with running_edge(settings, tmp_path) as edge, _behind_nginx(edge, tmp_path) as front:
        taken = await _taken(edge, "ip:127.0.0.1", 3)
        await _use_up(front, token, "127.0.0.1")
        await edge.resources.limiter.refund(taken[0])
        refunded = time.time()
        async with asyncio.timeout(30):
            while (began := time.time()) and await _status(front, token) == 429:
                assert began < refunded + 1.0, "a call that begins a second after the refund is served"
        statuses = {await _status(front, token) for _ in range(10)}
    assert statuses == {429}


async def test_a_higher_limit_and_a_sign_up_lift_a_repeated_refusal(
    settings: Settings, tmp_path: Path, token: str
) -> None:
    async with running_edge(settings, tmp_path) as edge, _behind_nginx(edge, tmp_path) as front:
        await _use_up(front, token, "127.0.0.1")
        signed_up = f"X-Service-Public-Token: {free_token(settings)}"
        assert await _status(front, signed_up) == 200
        with connect(settings.database_url, application="test", autocommit=True) as connection:
            connection.execute("UPDATE plans SET daily_units = 50 WHERE name = 'anonymous'")
        async with asyncio.timeout(30):
            while await _status(front, token) == 429:
                pass


async def test_many_callers_at_once_are_served_exactly_what_is_left_while_units_come_back(
    settings: Settings, tmp_path: Path, token: str
) -> None:
    addresses = [f"127.0.0.{n}" for n in range(2, 6)]
    async with running_edge(settings, tmp_path) as edge, _behind_nginx(edge, tmp_path) as front:
        taken = {address: await _taken(edge, f"ip:{address}", 2) for address in addresses}
        served: Counter[str] = Counter()

        async def caller(address: str) -> None:
            async with asyncio.timeout(60):
                while served[address] < 3:
                    if await _status(front, token, address) == 200:
                        served[address] += 1

        async def refund() -> None:
            for decisions in zip(*taken.values(), strict=True):
                while not front.logged():
                    await asyncio.sleep(0.01)
                for decision in decisions:
                    await edge.resources.limiter.refund(decision)

        await asyncio.gather(refund(), *(caller(address) for address in addresses for _ in range(6)))
        after = {await _status(front, token, address) for address in addresses for _ in range(5)}
    assert served == dict.fromkeys(addresses, 3)
    assert after == {429}


@pytest.mark.parametrize(
    ("outcome", "ends_in", "counted_by", "verified", "marked"),
    [
        (REFUSED_DAY, 86_400, "ip", True, True),
        (REFUSED_DAY, 2, "ip", True, True),
        (REFUSED_DAY, 1, "ip", True, False),
        (REFUSED_DAY, 86_400, "organization", True, False),
        (REFUSED_DAY, 86_400, "ip", False, False),
        (REFUSED_SECOND, 86_400, "ip", True, False),
        (NOT_COUNTED, 86_400, "ip", True, False),
    ],
)
def test_only_a_counted_refusal_by_the_day_of_a_network_is_marked(
    outcome: int, ends_in: int, counted_by: Literal["ip", "organization"], verified: bool, marked: bool
) -> None:
    plan = Plan(name="any", title="", rank=0, counted_by=counted_by, daily_units=3, burst_units=3)
    decision = QuotaDecision("ip:a", "1", plan, 1, outcome, 3, 0, 20_000, ends_in, verified)
    plain = PLAIN_REQUEST.fullmatch(
        f"GET {SOY} HTTP/1.1\r\nHost: x\r\nX-Real-IP: 192.0.2.1\r\nX-Charge-Id: {1:032x}\r\n\r\n".encode()
    )
    assert plain is not None
    answer = StoredAnswer(rules.free("lookup"), 1, b"", b"", "", b"")
    request = PlainRequest(*plain.groups())
    call = PlainCall(
        request, caller_of(None, "192.0.2.1"), answer, unchanged=False, request_id=b"1" * 32, started=0.0, read=None
    )
    _, _, whole = response_of(call, decision, "http://x/errors")
    assert (b"X-Accel-Expires: 1\r\n" in whole) == marked
