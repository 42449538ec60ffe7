"""The loop that loads what feeds that are due have, and does what operators request in the dashboard."""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import psycopg

from shared.clock import utc_now
from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadInterrupted, LoadRefused, StoreUnavailable
from shared.objects.directory import FILES_KEPT_DAYS, PREFIX, ROWS_KEPT_DAYS
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from workers.ingest.feeds.fetcher import Fetcher, FetchFailed
from workers.ingest.feeds.registry import Feed
from workers.ingest.feeds.upload_files import UploadFiles
from workers.ingest.load.summary import Summary
from workers.ingest.outages import DEATHS_MAX, DIED, is_interruption

# What loads is imported when something is due: a service without feeds and uploads needs neither numpy nor SciPy nor
# pyarrow in the process that waits for them.
if TYPE_CHECKING:
    from workers.ingest.mapping import Mapping


SQL = load_queries(__file__, "feeds.sql")
DONE, FAILED = "done", "failed"
"""Where files of a directory are moved once they were loaded, or refused."""
_PREFIX = "itemindex-feed-"
_POLL_SECONDS = 1.0
_AT_ONCE = 8
_SWEEP_SECONDS = 3_600.0
_DAY_SECONDS = 86_400.0
# A file that was written to so recently may not be complete.
_SETTLED_SECONDS = 5.0
# What an outage ended is begun again after so long.
_OUTAGE_PAUSE_SECONDS = 10.0


class Stopping(Exception):
    """The process is to end: what is being loaded is rolled back, and stays due."""


class FeedChanged(Exception):
    """The feed was paused, removed or registered again while it waited."""


class ActServer(Protocol):
    """Acts of another kind that the same process does, because they too need the schema's owner."""

    def waiting(self, connection: Connection) -> bool:
        """Return whether any of them waits."""

    def serve(self) -> None:
        """Do all that wait. An outage is raised."""


