"""`itemindex calc units`: quantities in names, and names compared by them."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import console, json_option, show
from shared.errors import InvalidFile
from shared.units.compare import compare as compare_names
from shared.units.names import read


@click.command(epilog="Example: itemindex calc units 'olive oil 6 x 0.75 L'")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--pairs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare the pairs of names of this file instead.",
)
@json_option
def parse(texts: tuple[str, ...], pairs: Path | None, as_json: bool) -> None:
    """Print the quantities of each TEXT in base units, and the words that remain.

    With --pairs, say of each pair of names whether they differ in spelling only. The file is CSV with the columns a
    and b; with a column verdict (same or different) the command counts its agreement, and with a column id the rows are
    named by it.
    """
    if bool(texts) == (pairs is not None):
        raise click.UsageError("give either texts or --pairs")
    if pairs is not None:
        _compare(pairs, as_json=as_json)
        return
    rows = [{"text": text, "quantities": _shown(text), "rest": " ".join(read(text).rest.split())} for text in texts]
    if not as_json:
        rows = [{**row, "quantities": "; ".join(row["quantities"])} for row in rows]
    show(rows, as_json=as_json, title="quantities")


def _compare(file: Path, *, as_json: bool) -> None:
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = [_judged(number, row) for number, row in enumerate(_pairs(text), 1)]
    except UnicodeDecodeError:
        raise InvalidFile("the file is not UTF-8") from None
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
    comparison = compare_names(first, second)
    return {
        "id": row.get("id") or str(number),
        "verdict": row.get("verdict") or None,
        "equal": comparison.equal,
        "equal_quantities": comparison.quantities,
        "a": _shown(first),
        "b": _shown(second),
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


def _shown(text: str) -> list[str]:
    return [quantity.text for quantity in read(text).quantities]
