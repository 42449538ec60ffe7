"""`itemindex`: the map of every command. A command's module is imported when it is called."""

import csv
import importlib
import sys
from difflib import get_close_matches

import click

from shared.errors import ItemIndexError
from shared.printable import printable
from shared.processes import imports_for_good, pandas_hidden

# The sections of `itemindex --help`: the commands of each, with their module:attribute and one line for the map.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "The service on this machine": {
        "up": ("deploy.ctl.stack:up", "Run the whole service here, with the demo data."),
        "status": ("deploy.ctl.stack:status", "Show the running parts."),
        "down": ("deploy.ctl.stack:down", "Stop the running service."),
        "logs": ("deploy.ctl.stack:logs", "Show the logs of the parts."),
        "top": ("deploy.ctl.top:top", "Show live figures: requests, quotas, caches, stores, queues, processes."),
        "doctor": ("deploy.ctl.doctor:doctor", "Check every part; show each fault with its remedy."),
    },
    "Data": {
        "ingest": ("deploy.ctl.ingest:ingest", "Load files, using a mapping."),
        "feeds": ("deploy.ctl.feeds:feeds", "Feeds: add, list, pause, remove and run them."),
        "loads": ("deploy.ctl.loads:loads", "List and undo loads, deletions, merges and withdrawals; list rejects."),
        "observations": ("deploy.ctl.observations:observations", "Delete observations by source, item and days."),
        "items": ("deploy.ctl.items:items", "Withdraw, merge and restore items."),
        "matches": ("deploy.ctl.matches:matches", "Items of several sources: links, pairs to review, decisions."),
        "rates": ("deploy.ctl.rates:rates", "Exchange rates: load a central bank's file, list the tables."),
        "rebuild": ("deploy.ctl.rebuild:rebuild", "Rebuild the aggregates that reports read, or the search index."),
        "releases": ("deploy.ctl.releases:releases", "Releases of the data as files: cut and list them."),
    },
    "People and organizations": {
        "orgs": ("deploy.ctl.organizations:orgs", "Organizations: create, list, set plan and state, audit."),
        "people": ("deploy.ctl.people:people", "People: list, set a role in an organization, sessions, ID tokens."),
        "keys": ("deploy.ctl.keys:keys", "API keys: issue, rotate, revoke, list."),
        "tokens": ("deploy.ctl.keys:tokens", "Public tokens: print, issue, list, revoke."),
        "plans": ("deploy.ctl.plans:plans", "Plans: list and edit their limits."),
    },
    "Events": {
        "events": ("deploy.ctl.events:events", "List events of an organization, from the last 30 days."),
        "webhooks": ("deploy.ctl.webhooks:webhooks", "Webhooks: create, list, rotate, replay, disable, delete."),
    },
    "Parts": {
        "edge": ("deploy.ctl.worker:edge", "Run an edge."),
        "nginx": ("deploy.ctl.nginx:nginx", "Run the reverse proxy."),
        "worker": ("deploy.ctl.worker:worker", "Run a worker for some of the queues."),
        "dispatcher": ("deploy.ctl.worker:dispatcher", "Run a dispatcher, which hands queued jobs to the broker."),
    },
    "Operations": {
        "migrate": ("deploy.ctl.migrate:migrate_schema", "Update the schema."),
        "backup": ("deploy.ctl.backup:backup", "Backups of PostgreSQL: run, take, list and test them."),
        "restore": ("deploy.ctl.backup:restore", "Restore PostgreSQL to any second covered by backups."),
        "jobs": ("deploy.ctl.jobs:jobs", "Jobs: list, cancel, retry."),
        "config": ("deploy.ctl.reference:config", "List every setting with its description."),
        "secrets": ("deploy.ctl.secrets:secrets", "Secrets: rotate one without refusing a call."),
        "completion": ("deploy.ctl.reference:completion", "Print a shell's completion script for these commands."),
    },
    "Tools": {
        "calc": ("deploy.ctl.calc:calc", "Price indices, reductions and outliers of your own files."),
    },
}
COMMANDS = {name: found for section in SECTIONS.values() for name, found in section.items()}


def load_command(target: str) -> click.Command:
    """Import `module:command`."""
    module, _, attribute = target.partition(":")
    if module not in sys.modules:
        with imports_for_good(), pandas_hidden():
            importlib.import_module(module)
    command: click.Command = getattr(sys.modules[module], attribute)
    if isinstance(command, click.Group):
        for below in command.commands.values():  # the whole first sentence: click cuts off what exceeds a line
            below.short_help = below.get_short_help_str(limit=1_000)
    return command


class LazyGroup(click.Group):
    """Imports a command only when it is needed, so that `--help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the map."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        return load_command(COMMANDS[cmd_name][0]) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; refuse an unknown name, and suggest similar names."""
        if args and self.get_command(ctx, args[0]) is None:
            alike = get_close_matches(args[0], COMMANDS, n=3)
            hint = f" Did you mean {' or '.join(f'`{name}`' for name in alike)}?" if alike else ""
            ctx.fail(f"No such command {printable(args[0])!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section without importing anything."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        # `index_numbers` is `index-numbers`, of commands and of options.
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
)
@click.version_option(package_name="item-index")
def cli() -> None:
    """Item Index: what a thing is, what it sells for, what it costs the planet.

    \b
    Start with:
      itemindex up                 run everything here
      itemindex COMMAND --help     what a command does, with an example
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    run(cli, arguments)


def run(command: click.Command, arguments: list[str] | None = None) -> None:
    """Run a command; an error that we know, or of the system, is one clear line, and exit code 1."""
    try:
        command.main(args=arguments, standalone_mode=True)
    except ItemIndexError as error:
        _fail(str(error))
    except OSError as error:  # a full disk, a file that may not be read, a port that does not answer
        _fail(f"{error.strerror or error}: {error.filename}" if error.filename else f"{error.strerror or error}.")
    except csv.Error as error:
        _fail(f"the file is no CSV that can be read: {error}")
    except UnicodeEncodeError:
        _fail("an argument is not text in UTF-8")
    except Exception as error:
        from shared.db.connect import lacks_schema, unavailable  # only now: `--help` need not wait for the driver

        if lacks_schema(error):
            _fail("the database has no schema, or an older one; run `itemindex migrate`, or name another database")
        if not unavailable(error):
            raise
        _fail(f"PostgreSQL is unavailable or accepts no changes now ({type(error).__name__}); try again later.")


def _fail(text: str) -> None:
    from deploy.ctl.console import errors

    for line in text.splitlines():  # a refusal of settings has one line for each
        errors.say("[bold red]itemindex:[/] {text}", text=line, soft_wrap=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
