"""Loads: every row is used or rejected, and the rejected ones are those that no rule of the mapping can read."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index
from tests.assurance.truth.sets import Set
from tests.assurance.truth.stack import Stack

# Files that a load must refuse in part: their mapping, and the lines that cannot be used.
_BAD = {
    "dec.csv": ("dec", {6, 7, 8}),
    "kinds.csv": ("kinds", {8}),
    "sales.csv": ("sales", set[int]()),
    "tz.csv": ("tz", {5, 6, 7}),
    "tz2.csv": ("tz2", {2, 3, 5, 6, 7, 8, 9}),
    "tz3.csv": ("tz3", {2}),
    "q2.csv": ("q2", {2}),
    "n.ndjson": ("n", set[int]()),
}


def rejects(service: Stack, index: Index) -> Iterator[Question]:
    """Compare the rejected lines of each load with those that its recipe cannot read, and let its counts add up."""
    for name, summary in service.summaries.items():
        expected = index.rows("SELECT DISTINCT file, line FROM refused WHERE source = ? ORDER BY ALL", [name])
        yield Question(f"rejects of {name}", summary["refused"], [(row["file"], row["line"]) for row in expected])
        counts = summary["counts"]
        yield Question(f"rows of {name}", counts["rows"], counts["rows_used"] + counts["rejected"])


def bad_inputs(service: Stack, data: Path) -> Iterator[Question]:
    """Load files with faults on purpose and compare which lines are rejected."""
    for name, (mapping, lines) in _BAD.items():
        path = data / "bad_inputs" / name
        if path.is_file():
            one = Set(f"bad {name}", (path,), path.with_name(f"{mapping}.toml"), path)
            expected = [(name, line) for line in sorted(lines)]
            yield Question(f"rejects of bad_inputs/{name}", _refused(service, one), expected)


def _refused(service: Stack, one: Set) -> list[tuple[str, int]]:
    """Return the rejected lines. Of a file that holds nothing usable the refusal of its load names the first."""
    try:
        return list(service.load(one)["refused"])
    except RuntimeError as error:
        if "nothing is loaded" not in str(error):
            raise
        return [(name, int(line)) for name, line in re.findall(r"for example (\S+) line (\d+)", str(error))]
