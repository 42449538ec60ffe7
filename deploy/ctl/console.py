"""How the command line prints: one terminal, tables, sentences or JSON; and which stack a command is for."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from click.decorators import FC
from psycopg.rows import DictRow, dict_row
from rich.text import Text

from deploy.local.paths import Paths, default_data_dir
from deploy.local.running_stack import settings_of
from deploy.terminal import SafeTable, Styled, Terminal
from shared.clock import rfc3339
from shared.db.connect import Connection, connect
from shared.errors import ItemIndexError
from shared.printable import printable
from shared.settings.settings import Settings

# Into a pipe or a file there is no edge to fold at: an id that is broken over lines cannot be copied.
console = Terminal(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
errors = Terminal(stderr=True, highlight=False, emoji=False)


def _keep(ctx: click.Context, option: click.Parameter, value: object) -> None:
    """Keep an option's value for where it is needed, instead of passing it through every command."""
    ctx.meta[str(option.name)] = value


data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default=False,
    envvar="ITEMINDEX_DATA_DIR",
    callback=_keep,
    expose_value=False,
    help="Data directory of the embedded stack; default: ITEMINDEX_DATA_DIR, or `var` in the project.",
)
reason_option = click.option("--reason", help="Reason, stored with the event.")
json_option = click.option("--json", is_flag=True, callback=_keep, expose_value=False, help="Print JSON, for programs.")


def store_options(function: FC) -> FC:
    """Give a command that reads the stores the options for where they are and for how it prints."""
    return data_dir_option(json_option(function))


def for_programs() -> bool:
    """Return whether the command that runs was called with --json."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("json"))


def data_dir() -> Path:
    """Return the data directory that was named to the command that runs."""
    named: Path = click.get_current_context().meta["data_dir"]
    return named


def limit_option(default: int, most: int = 10_000) -> Callable[[FC], FC]:
    """Return the option of a list that is read from its newest entry."""
    kind = click.IntRange(1, most)
    return click.option("--limit", default=default, type=kind, help="Maximum number of entries.")


def table(
    group: click.Group,
    name: str,
    query: str,
    *parameters: Callable[[Callable[..., None]], Callable[..., None]],
    title: str,
    text: str,
    example: str,
    values: Callable[..., Iterable[object]] = lambda connection: (),
    brief: tuple[str, ...] = (),
    one: tuple[str, type | click.ParamType[Any], str] | None = None,
) -> None:
    """Add a command that lists the rows of a statement, under the names that the statement gives its columns.

    `values` makes the statement's values of the connection and the parameters; `brief` are the columns that fit a line;
    `one` is an argument that names one entry, and the statement that reads everything about it.
    """

    def list_rows(named: object = None, **given: Any) -> None:
        with database(str(group.name)) as connection:
            if one is None or named is None:
                rows = rows_of(connection, query, *values(connection, **given))
                if brief and not for_programs():
                    rows = [{column: row[column] for column in brief} for row in rows]
            else:
                rows = rows_of(connection, one[2], named)
                if not rows:
                    raise ItemIndexError(
                        f"there is no such {one[0].lower()}; `itemindex {group.name} {name}` shows all"
                    )
                if not for_programs():
                    rows = [{"what": column, "value": value} for column, value in rows[0].items()]
        show(rows, title=title)

    command: Callable[..., None] = store_options(list_rows)
    if one is not None:
        command = click.argument("named", metavar=f"[{one[0]}]", type=one[1], required=False)(command)
    for parameter in reversed(parameters):
        command = parameter(command)
    group.command(name, help=text, epilog=f"Example: {example}")(command)


def rows_of(connection: Connection, query: str, *values: object) -> list[DictRow]:
    """Return the rows of a statement by the names of its columns."""
    return connection.cursor(row_factory=dict_row).execute(query, values or None).fetchall()


def settings() -> Settings:
    """Return the settings from the environment where it names a database, else those of the stack that runs here."""
    if any(os.environ.get(f"{role}DATABASE_URL") for role in ("", "EDGE_", "WORKER_")):
        return Settings.from_environment()
    return settings_of(Paths.at(data_dir()))


def database(application: str, *, autocommit: bool = False) -> Connection:
    """Connect to the database of these settings, as its owner."""
    return connect(settings().database_url, application=application, autocommit=autocommit)


def metrics_environment(chosen: Settings) -> dict[str, str]:
    """Make METRICS_DIR, and return the variable that has a process count in it; nothing where none is set."""
    if chosen.metrics_dir is None:
        return {}
    chosen.metrics_dir.mkdir(parents=True, exist_ok=True)
    # The library that counts reads this one by itself, when it is first imported.
    return {"PROMETHEUS_MULTIPROC_DIR": str(chosen.metrics_dir)}


def count_in_directory(chosen: Settings) -> None:
    """Start this command anew, to count in METRICS_DIR. Returns where it does so already, or where none is set."""
    variables = metrics_environment(chosen)
    if not variables.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **variables})


def show(rows: Iterable[Mapping[str, object]], title: str = "") -> None:
    """Print rows as a table for people, or as JSON for programs."""
    listed = list(rows)
    if for_programs():
        print_json(listed)
        return
    if not listed:
        console.say("[dim]{title}: none[/]", title=title or "nothing")
        return
    table = SafeTable(title=Text(printable(title)) if title else None, title_justify="left", header_style="bold")
    for name in listed[0]:
        numeric = all(isinstance(row[name], int | float) for row in listed)
        table.add_column(
            Text(printable(name.replace("_", " "))), justify="right" if numeric else "left", overflow="fold"
        )
    for row in listed:
        table.add_row(*(_cell(value) for value in row.values()))
    console.print(table)


def report(sentence: str, **values: object) -> None:
    """Print what a command did: a sentence for people with the values in it, or the values as JSON for programs."""
    if for_programs():
        print_json(values)
    else:
        console.say(sentence, soft_wrap=False, **values)


def reveal(text: str, **values: object) -> None:
    """Print one value as it is, for `$(…)`; or all values as JSON."""
    if for_programs():
        print_json(values)
    else:
        click.echo(text)


def print_json(document: object) -> None:
    """Print a document as JSON; instants are RFC 3339 in UTC."""
    click.echo(json.dumps(document, indent=1, default=_plain))


def _plain(value: object) -> str:
    return rfc3339(value) if isinstance(value, datetime) else str(value)


def _cell(value: object) -> str | Text:
    if value is None:
        return "–"
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, Styled):
        return Text(printable(value.text), style=value.style)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
