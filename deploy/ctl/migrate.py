"""`itemindex migrate`: the schema, forward only."""

from pathlib import Path

import click

from deploy.ctl.ui import console, data_dir_option, json_option, settings, show
from shared.db.connect import connect
from shared.db.migrate import available, migrate, pending


@click.group("migrate", invoke_without_command=True, epilog="Example: DATABASE_URL=postgresql://… itemindex migrate")
@data_dir_option
@click.pass_context
def migrate_group(ctx: click.Context, data_dir: Path) -> None:
    """Apply every migration that the database still lacks. Safe to run at any time, and twice at once."""
    ctx.obj = data_dir
    if ctx.invoked_subcommand is None:
        with connect(settings(data_dir).database_url, application="migrate") as connection:
            done = migrate(connection, lambda step: console.print(f"  applied {step.name} ({step.phase})"))
        console.print(f"[green]the schema is current[/] ({len(done)} applied)")


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
