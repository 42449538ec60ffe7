"""Organizations, people and what they may use: `orgs`, `people`, `plans`, `keys`, `tokens`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click
import msgspec
import psycopg
from psycopg import sql

from deploy.ctl.console import (
    OPERATOR,
    data_dir,
    database,
    errors,
    limit_option,
    report,
    reveal,
    rows_of,
    settings,
    show,
    stored,
    table,
)
from deploy.local import identity
from deploy.local.paths import Paths
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, StoreUnavailable
from shared.organizations.accounts import GRACE_SECONDS, ROLES, SESSION_ID_CHARACTERS, SQL, SessionBeginning
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, keyed_hash, mint, parse
from shared.printable import printable
from shared.redis import keys as redis_keys
from shared.redis.connect import STORE_ERRORS, connect_store
from shared.telemetry.log import Log

ACCOUNTS = load_queries(__file__, "accounts.sql")

# Commands name a person or an organization by id, or by what people call them where that is unique.


_LISTED_MAX = 5


def organization_of(connection: Connection, text: str) -> str:
    """Return the id of the organization with this id or name. Raises ItemIndexError if there is none, or several."""
    rows = [str(row[0]) for row in connection.execute(ACCOUNTS.organizations_called, (text,)).fetchall()]
    if not rows:
        raise ItemIndexError("there is no organization of this id or name; see `itemindex orgs list`")
    if len(rows) > 1:
        some = ", ".join(rows[:_LISTED_MAX])
        raise ItemIndexError(f"{len(rows)} organizations have this name; use an id: {some}")
    return rows[0]


def person_of(connection: Connection, text: str) -> str:
    """Return the id of the person with this id or e-mail address. Raises ItemIndexError unless there is one."""
    rows = [str(row[0]) for row in connection.execute(ACCOUNTS.people_called, (text,)).fetchall()]
    if len(rows) != 1:
        raise ItemIndexError("name one person who has signed in, by id or address; see `itemindex people list`")
    return rows[0]


# Organizations.


@click.group()
def orgs() -> None:
    """Organizations: create, list, set plan and state, decide on requested plans, audit."""


@orgs.command(epilog="Example: itemindex orgs create 'Acme Ltd' --plan brand")
@click.argument("name")
@click.option("--plan", default="brand", help="Name of a plan; see `itemindex plans list`.")
@stored
def create(name: str, plan: str) -> None:
    """Create an organization and print its id. People join it with `itemindex people role`."""
    if not 1 <= len(name) <= 200 or not name.isprintable():
        raise ItemIndexError("the name must have 1 to 200 printable characters")
    with database("orgs") as connection:
        row = connection.execute(SQL.create_organization_as_operator, (name, plan, OPERATOR)).fetchone()
    if row is None:
        raise ItemIndexError("there is no plan of this name for organizations; see `itemindex plans list`")
    reveal(row[0], id=row[0], name=name, plan=plan)


@orgs.command("list", epilog="Example: itemindex orgs list --requests")
@click.option(
    "--requests", is_flag=True, help="Only organizations that have requested another plan, oldest request first."
)
@stored
def list_(requests: bool) -> None:
    """List the organizations."""
    with database("orgs") as connection:
        rows = rows_of(connection, SQL.plan_requests if requests else ACCOUNTS.organizations)
    show(rows, title="requested plans" if requests else "organizations")


_DECISIONS = {"approve": "approved", "decline": "declined"}


@orgs.command("set", epilog="Example: itemindex orgs set 'Acme Ltd' --plan institutional")
@click.argument("organization")
@click.option("--plan", help="Plan to assign; see `itemindex plans list`.")
@click.option(
    "--state",
    type=click.Choice(("active", "suspended")),
    help="While it is suspended, its key is refused, and its members can see why.",
)
@click.option(
    "--request",
    type=click.Choice(list(_DECISIONS)),
    help="Decide on the plan that it has requested; --plan assigns another one. After `decline` it can request again.",
)
@stored
def set_organization(organization: str, plan: str | None, state: str | None, request: str | None) -> None:
    """Change an organization's plan or state, or decide on the plan that it has requested.

    It takes effect on every edge within a second.
    """
    if not (plan or state or request):
        raise click.UsageError("name what to change: --plan, --state or --request")
    if plan and request == "decline":
        raise click.UsageError("--plan names the plan to assign; none is with `--request decline`")
    with database("orgs") as connection:
        named = organization_of(connection, organization)
        changed: list[Any] = []
        try:
            if request:
                decision = (named, _DECISIONS[request], plan, OPERATOR)
                changed.append(connection.execute(SQL.decide_plan, decision).fetchone())
            elif plan:
                changed.append(connection.execute(SQL.change_plan, (named, plan, OPERATOR)).fetchone())
            if state:
                changed.append(connection.execute(SQL.change_state, (named, state, OPERATOR)).fetchone())
        except psycopg.errors.ForeignKeyViolation:
            raise ItemIndexError("there is no such plan; see `itemindex plans list`") from None
        if None in changed:
            raise ItemIndexError("there is nothing to change; see `itemindex orgs list`")
    report("changed", organization=named, changed=True)


@orgs.command(epilog="Example: itemindex orgs audit 01a1… --json; itemindex orgs audit --verify")
@click.argument("organization", required=False)
@limit_option(50)
@click.option("--verify", is_flag=True, help="Verify the chain of rows; of all organizations if none is given.")
@stored
def audit(organization: str | None, limit: int, verify: bool) -> None:
    """Show an organization's audit log, newest first; or check that no row was changed or removed.

    --verify also prints each organization's last row and its hash. Keep them elsewhere: another hash under the same
    number in a later --verify means that the whole chain was rewritten. Exit code 1 if the chain is broken.
    """
    if verify:
        _verify(organization)
        return
    if organization is None:
        raise ItemIndexError("name the organization; see `itemindex orgs list`")
    with database("orgs") as connection:
        rows = rows_of(connection, SQL.audit, organization_of(connection, organization), None, limit, None, None, None)
    listed = ({name: row[name] for name in ("at", "actor", "act", "subject")} for row in rows)
    show(listed, title="audit")


def _verify(organization: str | None) -> None:
    with database("orgs") as connection:
        organization_id = organization_of(connection, organization) if organization else None
        faults = rows_of(connection, SQL.audit_faults, organization_id)
        heads = rows_of(connection, SQL.audit_heads, organization_id)
    show(faults or heads, title="faults" if faults else "unbroken")
    if faults:
        sys.exit(1)


# People, their roles and their sessions of the dashboard.


@click.group()
def people() -> None:
    """People: list them, set their role in an organization, end their sessions, print a local person's ID token."""


