"""How honest the intervals are: figures that were held out, and the share that is inside its stated 95 %. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from shared.uncertainty.category import Estimate, nearest


class Sample(NamedTuple):
    """A known figure: of which category (a dotted path), in which unit."""

    name: str
    category: str
    unit: str
    value: float


class Outcome(NamedTuple):
    """A figure that was held out, and its estimate from the others."""

    sample: Sample
    estimate: Estimate

    @property
    def inside(self) -> bool:
        """Whether the true value is inside the stated interval."""
        low, _, high = self.estimate.figure.interval
        return low <= self.sample.value <= high


def without_category(samples: Iterable[Sample]) -> list[Outcome]:
    """Estimate each figure without any of its category's, from the nearest others with enough samples."""
    outcomes = []
    for groups in _by_unit(samples):
        for category, held_out in groups.items():
            others = {name: [one.value for one in group] for name, group in groups.items() if name != category}
            if sum(map(len, others.values())) < 2:
                continue
            estimate = nearest(category, others)
            outcomes += [Outcome(sample, estimate) for sample in held_out]
    return outcomes


def without_item(samples: Iterable[Sample]) -> list[Outcome]:
    """Estimate each figure from all others: its category's where there are enough."""
    outcomes = []
    for groups in _by_unit(samples):
        values = {name: [one.value for one in group] for name, group in groups.items()}
        for category, listed in groups.items():
            for position, sample in enumerate(listed):
                own = values[category][:position] + values[category][position + 1 :]
                left = {**values, category: own}
                if sum(map(len, left.values())) >= 2:
                    outcomes.append(Outcome(sample, nearest(category, left)))
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return how many figures were estimated, the share inside, and how wide the intervals are (high / low)."""
    inside = sum(outcome.inside for outcome in outcomes)
    widths = [outcome.estimate.figure.interval.high / outcome.estimate.figure.interval.low for outcome in outcomes]
    return {
        "estimated": len(outcomes),
        "inside": inside,
        "share_inside": round(inside / len(outcomes), 6) if outcomes else None,
        "median_high_over_low": float(f"{median(widths):.4g}") if widths else None,
    }


def by_category(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the same for each category, with its estimate."""
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.sample.unit, outcome.sample.category].append(outcome)
    rows = []
    for (unit, category), listed in sorted(groups.items()):
        estimate = listed[0].estimate
        low, central, high = (float(f"{bound:.6g}") for bound in estimate.figure.interval)
        rows.append(
            {
                "category": category,
                "unit": unit,
                "n": len(listed),
                "inside": sum(outcome.inside for outcome in listed),
                "low": low,
                "central": central,
                "high": high,
                "samples": estimate.samples,
                "categories": estimate.categories,
            }
        )
    return rows


def _by_unit(samples: Iterable[Sample]) -> Iterable[Mapping[str, list[Sample]]]:
    units: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        units[sample.unit][sample.category].append(sample)
    return units.values()
