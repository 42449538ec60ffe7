"""A scenario file, read and checked; and what a run of it came to. Pure."""

import statistics
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

CALLERS_MAX, SECONDS_MAX, STEPS_MAX = 512, 120, 20
_GAIN = 0.1


class ScenarioError(Exception):
    """The file cannot be run; says what to change."""


@dataclass(frozen=True)
class Call:
    """One kind of call."""

    name: str
    share: int
    path: str
    credential: str
    expect: frozenset[int]


@dataclass(frozen=True)
class Scenario:
    """What is called, and by how many callers at a time."""

    title: str
    callers: tuple[int, ...]
    seconds: int
    calls: tuple[Call, ...]


@dataclass
class SpanContext:
    """What one step of the ramp came to: milliseconds of each answer, by call, and the wrong answers."""

    callers: int
    seconds: float = 0.0
    took_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def answers(self) -> int:
        """How many answers there were."""
        return sum(len(times) for times in self.took_ms.values())

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds if self.seconds else 0.0

    def percentile(self, percent: int, name: str | None = None) -> float:
        """Return a percentile of the milliseconds, of one call or of all."""
        times = self.took_ms.get(name, []) if name else [t for one in self.took_ms.values() for t in one]
        if len(times) < 2:
            return times[0] if times else 0.0
        return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def read(path: Path) -> Scenario:
    """Read a scenario file. Raises ScenarioError that names what is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        ramp, calls = document["ramp"], document["call"]
        scenario = Scenario(
            str(document["title"]), tuple(ramp["callers"]), int(ramp["seconds"]), tuple(_call(entry) for entry in calls)
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"{path.name}: {type(error).__name__}: {error}") from None
    counts = scenario.callers
    if not 1 <= len(counts) <= STEPS_MAX or not all(isinstance(n, int) and 1 <= n <= CALLERS_MAX for n in counts):
        raise ScenarioError(f"{path.name}: ramp.callers must be 1 to {STEPS_MAX} numbers from 1 to {CALLERS_MAX}")
    if not 1 <= scenario.seconds <= SECONDS_MAX:
        raise ScenarioError(f"{path.name}: ramp.seconds must be 1 to {SECONDS_MAX}")
    return scenario


def _call(entry: dict[str, Any]) -> Call:
    call = Call(entry["name"], int(entry["share"]), entry["path"], entry["credential"], frozenset(entry["expect"]))
    if call.share < 1 or not call.path.startswith("/") or call.credential not in ("key", "anonymous", "none"):
        raise ValueError(f"{call.name}: share is 1 or more, path begins with /, credential is key, anonymous or none")
    return call


def knee(steps: list[SpanContext]) -> SpanContext | None:
    """Return the step after which more callers brought little more: a tenth of what the first callers brought.

    None where the ramp ended before that.
    """
    if not steps or not steps[0].answers:
        return None
    each = steps[0].per_second / steps[0].callers
    for before, after in pairwise(steps):
        added = after.callers - before.callers
        if added > 0 and (after.per_second - before.per_second) / added < _GAIN * each:
            return before
    return None
