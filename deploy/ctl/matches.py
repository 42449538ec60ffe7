"""`itemindex matches`: which items are one article, what people decide of pairs, and the models that learn from it."""

import json
import random
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import reduce, wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from deploy.ctl.console import (
    FiniteRange,
    Iid,
    console,
    count_in_directory,
    database,
    errors,
    for_programs,
    json_option,
    limit_option,
    print_json,
    reason_option,
    report,
    rows_of,
    settings,
    show,
    stored,
)
from shared.articles import ALL, SQL, STATES, Filters
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log
from shared.uncertainty.stated import wilson
from workers.provenance import events

DATA = load_queries(__file__, "data.sql")
# An operator decides pair after pair: decisions within this time become one data_version.
_TOGETHER_SECONDS = 3.0
# A notification that was lost delays a decision by this long at most.
_LISTEN_SECONDS = 60.0


@click.group()
def matches() -> None:
    """Items of several sources: links found by loads, and pairs to review."""


@matches.command(epilog="Example: itemindex matches apply --watch")
@click.option("--watch", is_flag=True, help="Run until stopped, and apply decisions soon after they are made.")
@stored
def apply(watch: bool) -> None:
    """Make events of what was decided in the dashboard, all in one data_version.

    With --watch it answers health checks at METRICS_LISTEN, and ends with an error when its database is gone: the
    supervisor starts it again.
    """
    if not watch:
        count, version = _applied()
        if count or for_programs():
            report("applied {decisions} decisions", decisions=count, data_version=version)
        else:
            console.say("no decision waits")
        return
    chosen = settings()
    chosen.require("database_url")
    count_in_directory(chosen)
    with database("matches", autocommit=True) as listener:
        listener.execute("LISTEN match_reviews")
        serve_metrics(chosen)
        Log("matches", level=chosen.log_level).info("started", revision=chosen.revision)
        while True:
            count, version = _applied()
            if count:
                report("applied {decisions} decisions", decisions=count, data_version=version)
            list(listener.notifies(timeout=_LISTEN_SECONDS, stop_after=1))
            list(listener.notifies(timeout=_TOGETHER_SECONDS))


def _applied() -> tuple[int, int | None]:
    with database("matches") as connection:
        if connection.execute(DATA.waiting_review).fetchone() is None:
            return 0, None
        # Imported here: a service for which nothing was decided needs neither numpy nor SciPy nor pyarrow.
        from workers.provenance import item_acts as reviews
        from workers.provenance import standing

        standing.lock(connection)
        return reviews.apply(connection)


