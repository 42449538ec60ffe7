"""Feeds: addresses and directories whose files are loaded again and again, each through its mapping."""

import hashlib
import http.client
import re
import shutil
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from uuid import uuid4

import psycopg

from shared.clock import utc_now
from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, LoadInterrupted, LoadRefused, StoreUnavailable
from shared.events.webhooks import url_fault
from shared.objects.directory import FILES_KEPT_DAYS, PREFIX, ROWS_KEPT_DAYS
from shared.objects.open import open_object_store
from shared.printable import FILE_NAME_CHARACTERS_MAX, file_name
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log, trace_of
from workers.events.webhooks import Refused, connected, requested, seconds_left, trusted_by_system
from workers.ingest.accounting import Summary
from workers.ingest.outages import DEATHS_MAX, DIED, is_interruption

# What loads is imported when something is due: a service without feeds and uploads needs neither numpy nor SciPy nor
# pyarrow in the process that waits for them.
if TYPE_CHECKING:
    from workers.ingest.mapping import Mapping

SQL = load_queries(__file__, "feeds.sql")


# One GET of a feed: conditional, bounded in bytes and time, never inside the network, each redirect judged anew.


_HOPS_MAX = 5
_BLOCK_BYTES = 1 << 20
_REDIRECTS = (301, 302, 303, 307, 308)
_FIELD_CHARACTERS_MAX = 1_000
# Sent packed although no packing was asked for: the readers unpack by the beginning of a file, whatever its name.
_PACKINGS = {"", "identity", "gzip", "x-gzip", "zstd"}


class FetchFailed(ItemIndexError):
    """A feed could not be fetched; the text says why, without its address."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched, with what makes the next request conditional."""

    path: Path
    sha256: bytes
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches files of the public internet; with `private_allowed` also of a network's own hosts."""

    private_allowed: bool
    bytes_max: int
    seconds_max: float
    tls: ssl.SSLContext = field(default_factory=trusted_by_system)

    def fetch(
        self, url: str, folder: Path, name: str | None = None, *, etag: str | None, last_modified: str | None
    ) -> Fetched | None:
        """Store what an address has in a folder; None where it is unchanged. Raises FetchFailed."""
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        fields = {key: value for key, value in conditions.items() if value}
        deadline = time.monotonic() + self.seconds_max
        for _ in range(_HOPS_MAX + 1):
            if fault := url_fault(url, private_allowed=self.private_allowed, plain_allowed=True):
                raise FetchFailed(f"the address {fault}")
            try:
                outcome = self._one(urlsplit(url), folder, name, fields, deadline)
            except Refused:
                raise FetchFailed(
                    "the address is inside a network; set FEED_PRIVATE_ADDRESSES where that is intended"
                ) from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise FetchFailed(self._reason(error, deadline)) from None
            if not isinstance(outcome, str):
                return outcome
            target = urljoin(url, outcome)
            if url.startswith("https:") and not target.startswith("https:"):
                raise FetchFailed("the address redirects from https to another scheme, which is not followed")
            url = target
        raise FetchFailed(f"the address redirects more than {_HOPS_MAX} times")

    def _one(
        self, parts: SplitResult, folder: Path, name: str | None, fields: dict[str, str], deadline: float
    ) -> Fetched | str | None:
        """Send one request; return the file, None where it is unchanged, or where a redirect leads."""
        with connected(parts, deadline, self.tls, private_allowed=self.private_allowed) as connection:
            own = {"User-Agent": "ItemIndex-Feeds/1", "Accept-Encoding": "identity"}
            response = requested(connection, parts, "GET", {**own, **fields})
            if response.status == 304 and fields:
                return None
            if response.status in _REDIRECTS:
                return response.headers.get("Location") or ""
            if response.status != 200:
                raise FetchFailed(f"the server answered {response.status}, not 200")
            if (packing := response.headers.get("Content-Encoding", "").lower()) not in _PACKINGS:
                raise FetchFailed(f"the server sends the file packed as {packing[:40]!r}, which was not asked for")
            path = folder / (file_name(name or "") or _name_of(parts, response.headers))
            digest = self._store(response, path)
            seconds_left(deadline)  # a connection that is shut at the deadline looks like the end of the file
            return Fetched(path, digest, _kept(response.headers, "ETag"), _kept(response.headers, "Last-Modified"))

    def _store(self, response: http.client.HTTPResponse, path: Path) -> bytes:
        digest, size = hashlib.sha256(), 0
        with path.open("xb") as file:
            while block := response.read(_BLOCK_BYTES):
                size += len(block)
                if size > self.bytes_max:
                    raise FetchFailed(f"the file has more than {self.bytes_max:,} bytes (FEED_BYTES_MAX)")
                digest.update(block)
                file.write(block)
        if response.length:
            raise FetchFailed(f"the connection ended {response.length:,} bytes before the end of the file")
        return digest.digest()

    def _reason(self, error: Exception, deadline: float) -> str:
        if isinstance(error, TimeoutError) or time.monotonic() >= deadline:
            return f"the file was not complete after {self.seconds_max:g} seconds (FEED_SECONDS_MAX)"
        if isinstance(error, ssl.SSLError):
            return "the connection by TLS failed; look at the server's certificate"
        if isinstance(error, OSError) and error.strerror:
            return f"the server cannot be reached: {error.strerror}"
        return "the server's answer cannot be read as HTTP"


