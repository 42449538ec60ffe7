"""What memory does not have is answered on the fast path with the bytes and the price of the ordinary way, and kept."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.test_unread_records import CUSTARD, DRINK, MERGED, SOY, shop
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.kept_answers import used
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.wire import OTHER, comparable, exchange, head

NONE = mint("shop", "none").iid
ANY = "Accept: */*\r\n"
GZIP = f"{ANY}Accept-Encoding: gzip\r\n"
CSV = "Accept: text/csv\r\n"
REVALIDATING = f'{ANY}If-None-Match: "x"\r\n'


class Question(NamedTuple):
    """What is asked, and what the answer is and costs by either way."""

    target: str
    status: int
    units: int
    on_the_fast_path: bool = True


@dataclass(frozen=True)
class Endpoint:
    """An endpoint of the fast path; `unusual` requests for it take the ordinary way."""

    path: str
    contents: Contents
    questions: tuple[Question, ...]
    fields: tuple[str, ...] = ("",)
    is_kept: bool = True
    unusual: tuple[tuple[str, str], ...] = ()


ENDPOINTS = {
    "a record": Endpoint(
        "/v1/index/lookup/",
        shop,
        (Question(SOY, 200, 1), Question(NONE, 404, 1), Question("IID-X", 404, 1), Question(DRINK, 410, 0)),
        is_kept=False,
    ),
    "a record in lower case": Endpoint("/v1/index/lookup/", shop, (Question(SOY.lower(), 200, 1),), is_kept=False),
    "prices": Endpoint(
        "/v1/index/pricing/",
        shop,
        (
            Question(SOY, 200, 2),
            Question(SOY.lower(), 200, 2),
            Question(NONE, 404, 2),
            Question(DRINK, 410, 0),
            Question(MERGED, 301, 0),
        ),
        fields=(ANY, GZIP),
        unusual=((f"{SOY}?currency=HKD", ""), (f"{SOY}/", ""), (SOY, CSV), (SOY, REVALIDATING)),
    ),
    "a search": Endpoint(
        "/v1/index/search?",
        open_shop,
        (
            Question("q=soy+milk", 200, 1),
            Question("q=s&limit=1", 200, 1),
            Question("q=no-such-thing", 200, 1),
            Question("q=milk+4006381333931", 200, 1),
            Question(f"q={SOY[:7].lower()}", 200, 1),
            Question("q=soy&brand=no-such", 400, 0),
            Question("q=soy&cursor=Zm9v", 400, 0),
            Question("q=soy&limit=51", 400, 0, on_the_fast_path=False),
            Question("limit=5", 400, 0, on_the_fast_path=False),
        ),
        fields=("", GZIP),
        unusual=(("q=soy", CSV), ("q=soy", REVALIDATING)),
    ),
}


@pytest.fixture(params=ENDPOINTS)
def endpoint(request: pytest.FixtureRequest) -> Endpoint:
    return ENDPOINTS[request.param]


@pytest.fixture
def contents(endpoint: Endpoint) -> Contents:
    return endpoint.contents


async def _ask(edge: Edge, key: str, number: int, target: str, extra: str = "") -> bytes:
    return (await exchange(edge, head(edge, number, target, address="192.0.2.1", credential=key, extra=extra)))[0]


async def test_a_first_answer_has_the_bytes_and_the_price_of_the_ordinary_way(
    endpoint: Endpoint, settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    charges = itertools.count(2)
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        await _ask(edge, key, 1, f"/v1/index/lookup/{CUSTARD}")  # the fast path needs the principal in memory
        for fields, question in itertools.product(endpoint.fields, endpoint.questions):
            edge.resources.answers.clear()
            before = await used(edge, key)
            taken.clear()
            target = endpoint.path + question.target
            first = await _ask(edge, key, next(charges), target, fields)
            assert await used(edge, key) - before == question.units, (target, fields)
            assert len(edge.resources.answers) == (endpoint.is_kept and question.status == 200), (target, fields)
            ways = (fields, fields + OTHER) if endpoint.is_kept else (fields + OTHER,)
            others = [await _ask(edge, key, next(charges), target, way) for way in ways]
            assert await used(edge, key) - before == (1 + len(ways)) * question.units, (target, fields)
            assert taken == [question.on_the_fast_path] * len(ways) + [False], (target, fields)
            assert first.split(b" ")[1] == str(question.status).encode(), (target, fields)
            assert {comparable(other) for other in others} == {comparable(first)}, (target, fields)
        taken.clear()
        for target, fields in endpoint.unusual:
            edge.resources.answers.clear()
            await _ask(edge, key, next(charges), endpoint.path + target, fields)
    assert taken == [False] * len(endpoint.unusual)
