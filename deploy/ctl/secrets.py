"""`itemindex secrets`: new secrets in place of old ones, with a time in which both are accepted."""

import secrets as random
from collections import Counter
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

import click
from psycopg import sql

from deploy.ctl.console import database, for_programs, print_json, report, settings, store_options
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.events.webhooks import open_secret, seal_secret
from shared.settings.settings import Settings

SQL = load_queries(__file__, "accounts.sql")
WEBHOOKS = load_queries(__file__, "webhooks.sql")

_SIGNING = {"token-pepper": "TOKEN_PEPPER", "signing-secret": "SIGNING_SECRET"}
# The setting that names the login, other settings with the same one, and the role.
_LOGINS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "edge-password": ("EDGE_DATABASE_URL", ("EDGE_POOLER_URL",), "itemindex_edge"),
    "worker-password": ("WORKER_DATABASE_URL", (), "itemindex_worker"),
}
_SECRET_BYTES = 32
_TIMEOUTS = {"itemindex_edge": {"statement_timeout": "10s", "lock_timeout": "5s"}}


class RotationStep(NamedTuple):
    """One step of a rotation: when it is due, the variables to set then, and a command to run."""

    when: str
    set: dict[str, str]
    run: str = ""


_RESEAL = RotationStep(
    "when all have that: what is sealed under the old one is sealed under the new one",
    {},
    "itemindex secrets retire signing-secret",
)


@click.group()
def secrets() -> None:
    """Secrets: rotate one without refusing a call, and see what still depends on the old one."""


@secrets.command(epilog="Example: itemindex secrets rotate token-pepper")
@click.argument("name", type=click.Choice([*_SIGNING, *_LOGINS]))
@store_options
def rotate(name: str) -> None:
    """Print the settings to change, step by step; each step is one rolling restart of the parts that use the secret.

    For a database password it creates a second login; the first one works until it is retired.
    """
    chosen = settings()
    if name in _SIGNING:
        steps = _signing_steps(_SIGNING[name], getattr(chosen, _SIGNING[name].lower()))
    else:
        steps = _login_steps(chosen, *_LOGINS[name])
    _print_steps(steps)


@secrets.command(epilog="Example: itemindex secrets retire itemindex_edge_login")
@click.argument("name", metavar="LOGIN|signing-secret")
@store_options
def retire(name: str) -> None:
    """End a rotation: disable the LOGIN that it replaced, unless it is connected.

    For signing-secret, re-encrypt webhook secrets that SIGNING_SECRET_PREVIOUS encrypted with SIGNING_SECRET: safe to
    run at any time and repeatedly. Exit code 1 if neither decrypts a secret: its organization must rotate it.
    """
    if name == "signing-secret":
        _reseal(settings())
        return
    with database("secrets") as connection:
        if name not in _logins(connection, "itemindex_edge") + _logins(connection, "itemindex_worker"):
            raise ItemIndexError("there is no such login of the edge's or the workers' role")
        if connected := _connections(connection, name):
            raise ItemIndexError(f"{connected} connections use this login; restart their parts with the new one first")
        connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(sql.Identifier(name)))
    report("retired", login=name)


def _reseal(chosen: Settings) -> None:
    if not chosen.signing_secret:
        raise ItemIndexError("SIGNING_SECRET must be set, to the value that the edges have")
    with database("secrets", autocommit=True) as connection:
        ids = [row[0] for row in connection.execute(WEBHOOKS.ids).fetchall()]
        states = {webhook: _reseal_webhook(connection, chosen, webhook) for webhook in ids}
    counted = Counter(states.values())
    unreadable = [webhook for webhook, state in states.items() if state == "unreadable"]
    report(
        "re-encrypted: {resealed}, already encrypted with SIGNING_SECRET: {current}",
        **{"resealed": counted["resealed"], "current": counted["current"]},
        **({"unreadable": unreadable} if for_programs() else {}),
    )
    if unreadable:
        raise ItemIndexError(f"no signing secret opens the secrets of these webhooks: {', '.join(unreadable)}")


