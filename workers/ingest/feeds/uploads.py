"""Files that operators upload in the dashboard: guessed, previewed, loaded, undone, as the row of each demands."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, LoadRefused, StoreUnavailable
from shared.objects.directory import ResultStore, upload_key
from shared.settings.settings import Settings
from workers.ingest.batches import Reject
from workers.ingest.feeds.upload_files import UploadFiles
from workers.ingest.guess.guess import guess
from workers.ingest.load.accounting import accounts
from workers.ingest.load.cancellation import cancel_unless
from workers.ingest.load.load import load
from workers.ingest.load.preview import Preview, Previewer
from workers.ingest.load.summary import Summary, sentences
from workers.ingest.mapping import parse
from workers.ingest.outages import DEATHS_MAX, DIED, is_interruption
from workers.provenance import standing
from workers.provenance.undo import UndoneBefore, undo

SQL = load_queries(__file__, "uploads.sql")

ROWS_SHOWN = 10
_REASONS_SHOWN = 20
_PROGRESS_SECONDS = 1.0


class Cancelled(Exception):
    """The operator wants no more of it."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file with what is wanted of it."""

    id: str
    person: str
    file_name: str
    step: str
    mapping: str | None
    attempt: int
    load_id: str | None
    resumed: bool  # an attempt before this one has not noted its end
    deaths: int  # processes that did not survive such an attempt


class UploadRunner:
    """Does what is wanted of one upload. `check` raises where the process, which `process` names, is to end."""

    def __init__(
        self, settings: Settings, store: ResultStore, files: UploadFiles, check: Callable[[], None], process: str
    ) -> None:
        self._settings = settings
        self._store = store
        self._files = files
        self._check = check
        self._process = process

    def serve(self, upload_id: str) -> str | None:
        """Do it; return the upload's new state, None where nothing was wanted any more.

        An outage is raised, and the upload stays due.
        """
        with connect(self._settings.database_url, application="uploads", autocommit=True) as connection:
            row = connection.execute(SQL.begin, (upload_id, self._process)).fetchone()
            if row is None:
                return None
            upload = Upload(*row)
            try:
                state, outcome, load_id = self._act(connection, upload)
                values: tuple[Any, ...] = (state, outcome and Jsonb(outcome), None, load_id)
            except Cancelled:
                values = ("cancelled", None, None, None)
            except BaseException as error:
                if is_interruption(error) or not isinstance(error, ItemIndexError):
                    with suppress(psycopg.Error):
                        connection.execute(SQL.put_back, (upload.id, upload.attempt))
                    raise
                values = _refusal(upload, str(error))
            connection.execute(SQL.finish, (upload.id, upload.attempt, *values))
            if values[0] == "loaded":  # only now: a load whose end could not be noted is tried again with the file
                self._files.forget(upload.id)
                with suppress(StoreUnavailable):  # it is deleted after its time
                    self._store.remove(upload_key(upload.id))
            return str(values[0])

    def fail(self, upload_id: str, reason: str) -> None:
        """Note an error of ours: the file would meet it again."""
        with connect(self._settings.database_url, application="uploads", autocommit=True) as connection:
            row = connection.execute(SQL.begin, (upload_id, self._process)).fetchone()
            if row is not None:
                upload = Upload(*row)
                connection.execute(SQL.finish, (upload.id, upload.attempt, *_refusal(upload, reason)))

    def _act(self, connection: Connection, upload: Upload) -> tuple[str, dict[str, object] | None, str | None]:
        if upload.deaths >= DEATHS_MAX:
            raise LoadRefused(DIED)
        if upload.step == "undo":
            self._undo(upload)
            return "undone", None, None
        report = _Progress(connection, upload, self._check)
        path = self._files.fetch(upload.id, upload.file_name, report)
        bytes_max = self._settings.ingest_unpacked_bytes_max
        if upload.mapping is None:
            guessed = guess(path, unpacked_bytes_max=bytes_max)
            upload = replace(upload, mapping=guessed.mapping)
            doubts = Jsonb([asdict(doubt) for doubt in guessed.doubts])
            connection.execute(
                SQL.keep_mapping, (upload.id, upload.attempt, upload.mapping, doubts, Jsonb(guessed.first_rows))
            )
        mapping = parse(upload.mapping or "")
        mapping.refuse_second_file()
        if upload.step == "load":
            summary = load(self._settings, mapping, [path], report, wanted=report.write)
            committed = [(summary.load_id,)] if summary.state == "committed" else []
            if upload.resumed and not committed:
                committed = connection.execute(SQL.committed, (upload.id, mapping.digest)).fetchall()
            return "loaded", _account(summary, dry_run=False), committed[0][0] if committed else None
        previewer = Previewer(mapping, shown=ROWS_SHOWN, unpacked_bytes_max=bytes_max, report_progress=report)
        if mapping.factors:
            previewer.of_factors([path])
        try:
            summary = load(
                self._settings, mapping, [path], report, wanted=report.write, dry_run=True, show=previewer.keep_rows
            )
        except LoadRefused:
            shown = _preview_document(previewer.preview())
            connection.execute(SQL.finish, (upload.id, upload.attempt, "running", Jsonb(shown), None, None))
            raise
        return "previewed", _preview_document(previewer.preview()) | _account(summary, dry_run=True), None

    def _undo(self, upload: Upload) -> None:
        if upload.load_id is None:
            raise LoadRefused("nothing was loaded of this file")
        with (
            connect(self._settings.database_url, application="undo") as connection,
            cancel_unless(self._check, connection),
        ):
            standing.lock(connection)
            with suppress(UndoneBefore):  # by the command, or by an attempt whose end could not be noted
                undo(connection, upload.load_id, upload.person, "undone in the dashboard", self._settings.match_dir)


