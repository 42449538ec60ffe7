"""`itemindex secrets`: new secrets in place of old ones, with a time in which both are accepted."""

import secrets as random
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import click
from psycopg import sql

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.config import Settings
from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.errors import ItemIndexError

SQL = beside(__file__, "accounts.sql")

_SIGNING = {"token-pepper": "TOKEN_PEPPER", "cursor-secret": "SIGNING_SECRET"}
_LOGINS = {
    "edge-password": ("EDGE_DATABASE_URL", "itemindex_edge"),
    "worker-password": ("WORKER_DATABASE_URL", "itemindex_worker"),
}
_SECRET_BYTES = 32
_TIMEOUTS = {"itemindex_edge": {"statement_timeout": "10s", "lock_timeout": "5s"}}


@click.group()
def secrets() -> None:
    """Secrets: rotate one without refusing a call, and see what still depends on the old one."""


@secrets.command(epilog="Example: itemindex secrets rotate token-pepper")
@click.argument("name", type=click.Choice([*_SIGNING, *_LOGINS]))
@data_dir_option
def rotate(name: str, data_dir: Path) -> None:
    """Print what to set, step by step; each step is one rolling restart of the parts that use the secret.

    A password of the database is that of a second login, made now; the first one works until it is retired.
    """
    chosen = settings(data_dir)
    if name in _SIGNING:
        _print_signing(_SIGNING[name], getattr(chosen, _SIGNING[name].lower()))
    else:
        _print_login(chosen, *_LOGINS[name])


@secrets.command(epilog="Example: itemindex secrets retire itemindex_edge_login")
@click.argument("login")
@data_dir_option
def retire(login: str, data_dir: Path) -> None:
    """End the login that a rotation replaced: it can connect no more. Refused while it is connected."""
    with connect(settings(data_dir).database_url, application="secrets") as connection:
        if login not in _logins(connection, "itemindex_edge") + _logins(connection, "itemindex_worker"):
            raise ItemIndexError("there is no such login of the edge's or the workers' role")
        row = connection.execute(SQL.connections_of_login, (login,)).fetchone()
        if row and row[0]:
            raise ItemIndexError(f"{row[0]} connections use this login; restart their parts with the new one first")
        connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(sql.Identifier(login)))
    console.say("retired")


@secrets.command(epilog="Example: itemindex secrets pending --since 2026-11-20T12:00:00Z")
@click.option(
    "--since",
    required=True,
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"]),
    help="When TOKEN_PEPPER was changed on the last edge (UTC).",
)
@data_dir_option
@json_option
def pending(since: datetime, data_dir: Path, as_json: bool) -> None:
    """List the working keys that were not used since: they end with TOKEN_PEPPER_PREVIOUS, and must be rotated."""
    with connect(settings(data_dir).database_url, application="secrets") as connection:
        rows = connection.execute(SQL.keys_not_used_since, (since,)).fetchall()
    names = ("key", "organization", "created_at", "last_used_at")
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="keys under the old pepper")


def _print_signing(variable: str, current: str) -> None:
    if not current:
        raise ItemIndexError(f"{variable} must be set, to the value that the edges have")
    new = random.token_urlsafe(_SECRET_BYTES)
    # Not through the console: these lines are for copying, into a store of secrets.
    click.echo("# 1. on every edge: the new one is accepted")
    click.echo(f"{variable}_PREVIOUS={new}")
    click.echo("# 2. when all have that, on every edge: the new one is used, the old one accepted")
    click.echo(f"{variable}={new}")
    click.echo(f"{variable}_PREVIOUS={current}")
    click.echo("# 3. when what the old one made is gone, on every edge: the old one ends")
    click.echo(f"{variable}_PREVIOUS=")


def _print_login(chosen: Settings, variable: str, role: str) -> None:
    with connect(chosen.database_url, application="secrets") as connection:
        listed = _logins(connection, role)
        old = urlsplit(getattr(chosen, variable.lower())).username or f"{role}_login"
        new = next(name for name in (f"{role}_login", f"{role}_login_2") if name != old)
        password = random.token_urlsafe(_SECRET_BYTES)
        make = "ALTER" if new in listed else "CREATE"
        change = sql.SQL(make + " ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(new), sql.Literal(password))
        connection.execute(change)
        connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(new)))
        for name, value in _TIMEOUTS.get(role, {}).items():
            timeout = sql.SQL("ALTER ROLE {} SET {} = {}")
            connection.execute(timeout.format(sql.Identifier(new), sql.Identifier(name), sql.Literal(value)))
    click.echo("# 1. on every part that uses it")
    click.echo(f"{variable}={_with_login(getattr(chosen, variable.lower()), new, password)}")
    click.echo("# 2. when all have that")
    click.echo(f"itemindex secrets retire {old}")


def _logins(connection: Connection, role: str) -> list[str]:
    return [row[0] for row in connection.execute(SQL.logins_of_role, (role,)).fetchall()]


def _with_login(url: str, login: str, password: str) -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(login, safe='')}:{quote(password, safe='')}@{place}"))