@people.command("list", epilog="Example: itemindex people list 'Acme Ltd'")
@click.argument("organization", required=False)
@stored
def list_people(organization: str | None) -> None:
    """List the members of an organization; or all who have signed in."""
    with database("people") as connection:
        if organization is None:
            rows = rows_of(connection, ACCOUNTS.people)
        else:
            rows = rows_of(connection, SQL.members, organization_of(connection, organization))
    show(rows, title="members" if organization else "people")


@people.command(epilog="Example: itemindex people role 'Acme Ltd' ada@example.org owner")
@click.argument("organization")
@click.argument("person")
@click.argument("role", type=click.Choice((*ROLES, "none")))
@stored
def role(organization: str, person: str, role: str) -> None:
    """Add a person to an organization, change a member's role, or remove one.

    A PERSON (id or e-mail address) must have signed in before. Role `none` removes a member; the last owner remains.
    """
    with database("people") as connection:
        organization_id, person_id = organization_of(connection, organization), person_of(connection, person)
        named = (organization_id, person_id)
        old = next((str(row[3]) for row in connection.execute(SQL.members, named[:1]) if row[0] == person_id), "none")
        if old == role == "none":
            raise ItemIndexError("this person is not a member; see `itemindex people list ORGANIZATION`")
        changed: Any = True
        if old == "none":
            connection.execute(SQL.add_member, (*named, role, OPERATOR))
        elif role == "none":
            changed = connection.execute(SQL.remove_member, (*named, old, None, OPERATOR)).fetchone()
        elif old != role:
            changed = connection.execute(SQL.change_role, (*named, role, old, None, OPERATOR)).fetchone()
        if changed is None:
            raise ItemIndexError("this is the last owner; make another member an owner first")
    report("{person}: {role}", organization=organization, person=person, role=role)


_NAMES = tuple(name for name, _, _ in identity.PEOPLE)


@people.command(epilog='Example: curl -H "Authorization: Bearer $(itemindex people token)" …/v1/org')
@click.option("--person", type=click.Choice(_NAMES), default=_NAMES[0], help="Person of the token.")
@stored
def token(person: str) -> None:
    """Print an ID token, valid for one hour, as the local provider would issue it after a sign-in."""
    paths = Paths.at(data_dir())
    if not (paths.root / "identity.json").exists():
        raise ItemIndexError("no local identity provider here: `make up` makes one unless OIDC_ISSUER names another")
    signed = printable(identity.id_token(identity.prepared(paths), person))
    reveal(signed, person=person, id_token=signed)


_DEADLINE_SECONDS = 5.0


