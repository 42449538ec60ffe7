"""`make judge`: other people's checkers over the document, the configuration, the code, the manifests and the files.

One row for each judge. The run fails for a finding that no exception explains, for an exception that explains nothing,
and for a judge without a report. A judge that is not installed fails a strict run only.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.assurance.judges import tools
from tests.assurance.judges.findings import (
    EXCEPTIONS,
    Excepted,
    Finding,
    JudgeFailed,
    NotInstalled,
    Verdict,
    read_exceptions,
    weigh,
)
from tests.assurance.judges.readers import readers


def judged(
    name: str, judge: Callable[[Path], list[Finding]], exceptions: tuple[Excepted, ...], scratch: Path
) -> Verdict:
    """Run one judge and weigh what it finds."""
    try:
        return weigh(name, judge(scratch), exceptions)
    except NotInstalled as missing:
        return Verdict(name, missing=str(missing))
    except JudgeFailed as failure:
        return Verdict(name, failure=str(failure))


def show(verdicts: Iterable[Verdict], strict: bool, console: Console) -> bool:
    """Print a row for each judge and a line for each thing to explain; return whether all pass."""
    verdicts = tuple(verdicts)
    table = Table("judge", "findings", "explained", "unexplained", "unused", "verdict")
    for one in verdicts:
        counts = [len(one.findings), len(one.findings) - len(one.unexplained), len(one.unexplained), len(one.unused)]
        known = not (one.missing or one.failure)
        table.add_row(one.judge, *(str(count) if known else "–" for count in counts), Text(_words(one, strict)))
    console.print(table)
    for one in verdicts:
        for finding in one.unexplained:
            console.print(Text(f"{finding.judge}: {finding.rule} in {finding.path}: {finding.text}"), soft_wrap=True)
        for entry in one.unused:
            console.print(
                Text(f"{entry.judge}: no finding needs the exception of {entry.rule} in {entry.path}"), soft_wrap=True
            )
    return all(one.passes(strict) for one in verdicts)


def main() -> int:
    """Run the judges that are asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="make judge", description=__doc__)
    parser.add_argument("--only", choices=sorted(tools.ALL), help="run this judge only")
    parser.add_argument(
        "--strict",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="fail where a judge is not installed; the default where CI is set",
    )
    parser.add_argument("--brief", action="store_true", help="let `readers` read one release with fewer clients")
    options = parser.parse_args()
    judges = {**tools.ALL, "readers": partial(readers, brief=options.brief)}
    exceptions = read_exceptions(EXCEPTIONS.read_text())
    names = [options.only] if options.only else list(tools.ALL)
    with tempfile.TemporaryDirectory() as scratch:
        verdicts = [judged(name, judges[name], exceptions, Path(scratch).resolve()) for name in names]
    return 0 if show(verdicts, options.strict, Console()) else 1


def _words(verdict: Verdict, strict: bool) -> str:
    if verdict.missing:
        return f"not run: {verdict.missing}" + ("" if not strict else " (a fault in a strict run)")
    if verdict.failure:
        return f"failed: {verdict.failure}"
    return "passes" if verdict.passes(strict) else "fails"


if __name__ == "__main__":
    sys.exit(main())
