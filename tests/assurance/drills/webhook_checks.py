"""Was an event lost, out of order, or late? The journals of receivers, held against what was logged. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.assurance.drills.checks import Check

GOOD, FAILING, HANGING, MORTAL = "good", "failing", "hanging", "mortal"
"""How receivers behave; one that is mortal is good while it lives."""
DELAY_SECONDS_MAX = 1.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """An accepted event: its number in the log and among its organization's, and when it happened and arrived."""

    port: int
    cursor: int
    n: int
    happened: str
    arrived: float
    signed: bool


@dataclass(frozen=True, slots=True)
class Span:
    """Events from `first` up to, but not including, `end`, by their number among their organization's."""

    first: int
    end: int


def read_journal(text: str) -> list[Delivery]:
    """Read a journal. A last line that a kill cut off is no delivery: its event was not answered."""
    return [Delivery(**json.loads(line)) for line in text.splitlines(keepends=True) if line.endswith("}\n")]


def judge(
    deliveries: Iterable[Delivery], logged: Mapping[int, int], others: Sequence[int], calm: Span, troubled: Span
) -> list[Check]:
    """Return every promise with its verdict.

    `logged` says how many events the organization of each port has, numbered from 1; `others` are the ports whose
    receivers are good throughout.
    """
    by_port: dict[int, list[Delivery]] = {port: [] for port in logged}
    for delivery in deliveries:
        by_port[delivery.port].append(delivery)
    listed = [delivery for found in by_port.values() for delivery in found]
    total = sum(logged.values())
    arrived = sum(len({one.n for one in by_port[port]} & set(range(1, last + 1))) for port, last in logged.items())
    disordered = sum(out_of_order(found) for found in by_port.values())
    unsigned = sum(not one.signed for one in listed)
    waits = [_longest(by_port, others, span) for span in (calm, troubled)]
    later = waits[1] - waits[0]
    found = f"{waits[1]:.2f} s, {waits[0]:.2f} s while all receivers were good"
    return [
        Check("every event was accepted", f"{arrived} of {total}", arrived == total),
        Check("no event came after a later one of its organization", str(disordered), disordered == 0),
        Check("standardwebhooks verifies every delivery", f"{len(listed) - unsigned} of {len(listed)}", unsigned == 0),
        Check("bad receivers delay others by at most 1 s", found, later <= DELAY_SECONDS_MAX),
    ]


def out_of_order(deliveries: Sequence[Delivery]) -> int:
    """Return how many deliveries of one receiver came after a later event; one that is repeated at once is in order."""
    latest = wrong = 0
    for delivery in deliveries:
        wrong += delivery.cursor < latest
        latest = max(latest, delivery.cursor)
    return wrong


def _longest(by_port: Mapping[int, Sequence[Delivery]], ports: Sequence[int], span: Span) -> float:
    waits = (
        one.arrived - datetime.fromisoformat(one.happened).timestamp()
        for port in ports
        for one in by_port[port]
        if span.first <= one.n < span.end
    )
    return max(waits, default=0.0)