@people.command(epilog="Example: itemindex people sessions ada@example.org --end-all")
@click.argument("person")
@click.option("--end", metavar="ID", help="End this session; its next request is refused.")
@click.option("--end-all", is_flag=True, help="End every session.")
@stored
def sessions(person: str, end: str | None, end_all: bool) -> None:
    """List the dashboard sessions of a PERSON (id or e-mail address), or end them."""
    with database("sessions") as connection:
        person_id = person_of(connection, person)
    with _state_store() as store:
        opened = _sessions(store, person_id)
        if end is None and not end_all:
            rows = (
                {
                    "id": digest[:SESSION_ID_CHARACTERS],
                    "signed_in": datetime.fromtimestamp(beginning.born, UTC),
                    "network": beginning.network,
                    "browser": beginning.agent,
                }
                for digest, beginning in opened.items()
            )
            show(rows, title="sessions")
            return
        ended = [digest for digest in opened if end_all or digest[:SESSION_ID_CHARACTERS] == end]
        if not (ended or end_all):
            raise ItemIndexError("there is no such session; `itemindex people sessions PERSON` lists them")
        for digest in ended:
            store.delete(redis_keys.session(digest))
            store.hdel(redis_keys.sessions_of(person_id), digest)
    Log("ctl", stream=sys.stderr).info("sessions-ended", person=person_id, sessions=len(ended), by=OPERATOR)
    report("ended {count}", person=person_id, count=len(ended))


@contextmanager
def _state_store() -> Iterator[Any]:
    """Connect to the state store for as long as the block lasts. Raises StoreUnavailable, also from within."""
    try:
        with connect_store(settings().state_url, deadline_seconds=_DEADLINE_SECONDS) as store:
            yield store
    except STORE_ERRORS as error:
        raise StoreUnavailable("state") from error


def _sessions(store: Any, person_id: str) -> dict[str, SessionBeginning]:
    packed = store.hgetall(redis_keys.sessions_of(person_id))
    listed = {name.decode(): msgspec.json.decode(value, type=SessionBeginning) for name, value in packed.items()}
    return {digest: beginning for digest, beginning in listed.items() if store.exists(redis_keys.session(digest))}


# The table of plans, which is edited here and nowhere in code.


_LIMIT_MAX = 2**31 - 1  # of an integer column
_BYTES_MAX = 2**63 - 1


@click.group()
def plans() -> None:
    """Plans: list and edit. Changes take effect on every edge within a second."""


table(
    plans,
    "list",
    SQL.plans,
    title="plans",
    text="List the plans with their limits.",
    example="itemindex plans list --json",
)


@plans.command("set", epilog="Example: itemindex plans set brand --daily-units 60000 --self-service")
@click.argument("name")
@click.option("--title", help="Name of the plan on pages.")
@click.option("--daily-units", type=click.IntRange(1, _LIMIT_MAX), help="Units a day.")
@click.option("--burst-units", type=click.IntRange(1, _LIMIT_MAX), help="Units a second.")
@click.option("--jobs-running", type=click.IntRange(0, _LIMIT_MAX), help="Jobs that run at the same time.")
@click.option("--jobs-queued", type=click.IntRange(0, _LIMIT_MAX), help="Jobs that wait at the same time.")
@click.option("--batch-iids-max", type=click.IntRange(0, 1_000), help="IIDs or identifiers in one batch.")
@click.option(
    "--stored-export-bytes-max",
    type=click.IntRange(0, _BYTES_MAX),
    help="Bytes of exports that are stored at the same time; plans without this limit have STORED_EXPORT_BYTES_MAX.",
)
@click.option(
    "--self-service/--no-self-service", default=None, help="Whether people may choose the plan without approval."
)
@stored
def set_(name: str, **given: object) -> None:
    """Change limits of a plan; all others stay as they are."""
    changes = {column: value for column, value in given.items() if value is not None}
    if not changes:
        options = [one.opts[0] for one in click.get_current_context().command.params if one.name in given]
        raise ItemIndexError(f"name what to change: {', '.join(options)}")
    parts = [sql.SQL("{} = {}").format(sql.Identifier(column), sql.Literal(value)) for column, value in changes.items()]
    query = sql.SQL("UPDATE plans SET {} WHERE name = {} RETURNING 1").format(
        sql.SQL(", ").join(parts), sql.Literal(name)
    )
    with database("plans") as connection:
        if connection.execute(query).fetchone() is None:
            raise ItemIndexError("there is no such plan; see `itemindex plans list`")
    report("changed", plan=name, **changes)


# `itemindex keys` and `itemindex tokens`: the API keys of organizations, one each, and public tokens.


@click.group()
def keys() -> None:
    """API keys: issue, rotate, revoke, list. An organization has one."""