def _name_of(parts: SplitResult, headers: Message) -> str:
    """Return the name under which the file is loaded: what the server calls it, else the end of the address's path."""
    return file_name(headers.get_filename() or "") or file_name(unquote(parts.path)) or "feed"


def _kept(headers: Message, name: str) -> str | None:
    value = headers.get(name)
    return value if value and len(value) <= _FIELD_CHARACTERS_MAX and value.isprintable() and value.isascii() else None


DONE, FAILED = "done", "failed"
"""Where files of a directory are moved once they were loaded, or refused."""
EVERY_SECONDS_MIN, EVERY_SECONDS_MAX = 60, 31 * 86_400
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_URL_CHARACTERS_MAX = 2_000
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


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed that is due."""

    id: str
    name: str
    url: str | None
    directory: str | None
    file_name: str | None
    mapping: str
    etag: str | None
    last_modified: str | None
    sha256: bytes | None
    loaded_on: str | None
    failures: int

    @property
    def place(self) -> str:
        """Where it is read: its address or its directory."""
        return self.url or self.directory or ""


def register(
    settings: Settings,
    connection: Connection,
    mapping: "Mapping",
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
    if len(url or "") > _URL_CHARACTERS_MAX or len(file_name or "") > FILE_NAME_CHARACTERS_MAX:
        raise LoadRefused(
            f"an address has {_URL_CHARACTERS_MAX:,} characters at most, a file's name {FILE_NAME_CHARACTERS_MAX}"
        )
    mapping.refuse_second_file()
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
        self._paused_until: dict[str, float] = {}
        self._process = str(uuid4())
        self._store = open_object_store(settings)

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
        """Begin with each feed that is due and each upload that waits, unless it is being served."""
        self._note_ended()
        connection.execute(SQL.cancel_waiting_uploads)
        for row in connection.execute(SQL.due).fetchall():
            feed = Feed(*row)
            if self._may_begin(feed.id):
                self._running[feed.id] = self._pool.submit(self._serve, feed)
        for (upload,) in connection.execute(SQL.waiting_uploads).fetchall():
            if self._may_begin(upload):
                self._running[upload] = self._pool.submit(self._serve_upload, upload)

    def _may_begin(self, key: str) -> bool:
        if time.monotonic() < self._paused_until.get(key, 0.0):
            return False
        self._paused_until.pop(key, None)
        return key not in self._running

    def sweep(self, connection: Connection) -> None:
        """Delete uploaded files and their rows after their time."""
        try:
            for listed in list(self._store.listed(PREFIX)):
                if listed.age_seconds > FILES_KEPT_DAYS * _DAY_SECONDS:
                    self._store.remove(listed.key)
            connection.execute(SQL.delete_old_uploads, (ROWS_KEPT_DAYS,))
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

    def _serve_upload(self, upload: str) -> None:
        from workers.ingest.uploads import UploadRunner

        runner = UploadRunner(self._settings, self._store, self._check, self._process)
        with self._failing(upload, lambda reason: runner.fail(upload, reason)):
            with self._folder() as folder, self._loading:
                state = runner.serve(upload, folder)
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
        begun, mapping = utc_now(), _parsed(feed.mapping)
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
        from workers.ingest.load import input_file

        begun, summary, refused = utc_now(), None, list[str]()
        for path in _arrived(directory):
            try:
                summary = self._load(feed, _parsed(feed.mapping), path, input_file(path).sha256)
            except LoadRefused as error:
                refused.append(f"{path.name}: {error}")
                moved = _moved(path, FAILED)
                moved.with_name(f"{moved.name}.reason.txt").write_text(f"{error}\n", errors="backslashreplace")
            else:
                _moved(path, DONE)
        if refused:
            raise LoadRefused("\n".join(refused))
        self._settle(feed, begun, summary)

    def _load(self, feed: Feed, mapping: "Mapping", path: Path, sha256: bytes) -> Summary:
        """Load a file of a feed. Raises FeedChanged where the feed is no longer to be read so."""
        from workers.ingest.load import load

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


def _parsed(text: str) -> "Mapping":
    from workers.ingest.mapping import parse

    return parse(text)


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
