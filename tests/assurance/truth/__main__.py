"""`make truth`: compare the answers of endpoints with an independent computation over the source files."""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import click
from rich.console import Console
from rich.progress import Progress, TaskID

from tests.assurance.truth import sets, stack
from tests.assurance.truth.compare import Question, Verdict
from tests.assurance.truth.endpoints import ENDPOINTS
from tests.assurance.truth.generated import generated
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions import loads

_DATA = Path(__file__).parents[4] / "shared" / "data"


LOADS = ("rejects", "bad inputs")


@click.command()
@click.option("--questions", default=100, show_default=True, help="Random questions for each endpoint.")
@click.option("--seed", default=1, show_default=True, help="The same seed asks the same questions.")
@click.option(
    "--data",
    default=_DATA,
    type=click.Path(path_type=Path),
    help="Folder of the sets; where it is absent, the shipped and generated data alone are used.",
)
@click.option("--food-prices-from", type=int, help="Leave out the shipped food prices before this year.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*ENDPOINTS, *LOADS]),
    help="Only this endpoint, such as insights/reductions; repeat for more.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def main(
    questions: int, seed: int, data: Path, food_prices_from: int | None, only: tuple[str, ...], as_json: bool
) -> None:
    """Load every set into a service of its own, ask, compare, and print one line for each endpoint."""
    terminal = Console(stderr=True)
    if not data.is_dir():
        terminal.print(f"{data} is not there: the shipped and the generated data are compared", markup=False)
    with tempfile.TemporaryDirectory() as folder, Progress(console=terminal, disable=not terminal.is_terminal) as bar:
        task = bar.add_task("starting and loading", total=None)
        shipped = sets.shipped()
        if food_prices_from:
            shipped = sets.recent(shipped, Path(folder), food_prices_from)
        world = shipped.with_also(sets.evaluation(data)).with_also(generated(Path(folder), seed))
        with stack.running(world) as service:
            verdicts = _judged(service, Index.of(world), questions, seed, data, only, bar, task)
    click.echo(_document(verdicts) if as_json else _lines(verdicts))
    sys.exit(1 if any(verdict.different for verdict in verdicts) else 0)


def _judged(
    service: stack.Stack,
    index: Index,
    questions: int,
    seed: int,
    data: Path,
    only: tuple[str, ...],
    bar: Progress,
    task: TaskID,
) -> list[Verdict]:
    """Compare every endpoint, then the loads: those of faulty files change what the endpoints answer."""
    client = service.client()
    asked: dict[str, Callable[[], Iterator[Question]]] = {
        name: partial(ask, client, index, Random(f"{seed} {name}"), questions) for name, ask in ENDPOINTS.items()
    }
    ask_rejects, ask_bad_inputs = partial(loads.rejects, service, index), partial(loads.bad_inputs, service, data)
    asked |= dict(zip(LOADS, (ask_rejects, ask_bad_inputs), strict=True))
    chosen = {name: ask for name, ask in asked.items() if not only or name in only}
    bar.update(task, total=len(chosen), completed=0)
    verdicts = []
    for name, ask in chosen.items():
        bar.update(task, description=name)
        verdict = Verdict(name)
        for question in ask():
            verdict.add(question)
        verdicts.append(verdict)
        bar.advance(task)
    return verdicts


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