@keys.command(epilog="Example: itemindex keys issue $(itemindex orgs create 'Acme Ltd')")
@click.argument("organization")
@stored
def issue(organization: str) -> None:
    """Issue an organization's key and print it. It is shown only once: only a keyed hash is stored."""
    key, key_id, digest = _mint(KEY_PREFIX)
    with database("keys") as connection:
        values = (organization_of(connection, organization), key_id, digest, None, OPERATOR)
        if connection.execute(SQL.issue_key, values).fetchone() is None:
            raise ItemIndexError("there is no such active organization, or it has a key: `itemindex keys rotate` it")
    reveal(key, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys rotate 01a1… --grace 1h")
@click.argument("organization")
@click.option(
    "--grace", type=click.Choice(list(GRACE_SECONDS)), default="none", help="How long the old key remains valid."
)
@stored
def rotate(organization: str, grace: str) -> None:
    """Replace an organization's key and print the new one. It is shown only once.

    At most two keys work at a time: if an older key is still in its grace period, that period remains, and the replaced
    key ends immediately.
    """
    key, key_id, digest = _mint(KEY_PREFIX)
    with database("keys") as connection:
        owner = organization_of(connection, organization)
        values = (owner, key_id, digest, GRACE_SECONDS[grace], None, OPERATOR)
        before = rows_of(connection, SQL.keys, owner)
        if connection.execute(SQL.rotate_key, values).fetchone() is None:
            raise ItemIndexError("the organization has no key to rotate; issue one with `itemindex keys issue`")
    older = next((key["key_id"] for key in before if key["expires_at"]), None)
    if older and grace != "none":
        errors.say("no grace for the replaced key, which ended now: key {older} is still in its own", older=older)
    reveal(key, key=key, id=key_id)


@keys.command(epilog="Example: itemindex keys revoke 01a1…")
@click.argument("organization")
@stored
def revoke(organization: str) -> None:
    """Revoke an organization's keys, including one in its grace period; every edge refuses them within a second."""
    with database("keys") as connection:
        values = (organization_of(connection, organization), None, OPERATOR)
        if connection.execute(SQL.revoke_keys, values).fetchone() is None:
            raise ItemIndexError("the organization has no valid key")
    report("revoked", organization=organization, revoked=True)


@keys.command("list", epilog="Example: itemindex keys list 01a1…")
@click.argument("organization", required=False)
@click.option(
    "--unused-since",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"]),
    help="All organizations' keys not used since TOKEN_PEPPER was changed on the last edge (UTC): they end with "
    "TOKEN_PEPPER_PREVIOUS, and must be rotated.",
)
@stored
def list_keys(organization: str | None, unused_since: datetime | None) -> None:
    """List the valid keys, with when and from where each was last used."""
    if (organization is None) == (unused_since is None):
        raise click.UsageError("name either an organization or --unused-since")
    with database("keys") as connection:
        if organization is None:
            rows = rows_of(connection, ACCOUNTS.keys_not_used_since, unused_since)
        else:
            listed = rows_of(connection, SQL.keys, organization_of(connection, organization))
            rows = [{"id": row.pop("key_id"), **row} for row in listed]
    show(rows, title="keys under the old pepper" if organization is None else "keys")


def _mint(prefix: str) -> tuple[str, str, bytes]:
    pepper = settings().token_pepper
    if not pepper:
        raise ItemIndexError("TOKEN_PEPPER must be set, to the same value as the edges have")
    key = mint(prefix)
    form = parse(key)
    assert form is not None
    return key, form.credential_id, keyed_hash(key, pepper)


# Public tokens.


@click.group()
def tokens() -> None:
    """Public tokens: the anonymous one for everyone, and those of free sign-ups."""


@tokens.command(epilog='Example: curl -H "X-Service-Public-Token: $(itemindex tokens anonymous)" …')
@stored
def anonymous() -> None:
    """Print the anonymous token. It is a constant, not a secret."""
    token = settings().anonymous_token
    reveal(token, token=token)


@tokens.command("issue", epilog="Example: itemindex tokens issue --label 'Ada, trial'")
@click.option("--label", help="Label of the token, shown by `itemindex tokens list`.")
@stored
def issue_token(label: str | None) -> None:
    """Issue a token of the free plan and print it. It is shown only once: only a keyed hash is stored."""
    token, token_id, digest = _mint(FREE_PREFIX)
    with database("tokens") as connection:
        connection.execute(ACCOUNTS.issue_token, (token_id, digest, label))
    reveal(token, token=token, id=token_id)


table(
    tokens,
    "list",
    ACCOUNTS.tokens,
    title="public tokens",
    text="List the tokens of free sign-ups, without their secrets.",
    example="itemindex tokens list --json",
)


@tokens.command("revoke", epilog="Example: itemindex tokens revoke 7Hq0ZpXw2a")
@click.argument("token_id")
@stored
def revoke_token(token_id: str) -> None:
    """Revoke a token; every edge refuses it within a second."""
    with database("tokens") as connection:
        if connection.execute(ACCOUNTS.revoke_token, (token_id,)).fetchone() is None:
            raise ItemIndexError("there is no valid token of this id; see `itemindex tokens list`")
    report("revoked", id=token_id, revoked=True)
