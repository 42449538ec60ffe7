"""A refusal that the edge marks is repeated by nginx for the rest of the second, to the same anonymous caller alone."""

import time

import pytest

from tests.system.nginx.conftest import MakeFront
from tests.system.nginx.front import ANONYMOUS_TOKEN, Answer, Front

REFUSED = "/v1/index/lookup/IID-REFUSED-1"

TOKEN = f"X-Service-Public-Token: {ANONYMOUS_TOKEN}"


async def asked_often(front: Front, target: str = REFUSED, *lines: str, **how: str) -> tuple[list[Answer], int]:
    """Ask at least 30 times and four times a second; return the answers, and how many seconds they touched."""
    began, answers = int(time.time()), list[Answer]()
    while len(answers) < 30 or len(answers) < 4 * (int(time.time()) - began + 1):
        answers.append(await front.ask(target, *lines, **how))  # type: ignore[arg-type]
    return answers, int(time.time()) - began + 1


async def test_a_refusal_is_repeated_within_its_second_and_the_edge_is_asked_twice_a_second(front: Front) -> None:
    answers, seconds = await asked_often(front, REFUSED, TOKEN)
    assert {answer.status for answer in answers} == {429}
    assert 1 <= len(front.stub.seen) <= 2 * seconds < len(answers)
    assert {answer.body for answer in answers} == {b'{"status":429}'}
    assert {answer.get("X-Request-Id") for answer in answers} == {"from-the-edge"}
    assert {answer.get("X-Accel-Expires") for answer in answers} == {None}


async def test_a_refusal_of_one_item_is_repeated_for_another_one(front: Front) -> None:
    _, seconds = await asked_often(front, REFUSED, TOKEN)
    _, more = await asked_often(front, "/v1/index/lookup/iid-REFUSED-2", TOKEN)
    assert len(front.stub.seen) <= 2 * (seconds + more)


async def test_each_repeated_refusal_has_its_line_with_the_id_that_the_caller_sees(front: Front) -> None:
    answers, _ = await asked_often(front, REFUSED, TOKEN)
    repeated = len(answers) - len(front.stub.seen)
    await front.until(lambda: len(front.logged()) >= repeated)
    lines = front.logged()
    assert len(lines) == repeated
    assert {(line["status"], line["method"], line["request_id"], line["cache"]) for line in lines} == {
        (429, "GET", "from-the-edge", "HIT")
    }
    assert {line["network"] for line in lines} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("target", "lines"),
    {
        "a key": (REFUSED, [TOKEN, "Authorization: ApiKey iixk_live_x"]),
        "a key alone": (REFUSED, ["Authorization: ApiKey iixk_live_x"]),
        "the token as a key": (REFUSED, [f"Authorization: {ANONYMOUS_TOKEN}"]),
        "a token of one's own": (REFUSED, ["X-Service-Public-Token: iixp_free_x"]),
        "two tokens": (REFUSED, [TOKEN, TOKEN]),
        "no token": (REFUSED, []),
        "an id of one's own": (REFUSED, [TOKEN, "X-Request-Id: chosen-by-me"]),
        "a question": (f"{REFUSED}?x=1", [TOKEN]),
        "another question": ("/v1/index/resolve?gtin=-REFUSED", [TOKEN]),
    }.values(),
)
async def test_nothing_else_is_repeated(front: Front, target: str, lines: list[str]) -> None:
    await asked_often(front, REFUSED, TOKEN)
    front.stub.seen.clear()
    answers, _ = await asked_often(front, target, *lines)
    assert len(front.stub.seen) == len(answers)


async def test_an_answer_that_the_edge_does_not_mark_is_never_kept(front: Front) -> None:
    answers, _ = await asked_often(front, "/v1/index/lookup/IID-KEPT-1", TOKEN)
    assert len(front.stub.seen) == len(answers)


async def test_a_head_is_not_answered_with_the_refusal_of_a_get_nor_a_get_with_that_of_a_head(front: Front) -> None:
    heads, _ = await asked_often(front, REFUSED, TOKEN, method="HEAD")
    assert len(front.stub.seen) == len(heads)
    answers, _ = await asked_often(front, REFUSED, TOKEN)
    assert {answer.body for answer in answers} == {b'{"status":429}'}


@pytest.mark.parametrize(
    ("one", "other"),
    [("203.0.113.7", "203.0.113.8"), ("2001:db8:1::7", "2001:db8:2::7"), ("::ffff:203.0.113.7", "::ffff:203.0.113.8")],
)
async def test_no_caller_gets_the_refusal_of_another_address(make_front: MakeFront, one: str, other: str) -> None:
    front = await make_front(TRUSTED_PROXIES="set_real_ip_from 127.0.0.0/8;")
    both = [f"X-Forwarded-For: {address}" for address in (one, other)]
    answers, seconds = await asked_often(front, REFUSED, TOKEN, both[0])
    assert len(front.stub.seen) <= 2 * seconds < len(answers)
    front.stub.seen.clear()
    await front.ask(REFUSED, TOKEN, both[1])
    assert len(front.stub.seen) == 1


async def test_no_caller_gets_a_refusal_in_another_form_than_asked_for(front: Front) -> None:
    await asked_often(front, REFUSED, TOKEN, "Accept: application/json")
    front.stub.seen.clear()
    await front.ask(REFUSED, TOKEN, "Accept: text/html")
    assert len(front.stub.seen) == 1


async def test_no_secret_reaches_the_files_of_refusals(front: Front) -> None:
    await asked_often(front, REFUSED, "Authorization: ApiKey iixk_live_canary", "X-Service-Public-Token: canary")
    kept = [path.read_bytes() for path in (front.folder / "nginx-refusals").iterdir()]
    await asked_often(front, REFUSED, TOKEN)
    assert kept == []
