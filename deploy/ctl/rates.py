"""`itemindex rates`: tables of exchange rates, by which answers convert amounts where a caller asks for it."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import click

from deploy.ctl.console import console, settings, show, stored, table
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
@stored
def load_rates(
    file: Path, name: str, title: str | None, url: str | None, license_: str | None, data_dir: Path, as_json: bool
) -> None:
    """Load FILE in a format of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, or the XML of either.

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
        console.say("`itemindex loads rejects {load}` lists them", load=loaded.load_id)


table(
    rates,
    "list",
    SQL.tables,
    "name title url first_day last_day currencies rates",
    title="rates",
    text="List the tables: their source, first and last day, currencies, and rates.",
    example="itemindex rates list --json",
)


def _checked(name: str) -> str:
    if not re.fullmatch(_NAME, name, re.ASCII):
        raise click.BadParameter("a lower-case letter, then letters, digits and underscores", param_hint="--name")
    return name
