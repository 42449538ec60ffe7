"""`itemindex sessions`: who is signed in to the dashboard, and how an operator ends that."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
import redis

from deploy.ctl.console import OPERATOR, data_dir_option, json_option, report, settings, show
from deploy.ctl.selectors import person_of
from shared.db.connect import connect
from shared.errors import ItemIndexError, StoreUnavailable
from shared.organizations.sessions import SESSION_ID_CHARACTERS, SessionBeginning
from shared.redis import keys
from shared.redis.connect import connect_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log

_DEADLINE_SECONDS = 5.0


@click.group()
def sessions() -> None:
    """Sessions of the dashboard: list and end those of a person."""


@sessions.command("list", epilog="Example: itemindex sessions list ada@example.org")
@click.argument("person")
@data_dir_option
@json_option
def list_(person: str, data_dir: Path, as_json: bool) -> None:
    """List the sessions of a PERSON (id or e-mail address)."""
    chosen = settings(data_dir)
    person_id = _person(chosen, person)
    with _state_store(chosen) as store:
        open_sessions = _sessions(store, person_id)
    show((_row(digest, beginning) for digest, beginning in open_sessions.items()), as_json=as_json, title="sessions")


@sessions.command(epilog="Example: itemindex sessions end ada@example.org")
@click.argument("person")
@click.argument("session_id", required=False)
@data_dir_option
@json_option
def end(person: str, session_id: str | None, data_dir: Path, as_json: bool) -> None:
    """End one session of a PERSON, or all; each is refused from its next page on."""
    chosen = settings(data_dir)
    person_id = _person(chosen, person)
    with _state_store(chosen) as store:
        opened = _sessions(store, person_id)
        ended = [digest for digest in opened if session_id in (None, digest[:SESSION_ID_CHARACTERS])]
        if session_id is not None and not ended:
            raise ItemIndexError("there is no such session; see `itemindex sessions list`")
        for digest in ended:
            store.delete(keys.session(digest))
            store.hdel(keys.sessions_of(person_id), digest)
    Log("ctl", stream=sys.stderr).info("sessions-ended", person=person_id, sessions=len(ended), by=OPERATOR)
    report("ended {count}", as_json=as_json, person=person_id, count=len(ended))


@contextmanager
def _state_store(chosen: Settings) -> Iterator[Any]:
    """Connect to the state store for as long as the block lasts. Raises StoreUnavailable, also from within."""
    try:
        with connect_store(chosen.state_url, deadline_seconds=_DEADLINE_SECONDS) as store:
            yield store
    except redis.RedisError as error:
        raise StoreUnavailable("state") from error


def _sessions(store: Any, person_id: str) -> dict[str, SessionBeginning]:
    packed = store.hgetall(keys.sessions_of(person_id))
    listed = {name.decode(): msgspec.json.decode(value, type=SessionBeginning) for name, value in packed.items()}
    return {digest: beginning for digest, beginning in listed.items() if store.exists(keys.session(digest))}


def _row(digest: str, beginning: SessionBeginning) -> dict[str, Any]:
    began = datetime.fromtimestamp(beginning.born, UTC)
    return {
        "id": digest[:SESSION_ID_CHARACTERS],
        "signed_in": began,
        "network": beginning.network,
        "browser": beginning.agent,
    }


def _person(chosen: Settings, text: str) -> str:
    with connect(chosen.database_url, application="sessions") as connection:
        return person_of(connection, text)
