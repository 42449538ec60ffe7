"""A scenario file, read and checked. Pure."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RATE_MAX, SECONDS_MAX, STEPS_MAX, ADDRESSES_MAX = 50_000, 120, 20, 250


class ScenarioError(Exception):
    """The file cannot be run; says what to change."""


@dataclass(frozen=True)
class Call:
    """One kind of call: its share among all calls, and the statuses that are right answers to it."""

    name: str
    share: int
    path: str
    credential: str
    expect: frozenset[int]


@dataclass(frozen=True)
class Scenario:
    """What is called, how often, and from how many addresses.

    `rates` are arrivals a second, one for each step; `slow_ms` is the 99th percentile from which a step counts as not
    kept up with.
    """

    title: str
    rates: tuple[int, ...]
    seconds: int
    addresses: int
    slow_ms: float
    calls: tuple[Call, ...]


def read(path: Path) -> Scenario:
    """Read a scenario file. Raises ScenarioError that names what is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        ramp = document["ramp"]
        scenario = Scenario(
            title=str(document["title"]),
            rates=tuple(ramp["rates"]),
            seconds=int(ramp["seconds"]),
            addresses=int(ramp.get("addresses", 50)),
            slow_ms=float(ramp.get("slow_ms", 500)),
            calls=tuple(_call(entry) for entry in document["call"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"{path.name}: {type(error).__name__}: {error}") from None
    for fault in _faults(scenario):
        raise ScenarioError(f"{path.name}: {fault}")
    return scenario


def _faults(scenario: Scenario) -> list[str]:
    rates = scenario.rates
    rising = all(isinstance(rate, int) and 1 <= rate <= RATE_MAX for rate in rates) and list(rates) == sorted(
        set(rates)
    )
    checks = {
        f"ramp.rates must be 1 to {STEPS_MAX} rising numbers from 1 to {RATE_MAX}": 1 <= len(rates) <= STEPS_MAX
        and rising,
        f"ramp.seconds must be 1 to {SECONDS_MAX}": 1 <= scenario.seconds <= SECONDS_MAX,
        f"ramp.addresses must be 1 to {ADDRESSES_MAX}": 1 <= scenario.addresses <= ADDRESSES_MAX,
        "ramp.slow_ms must be above 0": scenario.slow_ms > 0,
        "there must be a call": bool(scenario.calls),
    }
    return [fault for fault, right in checks.items() if not right]


def _call(entry: dict[str, Any]) -> Call:
    call = Call(entry["name"], int(entry["share"]), entry["path"], entry["credential"], frozenset(entry["expect"]))
    if call.share < 1 or not call.path.startswith("/") or call.credential not in ("key", "anonymous", "none"):
        raise ValueError(f"{call.name}: share is 1 or more, path begins with /, credential is key, anonymous or none")
    return call
