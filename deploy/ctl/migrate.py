"""`itemindex migrate`: the schema, forward only."""

from pathlib import Path

import click

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from shared.db.migrate import available, migrate, pending
from shared.index.identifiers import LAYOUT
from shared.objects.shared_directories import adopt
from shared.search.directory import is_of_former_format
from workers.analytics.rollups import layout
from workers.provenance import identifiers
from workers.provenance.events import SQL as EVENTS
from workers.search.job import make_index


@click.group("migrate", invoke_without_command=True, epilog="Example: DATABASE_URL=postgresql://… itemindex migrate")
@data_dir_option
@click.option(
    "--contract", is_flag=True, help="Apply contracting migrations too: only while no process of the old code runs."
)
@click.pass_context
def migrate_group(ctx: click.Context, data_dir: Path, contract: bool) -> None:
    """Apply the expanding migrations that the database still lacks: old code keeps working after them.

    Safe to run at any time, under load, and twice at once. Where a table is busy it tries again instead of blocking
    others while it waits.
    """
    ctx.obj = data_dir
    if ctx.invoked_subcommand is None:
        chosen = settings(data_dir)
        with connect(chosen.database_url, application="migrate") as connection:
            done = migrate(
                connection,
                lambda step: console.say("  applied {step.name} ({step.phase})", step=step),
                contract=contract,
            )
            left = pending(connection)
            connection.execute(EVENTS.lock)
            connection.commit()  # the lock is the session's; the snapshot must begin after it was had
            if layout.ensure(connection):
                console.say("  derived what the reports read, in the layout of this version")
            identifiers.ensure(connection)
        if is_of_former_format(chosen.search_dir, LAYOUT):
            make_index(chosen.database_url, chosen.search_dir)
            console.say("  built the search index, in the format of this version")
        console.say("[green]the schema is current[/] ({count} applied)", count=len(done))
        for step in left:
            console.say(
                "  [yellow]waits[/] {name}: contracts; `itemindex migrate --contract` when all is new", name=step.name
            )


@migrate_group.command("status", epilog="Example: itemindex migrate status --json")
@json_option
@click.pass_obj
def status(data_dir: Path, as_json: bool) -> None:
    """List every migration and whether the database has it."""
    with connect(settings(data_dir).database_url, application="migrate") as connection:
        missing = {step.number for step in pending(connection)}
    rows = (
        {"number": s.number, "name": s.name, "phase": s.phase, "applied": s.number not in missing} for s in available()
    )
    show(rows, as_json=as_json, title="migrations")


@migrate_group.command("directories", epilog="Example: S3_BUCKET=item-index itemindex migrate directories")
@click.pass_obj
def directories(data_dir: Path) -> None:
    """Record where this host stores results and the search index, after they were moved on every host.

    A part refuses to start on a host that stores them elsewhere than recorded.
    """
    chosen = settings(data_dir)
    for place in adopt(chosen, chosen.database_url):
        console.say("  {place.name}: {place.location}", place=place)