_DECIDE_EXAMPLES = """Examples:

\b
  itemindex matches decide same IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK
  itemindex matches decide same --source shop_b --min-score 0.97
  itemindex matches decide different --max-score 0.5
"""
_EXPORTED = ("left_id", "right_id", "label", "kind", "score", "left_name", "right_name", "decided_at", "evidence")


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose pairs, and pass it their values as `chosen`."""

    @wraps(command)
    def with_filters(*, source: Any, min_score: Any, max_score: Any, evidence: Any, brand: Any, **given: Any) -> Any:
        return command(chosen=Filters(source, min_score, max_score, evidence, brand), **given)

    options = (
        click.option("--source", help="Only pairs with an item of this source."),
        click.option("--min-score", type=FiniteRange(0, 1), help="Only pairs with at least this score."),
        click.option("--max-score", type=FiniteRange(0, 1), help="Only pairs below this score."),
        click.option(
            "--evidence",
            help="Only links by `identifier` or by `likeness`, or pairs that agree in a field such as code or brand.",
        ),
        click.option("--brand", help="Only pairs with an item of this brand."),
    )
    return reduce(lambda decorated, option: option(decorated), reversed(options), with_filters)


@matches.command("list", epilog="Example: itemindex matches list --state linked --limit 50")
@click.argument("iid", required=False, type=Iid())
@click.argument("other", required=False, type=Iid())
@click.option("--state", type=click.Choice(STATES), default=STATES[0], help="State of the pairs.")
@limit_option(20, 100_000)
@filter_options
@click.option("--counts", is_flag=True, help="Count all links and decisions instead.")
@click.option(
    "--decisions",
    is_flag=True,
    help="Write the decisions instead, as the CSV that `itemindex matches train` reads, or with --json as JSON.",
)
@stored
def list_pairs(
    iid: str | None, other: str | None, state: str, limit: int, chosen: Filters, counts: bool, decisions: bool
) -> None:
    """List pairs of items, the most probable first; or show one pair.

    IID alone lists its pairs; IID and OTHER show both records side by side, with the evidence for a link.
    The counts have the `precision`: the share of reviewed pairs that people accepted. In CSV, text that a spreadsheet
    would read as a formula begins with an apostrophe, as in exports.
    """
    if counts and (iid or chosen.chosen):
        raise click.UsageError("--counts counts all pairs: leave out the IID and the options that choose pairs")
    if (counts or decisions) and (other or _is_given("state") or _is_given("limit")):
        raise click.UsageError("--counts and --decisions take neither a second IID nor --state or --limit")
    if counts:
        _show_counts()
    elif decisions:
        _write_decisions(iid, chosen)
    elif iid and other:
        _show_pair((iid, other))
    else:
        rows = _rows(SQL.pairs, state, iid, limit, *chosen)
        shown = [_pair(row) if for_programs() else _line(row) for row in rows]
        show(shown, title=f"{state} pairs")


def _is_given(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def _show_pair(named: tuple[str, str]) -> None:
    sides = {row["iid"]: row for row in _rows(SQL.sides, list(named))}
    if len(sides) < len(set(named)) or len(set(named)) < len(named):
        raise ItemIndexError("both must be items of the index, and two different ones")
    listed = _rows(SQL.pairs, None, named[0], None, *ALL)
    pairs = [_pair(row) for row in listed if {row["left_iid"], row["right_iid"]} == set(named)]
    if for_programs():
        print_json([{"items": [sides[one] for one in named], "pair": pairs[0] if pairs else None}])
        return
    left, right = (sides[one] for one in named)
    lines = [{"what": key, "left": _text(left[key]), "right": _text(right[key])} for key in left]
    show(lines, title="the two items")
    evidence = pairs[0]["evidence"] or [] if pairs else []
    show(({**one} for one in evidence), title="evidence")


@matches.command(epilog=_DECIDE_EXAMPLES)
@click.argument("decision", type=click.Choice(("same", "different", "undo")))
@click.argument("pair", metavar="[IID OTHER]", nargs=-1, type=Iid())
@filter_options
@click.option("--sample", default=50, type=click.IntRange(0, 1_000), help="Number of pairs to decide one by one.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation before deciding all others.")
@reason_option
@stored
def decide(decision: str, pair: tuple[str, ...], chosen: Filters, sample: int, yes: bool, reason: str | None) -> None:
    """Decide whether two items are the same, or undo the decision. Loads keep the decision.

    `undo` of a link without a decision removes the link, and loads do not recreate it.

    Without IIDs, decide all pairs that wait and for which the options hold. You decide a random sample first. It
    estimates the share of all pairs for which the decision is right, with a 95 % Wilson score interval; then you
    confirm the decision for the others. All are one event, which `itemindex loads undo` undoes; the sample keeps your
    own decisions.
    """
    if pair and (len(pair) != 2 or chosen.chosen):
        raise click.UsageError("name two items, or none and choose pairs by --source and the other options")
    if pair:
        _decide_pair(decision, (pair[0], pair[1]), reason)
        return
    if decision == "undo":
        raise click.UsageError("name the two items; `itemindex loads undo` undoes the decision on many pairs")
    if for_programs() and (sample or not yes):
        raise click.UsageError("with --json there is nobody to ask: add --sample 0 --yes")
    _decide_all(decision == "same", chosen, sample, yes, reason)


def _decide_pair(decision: str, pair: tuple[str, str], reason: str | None) -> None:
    from workers.provenance import item_acts, standing

    by = events.actor()
    with database("matches") as connection:
        standing.lock(connection)
        if decision == "undo":
            version = item_acts.take_back(connection, *pair, by, reason)
        else:
            version = item_acts.decide(connection, *pair, decision == "same", by, reason)
    if version is None:
        report("decided; no record changes", data_version=None)
    else:
        report("decided, data_version {data_version}", data_version=version)


def _decide_all(same: bool, chosen: Filters, sample: int, yes: bool, reason: str | None) -> None:
    from workers.provenance import item_acts, standing

    word = "accept" if same else "reject"
    waiting = _rows(SQL.pairs, STATES[0], None, None, *chosen)
    if not waiting:
        report("no pair waits for which these options hold", pairs=0)
        return
    drawn = random.SystemRandom().sample(range(len(waiting)), min(sample, len(waiting)))
    judged = {at: _asked(waiting[at], number, len(drawn)) for number, at in enumerate(drawn, 1)}
    agreed = sum(one is same for one in judged.values())
    rate = wilson(agreed, len(judged))
    if judged:
        errors.say(
            "{agreed} of {count} are right to {word}: {share:.1%}, 95 % Wilson interval {low:.1%} to {high:.1%}",
            agreed=agreed, count=len(judged), word=word, share=rate.share, low=rate.low, high=rate.high,
        )  # fmt: skip
    rest = len(waiting) - len(judged)
    question = f"{word.capitalize()} the other {rest:,} of {len(waiting):,} pairs?"
    if rest and not yes and not click.confirm(question, err=True):
        rest = 0
    decided = [
        (pair["left_id"], pair["right_id"], judged.get(at, same))
        for at, pair in enumerate(waiting)
        if rest or at in judged
    ]
    said = f"{word}ed in bulk ({chosen})" + (f": {reason}" if reason else "")
    version, number, meant = None, None, len(decided)
    if decided:
        with database("matches") as connection:
            standing.lock(connection)
            # A load, or another person, may have settled a pair while this one was asked.
            pairs = rows_of(connection, SQL.pairs, STATES[0], None, None, *chosen)
            waits = {(pair["left_id"], pair["right_id"]) for pair in pairs}
            decided = [pair for pair in decided if pair[:2] in waits]
            if decided:
                number, version = item_acts.decide_all(connection, decided, chosen.chosen, events.actor(), said)
    if settled := meant - len(decided):
        errors.say("pairs that no longer wait, and were left alone: {settled}", settled=settled)
    if not decided and not for_programs():
        console.say("nothing was decided")
        return
    report(
        "decided {pairs} pairs, {against} otherwise in the sample: load {load}, data_version {data_version}; "
        "`itemindex loads undo {load}` takes all of it back",
        pairs=len(decided),
        against=len(judged) - agreed,
        load=number,
        data_version=version,
    )


def _asked(pair: dict[str, Any], number: int, count: int) -> bool:
    """Show one pair of a sample and ask about it."""
    sides = {row["iid"]: row for row in _rows(SQL.sides, [pair["left_iid"], pair["right_iid"]])}
    left, right = (sides.get(pair[side], {}) for side in ("left_iid", "right_iid"))
    lines = [{"what": key, "left": _text(left[key]), "right": _text(right.get(key))} for key in left]
    console.say("{number} of {count}, score {score:.3f}", number=number, count=count, score=pair["score"])
    show(lines)
    return click.confirm("Are these the same item?", err=True)


def _write_decisions(iid: str | None, chosen: Filters) -> None:
    decided = [row for state in STATES[2:] for row in _rows(SQL.pairs, state, iid, None, *chosen)]
    rows = [
        {**row, "left_id": row["left_iid"], "right_id": row["right_iid"], "label": int(row["state"] == "accepted")}
        for row in decided
    ]
    if for_programs():
        print_json([{name: row[name] for name in _EXPORTED} for row in rows])
        return
    import pyarrow as pa  # only now, as all that loads it

    from workers.bulk.codecs.text import csv_head, csv_rows

    cells = [{name: _cell(row[name]) for name in _EXPORTED} for row in rows]
    batch = pa.RecordBatch.from_pylist(cells, pa.schema([(name, pa.string()) for name in _EXPORTED]))
    written = csv_head(list(_EXPORTED)) + bytes(csv_rows(batch, list(_EXPORTED)))
    sys.stdout.write(written.decode())


def _show_counts() -> None:
    [row] = _rows(SQL.stats)
    judged = row["accepted"] + row["rejected"]
    row["precision"] = round(row["accepted"] / judged, 4) if judged else None
    if for_programs():
        print_json([row])
        return
    show(({"what": name, "count": value} for name, value in row.items()), title="matches")


def _rows(query: str, *values: object) -> list[dict[str, Any]]:
    with database("matches") as connection:
        return rows_of(connection, query, *values)


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("left_id", "right_id")}


def _line(row: dict[str, Any]) -> dict[str, Any]:
    shown = ("left_iid", "left_name", "right_iid", "right_name", "kind")
    return {**{name: row[name] for name in shown}, "score": round(row["score"], 3) if row["score"] is not None else ""}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


# `itemindex matches evaluate`, `train` and `models`: how good models are, and what they learned from.


file_option = click.Path(exists=True, dir_okay=False, path_type=Path)


@matches.command(epilog="Example: itemindex matches evaluate --left L.csv --right R.csv --pairs P.csv --json")
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


_DECISIONS_EXAMPLE = """Examples:

