"""How honest intervals are: known figures that were held out, and the share inside their stated 95 %.

`python -m tests.perf.footprint_trial` prints it for the published figures of the demo data, by number of samples.
"""

import csv
import gzip
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from deploy.ctl.demo import DATA
from shared.uncertainty.stated import SAMPLES_MIN, Pooled, Stated, of_factor


class Sample(NamedTuple):
    """A known figure: of which category (a dotted path), in which unit."""

    name: str
    category: str
    unit: str
    value: float


class Outcome(NamedTuple):
    """A figure that was held out, and its estimate from the others, which rests on so many samples.

    None: it is unknown, as neither its category nor one above it has samples.
    """

    sample: Sample
    estimate: Stated | None
    samples: int = 0

    @property
    def inside(self) -> bool:
        """Whether the true value is inside the stated interval."""
        if self.estimate is None:
            return False
        low, _, high = self.estimate.interval
        return low <= self.sample.value <= high


_Logs = Mapping[str, list[float]]


def without_category(samples: Iterable[Sample]) -> list[Outcome]:
    """Estimate each figure without any of its category's, from the nearest category above it."""
    outcomes = []
    for groups in _by_unit(samples):
        for category, held_out in groups.items():
            others = _logs({name: group for name, group in groups.items() if name != category})
            estimate, number = _estimate(category, others, _pooled(others))
            outcomes += [Outcome(sample, estimate, number) for sample in held_out]
    return outcomes


def without_item(samples: Iterable[Sample], kept: int | None = None) -> list[Outcome]:
    """Estimate each figure from all others: its category's, and those above it where they are too few.

    With `kept` only so many of its category's samples, spread evenly over their order, are known.
    """
    outcomes = []
    for groups in _by_unit(samples):
        logs = _logs(groups)
        pooled = _pooled(logs)
        for category, listed in groups.items():
            elsewhere = pooled.without(_spread(logs[category]))
            for position, sample in enumerate(listed):
                own = logs[category][position + 1 :] + logs[category][:position]
                if kept is not None:
                    if len(own) < kept:
                        continue
                    own = [own[(2 * n + 1) * len(own) // (2 * kept)] for n in range(kept)]
                within = Pooled.of_all((elsewhere, _spread(own)))
                outcomes.append(Outcome(sample, *_estimate(category, {**logs, category: own}, within)))
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return how many figures were estimated, the share inside, and how wide the intervals are (high / low)."""
    known = [outcome for outcome in outcomes if outcome.estimate is not None]
    inside = sum(outcome.inside for outcome in known)
    widths = [
        figure.estimate.interval.high / figure.estimate.interval.low for figure in known if figure.estimate is not None
    ]
    return {
        "estimated": len(known),
        "unknown": len(outcomes) - len(known),
        "inside": inside,
        "share_inside": round(inside / len(known), 6) if known else None,
        "median_high_over_low": float(f"{median(widths):.4g}") if widths else None,
    }


def _estimate(category: str, logs: _Logs, pooled: Pooled) -> tuple[Stated | None, int]:
    """Return the estimate as the index makes it, of the nearest category with enough samples, else of the nearest."""
    parts, nearest = category.split("."), list[float]()
    for depth in range(len(parts), 0, -1):
        path = ".".join(parts[:depth])
        found = [
            sample for name, group in logs.items() if name == path or name.startswith(f"{path}.") for sample in group
        ]
        nearest = nearest or found
        if len(found) >= SAMPLES_MIN:
            nearest = found
            break
    if not nearest:
        return None, 0
    deviation = stdev(nearest) if len(nearest) > 1 else None
    middle = fmean(nearest)
    # An ancestor's spread is not among the pooled ones: nothing of it is taken from them.
    own = logs.get(category) == nearest
    within = pooled if own else Pooled.of_all((pooled, Pooled.of(len(nearest), deviation)))
    return of_factor(math.exp(middle), len(nearest), middle, deviation, within), len(nearest)


def _spread(logs: Sequence[float]) -> Pooled:
    return Pooled.of(len(logs), stdev(logs) if len(logs) > 1 else None)


def _pooled(logs: _Logs) -> Pooled:
    return Pooled.of_all(map(_spread, logs.values()))


def _logs(groups: Mapping[str, Sequence[Sample]]) -> dict[str, list[float]]:
    return {name: [math.log(sample.value) for sample in group] for name, group in groups.items()}


def _by_unit(samples: Iterable[Sample]) -> Iterable[Mapping[str, list[Sample]]]:
    units: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        units[sample.unit][sample.category].append(sample)
    return units.values()


# Of the demo data: the file, and the columns of values, of categories and of the weight that a value is for.
_CATALOGUE = ("carbon_catalogue.csv.gz", "Product's carbon footprint (PCF, kg CO2e)")
_WEIGHT, _GROUP = "Product weight (kg)", "product_group_nl"
_RIVM = "rivm_food_footprints.csv"
PUBLISHED = {
    "Carbon Catalogue, sectors": (*_CATALOGUE, "*Company's sector", _WEIGHT),
    "Carbon Catalogue, industries": (*_CATALOGUE, "Company's GICS Industry", _WEIGHT),
    "RIVM, CO2e": (_RIVM, "gwp_kg_co2e", _GROUP, ""),
    "RIVM, water": (_RIVM, "water_m3", _GROUP, ""),
    "RIVM, land use": (_RIVM, "land_use_m2a", _GROUP, ""),
}


def figures_of(title: str) -> list[Sample]:
    """Return the positive figures of PUBLISHED, per kilogram where there is a weight."""
    file, value, category, weight = PUBLISHED[title]
    content = (DATA / file).read_bytes()
    text = (gzip.decompress(content) if file.endswith(".gz") else content).decode("utf-8-sig")
    rows = [row for row in csv.DictReader(text.splitlines(keepends=True)) if float(row[value] or 0) > 0]
    return [
        Sample(str(n), row[category].replace(".", ""), "", float(row[value]) / float(row[weight] if weight else 1))
        for n, row in enumerate(rows, 1)
    ]


if __name__ == "__main__":
    for title in PUBLISHED:
        for kept in (*range(1, SAMPLES_MIN), None):
            sys.stdout.write(f"{title}, {kept or 'all'}: {summary(without_item(figures_of(title), kept))}\n")
