"""`itemindex backup` and `itemindex restore`: PostgreSQL, to any second of what was backed up."""

import datetime
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.ctl.console import count_in_directory, json_option, report, show
from deploy.local.backup_bucket import BackupBucket
from deploy.local.backups import (
    SQL,
    BackupError,
    BackupSource,
    Base,
    Timeline,
    choose,
    explain,
    program,
    timelines,
)
from deploy.local.restore import recover, refuse_in_use
from deploy.local.restore import restore as restored
from shared.clock import utc_now
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log, trace_of

_BEAT_SECONDS = 1.0
_LOOK_SECONDS = 60.0
_COPY_SECONDS = 3.0


class MomentParameter(click.ParamType[datetime.datetime]):
    """A moment in UTC, to the second or finer."""

    name = "moment"

    def convert(
        self, value: str | datetime.datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime.datetime:
        """Return it; a moment without a time zone is refused, because it would be ambiguous."""
        try:
            moment = value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail(f"{value!r} is not a moment; write it in UTC, such as 2026-11-20T14:03:05Z", param, ctx)
        return moment.astimezone(datetime.UTC)


_cluster_option = click.option(
    "--cluster",
    default=None,
    help="The cluster, as `itemindex backup list` names it; default: the only one that holds loads.",
)


@click.group("backup")
def backup() -> None:
    """Backups of PostgreSQL: run them, take one now, list them, test the newest one."""


@backup.command("run", epilog="Example: BACKUP_DIR=/mnt/backup itemindex backup run")
def run() -> None:
    """Receive the log and take base backups until stopped; delete old ones, and test the newest one each week."""
    settings, log = Settings.from_environment(), Log("backup")
    count_in_directory(settings)
    source = BackupSource(settings.backup_database_url, settings.backup_dir)
    serve_metrics(settings)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopping.set())
    receiver = source.receiver(settings.backup_dir / "receiver.log")
    receiver.start()
    bucket = BackupBucket(settings) if settings.backup_bucket else None
    threading.Thread(target=_keep, args=(settings, bucket, log, stopping), name="keeper", daemon=True).start()
    if bucket is not None:
        copying = (bucket, source, log, stopping)
        threading.Thread(target=_copy, args=copying, name="copier", daemon=True).start()
    try:
        while not stopping.wait(_BEAT_SECONDS):
            receiver.revive()
            try:
                moment = source.beat()
            except psycopg.Error as error:
                log.warning("backup-delayed", error=type(error).__name__)
                continue
            if moment is None:
                log.warning("backup-delayed", error="the log is not received")
            elif bucket is None:
                metrics.backup_received_seconds.set(moment.timestamp())
    finally:
        receiver.stop()


def _copy(bucket: BackupBucket, source: BackupSource, log: Log, stopping: threading.Event) -> None:
    """Send the log to the bucket as it is received; what fails is sent again."""
    while not stopping.wait(_COPY_SECONDS):
        try:
            if (moment := bucket.send_log(source.timeline)) is not None:
                metrics.backup_received_seconds.set(moment.timestamp())
        except FileNotFoundError:
            continue  # the receiver has just completed a file, and so renamed it
        except (BackupError, OSError) as error:
            log.warning("backup-delayed", error=str(error))
        except Exception as error:  # noqa: BLE001 - without this thread the bucket would fall behind for ever
            log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))


