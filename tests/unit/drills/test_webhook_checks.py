"""The judge of the webhooks' drill notices what is lost, out of order, unsigned or late."""

import json
from dataclasses import asdict, replace

import pytest

from tests.drills.webhook_checks import (
    FAILING,
    GOOD,
    HANGING,
    MORTAL,
    Delivery,
    Span,
    judge,
    out_of_order,
    read_journal,
)
from tests.drills.webhooks import trouble_of

AT = "2026-11-22T05:00:00.000Z"
SECONDS = 1_795_323_600.0
CALM, TROUBLED = Span(1, 3), Span(3, 5)


def delivery(n: int, port: int = 1, waited: float = 0.1, *, signed: bool = True) -> Delivery:
    return Delivery(port, 100 + n, n, AT, SECONDS + waited, signed)


def kept(deliveries: list[Delivery]) -> list[bool]:
    whole = [delivery(n, port=2) for n in range(1, 5)]
    return [check.kept for check in judge([*deliveries, *whole], {1: 4, 2: 4}, [1], CALM, TROUBLED)]


RIGHT = [delivery(n) for n in range(1, 5)]


@pytest.mark.parametrize(
    ("deliveries", "broken"),
    [
        (RIGHT, None),
        ([RIGHT[0], *RIGHT], None),  # repeated before anything later
        (RIGHT[:3], 0),
        ([*RIGHT, delivery(9)][1:], 0),
        ([RIGHT[1], RIGHT[0], *RIGHT[2:]], 1),
        ([*RIGHT, RIGHT[2]], 1),
        ([*RIGHT[:3], replace(RIGHT[3], signed=False)], 2),
        ([*RIGHT[:3], delivery(4, waited=1.2)], 3),
        ([delivery(1, waited=0.5), *RIGHT[1:3], delivery(4, waited=1.4)], None),
    ],
)
def test_each_promise_is_judged(deliveries: list[Delivery], broken: int | None) -> None:
    assert kept(deliveries) == [place != broken for place in range(4)]


def test_a_delivery_that_is_repeated_at_once_is_in_order() -> None:
    assert out_of_order([RIGHT[0], RIGHT[1], RIGHT[1], RIGHT[2]]) == 0
    assert out_of_order([RIGHT[2], RIGHT[0], RIGHT[1]]) == 2


def test_a_line_that_a_kill_cut_off_is_no_delivery() -> None:
    line = json.dumps(asdict(RIGHT[0])) + "\n"
    assert read_journal(line + line[:-1]) == [RIGHT[0]]
    assert read_journal(line + line[:20]) == [RIGHT[0]]


@pytest.mark.parametrize("receivers", [5, 10, 20, 200])
def test_30_per_cent_are_in_trouble_and_each_trouble_befalls_some(receivers: int) -> None:
    troubles = [trouble_of(number, receivers) for number in range(receivers)]
    assert {FAILING, HANGING, MORTAL, GOOD} == set(troubles)
    assert sum(trouble != GOOD for trouble in troubles) == max(3, round(0.3 * receivers))
