"""`itemindex matches evaluate`, `train` and `models`: how good models are, and what they learned from."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from deploy.ctl.console import (
    console,
    database,
    errors,
    for_programs,
    json_option,
    print_json,
    reason_option,
    report,
    rows_of,
    settings,
    show,
    store_options,
)
from shared.articles import ALL, SQL, STATES
from shared.db.connect import Connection
from workers.provenance import events

file_option = click.Path(exists=True, dir_okay=False, path_type=Path)

_DECISIONS_EXAMPLE = """Examples:

\b
  itemindex matches train
  itemindex matches train --decisions pairs.csv --left-source shop_a --right-source shop_b
  itemindex matches train --activate --reason "decisions of March"
"""


@click.command(epilog="Example: itemindex matches evaluate --left L.csv --right R.csv --pairs P.csv --json")
@click.option("--left", required=True, type=file_option, help="Records of one side: id, name or title, and more.")
@click.option("--right", required=True, type=file_option, help="Records of the other side.")
@click.option("--pairs", required=True, type=file_option, help="Pairs to evaluate: left_id, right_id, label (1 or 0).")
@click.option("--end-to-end", is_flag=True, help="Count only pairs among the candidates as matches.")
@click.option("--model", type=file_option, help="A model file instead of the shipped one.")
@json_option
def evaluate(left: Path, right: Path, pairs: Path, end_to_end: bool, model: Path | None) -> None:
    """Measure precision, recall and F1 of the shipped model on labelled pairs.

    Records are CSV files with a column id and any of: name or title, brand or manufacturer, modelno or mpn, category,
    description. As in loads, prices are not used. `itemindex matches train` measures models that learn from decisions.

    End to end the candidates are found among all records. The truth is the file of pairs: a match in it that is not
    found counts as missed. A pair that is found and is not in the file is unknown: it is counted as `unlisted`, and
    neither as right nor as wrong, unless the file has no label column. Then it lists every match, and all others are
    wrong.
    """
    from workers.articles.matching import evaluation  # only now: it loads numpy and SciPy
    from workers.articles.matching.model import Model

    chosen = Model.read(model) if model else Model.shipped()
    result = evaluation.evaluate(left, right, pairs, chosen, end_to_end=end_to_end, report_progress=_report_progress)
    rest = asdict(result)
    summary = {**rest.pop("all"), **rest}
    if for_programs():
        click.echo(json.dumps(summary))
        return
    unattended = {f"unattended {name}": value for name, value in summary.pop("unattended").items()}
    lines = ({"what": name, "value": value} for name, value in (summary | unattended).items())
    show(lines, title="evaluation")


def _report_progress(stage: str) -> None:
    errors.say("[dim]{stage} …[/]", stage=stage)


allow_merges_option = click.option(
    "--allow-merges", is_flag=True, help="Use the model even if it merges more than a tenth of the index."
)


@click.command(epilog=_DECISIONS_EXAMPLE)
@click.option(
    "--decisions",
    type=file_option,
    help="More decided pairs: a CSV file with left_id, right_id and label (1: one item, 0: different).",
)
@click.option("--left-source", help="Source of the ids in left_id; without it, both columns have IIDs.")
@click.option("--right-source", help="Source of the ids in right_id.")
@click.option("--activate", is_flag=True, help="Score all pairs with the new model from now on.")
@allow_merges_option
@reason_option
@store_options
def train(
    decisions: Path | None,
    left_source: str | None,
    right_source: str | None,
    activate: bool,
    allow_merges: bool,
    reason: str | None,
) -> None:
    """Train a model on the decisions of this index, and measure it.

    It learns from the decisions made in the dashboard and with commands, and from those in a file. The figures come
    from models that have not seen any pair of the records that they score. The intervals are 95 % Wilson score
    intervals.

    With --activate, loads use the model and all pairs are scored again: one event that `loads undo` undoes. A model
    that would merge more than a tenth of the index is kept, but used only with --allow-merges. Below 50
    decisions no model is trained: the command lists which pairs to decide first.
    """
    if bool(left_source) != bool(right_source) or (left_source and decisions is None):
        raise click.UsageError("--left-source and --right-source belong together, and to --decisions")
    match_dir, by = settings().match_dir, events.actor()
    # Only now: they load numpy, SciPy and pyarrow.
    from workers.articles import models
    from workers.provenance import item_acts, standing

    with database("matches") as connection:
        standing.lock(connection)
        acts = standing.read_acts(connection)
        decided = {models.pair_of(act.left_id, act.right_id): act.same for act in acts.decisions}
        unknown = 0
        if decisions is not None:
            imported, unknown = _import_decisions(connection, decisions, left_source, right_source)
            decided |= imported
        if len(decided) < models.LEAST_DECISIONS:
            _ask_for_more(connection, len(decided))
            return
        if not for_programs():
            _report_progress(f"training on {len(decided):,} decisions")
        trained = models.train(connection, decided, match_dir, by, unknown=unknown)
        digest, link, measured = trained.digest, trained.link, trained.measured
        connection.commit()  # the model stays, also where it may not be used
        number, version = None, None
        if activate:
            _report_progress("scoring all pairs")
            number, version = item_acts.use_model(
                connection, digest, by, reason, match_dir, merges_allowed=allow_merges
            )
    if for_programs():
        done = {"digest": digest, **trained.trained_on, "link_learned": link, "measured": measured}
        print_json({**done, "load": number, "data_version": version})
        return
    show(measured, title="links from each probability on, by models that have not seen the records")
    if link is None:
        console.say(
            "The decisions support no bound for links without a person yet: at least 73 pairs must be right above one. "
            "Pairs link without a person as they do by the shipped model."
        )
    else:
        console.say("Pairs that do not contradict each other link without a person from {bound:.4f} on.", bound=link)
    console.say(
        "Average precision on records that it has not seen: {learned:.3f}; of the shipped model {shipped:.3f}.",
        learned=trained.trained_on["ranking"],
        shipped=trained.trained_on["former_ranking"],
    )
    if unknown:
        console.say("{unknown} pairs of the file have ids that are not in the index.", unknown=unknown)
    if number is None:
        console.say("kept as {digest}; `itemindex matches models --use {digest}` activates it", digest=digest[:12])
    else:
        console.say(
            "model {digest} is active: load {load}, data_version {version}; `itemindex loads undo {load}` goes back",
            digest=digest[:12],
            load=number,
            version=version,
        )


def _import_decisions(
    connection: Connection, path: Path, left_source: str | None, right_source: str | None
) -> tuple[dict[tuple[int, int], bool], int]:
    """Return the pairs of items that a file names, and how many name an item that is not in the index."""
    from workers.articles import models
    from workers.articles.matching.evaluation_files import read_labels

    pairs = read_labels(path)
    left = models.item_ids(connection, {one for one, _, _ in pairs}, left_source)
    right = models.item_ids(connection, {one for _, one, _ in pairs}, right_source)
    known = [(left[one], right[other], same) for one, other, same in pairs if one in left and other in right]
    if not known:
        raise models.UnknownIds(
            f"{path} has no pair of which both ids are in the index: give IIDs, or name the sources whose ids they are "
            "with --left-source and --right-source"
        )
    votes: dict[tuple[int, int], int] = {}
    for one, other, same in known:
        pair = models.pair_of(one, other)
        votes[pair] = votes.get(pair, 0) + (1 if same else -1)
    return {pair: balance > 0 for pair, balance in votes.items() if pair[0] != pair[1]}, len(pairs) - len(known)


def _ask_for_more(connection: Connection, decided: int) -> None:
    """Say how many decisions are missing, and which pairs the model doubts most: a decision on them teaches it most."""
    from workers.articles import models

    missing = models.LEAST_DECISIONS - decided
    waiting = rows_of(connection, SQL.pairs, STATES[0], None, None, *ALL)
    first = models.most_doubtful(waiting, missing)
    if for_programs():
        print_json({"decisions": decided, "missing": missing, "decide_first": first})
        return
    console.say(
        "{decided} decisions are too few to learn from: decide {missing} more pairs, these first.",
        decided=decided,
        missing=missing,
    )
    show(first, title="pairs that the model doubts most")


@click.command(epilog="Example: itemindex matches models; itemindex matches models --use shipped")
@click.option(
    "--use",
    "digest",
    metavar="DIGEST",
    help="Score all pairs with the model of this DIGEST (its first 6 characters are enough) or with the `shipped` one.",
)
@allow_merges_option
@reason_option
@store_options
def models(digest: str | None, allow_merges: bool, reason: str | None) -> None:
    """List the models of this index, the newest first, and which one is in use; or use another one.

    --use is one event, which `itemindex loads undo` undoes. A model that would merge more than a tenth of the index
    requires --allow-merges.
    """
    from workers.articles import models as kept
    from workers.provenance import item_acts, standing

    with database("matches") as connection:
        if digest is None:
            rows = [asdict(model) for model in kept.list_models(connection)]
            show(rows if for_programs() else [{**row, "digest": row["digest"][:12]} for row in rows], title="models")
            return
        standing.lock(connection)
        named = kept.find(connection, digest)
        number, version = item_acts.use_model(
            connection, named, events.actor(), reason, settings().match_dir, merges_allowed=allow_merges
        )
    report(
        "model {digest} is active: load {load}, data_version {data_version}",
        digest=named if for_programs() else named[:12],
        load=number,
        data_version=version,
    )
