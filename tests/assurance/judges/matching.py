"""Matching as a deployment does it: pairs that people labelled are decisions, and held-out pairs judge the links.

`python -m tests.assurance.judges.matching service /…/er_abt_buy` loads the two record files of a folder into a new database, trains
with `itemindex matches train --activate` on the pairs of `--train`, and counts which pairs of `--judge` are one item without
a person, before and after; pairs that also train do not judge. `… peers /…/er_abt_buy` trains dedupe and Splink on the
same pairs. `python -m tests.assurance.judges.matching invented FOLDER` writes invented articles in the same form,
`… offers FOLDER` judges files of marketplaces' offers, such as those of WDC Products, `… market FOLDER` invents one, and
`… shipped --out model.json` trains the model that comes with the program.
"""

import csv
import json
import resource
import tempfile
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from deploy.ctl.matches import matches
from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.uncertainty.stated import wilson
from tests.assurance.judges import programs
from tests.assurance.judges.offers import files_of, judge, write_market
from tests.assurance.judges.reports import PROJECT
from tests.support.servers import Servers
from tests.support.shipped_model import SEED, WORLDS, train_shipped
from tests.support.world_files import write_rows, write_world
from tests.support.worlds import worlds
from workers.articles.matching.evaluation_files import read_labels
from workers.articles.matching.model import Model
from workers.ingest.load.load import load
from workers.ingest.mapping import read

_FIELDS = {
    "name": ("name", "title"),
    "brand": ("brand", "manufacturer"),
    "category": ("category",),
    "description": ("description",),
    "mpn": ("modelno",),
}
_MAPPING = """
source = "{side}"
title = "The {side} shop"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
brand = "brand"
category = ["category"]
[item.identifiers]
mpn = "mpn"
[item.attributes]
description = "description"
"""
# The shipped model has learned from the worlds of `SEED`, and its bounds from those of the next one.
_UNSEEN_SEED = SEED + 100
_SECONDS_MAX = 7200.0  # of one peer
_PAIRS = """
SELECT l.source_item_id, r.source_item_id FROM item_sources l JOIN sources s ON s.id = l.source_id AND s.name = 'left'
JOIN items a ON a.id = l.item_id JOIN items b ON coalesce(b.survivor_iid, b.iid) = coalesce(a.survivor_iid, a.iid)
JOIN item_sources r ON r.item_id = b.id JOIN sources t ON t.id = r.source_id AND t.name = 'right'
"""


@click.group()
def commands() -> None:
    """Judge matching, and train the shipped model."""


@commands.command()
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@click.option(
    "--worlds", default=WORLDS, show_default=True, type=click.IntRange(4, 1000), help="Data sets to learn from."
)
@click.option("--seed", default=SEED, show_default=True, type=int, help="The same seed gives the same bytes.")
def shipped(out: Path, worlds: int, seed: int) -> None:
    """Train the shipped model anew, on invented articles."""
    model: Model = train_shipped(worlds_count=worlds, seed=seed)
    model.write(out)
    click.echo(json.dumps({"link": model.link, "link_coded": model.link_coded, "review": model.review}))


