"""`itemindex items`: withdrawing, merging and restoring single items."""

from collections.abc import Callable

import click

from deploy.ctl.console import database, reason_option, report, store_options
from deploy.ctl.parameter_types import IidParameter
from shared.db.connect import Connection
from workers.provenance import events, item_acts, standing


@click.group()
def items() -> None:
    """Withdraw, merge and restore items. Each change commits a new data_version."""


@items.command(epilog="Example: itemindex items withdraw IID-99D2F-46WJ3-4S6N3 --reason recall")
@click.argument("iid", type=IidParameter())
@reason_option
@store_options
def withdraw(iid: str, reason: str | None) -> None:
    """Withdraw an item: its IID returns 410, and reports, searches and exports no longer contain it."""
    _act(lambda connection: item_acts.withdraw(connection, iid, events.actor(), reason))


@items.command(epilog="Example: itemindex items restore IID-99D2F-46WJ3-4S6N3")
@click.argument("iid", type=IidParameter())
@reason_option
@store_options
def restore(iid: str, reason: str | None) -> None:
    """Undo the withdrawal or the merge of an item; this restores its record, and its survivor's."""
    _act(lambda connection: item_acts.restore(connection, iid, events.actor(), reason))


@items.command(epilog="Example: itemindex items merge IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK")
@click.argument("iid", type=IidParameter())
@click.argument("survivor", type=IidParameter())
@reason_option
@store_options
def merge(iid: str, survivor: str, reason: str | None) -> None:
    """Merge an item into the SURVIVOR, which takes over its observations, identifiers, channels and figures."""
    _act(lambda connection: item_acts.merge(connection, iid, survivor, events.actor(), reason))


def _act(act: Callable[[Connection], int]) -> None:
    with database("items") as connection:
        standing.lock(connection)
        version = act(connection)
    report("done, data_version {data_version}", data_version=version)
