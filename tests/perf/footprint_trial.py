"""How honest intervals are: known figures of a CSV file that were held out, and the share inside its stated 95 %.

`python -m tests.perf.footprint_trial devices.csv --category type --value gwp_total --json`
"""

import csv
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

import click

from deploy.ctl.calc import FILE, opened
from deploy.ctl.console import console, json_option, show
from deploy.ctl.main import run
from shared.errors import InvalidFile
from shared.uncertainty.stated import SAMPLES_MIN, Pooled, Stated, of_factor
from shared.units.reader import value_of

SHARE_MIN = 0.9
"""At least so many true values must lie inside the stated 95 %."""


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


def by_category(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the same for each category."""
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.sample.unit, outcome.sample.category].append(outcome)
    return [
        {"category": category, "unit": unit, "n": len(listed), **summary(listed)}
        for (unit, category), listed in sorted(groups.items())
    ]


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
        matches = (header for pattern in patterns for header in free if re.fullmatch(pattern, _plain(header)))
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


@click.command()
@FILE
@click.option("--value", help="Column of the figures; default: detected from the header.")
@click.option("--category", help="Column of the categories; a path's levels are separated by > or /.")
@click.option("--name", help="Column of the names.")
@click.option("--unit", help="Column of the units; different units are kept separate.")
@click.option("--weight", help="Column of weights in kg: figures are then per kilogram.")
@json_option
def footprint(file: Path, as_json: bool, **chosen: str | None) -> None:
    """Cross-validate: how many held-out figures of FILE are inside the 95 % interval estimated from the others.

    It holds out whole categories (estimated from the nearest category above, or unknown), then single items (estimated
    from their category, first with all samples of the category, then with one to four). FILE is CSV with a row for each
    known figure.
    """
    with opened(file) as text:
        known = read(text, {role: column for role, column in chosen.items() if column is not None})
    if len({sample.category for sample in known.samples}) < 2:
        raise InvalidFile("the file needs positive figures of at least two categories")
    left_out = without_item(known.samples)
    summaries = {
        "leave_one_category_out": summary(without_category(known.samples)),
        "leave_one_item_out": summary(left_out),
        **{f"of_{kept}_samples": summary(without_item(known.samples, kept)) for kept in range(1, SAMPLES_MIN)},
    }
    categories = by_category(left_out)
    if as_json:
        click.echo(json.dumps(_document(known, summaries, categories), indent=1))
        return
    show(categories, as_json=False, title="each category, one item at a time held out")
    for way, found in summaries.items():
        share = "nothing estimated" if found["share_inside"] is None else f"{found['share_inside']:.1%} inside"
        console.say(
            "{way}: {share} of {estimated}, high / low {median_high_over_low}, {unknown} unknown",
            way=way,
            share=share,
            **found,
        )


def _document(known: Read, summaries: dict[str, Any], categories: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "samples": len(known.samples),
        "unusable": known.unusable,
        "columns": known.columns,
        "per": "kg" if known.per_kg else "unit",
        "target_share": SHARE_MIN,
        **summaries,
        "categories": categories,
    }


if __name__ == "__main__":
    run(footprint)
