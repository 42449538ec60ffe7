"""Feeds: addresses and directories whose files are loaded again and again, each through its mapping."""

import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from shared.clock import utc_now
from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import load_queries
from shared.errors import LoadRefused, StoreUnavailable
from shared.events.webhooks import url_fault
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from workers.ingest.fetch import Fetched, Fetcher, FetchFailed
from workers.ingest.load import Summary, load
from workers.ingest.mapping import Mapping, parse
from workers.ingest.uploads import SQL as UPLOADS
from workers.ingest.uploads import UploadRunner, refuse_second_file

SQL = load_queries(__file__, "feeds.sql")
DONE, FAILED = "done", "failed"
"""Where files of a directory are moved once they were loaded, or refused."""
EVERY_SECONDS_MIN, EVERY_SECONDS_MAX = 60, 31 * 86_400
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_URL_CHARACTERS_MAX, _FILE_NAME_CHARACTERS_MAX = 2_000, 200
_PREFIX = "itemindex-feed-"
_POLL_SECONDS = 1.0
_AT_ONCE = 8
_SWEEP_SECONDS = 3_600.0
# A file that was written to so recently may not be complete.
_SETTLED_SECONDS = 5.0


class Stopping(Exception):
    """The process is to end: what is being loaded is rolled back, and stays due."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed that is due."""

    id: str
    name: str
    url: str | None
    directory: str | None
    file_name: str | None
    mapping: str
    every_seconds: int
    etag: str | None
    last_modified: str | None
    sha256: bytes | None
    failures: int

    @property
    def place(self) -> str:
        """Where it is read: its address or its directory."""
        return self.url or self.directory or ""


def register(
    settings: Settings,
    connection: Connection,
    mapping: Mapping,
    *,
    every_seconds: int,
    name: str | None = None,
    url: str | None = None,
    directory: Path | None = None,
    file_name: str | None = None,
) -> str:
    """Keep a feed with the text of its mapping, and return its name. Raises LoadRefused where it could not be read."""
    name = name or mapping.source
    if _NAME.fullmatch(name) is None:
        raise LoadRefused("a feed's name has lower-case letters, digits and . _ -, 100 at most; give it with --name")
    if not EVERY_SECONDS_MIN <= every_seconds <= EVERY_SECONDS_MAX:
        raise LoadRefused("a feed is read every minute at most and every 31 days at least: --every 1h")
    if len(url or "") > _URL_CHARACTERS_MAX or len(file_name or "") > _FILE_NAME_CHARACTERS_MAX:
        raise LoadRefused(
            f"an address has {_URL_CHARACTERS_MAX:,} characters at most, a file's name {_FILE_NAME_CHARACTERS_MAX}"
        )
    refuse_second_file(mapping)
    if url is not None:
        fault = url_fault(url, private_allowed=settings.feed_private_addresses, plain_allowed=True)
        if fault is not None:
            hint = "; set FEED_PRIVATE_ADDRESSES where that is intended" if "public" in fault else ""
            raise LoadRefused(f"the address {fault}{hint}")
    if directory is not None:
        directory = directory.absolute()
        if not directory.is_dir():
            raise LoadRefused(f"{directory} is not a directory")
    values = (name, url, directory and str(directory), file_name, mapping.source, mapping.text, every_seconds)
    connection.execute(SQL.register, values)
    return name


