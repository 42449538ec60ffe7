"""`itemindex matches`: which items are one article, and what people decide of pairs."""

import json
import random
import sys
from collections.abc import Callable
from functools import reduce, wraps

import click
from click.core import ParameterSource
from psycopg.rows import DictRow

from deploy.ctl.console import (
    console,
    count_in_directory,
    database,
    errors,
    for_programs,
    limit_option,
    print_json,
    reason_option,
    report,
    rows_of,
    settings,
    show,
    store_options,
)
from deploy.ctl.match_models import evaluate, models, train
from deploy.ctl.parameter_types import FiniteRange, IidParameter
from shared.articles import ALL, SQL, STATES, Filters
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

_DECIDE_EXAMPLES = """Examples:

\b
  itemindex matches decide same IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK
  itemindex matches decide same --source shop_b --min-score 0.97
  itemindex matches decide different --max-score 0.5
"""
_EXPORTED = ("left_id", "right_id", "label", "kind", "score", "left_name", "right_name", "decided_at", "evidence")


@click.group()
def matches() -> None:
    """Items of several sources: links found by loads, and pairs to review."""


for command in (evaluate, train, models):
    matches.add_command(command)


@matches.command(epilog="Example: itemindex matches apply --watch")
@click.option("--watch", is_flag=True, help="Run until stopped, and apply decisions soon after they are made.")
@store_options
def apply(watch: bool) -> None:
    """Make events of what was decided in the dashboard, all in one data_version.

    With --watch it answers health checks at METRICS_LISTEN, and ends with an error when its database is gone: the
    supervisor starts it again.
    """
    if not watch:
        count, version = _apply_decisions()
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
            count, version = _apply_decisions()
            if count:
                report("applied {decisions} decisions", decisions=count, data_version=version)
            list(listener.notifies(timeout=_LISTEN_SECONDS, stop_after=1))
            list(listener.notifies(timeout=_TOGETHER_SECONDS))


def _apply_decisions() -> tuple[int, int | None]:
    with database("matches") as connection:
        if connection.execute(DATA.waiting_review).fetchone() is None:
            return 0, None
        # Imported here: a service for which nothing was decided needs neither numpy nor SciPy nor pyarrow.
        from workers.provenance import reviews, standing

        standing.lock(connection)
        return reviews.apply(connection)


def filter_options(command: Callable[..., None]) -> Callable[..., None]:  # type: ignore[explicit-any]
    """Give a command the options that choose pairs, and pass it their values as `chosen`."""

    @wraps(command)
    def with_filters(
        *,
        source: str | None,
        min_score: float | None,
        max_score: float | None,
        evidence: str | None,
        brand: str | None,
        **given: object,
    ) -> None:
        command(chosen=Filters(source, min_score, max_score, evidence, brand), **given)

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
@click.argument("iid", required=False, type=IidParameter())
@click.argument("other", required=False, type=IidParameter())
@click.option("--state", type=click.Choice(STATES), default=STATES[0], help="State of the pairs.")
@limit_option(20, 100_000)
@filter_options
@click.option("--counts", is_flag=True, help="Count all links and decisions instead.")
@click.option(
    "--decisions",
    is_flag=True,
    help="Write the decisions instead, as the CSV that `itemindex matches train` reads, or with --json as JSON.",
)
@store_options
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
        print_json([{"items": [sides[iid] for iid in named], "pair": pairs[0] if pairs else None}])
        return
    left, right = (sides[iid] for iid in named)
    lines = [{"what": key, "left": _text(left[key]), "right": _text(right[key])} for key in left]
    show(lines, title="the two items")
    evidence = pairs[0]["evidence"] or [] if pairs else []
    show(({**row} for row in evidence), title="evidence")


@matches.command(epilog=_DECIDE_EXAMPLES)
@click.argument("decision", type=click.Choice(("same", "different", "undo")))
@click.argument("pair", metavar="[IID OTHER]", nargs=-1, type=IidParameter())
@filter_options
@click.option("--sample", default=50, type=click.IntRange(0, 1_000), help="Number of pairs to decide one by one.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation before deciding all others.")
@reason_option
@store_options
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
    judged = {at: _ask(waiting[at], number, len(drawn)) for number, at in enumerate(drawn, 1)}
    agreed = sum(judgement is same for judgement in judged.values())
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
    full_reason = f"{word}ed in bulk ({chosen})" + (f": {reason}" if reason else "")
    version, number, meant = None, None, len(decided)
    if decided:
        with database("matches") as connection:
            standing.lock(connection)
            # A load, or another person, may have settled a pair while this one was asked.
            pairs = rows_of(connection, SQL.pairs, STATES[0], None, None, *chosen)
            waits = {(pair["left_id"], pair["right_id"]) for pair in pairs}
            decided = [pair for pair in decided if pair[:2] in waits]
            if decided:
                number, version = item_acts.decide_all(connection, decided, chosen.chosen, events.actor(), full_reason)
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


def _ask(pair: DictRow, number: int, count: int) -> bool:
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


def _rows(query: str, *values: object) -> list[DictRow]:
    with database("matches") as connection:
        return rows_of(connection, query, *values)


def _pair(row: DictRow) -> DictRow:
    return {name: value for name, value in row.items() if name not in ("left_id", "right_id")}


def _line(row: DictRow) -> dict[str, object]:
    shown = ("left_iid", "left_name", "right_iid", "right_name", "kind")
    return {**{name: row[name] for name in shown}, "score": round(row["score"], 3) if row["score"] is not None else ""}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, list | dict) else str(value)
