"""Measure how well quantities tell names apart: pairs of names that are the same but for spelling, or are different.

`python -m tests.perf.units_trial pairs.csv --json`
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from deploy.ctl.calc import FILE, opened
from deploy.ctl.console import console, json_option, show
from deploy.ctl.main import run
from shared.errors import InvalidFile
from shared.units.names import compare, read


@click.command()
@FILE
@json_option
def units(file: Path, as_json: bool) -> None:
    """State for each pair of names whether they differ only in spelling.

    FILE is CSV with the columns a and b; with a column verdict (same or different), agreements are counted; a column id
    identifies the rows.
    """
    with opened(file) as text:
        rows = [_judged(number, row) for number, row in enumerate(_pairs(text), 1)]
    summary = _summary(rows)
    if as_json:
        click.echo(json.dumps({**summary, "rows": rows}, indent=1))
        return
    mistakes = [row for row in rows if row["verdict"] and (row["verdict"] == "same") != row["equal"]]
    shown = mistakes if summary else rows
    show([_for_table(row) for row in shown], as_json=False, title="mistakes" if summary else "pairs")
    for verdict, counts in summary.items():
        console.say("{verdict}: {equal} of {pairs} equal", verdict=verdict, **counts)


def _pairs(text: Iterable[str]) -> Iterable[dict[str, str]]:
    reader = csv.DictReader(text)
    if missing := {"a", "b"} - set(reader.fieldnames or ()):
        raise InvalidFile(f"the file lacks the column {', '.join(sorted(missing))}")
    return reader


def _judged(number: int, row: dict[str, str]) -> dict[str, Any]:
    first, second = row["a"] or "", row["b"] or ""
    comparison = compare(first, second)
    return {
        "id": row.get("id") or str(number),
        "verdict": row.get("verdict") or None,
        "equal": comparison.equal,
        "equal_quantities": comparison.quantities,
        "a": _shown_units(first),
        "b": _shown_units(second),
    }


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return for each verdict of the file how many of its pairs are equal by us."""
    summary = {}
    for verdict in ("same", "different"):
        equal = [row["equal"] for row in rows if row["verdict"] == verdict]
        if equal:
            share = round(sum(equal) / len(equal), 6)
            summary[verdict] = {"pairs": len(equal), "equal": sum(equal), "share_equal": share}
    return summary


def _for_table(row: dict[str, Any]) -> dict[str, Any]:
    return {key: "; ".join(value) if isinstance(value, list) else value for key, value in row.items()}


def _shown_units(text: str) -> list[str]:
    return [quantity.text for quantity in read(text).quantities]


if __name__ == "__main__":
    run(units)