@commands.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--articles", default=200, show_default=True, type=click.IntRange(20), help="Articles of the two shops.")
@click.option("--seed", default=SEED, show_default=True, type=int, help="The same seed gives the same bytes.")
def invented(folder: Path, articles: int, seed: int) -> None:
    """Write invented records of two shops and labelled pairs, of which each third one is held out."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = write_world(next(worlds(1, seed=seed, articles=articles)), folder)
    write_rows(folder / "pairs_valid.csv", pairs[::3])
    write_rows(folder / "pairs_train.csv", [pair for number, pair in enumerate(pairs) if number % 3])


@commands.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--articles", default=150, show_default=True, type=click.IntRange(20), help="Articles of the market.")
@click.option("--seed", default=_UNSEEN_SEED, show_default=True, type=int, help="The same seed gives the same pairs.")
def market(folder: Path, articles: int, seed: int) -> None:
    """Write labelled pairs of the offers of an invented marketplace."""
    click.echo(write_market(folder, articles, seed))


@commands.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--f1-min", default=0.0, show_default=True, type=click.FloatRange(0, 1), help="Fail below this F1.")
def offers(folder: Path, f1_min: float) -> None:
    """Judge the pairs of each `*.json.gz` of a folder. One line of JSON each."""
    files = files_of(folder)
    if not files:
        raise click.ClickException(f"{folder} has no file *.json.gz")
    worst = 1.0
    for path in files:
        with tempfile.TemporaryDirectory(prefix="itemindex-judge-") as scratch:
            listed, found = judge(path, Path(scratch), Model.shipped())
        alone = found.unattended
        right = round(alone.precision * alone.found)
        said = {
            "set": path.name,
            "f1": listed.all.f1,
            "f1_end_to_end": found.all.f1,
            "precision": found.all.precision,
            "recall": found.all.recall,
            "unattended": {"right": right, "linked": alone.found},
            "unattended_precision": [round(share, 4) for share in wilson(right, alone.found)],
        }
        click.echo(json.dumps(said))
        worst = min(worst, found.all.f1)
    if worst < f1_min:
        raise click.ClickException(f"the least F1 is {worst}, less than {f1_min}")


_folders = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
_train = click.option(
    "--train", default="pairs_train.csv", show_default=True, help="Files of the decisions, as a pattern."
)
_judge = click.option(
    "--judge", default="pairs_valid.csv", show_default=True, help="Files of the held-out pairs, as a pattern."
)


@commands.command()
@_folders
@_train
@_judge
def peers(folders: tuple[Path, ...], train: str, judge: str) -> None:
    """Train dedupe and Splink on the same pairs, and judge the held-out ones. One line of JSON each."""
    script = str(PROJECT / "tests" / "assurance" / "judges" / "matching_peers.py")
    for folder in folders:
        for name in ("dedupe", "splink"):
            command = [programs.tool("python"), script, name, str(folder), train, judge]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = json.loads(programs.run(command, seconds_max=_SECONDS_MAX))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            measured = {figure: found[figure] for figure in ("precision", "recall", "f1")}
            click.echo(json.dumps({"set": folder.name, "by": name, **measured, "cpu_seconds": round(seconds, 1)}))


@commands.command()
@_folders
@_train
@_judge
@click.option("--first", type=click.IntRange(1), help="Only the first so many decisions, in random order.")
def service(folders: tuple[Path, ...], train: str, judge: str, first: int | None) -> None:
    """Count held-out pairs that are linked without a person, before and after training. One line of JSON each."""
    with tempfile.TemporaryDirectory(prefix="itemindex-judge-") as name, Servers.running(Path(name)) as servers:
        for folder in folders:
            with servers.fresh(Path(name)) as settings:
                click.echo(json.dumps(_judged(settings, folder, Path(name), train, judge, first)))


def _judged(
    settings: Settings, folder: Path, scratch: Path, train: str, judge: str, first: int | None
) -> dict[str, Any]:
    for side in ("left", "right"):
        load_side(settings, folder, scratch, side)
    learned = [pair for path in sorted(folder.glob(train)) for pair in read_labels(path)]
    known = {pair[:2] for pair in learned}
    held_out = {pair[:2]: pair[2] for path in sorted(folder.glob(judge)) for pair in read_labels(path)}
    asked = {pair: same for pair, same in held_out.items() if pair not in known}
    before = _measure(settings, asked)
    decisions = scratch / "decisions.csv"
    with decisions.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("left_id", "right_id", "label"))
        writer.writerows((left, right, int(same)) for left, right, same in learned[:first])
    options = [
        "--decisions",
        str(decisions),
        "--left-source",
        "left",
        "--right-source",
        "right",
        "--activate",
        "--allow-merges",
        "--json",
    ]
    environment = {"DATABASE_URL": settings.database_url, "MATCH_DIR": str(settings.match_dir)}
    printed = CliRunner().invoke(matches, ["train", *options], env=environment, catch_exceptions=False)
    said = json.loads(printed.stdout)
    bound = next((one for one in said["measured"] if one["bound"] == round(said["link_learned"] or -1, 4)), None)
    return {
        "set": folder.name,
        "decisions": said["decisions"],
        "before": before,
        "after": _measure(settings, asked),
        "cross_validated": bound,
    }


def load_side(settings: Settings, folder: Path, scratch: Path, side: str) -> None:
    """Load the records of one side of a folder as a shop's."""
    records, mapping = scratch / f"{side}.csv", scratch / f"{side}.toml"
    mapping.write_text(_MAPPING.format(side=side))
    with (folder / f"{side}.csv").open(encoding="utf-8", newline="") as given, records.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", *_FIELDS))
        for row in csv.DictReader(given):
            values = [next((row[name] for name in names if row.get(name)), "") for names in _FIELDS.values()]
            writer.writerow((row["id"], *values))
    load(settings, read(mapping), [records], merges_allowed=True)


def _measure(settings: Settings, asked: dict[tuple[str, str], bool]) -> dict[str, Any]:
    with connect(settings.database_url, application="judge") as connection:
        linked = {tuple(row) for row in connection.execute(_PAIRS)} & asked.keys()
    right, matches_asked = sum(asked[pair] for pair in linked), sum(asked.values())
    return {
        "right": right,
        "linked": len(linked),
        "precision": [round(share, 4) for share in wilson(right, len(linked))],
        "recall": [round(share, 4) for share in wilson(right, matches_asked)],
    }


if __name__ == "__main__":
    commands()