def _keep(settings: Settings, bucket: BackupBucket | None, log: Log, stopping: threading.Event) -> None:
    """Take, delete and try base backups when each is due; a failure is logged and tried again."""
    while not stopping.is_set():
        try:
            source = BackupSource(settings.backup_database_url, settings.backup_dir)
            bases = source.timeline.bases()
            hours = (source.moment() - bases[-1].moment).total_seconds() / 3600 if bases else None
            if hours is None or hours >= settings.backup_interval_hours:
                base = source.take()
                log.info("backup-taken", path=str(base.path))
                bases.append(base)
                for path in source.expire(settings.backup_retention_days):
                    log.info("backup-deleted", path=str(path))
            if bucket is not None:
                bucket.send_bases(source.timeline)
                bucket.expire(
                    source.timeline, source.moment() - datetime.timedelta(days=settings.backup_retention_days)
                )
            metrics.backup_taken_seconds.set(bases[-1].moment.timestamp())
            if (utc_now().timestamp() - source.timeline.tried_at()) / 3600 >= settings.backup_check_hours:
                log.info("backup-restored", **verify_newest(settings, source.timeline.cluster))
            metrics.backup_restored_seconds.set(source.timeline.tried_at())
        except (BackupError, psycopg.Error, OSError) as error:
            log.error("backup-failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - without this thread no further backup would be taken
            log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        stopping.wait(_LOOK_SECONDS)


@backup.command("take", epilog="Example: itemindex backup take")
@json_option
def take() -> None:
    """Take a base backup now; a restore replays the log from the newest base backup before its target time."""
    settings = Settings.from_environment()
    base = BackupSource(settings.backup_database_url, settings.backup_dir).take()
    report("took {path}", path=str(base.path), moment=base.moment.isoformat())


@backup.command("list", epilog="Example: itemindex backup list --json")
@json_option
def list_() -> None:
    """List the base backups, the latest moment to which each can be restored, and whether loads are there then."""
    rows = []
    for timeline in timelines(Settings.from_environment().backup_dir):
        received = timeline.received_until()
        for base in timeline.bases():
            until = max(received or base.moment, base.moment)
            holds = "" if timeline.is_empty else "loads"
            span = {"from": base.moment.isoformat(), "to": until.isoformat()}
            rows.append({"cluster": timeline.cluster, **span, "holds": holds, "path": str(base.path)})
    show(rows, title="backups")


@backup.command("verify", epilog="Example: itemindex backup verify")
@_cluster_option
@json_option
def verify(cluster: str | None) -> None:
    """Test the newest backup: check its files against their manifest, restore it to a temporary directory, and read
    it."""
    found = verify_newest(Settings.from_environment(), cluster)
    report("restored data_version {data_version} of {moment}", **found)


def verify_newest(settings: Settings, cluster: str | None) -> dict[str, object]:
    """Restore the newest backup into a directory that is deleted afterwards; return what it holds.

    Of several clusters it is that of `choose`. Raises BackupError. A success is written down: its age is a metric.
    """
    with _root(settings, settings.backup_dir / "check", None, cluster) as root:
        timeline, base = choose(root, None, cluster)
        found = _verify(settings, root, timeline, base)
    Timeline(settings.backup_dir / timeline.folder.name).note_tried()
    return found


@contextmanager
def _root(settings: Settings, beside: Path, to: datetime.datetime | None, cluster: str | None) -> Iterator[Path]:
    """Return where the backups for a moment are: BACKUP_DIR, or a copy fetched from the bucket."""
    if not settings.backup_bucket:
        yield settings.backup_dir
        return
    with BackupBucket(settings).fetch(beside, to, cluster) as root:
        yield root


def _verify(settings: Settings, root: Path, timeline: Timeline, base: Base) -> dict[str, object]:
    done = subprocess.run(
        [program("pg_verifybackup"), "--quiet", str(base.path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(explain(done.stderr, f"{base.path} is damaged"))
    named = conninfo_to_dict(settings.backup_database_url)
    with tempfile.TemporaryDirectory(prefix="check-", dir=root) as name:
        with recover(timeline, base, Path(name) / "data", None) as sockets:
            named.update(host=str(sockets), port="5432", password=None)
            with psycopg.connect(make_conninfo("", **named)) as connection:
                [(owner,)] = connection.execute(SQL.owner).fetchall()
            with psycopg.connect(make_conninfo("", **{**named, "user": owner})) as connection:
                [(version, count)] = connection.execute(SQL.newest).fetchall()
    return {
        "data_version": version,
        "data_versions": count,
        "moment": (timeline.received_until() or base.moment).isoformat(),
    }


@click.command(
    "restore", epilog="Example: itemindex restore --to 2026-11-20T14:03:05Z --into /var/lib/postgresql/18/main"
)
@click.option("--to", type=MomentParameter(), default=None, help="Time in UTC; default: the last commit received.")
@click.option(
    "--into",
    required=True,
    type=click.Path(path_type=Path),
    help="PostgreSQL's data directory; it must be absent or empty, and the server stopped.",
)
@_cluster_option
@json_option
def restore(to: datetime.datetime | None, into: Path, cluster: str | None) -> None:
    """Restore PostgreSQL to a moment: the newest base backup before it, and the log up to it.

    Run it as the user that PostgreSQL runs as, with the service stopped. Then start PostgreSQL and the service: caches
    detect the changed data themselves.
    """
    began = time.monotonic()
    settings = Settings.from_environment()
    refuse_in_use(into)
    with _root(settings, into, to, cluster) as root:
        base = restored(root, into, to, cluster)
    report(
        "restored {into} to {to}, from {path}, in {seconds} s; start PostgreSQL, then restart `itemindex backup run`",
        into=str(into),
        to=to.isoformat() if to else "the last commit that was received",
        path=str(base.path),
        seconds=round(time.monotonic() - began, 1),
    )
