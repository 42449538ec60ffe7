"""`itemindex rates`: tables of exchange rates, by which answers convert amounts where a caller asks for it."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import click

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from workers.ingest.rates import SQL, Terms, load

_NAME = r"[a-z][a-z0-9_]{0,62}"


@click.group()
def rates() -> None:
    """Load and list tables of exchange rates.

    Answers convert by them only where a caller asks for it: `convert=USD&rates=ecb`.
    """


@rates.command("load", epilog="Example: itemindex rates load eurofxref-hist.csv --name ecb")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", required=True, help="Name of the table in calls: lower-case letters, digits, underscores.")
@click.option("--title", help="Source of the rates; default: the European Central Bank.")
@click.option("--url", help="Address of the publication; default: the European Central Bank's page.")
@click.option("--license", "license_", help="Terms of use; default: those of the European Central Bank.")
@data_dir_option
@json_option
def load_rates(
    file: Path, name: str, title: str | None, url: str | None, license_: str | None, data_dir: Path, as_json: bool
) -> None:
    """Load FILE, in a form of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, or the XML of either.

    A load is an event with a number: `itemindex loads undo` gives back the rates before it.
    """
    terms = Terms(_checked(name))
    given = {"title": title, "url": url, "license": license_}
    terms = replace(terms, **{field: text for field, text in given.items() if text})
    loaded = load(settings(data_dir), terms, file)
    row = asdict(loaded)
    if as_json:
        show([row], as_json=True)
        return
    del row["reasons"]
    show([row], as_json=False, title="rates" if loaded.changed else "rates: all of them were in force already")
    for line in loaded.reasons:
        console.say("refused: {line}", line=line, soft_wrap=True)
    if loaded.reasons:
        console.say("`itemindex ingest rejects {load}` lists them", load=loaded.load_id)


@rates.command("list", epilog="Example: itemindex rates list --json")
@data_dir_option
@json_option
def list_rates(data_dir: Path, as_json: bool) -> None:
    """List the tables: their source, first and last day, currencies, and rates."""
    names = ("name", "title", "url", "first_day", "last_day", "currencies", "rates")
    with connect(settings(data_dir).database_url, application="rates") as connection:
        tables = connection.execute(SQL.tables).fetchall()
    show((dict(zip(names, row, strict=True)) for row in tables), as_json=as_json, title="rates")


def _checked(name: str) -> str:
    if not re.fullmatch(_NAME, name, re.ASCII):
        raise click.BadParameter("a lower-case letter, then letters, digits and underscores", param_hint="--name")
    return name