\b
  itemindex matches train
  itemindex matches train --decisions pairs.csv --left-source shop_a --right-source shop_b
  itemindex matches train --activate --reason "decisions of March"
"""
allow_merges_option = click.option(
    "--allow-merges", is_flag=True, help="Use the model even if it merges more than a tenth of the index."
)
_BOUNDS = (0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35)


@matches.command(epilog=_DECISIONS_EXAMPLE)
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
@stored
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
        decided = {_ends(one.left_id, one.right_id): one.same for one in acts.decisions}
        unknown = 0
        if decisions is not None:
            imported, unknown = _imported(connection, decisions, left_source, right_source)
            decided |= imported
        if len(decided) < models.LEAST_DECISIONS:
            _ask_for_more(connection, len(decided))
            return
        if not for_programs():
            _report_progress(f"training on {len(decided):,} decisions")
        learned = models.learn_from(connection, decided, match_dir)
        link = learned.model.link_learned
        measured = models.document(learned, sorted({*_BOUNDS, *([] if link is None else [link])}, reverse=True))
        trained_on = {
            "decisions": len(decided),
            "matches": sum(decided.values()),
            "compared": len(learned.examples.labels),
            "unknown_ids": unknown,
            "ranking": round(learned.ranking, 4),
            "former_ranking": round(learned.former_ranking, 4),
        }
        digest = models.keep(connection, learned, {**trained_on, "measured": measured}, by)
        connection.commit()  # the model stays, also where it may not be used
        number, version = None, None
        if activate:
            _report_progress("scoring all pairs")
            number, version = item_acts.use_model(
                connection, digest, by, reason, match_dir, merges_allowed=allow_merges
            )
    if for_programs():
        done = {"digest": digest, **trained_on, "link_learned": link, "measured": measured}
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
        learned=learned.ranking,
        shipped=learned.former_ranking,
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


def _imported(
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
        pair = _ends(one, other)
        votes[pair] = votes.get(pair, 0) + (1 if same else -1)
    return {pair: balance > 0 for pair, balance in votes.items() if pair[0] != pair[1]}, len(pairs) - len(known)


def _ends(one: int, other: int) -> tuple[int, int]:
    """Return the items of a pair in one order, so that a pair which was decided from either side is one decision."""
    return min(one, other), max(one, other)


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


@matches.command(epilog="Example: itemindex matches models; itemindex matches models --use shipped")
@click.option(
    "--use",
    "digest",
    metavar="DIGEST",
    help="Score all pairs with the model of this DIGEST (its first 6 characters are enough) or with the `shipped` one.",
)
@allow_merges_option
@reason_option
@stored
def models(digest: str | None, allow_merges: bool, reason: str | None) -> None:
    """List the models of this index, the newest first, and which one is in use; or use another one.

    --use is one event, which `itemindex loads undo` undoes. A model that would merge more than a tenth of the index
    requires --allow-merges.
    """
    from workers.articles import models as kept
    from workers.provenance import item_acts, standing

    with database("matches") as connection:
        if digest is None:
            rows = [asdict(one) for one in kept.listed(connection)]
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
