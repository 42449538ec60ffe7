"""`itemindex matches evaluate` and `train`: how well the model finds equal articles, and where it comes from."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deploy.ctl.console import console, errors, json_option, report, show

if TYPE_CHECKING:
    from workers.articles.matching.evaluation import Evaluation

file_option = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    epilog="Example: itemindex matches evaluate --left L.csv --right R.csv --pairs P.csv --train T.csv --json"
)
@click.option("--left", required=True, type=file_option, help="Records of one side: id, name or title, and more.")
@click.option("--right", required=True, type=file_option, help="Records of the other side.")
@click.option("--pairs", required=True, type=file_option, help="Pairs to judge: left_id, right_id, label (1 or 0).")
@click.option("--train", multiple=True, type=file_option, help="Labelled pairs to train on; may be repeated.")
@click.option(
    "--valid",
    multiple=True,
    type=file_option,
    help="More labelled pairs; the bound is chosen on all by cross-validation.",
)
@click.option("--end-to-end", is_flag=True, help="Count only pairs among the candidates as matches.")
@click.option("--model", type=file_option, help="A model file instead of the shipped one.")
@click.option(
    "--train-on",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Judge by a model trained on a folder's left.csv, right.csv and pairs_*.csv; may be repeated.",
)
@json_option
def evaluate(
    left: Path,
    right: Path,
    pairs: Path,
    train: tuple[Path, ...],
    valid: tuple[Path, ...],
    end_to_end: bool,
    model: Path | None,
    train_on: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Measure precision, recall and F1 on labelled pairs.

    Records are CSV files with a column id and any of: name or title, brand or manufacturer, modelno or mpn, category,
    description, price. Without --train the shipped model judges; with it a model is trained on the labelled pairs.
    With --train-on a model judges that learned from other files, and has not seen these.

    End to end the candidates are found among all records. The truth is the file of pairs: a match in it that is not
    found counts as missed. A pair that is found and is not in the file is unknown: it is counted as `unlisted`, and
    neither as right nor as wrong, unless the file has no label column. Then it lists every match, and all others are
    wrong.
    """
    if sum(map(bool, ((*train, *valid), train_on, model))) > 1:
        raise click.UsageError("--train, --train-on and --model exclude one another")
    from workers.articles.matching import evaluation, transfer  # only now: it loads scikit-learn
    from workers.articles.matching.model import Model

    chosen = transfer.trained_on(train_on) if train_on else Model.read(model) if model else Model.shipped()
    files = evaluation.Files(left, right, pairs, (*train, *valid))
    result = evaluation.evaluate(files, chosen, end_to_end=end_to_end, report_progress=_report_progress)
    summary = _summary(result, "trained on other files" if train_on else result.method)
    if as_json:
        click.echo(json.dumps(summary))
        return
    lines = [{"what": name, "value": value} for name, value in summary.items() if not isinstance(value, dict)]
    lines += [{"what": f"unattended {name}", "value": value} for name, value in asdict(result.unattended).items()]
    show(lines, as_json=False, title="evaluation")


def _report_progress(stage: str) -> None:
    errors.say("[dim]{stage} …[/]", stage=stage)


def _summary(result: "Evaluation", method: str) -> dict[str, Any]:
    return {
        "precision": result.all.precision,
        "recall": result.all.recall,
        "f1": result.all.f1,
        "pairs": result.all.pairs,
        "matches": result.all.matches,
        "found": result.all.found,
        "method": method,
        "bound": result.bound,
        "unattended": asdict(result.unattended),
        "candidates_recall": result.candidates_recall,
        "unlisted": result.unlisted,
        "unknown_ids": result.unknown_ids,
        "cross_validated_f1": result.cross_validated_f1,
    }


@click.command(epilog="Example: itemindex matches train --out model.json")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@click.option("--worlds", type=click.IntRange(4, 1000), help="Number of generated data sets to learn from.")
@click.option("--seed", type=int, help="The same seed gives the same bytes.")
@json_option
def train(out: Path, worlds: int | None, seed: int | None, as_json: bool) -> None:
    """Train the model of likeness anew, on invented articles; without options it is the shipped one."""
    from workers.articles.matching.training import SEED, WORLDS, train_shipped  # only now: it loads scikit-learn

    if not as_json:
        console.say("training; this takes a few minutes")
    model = train_shipped(worlds_count=worlds or WORLDS, seed=SEED if seed is None else seed)
    model.write(out)
    bounds = {"link": model.link, "link_coded": model.link_coded, "review": model.review}
    report("trained", as_json=as_json, file=str(out), trees=len(model.trees), **bounds)
