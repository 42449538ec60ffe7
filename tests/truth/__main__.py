"""`make truth`: compare every endpoint's figures with an independent computation over the source files."""

import json
import sys
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.progress import Progress

from tests.truth import sets, stack
from tests.truth.compare import Verdict
from tests.truth.endpoints import ENDPOINTS
from tests.truth.index import Index

_DATA = Path(__file__).parents[3] / "shared" / "data"


@click.command()
@click.option("--questions", default=100, show_default=True, help="Random questions for each endpoint.")
@click.option("--seed", default=1, show_default=True, help="The same seed asks the same questions.")
@click.option(
    "--data",
    default=_DATA,
    type=click.Path(path_type=Path),
    help="Folder of the sets; where it is absent, the shipped demo data alone is used.",
)
@click.option("--only", multiple=True, help="Only this endpoint; repeat for more.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def main(questions: int, seed: int, data: Path, only: tuple[str, ...], as_json: bool) -> None:
    """Load every set into a service of its own, ask, compare, and print one line for each endpoint."""
    progress_console = Console(stderr=True)
    known = sets.found(data)
    if not data.is_dir():
        progress_console.print(f"{data} is not there: the shipped data alone is compared", markup=False)
    with Progress(console=progress_console, disable=not progress_console.is_terminal) as progress:
        task = progress.add_task("starting and loading", total=None)
        with stack.running(known) as service:
            client = service.client()
            index = Index.of(known)
            chosen = {name: ask for name, ask in ENDPOINTS.items() if not only or name in only}
            progress.update(task, description="comparing", total=len(chosen), completed=0)
            verdicts = []
            for name, ask in chosen.items():
                progress.update(task, description=name)
                verdict = Verdict(name)
                for question in ask(client, index, Random(f"{seed} {name}"), questions):
                    verdict.add(question)
                verdicts.append(verdict)
                progress.advance(task)
    click.echo(_document(verdicts) if as_json else _lines(verdicts))
    sys.exit(1 if any(verdict.different for verdict in verdicts) else 0)


def _document(verdicts: list[Verdict]) -> str:
    listed = [
        {
            "endpoint": v.endpoint,
            "compared": v.compared,
            "different": v.different,
            "unjudged": sorted(v.unjudged),
            "differences": [vars(difference) for difference in v.differences],
        }
        for v in verdicts
    ]
    return json.dumps(listed, indent=1)


def _lines(verdicts: list[Verdict]) -> str:
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.endpoint:<28} compared {verdict.compared:>6}  different {verdict.different:>6}")
        lines += [f"    {d.question}  {d.place}: ours {d.ours!r}, expected {d.theirs!r}" for d in verdict.differences]
        if verdict.unjudged:
            lines.append(f"    not compared: {', '.join(sorted(verdict.unjudged))}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