class FeedRunner:
    """Serves feeds that are due, uploads that wait, and other `acts`.

    Fetches run side by side, so that a slow server delays no other feed; loads run one by one.
    """

    def __init__(
        self,
        settings: Settings,
        log: Log,
        stopping: Callable[[], bool] = lambda: False,
        acts: Sequence[ActServer] = (),
    ) -> None:
        self._settings = settings
        self._acts = acts
        self._log = log
        self._stopping = stopping
        self._fetcher = Fetcher(settings.feed_private_addresses, settings.feed_bytes_max, settings.feed_seconds_max)
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="feed")
        self._running: dict[str, Future[None]] = {}
        self._paused_until: dict[str, float] = {}
        self._process = str(uuid4())
        self._store = open_object_store(settings)
        self._upload_files = UploadFiles(self._store, settings.feeds_dir)

    def run(self) -> None:
        """Work until stopped. Raises where PostgreSQL is gone, so that the supervisor starts it again."""
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            first, next_sweep = False, 0.0
            while not self._stopping():
                if not first and connection.execute(SQL.lock).fetchone() == (True,):
                    first = True
                    for left in self._settings.feeds_dir.glob(f"{_PREFIX}*"):  # by a process that was killed
                        shutil.rmtree(left, ignore_errors=True)
                if first:
                    self.begin_due(connection)
                    if time.monotonic() >= next_sweep:
                        next_sweep = time.monotonic() + _SWEEP_SECONDS
                        self.sweep(connection)
                time.sleep(_POLL_SECONDS)
        self._pool.shutdown(cancel_futures=True)

    def begin_due(self, connection: Connection) -> None:
        """Begin with each feed that is due, each upload that waits and other acts, unless they are being served."""
        self._note_ended()
        connection.execute(SQL.cancel_waiting_uploads)
        for row in connection.execute(SQL.due).fetchall():
            feed = Feed(*row)
            if self._may_begin(feed.id):
                self._running[feed.id] = self._pool.submit(self._serve, feed)
        for (upload,) in connection.execute(SQL.waiting_uploads).fetchall():
            if self._may_begin(upload):
                self._running[upload] = self._pool.submit(self._serve_upload, upload)
        for number, acts in enumerate(self._acts):
            key = f"acts {number}"
            if self._may_begin(key) and acts.waiting(connection):
                self._running[key] = self._pool.submit(self._serve_acts, key, acts)

    def _may_begin(self, key: str) -> bool:
        if time.monotonic() < self._paused_until.get(key, 0.0):
            return False
        self._paused_until.pop(key, None)
        return key not in self._running

    def sweep(self, connection: Connection) -> None:
        """Delete uploaded files and their rows after their time."""
        try:
            for listed in list(self._store.list_objects(PREFIX)):
                if listed.age_seconds > FILES_KEPT_DAYS * _DAY_SECONDS:
                    self._store.remove(listed.key)
            connection.execute(SQL.delete_old_uploads, (ROWS_KEPT_DAYS,))
            self._upload_files.sweep()
        except (StoreUnavailable, OSError):
            metrics.store_errors.labels("results").inc()

    def _note_ended(self) -> None:
        for key in [key for key, future in self._running.items() if future.done()]:
            if error := self._running.pop(key).exception():
                self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))

    def _serve(self, feed: Feed) -> None:
        with self._failing(feed.id, lambda reason: self._fail(feed, reason)):
            try:
                if feed.url is not None:
                    self._fetch(feed, feed.url)
                else:
                    self._collect(feed, Path(feed.place))
            except FeedChanged:
                return
            except (LoadInterrupted, LoadRefused, FetchFailed) as error:
                self._fail(feed, str(error))

    def _serve_acts(self, key: str, acts: ActServer) -> None:
        try:
            acts.serve()
        except BaseException:
            self._paused_until[key] = time.monotonic() + _OUTAGE_PAUSE_SECONDS
            raise

    def _serve_upload(self, upload: str) -> None:
        from workers.ingest.feeds.uploads import UploadRunner

        runner = UploadRunner(self._settings, self._store, self._upload_files, self._check, self._process)
        with self._failing(upload, lambda reason: runner.fail(upload, reason)):
            with self._loading:
                state = runner.serve(upload)
            if state is not None:
                self._log.info("upload-served", upload=upload, state=state)

    @contextmanager
    def _failing(self, key: str, fail: Callable[[str], None]) -> Iterator[None]:
        """Note an unexpected error, unless it is an outage or the end of the process: then all stays due.

        `key`: the feed or the upload.
        """
        try:
            yield
        except Stopping:
            return
        except BaseException as error:  # a panic of a library is no Exception
            if is_interruption(error):
                self._paused_until[key] = time.monotonic() + _OUTAGE_PAUSE_SECONDS
            else:
                fail(f"an unexpected error ({type(error).__name__}); the log says where")
            raise

    def _fetch(self, feed: Feed, url: str) -> None:
        begun, mapping = utc_now(), _parse_mapping(feed.mapping)
        if mapping.loaded_on not in (None, feed.loaded_on):
            # The mapping takes the day of the load: the same file on another day has the prices of that day.
            feed = replace(feed, etag=None, last_modified=None, sha256=None)
        with self._folder() as folder:
            fetched = self._fetcher.fetch(url, folder, feed.file_name, etag=feed.etag, last_modified=feed.last_modified)
            if fetched is None:
                self._settle(feed, begun, None, feed.etag, feed.last_modified, feed.sha256)
                return
            summary = None
            if fetched.sha256 != feed.sha256:
                summary = self._load(feed, mapping, fetched.path, fetched.sha256)
            self._settle(feed, begun, summary, fetched.etag, fetched.last_modified, fetched.sha256)

    def _collect(self, feed: Feed, directory: Path) -> None:
        """Load each file of a directory and move it; one that cannot be used delays no other."""
        from workers.ingest.load.input_files import input_file

        begun, summary, refused = utc_now(), None, list[str]()
        for path in _complete_files(directory):
            try:
                summary = self._load(feed, _parse_mapping(feed.mapping), path, input_file(path).sha256)
            except LoadRefused as error:
                refused.append(f"{path.name}: {error}")
                moved = _move(path, FAILED)
                moved.with_name(f"{moved.name}.reason.txt").write_text(f"{error}\n", errors="backslashreplace")
            else:
                _move(path, DONE)
        if refused:
            raise LoadRefused("\n".join(refused))
        self._settle(feed, begun, summary)

    def _load(self, feed: Feed, mapping: "Mapping", path: Path, sha256: bytes) -> Summary:
        """Load a file of a feed. Raises FeedChanged where the feed is no longer to be read so."""
        from workers.ingest.load.load import load

        with (
            self._loading,
            connect(self._settings.database_url, application="feeds", autocommit=True) as connection,
        ):
            values = (feed.id, self._process, sha256, feed.mapping, feed.place)
            begun = connection.execute(SQL.begin_load, values).fetchone()
            if begun is None:
                raise FeedChanged
            try:
                if begun[0] >= DEATHS_MAX:
                    raise LoadRefused(DIED)
                return load(self._settings, mapping, [path], self._check, wanted=self._check)
            finally:
                with suppress(psycopg.Error):
                    connection.execute(SQL.end_load, (feed.id, self._process))

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
        begun: datetime,
        summary: Summary | None,
        etag: str | None = None,
        last_modified: str | None = None,
        sha256: bytes | None = None,
    ) -> None:
        load_id = None if summary is None else summary.load_id
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            values = (feed.id, etag, last_modified, sha256, load_id, feed.mapping, feed.place, begun)
            connection.execute(SQL.served, values)
        if summary is not None:
            self._log.info("feed-loaded", feed=feed.name, load=load_id, state=summary.state)

    def _fail(self, feed: Feed, reason: str) -> None:
        self._log.warning("feed-failed", feed=feed.name, failures=feed.failures + 1, reason=reason.partition("\n")[0])
        with connect(self._settings.database_url, application="feeds", autocommit=True) as connection:
            connection.execute(SQL.failed, (feed.id, reason.replace("\0", "\ufffd"), feed.mapping, feed.place))


def _parse_mapping(text: str) -> "Mapping":
    from workers.ingest.mapping import parse

    return parse(text)


def _complete_files(directory: Path) -> list[Path]:
    """Return the complete files of a directory, the oldest first. Hidden names and links are left alone."""
    try:
        found = [(path.stat(), path) for path in directory.iterdir() if path.is_file() and not path.is_symlink()]
    except OSError as error:
        raise LoadRefused(f"the directory cannot be read: {error.strerror}") from None
    before = time.time() - _SETTLED_SECONDS
    settled = [(status.st_mtime, path) for status, path in found if status.st_mtime < before]
    return [path for _, path in sorted(settled) if not path.name.startswith(".")]


def _move(path: Path, folder: str) -> Path:
    """Move a file that was dealt with; its new name begins with the time, so that no later file replaces it."""
    target = path.parent / folder / f"{utc_now():%Y%m%dT%H%M%S.%fZ}-{path.name}"
    try:
        target.parent.mkdir(exist_ok=True)
        return path.rename(target)
    except OSError as error:
        raise LoadRefused(f"{path.name} cannot be moved to {folder}/: {error.strerror}") from error
