"""`itemindex matches`: which items of several sources are one article, and what people decide of pairs."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from psycopg.rows import dict_row

from deploy.ctl import matches_model
from deploy.ctl.console import console, data_dir_option, limit_option, report, settings, show, stored
from shared.articles.pairs import SQL, STATES
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.index.iid import canonical_iid
from shared.settings.settings import Settings
from shared.telemetry.http_server import serve_metrics
from workers.provenance import events

DATA = beside(__file__, "data.sql")
# An operator decides pair after pair: decisions within this time become one data_version.
_TOGETHER_SECONDS = 3.0
# A notification that was lost delays a decision by this long at most.
_LISTEN_SECONDS = 60.0


@click.command(epilog="Example: itemindex matches apply --watch")
@click.option("--watch", is_flag=True, help="Run until stopped, and apply decisions soon after they are made.")
@stored
def apply(watch: bool, data_dir: Path, as_json: bool) -> None:
    """Make events of what was decided in the dashboard, all in one data_version.

    With --watch it answers health checks at METRICS_LISTEN, and ends with an error when its database is gone: the
    supervisor starts it again.
    """
    chosen = settings(data_dir)
    if not watch:
        count, version = _applied(chosen)
        if count or as_json:
            report("applied {decisions} decisions", as_json=as_json, decisions=count, data_version=version)
        else:
            console.say("no decision waits")
        return
    with connect(chosen.database_url, application="matches", autocommit=True) as listener:
        listener.execute("LISTEN match_reviews")
        serve_metrics(chosen)
        while True:
            count, version = _applied(chosen)
            if count:
                report("applied {decisions} decisions", as_json=as_json, decisions=count, data_version=version)
            list(listener.notifies(timeout=_LISTEN_SECONDS, stop_after=1))
            list(listener.notifies(timeout=_TOGETHER_SECONDS))


def _applied(chosen: Settings) -> tuple[int, int | None]:
    with connect(chosen.database_url, application="matches") as connection:
        if connection.execute(DATA.waiting_review).fetchone() is None:
            return 0, None
        # Imported here: a service for which nothing was decided needs neither numpy nor SciPy nor pyarrow.
        from workers.provenance import item_acts as reviews
        from workers.provenance import reindex

        reindex.lock(connection)
        return reviews.apply(connection)


reason_option = click.option("--reason", help="Reason, kept with the event.")
_EXPORTED = ("left_iid", "right_iid", "label", "kind", "score", "left_name", "right_name", "decided_at", "evidence")


@click.group()
def matches() -> None:
    """Articles that several sources have: the links that loads found, and the pairs that wait for a person."""


matches.add_command(matches_model.evaluate)
matches.add_command(matches_model.train)
matches.add_command(apply)


@matches.command("list", epilog="Example: itemindex matches list --state linked --limit 50")
@click.option("--state", type=click.Choice(STATES), default=STATES[0], show_default=True, help="State of the pairs.")
@click.option("--iid", help="Only the pairs of this item.")
@limit_option(20, 100_000)
@click.option("--counts", is_flag=True, help="Count all links and decisions instead.")
@stored
def list_pairs(state: str, iid: str | None, limit: int, counts: bool, data_dir: Path, as_json: bool) -> None:
    """List pairs of items, the most probable first; or count the links and the decisions.

    The counts have the `precision`: the share of reviewed pairs that people accepted.
    """
    if counts:
        _show_counts(settings(data_dir), as_json)
        return
    rows = _rows(settings(data_dir), SQL.pairs, state, iid and _canonical(iid), limit)
    shown = [_pair(row) if as_json else _line(row) for row in rows]
    show(shown, as_json=as_json, title=f"{state} pairs")


@matches.command("show", epilog="Example: itemindex matches show IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK")
@click.argument("iid")
@click.argument("other")
@stored
def show_pair(iid: str, other: str, data_dir: Path, as_json: bool) -> None:
    """Show the records of a pair side by side, with the evidence for a link."""
    chosen, named = settings(data_dir), (_canonical(iid), _canonical(other))
    sides = {row["iid"]: row for row in _rows(chosen, SQL.sides, list(named))}
    if len(sides) < len(set(named)) or len(set(named)) < len(named):
        raise ItemIndexError("both must be items of the index, and two different ones")
    pairs = [_pair(row) for row in _rows(chosen, SQL.pairs, None, named[0], None) if _is_of(row, named)]
    if as_json:
        show([{"items": [sides[one] for one in named], "pair": pairs[0] if pairs else None}], as_json=True)
        return
    left, right = (sides[one] for one in named)
    lines = [{"what": key, "left": _text(left[key]), "right": _text(right[key])} for key in left]
    show(lines, as_json=False, title="the two items")
    evidence = pairs[0]["evidence"] or [] if pairs else []
    show(({**one} for one in evidence), as_json=False, title="evidence")


@matches.command(epilog="Example: itemindex matches decide IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK same")
@click.argument("iid")
@click.argument("other")
@click.argument("decision", type=click.Choice(("same", "different", "undo")))
@reason_option
@stored
def decide(iid: str, other: str, decision: str, reason: str | None, data_dir: Path, as_json: bool) -> None:
    """Decide whether two items are one article, or undo the decision. No load asks again about different ones.

    `undo` of a link without a decision removes the link, and no load makes it again.
    """
    from workers.provenance import item_acts, reindex  # only now: they load numpy, SciPy and pyarrow

    pair, by = (_canonical(iid), _canonical(other)), events.actor()
    with connect(settings(data_dir).database_url, application="matches") as connection:
        reindex.lock(connection)
        if decision == "undo":
            version = item_acts.take_back(connection, *pair, by, reason)
        else:
            version = item_acts.decide(connection, *pair, decision == "same", by, reason)
    if version is None:
        report("decided; no record changes", as_json=as_json, data_version=None)
    else:
        report("decided, data_version {data_version}", as_json=as_json, data_version=version)


@matches.command(epilog="Example: itemindex matches export > decisions.csv")
@click.option(
    "--form", type=click.Choice(("csv", "ndjson")), default="csv", show_default=True, help="Format of the output."
)
@data_dir_option
def export(form: str, data_dir: Path) -> None:
    """Write all decisions as training data: one pair per line, with label 1 or 0.

    In CSV a text that a spreadsheet would take for a formula begins with an apostrophe, as in exports.
    """
    chosen = settings(data_dir)
    decided = [row for state in STATES[2:] for row in _rows(chosen, SQL.pairs, state, None, None)]
    rows = [{**_pair(row), "label": int(row["state"] == "accepted")} for row in decided]
    if form == "ndjson":
        for row in rows:
            click.echo(json.dumps({name: row[name] for name in _EXPORTED}, default=str))
        return
    import pyarrow as pa  # only now, as all that loads it

    from workers.bulk.codecs.text import csv_head, csv_rows

    cells = [{name: _cell(row[name]) for name in _EXPORTED} for row in rows]
    batch = pa.RecordBatch.from_pylist(cells, pa.schema([(name, pa.string()) for name in _EXPORTED]))
    written = csv_head(list(_EXPORTED)) + bytes(csv_rows(batch, list(_EXPORTED)))
    sys.stdout.write(written.decode())


def _show_counts(chosen: Settings, as_json: bool) -> None:
    [row] = _rows(chosen, SQL.stats)
    judged = row["accepted"] + row["rejected"]
    row["precision"] = round(row["accepted"] / judged, 4) if judged else None
    if as_json:
        show([row], as_json=True)
        return
    show(({"what": name, "count": value} for name, value in row.items()), as_json=False, title="matches")


def _rows(chosen: Settings, query: str, *values: object) -> list[dict[str, Any]]:
    with connect(chosen.database_url, application="matches") as connection:
        return connection.cursor(row_factory=dict_row).execute(query, values or None).fetchall()


def _pair(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("left_id", "right_id")}


def _line(row: dict[str, Any]) -> dict[str, Any]:
    shown = ("left_iid", "left_name", "right_iid", "right_name", "kind")
    return {**{name: row[name] for name in shown}, "score": round(row["score"], 3) if row["score"] is not None else ""}


def _is_of(row: dict[str, Any], named: tuple[str, str]) -> bool:
    return {row["left_iid"], row["right_iid"]} == set(named)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


def _canonical(text: str) -> str:
    iid = canonical_iid(text)
    if iid is None:
        raise ItemIndexError("an IID is `IID-` and groups of letters and digits")
    return iid