def _reseal_webhook(connection: Connection, chosen: Settings, webhook: str) -> str:
    """Seal one webhook's secrets anew where they are not sealed under the signing secret; return what was found."""
    with connection.transaction():
        row = connection.execute(WEBHOOKS.sealed, (webhook,)).fetchone()
        if row is None:
            return "deleted"
        stored = [sealed for sealed in row if sealed is not None]
        if all(open_secret([chosen.signing_secret], webhook, sealed) is not None for sealed in stored):
            return "current"
        opened = [open_secret(chosen.signing_secrets, webhook, sealed) for sealed in stored]
        if opened[0] is None:
            return "unreadable"
        anew = [seal_secret(chosen.signing_secret, webhook, secret) for secret in opened if secret is not None]
        connection.execute(WEBHOOKS.reseal, (webhook, anew[0], anew[1] if len(anew) > 1 else None))
        return "resealed"


def _signing_steps(variable: str, current: str) -> list[RotationStep]:
    if not current:
        raise ItemIndexError(f"{variable} must be set, to the value that the edges have")
    new = random.token_urlsafe(_SECRET_BYTES)
    previous = f"{variable}_PREVIOUS"
    seals = variable == "SIGNING_SECRET"
    parts = "every edge and worker" if seals else "every edge"
    return [
        RotationStep(f"on {parts}: the new one is accepted", {previous: new}),
        RotationStep(
            f"when all have that, on {parts}: the new one is used, the old one accepted",
            {variable: new, previous: current},
        ),
        *([_RESEAL] if seals else []),
        RotationStep(f"when what the old one made is gone, on {parts}: the old one ends", {previous: ""}),
    ]


def _login_steps(chosen: Settings, variable: str, others: tuple[str, ...], role: str) -> list[RotationStep]:
    with database("secrets") as connection:
        listed = _logins(connection, role)
        old = urlsplit(getattr(chosen, variable.lower())).username
        if old not in listed:  # DATABASE_URL where the variable is not set: the owner's
            raise ItemIndexError(
                f"{variable} must be set, to the value that its parts have: a login of the role {role}"
            )
        new = next(name for name in (f"{role}_login", f"{role}_login_2") if name != old)
        if _connections(connection, new):
            raise ItemIndexError(
                f"{new} is in use, and its parts would be refused; finish the rotation that made it, or set "
                f"{variable} to what its parts have"
            )
        password = random.token_urlsafe(_SECRET_BYTES)
        make = "ALTER" if new in listed else "CREATE"
        change = sql.SQL(make + " ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(new), sql.Literal(password))
        connection.execute(change)
        connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(new)))
        for name, value in _TIMEOUTS.get(role, {}).items():
            timeout = sql.SQL("ALTER ROLE {} SET {} = {}")
            connection.execute(timeout.format(sql.Identifier(new), sql.Identifier(name), sql.Literal(value)))
    used = {name: url for name in (variable, *others) if (url := getattr(chosen, name.lower()))}
    pooler = "in the pooler's list of logins, then " if len(used) > 1 else ""
    return [
        RotationStep(
            f"{pooler}on every part that uses it", {name: _with_login(url, new, password) for name, url in used.items()}
        ),
        RotationStep("when all have that", {}, f"itemindex secrets retire {old}"),
    ]


def _print_steps(steps: list[RotationStep]) -> None:
    if for_programs():
        print_json([step._asdict() for step in steps])
        return
    for number, step in enumerate(steps, 1):
        # Not through the console: these lines are for copying, into a store of secrets.
        click.echo(f"# {number}. {step.when}")
        for name, value in step.set.items():
            click.echo(f"{name}={value}")
        if step.run:
            click.echo(step.run)


def _logins(connection: Connection, role: str) -> list[str]:
    return [row[0] for row in connection.execute(SQL.logins_of_role, (role,)).fetchall()]


def _connections(connection: Connection, login: str) -> int:
    row = connection.execute(SQL.connections_of_login, (login,)).fetchone()
    return int(row[0]) if row else 0


def _with_login(url: str, login: str, password: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(login, safe='')}:{quote(password, safe='')}@{host}"))
