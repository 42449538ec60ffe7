"""How honest the intervals are: figures that were held out, and the share that is inside its stated 95 %."""

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from shared.errors import InvalidFile
from shared.uncertainty.stated import Estimate, nearest
from shared.units.tokens import value_of


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


# Known figures from a CSV file whose columns have whatever names.


# For each role the patterns of a header that plays it, the best first.
_HEADERS = {
    "value": (
        r"value|figure|per_unit",
        r"gwp_total",
        r".*footprint.*",
        r"gwp.*|pcf.*",
        r"(total_)?co2e?.*|.*emissions.*",
    ),
    "category": (
        r"category",
        r".*product_group.*",
        r".*sector",
        r".*industry_group",
        r"(product_)?type|.*group",
        r"category.*",
    ),
    "name": (r"name", r"product_name.*", r"name.*|.*_name|title|model"),
    "weight": (r"weight_kg|weight", r"(product_)?weight_kg", r"mass(_kg)?"),
    "unit": (r"unit",),
    "indicator": (r"indicator",),
}


class Read(NamedTuple):
    """The samples, which columns they came from, and how many rows had no positive figure."""

    samples: list[Sample]
    columns: dict[str, str]
    unusable: int
    per_kg: bool


def read(lines: Iterable[str], chosen: Mapping[str, str]) -> Read:
    """Return the figures of a file. `chosen` names columns by role; others are found by their headers.

    A weight makes figures per kilogram, where every row with a figure has one. Raises InvalidFile without a column of
    values or categories.
    """
    reader = csv.DictReader(lines)
    headers = list(reader.fieldnames or ())
    columns = _columns(headers, chosen)
    rows = list(reader)
    values = [_positive(row.get(columns["value"])) for row in rows]
    weights = [_positive(row.get(columns["weight"])) if "weight" in columns else None for row in rows]
    per_kg = any(values) and all(weight for value, weight in zip(values, weights, strict=True) if value)
    samples = []
    for number, (row, value, weight) in enumerate(zip(rows, values, weights, strict=True), 1):
        category = _code(row.get(columns["category"]) or "")
        if value is None or not category:
            continue
        units = [row.get(columns[role]) or "" for role in ("indicator", "unit") if role in columns]
        name = (row.get(columns["name"]) if "name" in columns else "") or str(number)
        figure = value / weight if per_kg and weight else value
        samples.append(Sample(name, category, " ".join(filter(None, units)), figure))
    return Read(samples, columns, len(rows) - len(samples), per_kg)


def _columns(headers: Sequence[str], chosen: Mapping[str, str]) -> dict[str, str]:
    if unknown := [name for name in chosen.values() if name not in headers]:
        raise InvalidFile(f"the file lacks the column {', '.join(sorted(unknown))}")
    columns = dict(chosen)
    for role, patterns in _HEADERS.items():
        free = [header for header in headers if header not in columns.values()]
        matches = (header for one in patterns for header in free if re.fullmatch(one, _plain(header)))
        header = columns.get(role) or next(matches, None)
        if header is not None:
            columns[role] = header
    if missing := [role for role in ("value", "category") if role not in columns]:
        raise InvalidFile(f"no column looks like a {' or a '.join(missing)}; name it with --{missing[0]}")
    return columns


def _plain(header: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", header.lower().replace("'s", "")).strip("_")


def _code(category: str) -> str:
    """Return a category as a dotted path; files separate levels by `>`, `/` or `|`."""
    levels = re.split(r"\s*[>|/]\s*", category.strip())
    return ".".join(_plain(level) or "-" for level in levels) if category.strip() else ""


def _positive(text: str | None) -> float | None:
    """Return a positive number; with one comma before three digits it groups thousands, else it is the decimal sign."""
    try:
        value = float(text or "")
    except ValueError:
        try:
            value = float(value_of((text or "").strip()))
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
    return value if 0 < value < math.inf else None