class FeedRunner:
    """Serves feeds that are due and uploads that wait.

    Fetches run side by side, so that a slow server delays no other feed; loads run one by one.
    """

    def __init__(self, settings: Settings, log: Log, stopping: Callable[[], bool] = lambda: False) -> None:
        self._settings = settings
        self._log = log
        self._stopping = stopping
        self._fetcher = Fetcher(settings.feed_private_addresses, settings.feed_bytes_max, settings.feed_seconds_max)
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="feed")
        self._running: dict[str, Future[None]] = {}
        self._uploads = UploadRunner(settings, open_object_store(settings), self._check)
        self._next_sweep = 0.0

    def run(self) -> None:
        """Work until stopped. Raises where PostgreSQL is gone, so that the supervisor starts it again."""
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            first = False
            while not self._stopping():
                if not first and connection.execute(SQL.lock).fetchone() == (True,):
                    first = True
                    for left in self._settings.feeds_dir.glob(f"{_PREFIX}*"):  # by a process that was killed
                        shutil.rmtree(left, ignore_errors=True)
                if first:
                    self.begin_due(connection)
                    self._sweep(connection)
                time.sleep(_POLL_SECONDS)
        self._pool.shutdown(cancel_futures=True)

    def run_due(self) -> int:
        """Serve what is due now, to its end; return how many feeds."""
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            self.begin_due(connection)
            begun = list(self._running.values())
            wait(begun)
            self._note_ended()
            return len(begun)

    def begin_due(self, connection: Connection) -> None:
        """Begin with each feed that is due and each upload that waits, unless it is being served."""
        self._note_ended()
        for row in connection.execute(SQL.due).fetchall():
            feed = Feed(*row)
            if feed.id not in self._running:
                self._running[feed.id] = self._pool.submit(self._serve, feed)
        for (upload,) in connection.execute(UPLOADS.waiting).fetchall():
            if upload not in self._running:
                self._running[upload] = self._pool.submit(self._serve_upload, upload)

    def _note_ended(self) -> None:
        for key in [key for key, future in self._running.items() if future.done()]:
            if error := self._running.pop(key).exception():
                self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))

    def _serve(self, feed: Feed) -> None:
        try:
            if feed.url is not None:
                self._fetch(feed, feed.url)
            else:
                self._collect(feed, Path(feed.place))
        except (LoadRefused, FetchFailed) as error:
            self._fail(feed, str(error))
        except Stopping:
            return
        except Exception as error:
            if not (isinstance(error, psycopg.Error) and unavailable(error)):
                self._fail(feed, f"an unexpected error ({type(error).__name__}); the log says where")
            raise

    def _serve_upload(self, upload: str) -> None:
        try:
            with self._folder() as folder, self._loading:
                state = self._uploads.serve(upload, folder)
        except Stopping:
            return
        except Exception as error:
            if not (isinstance(error, psycopg.Error) and unavailable(error)):
                self._uploads.fail(upload, f"an unexpected error ({type(error).__name__}); the log says where")
            raise
        if state is not None:
            self._log.info("upload-served", upload=upload, state=state)

    def _sweep(self, connection: Connection) -> None:
        if time.monotonic() >= self._next_sweep:
            self._next_sweep = time.monotonic() + _SWEEP_SECONDS
            try:
                self._uploads.sweep(connection)
            except (StoreUnavailable, OSError):
                metrics.store_errors.labels("results").inc()

    def _fetch(self, feed: Feed, url: str) -> None:
        with self._folder() as folder:
            fetched = self._fetcher.fetch(url, folder, feed.file_name, etag=feed.etag, last_modified=feed.last_modified)
            if fetched is None:
                self._settle(feed, None, feed.etag, feed.last_modified, feed.sha256)
                return
            summary = None if fetched.sha256 == feed.sha256 else self._load(feed, fetched.path)
            self._settle(feed, summary, *_marks(fetched))

    def _collect(self, feed: Feed, directory: Path) -> None:
        """Load each file of a directory and move it; one that cannot be used delays no other."""
        summary, refused = None, list[str]()
        for path in _arrived(directory):
            try:
                summary = self._load(feed, path)
            except LoadRefused as error:
                if isinstance(error.__cause__, psycopg.Error | OSError):
                    raise  # the file is not at fault: it stays, and is tried again
                refused.append(f"{path.name}: {error}")
                moved = _moved(path, FAILED)
                moved.with_name(f"{moved.name}.reason.txt").write_text(f"{error}\n", errors="backslashreplace")
            else:
                _moved(path, DONE)
        if refused:
            raise LoadRefused("\n".join(refused))
        self._settle(feed, summary, None, None, None)

    def _load(self, feed: Feed, path: Path) -> Summary:
        with self._loading:
            return load(self._settings, parse(feed.mapping), [path], self._check)

    def _check(self, done: int = 0) -> None:
        if self._stopping():
            raise Stopping

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        self._settings.feeds_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=self._settings.feeds_dir) as folder:
            yield Path(folder)

    def _settle(
        self,
        feed: Feed,
        summary: Summary | None,
        etag: str | None,
        last_modified: str | None,
        sha256: bytes | None,
    ) -> None:
        load_id = None if summary is None else summary.load_id
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            values = (feed.id, etag, last_modified, sha256, load_id, feed.mapping, feed.place)
            connection.execute(SQL.served, values)
        if summary is not None:
            self._log.info("feed-loaded", feed=feed.name, load=load_id, state=summary.state)

    def _fail(self, feed: Feed, reason: str) -> None:
        self._log.warning("feed-failed", feed=feed.name, failures=feed.failures + 1, reason=reason.partition("\n")[0])
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            connection.execute(SQL.failed, (feed.id, reason.replace("\0", "\ufffd"), feed.mapping, feed.place))


def _marks(fetched: Fetched) -> tuple[str | None, str | None, bytes]:
    return fetched.etag, fetched.last_modified, fetched.sha256


def _arrived(directory: Path) -> list[Path]:
    """Return the complete files of a directory, the oldest first. Hidden names and links are left alone."""
    try:
        found = [(path.stat(), path) for path in directory.iterdir() if path.is_file() and not path.is_symlink()]
    except OSError as error:
        raise LoadRefused(f"the directory cannot be read: {error.strerror}") from None
    before = time.time() - _SETTLED_SECONDS
    settled = [(status.st_mtime, path) for status, path in found if status.st_mtime < before]
    return [path for _, path in sorted(settled) if not path.name.startswith(".")]


def _moved(path: Path, folder: str) -> Path:
    """Move a file that was dealt with; its new name begins with the time, so that no later file replaces it."""
    target = path.parent / folder / f"{utc_now():%Y%m%dT%H%M%S.%fZ}-{path.name}"
    try:
        target.parent.mkdir(exist_ok=True)
        return path.rename(target)
    except OSError as error:
        raise LoadRefused(f"{path.name} cannot be moved to {folder}/: {error.strerror}") from error
