"""The way back from a backup: its base backup, the log replayed up to a moment, in a directory of its own."""

import datetime
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local import postgres
from deploy.local.backups import BackupError, Base, Timeline, choose, explain, program
from deploy.local.service_process import Program, ServiceProcess

_STOP_SECONDS = 600.0
_ENDED_BEFORE = "recovery ended before configured recovery target was reached"


def refuse_in_use(target: Path) -> None:
    """Raise BackupError unless a directory is absent or empty: nothing is ever overwritten."""
    pid = target / "postmaster.pid"
    if pid.exists() and Path(f"/proc/{pid.read_text().split()[0]}").exists():
        raise BackupError(
            f"PostgreSQL runs on {target}; stop the service and PostgreSQL, move the directory away, then restore"
        )
    if target.exists() and any(target.iterdir()):
        raise BackupError(f"{target} is not empty; move it away, then restore: nothing is overwritten")


def restore(root: Path, target: Path, to: datetime.datetime | None, cluster: str | None = None) -> Base:
    """Restore to a moment, or to the last commit that was received; return the base backup that it began with.

    The directory has its name only when all is done. Raises BackupError.
    """
    refuse_in_use(target)
    timeline, base = choose(root, to, cluster)
    beside = target.with_name(f"{target.name}.restoring")
    if beside.exists():
        shutil.rmtree(beside)
    try:
        with recover(timeline, base, beside, to):
            pass
        if target.exists():
            target.rmdir()
        beside.rename(target)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise BackupError(explain(str(error), "the restore failed")) from None
    except BackupError:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return base


@contextmanager
def recover(timeline: Timeline, base: Base, target: Path, to: datetime.datetime | None) -> Iterator[Path]:
    """Replay into a directory; while the block lasts, the server runs and answers at the yielded socket's folder."""
    try:
        with _replay(timeline, base, target, to) as sockets:
            yield sockets
    except _EndedBeforeError:
        # Nothing was committed between the moment and the end of what was received: the end is that moment.
        shutil.rmtree(target)
        with _replay(timeline, base, target, None) as sockets:
            yield sockets


class _EndedBeforeError(Exception):
    """The log has no commit after the moment."""


@contextmanager
def _replay(timeline: Timeline, base: Base, target: Path, to: datetime.datetime | None) -> Iterator[Path]:
    prefix, user = postgres.identity()
    _copy(base.path, target)
    (target / "recovery.signal").touch()
    with tempfile.TemporaryDirectory(prefix="itemindex-restore-") as name:
        sockets = Path(name)
        (sockets / "postgresql.conf").write_text("")
        (sockets / "pg_hba.conf").write_text("local all all trust\n")
        (sockets / "pg_ident.conf").write_text("")
        if user is not None:
            for path in (sockets, *sockets.iterdir(), target, *target.rglob("*")):
                os.chown(path, user, user)
        options = _options(timeline.wal, sockets, to)
        command = [*prefix, program("postgres"), "-D", str(target), "-k", str(sockets), "-p", "5432"]
        log = sockets / "log"
        server = ServiceProcess(
            Program(
                name="restore",
                command=[*command, *(word for pair in options.items() for word in ("-c", f"{pair[0]}={pair[1]}"))],
                log=log,
                stop_signal=signal.SIGINT,
                stop_seconds=_STOP_SECONDS,
                user=user,
            )
        )
        server.start()
        try:
            while not _answers(sockets):
                if not server.alive:
                    printed = log.read_text(errors="replace")
                    if to is not None and _ENDED_BEFORE in printed:
                        raise _EndedBeforeError
                    raise BackupError(explain(printed, "the log could not be replayed"))
                time.sleep(0.1)
            yield sockets
        finally:
            server.stop()


def _options(wal: Path, sockets: Path, to: datetime.datetime | None) -> dict[str, str]:
    # On the command line, so that the first ordinary start finds nothing of them.
    folder = shlex.quote(str(wal.resolve())).replace("%", "%%")  # PostgreSQL replaces %f and %p, and reads %% as %
    whole, partial = f"{folder}/%f", f"{folder}/%f.partial"
    chosen = {
        "config_file": str(sockets / "postgresql.conf"),
        "hba_file": str(sockets / "pg_hba.conf"),
        "ident_file": str(sockets / "pg_ident.conf"),
        "listen_addresses": "",
        "restore_command": f'cp {whole} "%p" 2>/dev/null || cp {partial} "%p" 2>/dev/null',
        "recovery_target_timeline": "current",
        "recovery_target_action": "promote",
        # Nobody reads before it is done, so the numbers of the primary's connections and locks do not matter.
        "hot_standby": "off",
        "archive_mode": "off",
        "shared_preload_libraries": "",
        "ssl": "off",
        "logging_collector": "off",
        "log_destination": "stderr",
        "lc_messages": "C",
        "shared_buffers": "256MB",
        "max_wal_size": "4GB",
    }
    return chosen if to is None else {**chosen, "recovery_target_time": to.isoformat()}


def _copy(source: Path, target: Path) -> None:
    command = ["cp", "--archive", "--reflink=auto", str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackupError(explain(f"error: {done.stderr}", "the base backup could not be copied"))
    target.chmod(0o700)


def _answers(sockets: Path) -> bool:
    command = [program("pg_isready"), "--quiet", "--host", str(sockets), "--port", "5432"]
    return subprocess.run(command, check=False).returncode == 0