def _refusal(upload: Upload, reason: str) -> tuple[str, None, str, None]:
    """Return the end of an attempt that failed; what could not be undone stays loaded."""
    state = "loaded" if upload.step == "undo" and upload.load_id else "refused"
    return state, None, reason.replace("\0", "\ufffd"), None


class _Progress:
    """Writes how far an attempt is, about once a second; raises where it is no longer wanted."""

    def __init__(self, connection: Connection, upload: Upload, check: Callable[[], None]) -> None:
        self._connection = connection
        self._upload = upload
        self._check = check
        self._next = 0.0
        self._done = 0

    def __call__(self, done: int) -> None:
        self._check()
        self._done = done
        if time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        """Write it now. Raises as a call does."""
        self._check()
        self._next = time.monotonic() + _PROGRESS_SECONDS
        values = (self._upload.id, self._upload.attempt, self._done)
        if self._connection.execute(SQL.progress, values).fetchone() != (False,):
            raise Cancelled


def _preview_document(preview: Preview) -> dict[str, object]:
    """Return what the page shows of a preview: the first rows of each kind, and why rows were refused."""
    kinds = ("items", "observations", "impacts", "factors", "rejects")
    return {
        "rows": {kind: getattr(preview, kind)[:ROWS_SHOWN] for kind in kinds},
        "reasons": [
            {"reason": reason, "count": count, "example": _example(preview.examples.get(reason))}
            for reason, count in preview.reasons.most_common(_REASONS_SHOWN)
        ],
    }


def _example(reject: Reject | None) -> dict[str, object] | None:
    if reject is None:
        return None
    return {"line": reject.line, "column": reject.column, "value": reject.value}


def _account(summary: Summary, *, dry_run: bool) -> dict[str, object]:
    listed = [] if not summary.counts["rows"] else [asdict(account) for account in accounts(summary.counts)]
    return {"state": summary.state, "sentences": sentences(summary, dry_run=dry_run), "accounts": listed}
