"""What the steps of a run came to: figures, the knee, and the comparison with the former run. Pure."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_KEPT_UP = 0.95
_LATE_MS = 20.0
_BUSY = 0.9


@dataclass
class Step:
    """One rate of arrivals. Milliseconds are counted from the moment at which a call was due, not from its sending."""

    rate: int
    seconds: float = 0.0
    took_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    late_ms: list[float] = field(default_factory=list)
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    generator_cpu: float = 0.0

    @property
    def answers(self) -> int:
        """How many answers there were."""
        return sum(len(times) for times in self.took_ms.values())

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds if self.seconds else 0.0

    @property
    def generator_is_late(self) -> bool:
        """Whether calls were sent late, or the generator's processor was busy: then it measures itself."""
        return percentile(self.late_ms, 99) > _LATE_MS or self.generator_cpu > _BUSY

    def percentile(self, percent: int, name: str | None = None) -> float:
        """Return a percentile of the milliseconds, of one call or of all."""
        return percentile(self.took_ms.get(name, []) if name else _all(self.took_ms.values()), percent)

    def kept_up(self, slow_ms: float) -> bool:
        """Return whether the calls were answered as fast as they arrived."""
        arrived = self.answers + self.unanswered
        answered = arrived > 0 and self.answers >= _KEPT_UP * arrived
        return answered and self.percentile(99) <= slow_ms

    def summary(self) -> dict[str, Any]:
        """Return the step's figures for JSON."""
        return {
            "rate": self.rate,
            "answers_per_second": round(self.per_second, 1),
            "p50_ms": round(self.percentile(50), 2),
            "p95_ms": round(self.percentile(95), 2),
            "p99_ms": round(self.percentile(99), 2),
            "wrong": dict(self.wrong),
            "unanswered": self.unanswered,
            "late_p99_ms": round(percentile(self.late_ms, 99), 2),
            "generator_cpu": round(self.generator_cpu, 3),
            "cpu_us_per_answer": {
                part: round(seconds / self.answers * 1e6, 1) if self.answers else 0.0
                for part, seconds in self.cpu_seconds.items()
            },
        }


@dataclass(frozen=True)
class Verdict:
    """The knee: the highest rate that was kept up with, and why it is not higher."""

    step: Step | None
    sentence: str


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile, interpolated; 0 of nothing."""
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def knee(steps: list[Step], slow_ms: float) -> Verdict:
    """Return the last step before the first one that was not kept up with."""
    kept: Step | None = None
    for step in steps:
        if not step.kept_up(slow_ms):
            return Verdict(kept, _limit(kept, step))
        kept = step
    if kept is None:
        return Verdict(None, "Nothing was called.")
    return Verdict(
        kept, f"The knee was not reached: {kept.rate:,} calls a second were kept up with. Let the rates rise further."
    )


def _limit(kept: Step | None, failed: Step) -> str:
    if failed.generator_is_late:
        reached = f"beyond {kept.rate:,}" if kept else "at an unknown number of"
        return (
            f"The knee is {reached} calls a second: at {failed.rate:,} the generator itself was late, "
            "so that step says nothing of the service. Use more processors, or another machine for the callers."
        )
    if kept is None:
        return f"The knee is below the first rate, {failed.rate:,} calls a second. Begin lower."
    return f"The knee is at {kept.rate:,} calls a second: at {failed.rate:,} they were answered more slowly than they arrived."


def compared(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each rate of both runs how much answers a second, p99 and CPU changed; 1.0 is no change."""
    former = {step["rate"]: step for step in before}
    return [_change(step, former[step["rate"]]) for step in now if step["rate"] in former]


def _change(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    def cpu(step: dict[str, Any]) -> float:
        return float(sum(step["cpu_us_per_answer"].values()))

    return {
        "rate": now["rate"],
        "answers_per_second": _ratio(now["answers_per_second"], before["answers_per_second"]),
        "p99_ms": _ratio(now["p99_ms"], before["p99_ms"]),
        "cpu_us_per_answer": _ratio(cpu(now), cpu(before)),
    }


def _ratio(now: float, before: float) -> float | None:
    return round(now / before, 3) if before else None


def _all(lists: Iterable[list[float]]) -> list[float]:
    return [value for one in lists for value in one]
