"""`itemindex migrate`: the schema, forward only."""

import click

from deploy.ctl.console import console, database, for_programs, print_json, settings, show, store_options
from deploy.local.derived import bring_up_to_date
from shared.db.migrate import Migration, available, migrate, pending_migrations
from shared.objects.shared_directories import adopt


@click.command("migrate", epilog="Example: DATABASE_URL=postgresql://… itemindex migrate")
@click.option(
    "--contract", is_flag=True, help="Apply contracting migrations too: only while no process of the old code runs."
)
@click.option("--dry-run", is_flag=True, help="List every migration and whether the database has it; apply none.")
@click.option(
    "--directories",
    is_flag=True,
    help="Only record where this host stores results and the search index, after they were moved on every host. A part "
    "refuses to start on a host whose storage differs from the record.",
)
@store_options
def migrate_schema(contract: bool, dry_run: bool, directories: bool) -> None:
    """Apply the expanding migrations that the database still lacks: old code keeps working after them.

    Safe to run at any time, under load, and twice at once. If a table is busy, it retries instead of blocking others.
    """
    chosen = settings()

    def tell_applied(step: Migration) -> None:
        if not for_programs():
            console.say("  applied {step.name} ({step.phase})", step=step)

    def tell_made(done: str) -> None:
        if not for_programs():
            console.say("  {done}", done=done)

    if directories:
        adopted = [{"name": place.name, "location": place.location} for place in adopt(chosen, chosen.database_url)]
        show(adopted, title="directories")
        return
    with database("migrate") as connection:
        if dry_run:
            missing = {step.number for step in pending_migrations(connection)}
            rows = (
                {"number": s.number, "name": s.name, "phase": s.phase, "applied": s.number not in missing}
                for s in available()
            )
            show(rows, title="migrations")
            return
        done = migrate(connection, tell_applied, contract=contract)
        left = pending_migrations(connection)
    bring_up_to_date(chosen, tell_made)
    if for_programs():
        print_json({"applied": [step.name for step in done], "waiting": [step.name for step in left]})
        return
    console.say("[green]the schema is current[/] ({count} applied)", count=len(done))
    for step in left:
        console.say(
            "  [yellow]waits[/] {name}: contracts; `itemindex migrate --contract` when all is new", name=step.name
        )
