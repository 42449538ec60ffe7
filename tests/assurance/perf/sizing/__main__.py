"""`python -m tests.assurance.perf.sizing`: from a load to the machines that it needs, by figures that were measured."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from deploy.ctl.console import for_programs, json_option, show
from deploy.ctl.main import run
from deploy.ctl.parameter_types import FiniteRange
from tests.assurance.perf.sizing.plan import FIGURES, Load, Need, bottleneck, machines, plan

LOOKUPS = (1_000, 10_000, 100_000, 1_000_000)
OBSERVATIONS = (10_000_000, 100_000_000, 1_000_000_000)


@click.command(epilog="Example: python -m tests.assurance.perf.sizing --lookups 100000 --observations 1e9")
@click.option("--lookups", default=1_000.0, show_default=True, type=FiniteRange(0), help="Lookups per second.")
@click.option("--observations", default=1e7, show_default=True, type=FiniteRange(1), help="Observations in the index.")
@click.option(
    "--refused",
    default=0.05,
    show_default=True,
    type=FiniteRange(0, 1),
    help="Share of lookups that exceed a limit.",
)
@click.option(
    "--cold",
    default=0.01,
    show_default=True,
    type=FiniteRange(0, 1),
    help="Share of lookups that no cache answers.",
)
@click.option("--reports", default=1_000.0, show_default=True, type=FiniteRange(0), help="New reports per hour.")
@click.option("--cores", default=16, show_default=True, type=click.IntRange(1), help="Cores per machine.")
@click.option("--markdown", is_flag=True, help="Print the tables of docs/capacity.md.")
@json_option
def capacity(
    lookups: float,
    observations: float,
    refused: float,
    cold: float,
    reports: float,
    cores: int,
    markdown: bool,
) -> None:
    """Plan the machines for a load: the need of each part, the capacity of one, and how to scale beyond it.

    The figures are processor time of each part for one call, measured (tests/assurance/perf/sizing/figures.toml); cores are planned
    60 % busy. Measure yours with `python -m tests.assurance.perf.capacity_bench`: machines differ, the proportions hardly do.
    """
    if markdown:
        click.echo(pages(), nl=False)
        return
    load = Load(
        lookups=lookups,
        observations=observations,
        refused=refused,
        cold=cold,
        reports_an_hour=reports,
        cores=cores,
    )
    needs = plan(load)
    first = bottleneck(needs)
    if for_programs():
        reported = {
            "machines": machines(needs, load),
            "gives_way_first": first.part if first else None,
            "parts": [{**asdict(need), "beyond": need.beyond} for need in needs],
        }
        click.echo(json.dumps(reported, indent=1))
        return
    title = f"{machines(needs, load)} machines of {cores} cores; gives way first: {first.part if first else 'nothing'}"
    show(_rows(needs), title=title)


def pages() -> str:
    """Return the tables of the page, in Markdown: what was measured, and the steps from small to large."""
    lines = _measured() + _by_lookups() + _by_observations()
    return "\n".join(lines) + "\n"


def _rows(needs: list[Need]) -> Iterator[dict[str, Any]]:
    for need in needs:
        beyond = f"[yellow]{need.then}[/]" if need.beyond else ""
        yield {"part": need.part, "needs": need.need, "one carries": need.carries, "then": beyond}


def _measured() -> list[str]:
    figures: dict[str, dict[str, float]] = FIGURES["microseconds"]
    parts = ("nginx", "edge", "state", "cache", "postgres", "dispatcher", "worker")
    lines = ["", "| one call, µs of CPU | " + " | ".join(parts) + " |", "|---|" + "---:|" * len(parts)]
    for call, of in figures.items():
        lines.append(f"| {call} | " + " | ".join(_figure(of.get(part, 0.0)) for part in parts) + " |")
    lines += ["", "| kept | bytes |", "|---|---:|"]
    return lines + [f"| {name.replace('_', ', ', 1)} | {value:,.0f} |" for name, value in FIGURES["bytes"].items()]


def _by_lookups() -> list[str]:
    names = ("nginx", "edge", "state store", "cache store", "PostgreSQL, callers", "PostgreSQL, connections")
    lines = [
        "",
        "| lookups/s | " + " | ".join(names) + " | machines | beyond one, worst first |",
        "|---:|" + "---|" * (len(names) + 2),
    ]
    for lookups in LOOKUPS:
        load = Load(lookups=lookups, observations=OBSERVATIONS[0])
        needs = plan(load)
        of = {need.part: need for need in needs}
        row = [of[name].need for name in names] + [str(machines(needs, load)), _beyond([of[name] for name in names])]
        lines.append(f"| {lookups:,} | " + " | ".join(row) + " |")
    return lines


def _by_observations() -> list[str]:
    names = ("PostgreSQL, disk", "releases", "search index", "first load", "whole export")
    lines = [
        "",
        "| observations | items | " + " | ".join(names) + " | beyond one |",
        "|---:|---:|" + "---|" * (len(names) + 1),
    ]
    for observations in OBSERVATIONS:
        load = Load(lookups=LOOKUPS[0], observations=observations)
        of = {need.part: need for need in plan(load)}
        row = [of[name].need for name in names] + [_beyond([of[name] for name in names])]
        lines.append(f"| {observations:,} | {load.items:,.0f} | " + " | ".join(row) + " |")
    return lines


def _beyond(needs: list[Need]) -> str:
    worst = sorted((need for need in needs if need.beyond), key=lambda need: -need.times)
    return ", ".join(f"{need.part} ({need.times:,.1f} ×)" for need in worst) or "nothing"


def _figure(microseconds: float) -> str:
    return f"{microseconds:,.0f}" if microseconds >= 0.5 else "–"


if __name__ == "__main__":
    run(capacity)
