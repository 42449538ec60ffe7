"""`itemindex rates`: tables of exchange rates, by which answers convert amounts where a caller asks for it."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import click

from deploy.ctl.console import console, for_programs, print_json, settings, show, store_options, table
from workers.ingest.rates.load_rates import SQL as RATES
from workers.ingest.rates.load_rates import RateTerms
from workers.ingest.rates.load_rates import load as load_rate_file

_NAME = r"[a-z][a-z0-9_]{0,62}"


@click.group()
def rates() -> None:
    """Load and list tables of exchange rates.

    Amounts are converted only if a call requests it: `convert=USD&rates=ecb`.
    """


@rates.command("load", epilog="Example: itemindex rates load eurofxref-hist.csv --name ecb")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", required=True, help="Name of the table in calls: lower-case letters, digits, underscores.")
@click.option("--title", help="Source of the rates; default: the European Central Bank.")
@click.option("--url", help="Address of the publication; default: the European Central Bank's page.")
@click.option("--license", "license_", help="Terms of use; default: those of the European Central Bank.")
@store_options
def load_rates(file: Path, name: str, title: str | None, url: str | None, license_: str | None) -> None:
    """Load FILE in a format of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, or the XML of either.

    A load is an event with a number: `itemindex loads undo` restores the previous rates.
    """
    terms = RateTerms(_check_name(name))
    given = {"title": title, "url": url, "license": license_}
    terms = replace(terms, **{field: text for field, text in given.items() if text})
    loaded = load_rate_file(settings(), terms, file)
    row = asdict(loaded)
    if for_programs():
        print_json([row])
        return
    del row["reasons"]
    show([row], title="rates" if loaded.changed else "rates: all of them were in force already")
    for line in loaded.reasons:
        console.say("refused: {line}", line=line, soft_wrap=True)
    if loaded.reasons:
        console.say("`itemindex loads rejects {load}` lists them", load=loaded.load_id)


table(
    rates,
    "list",
    RATES.tables,
    title="rates",
    text="List the tables: their source, first and last day, currencies, and rates.",
    example="itemindex rates list --json",
)


def _check_name(name: str) -> str:
    if not re.fullmatch(_NAME, name, re.ASCII):
        raise click.BadParameter("a lower-case letter, then letters, digits and underscores", param_hint="--name")
    return name
