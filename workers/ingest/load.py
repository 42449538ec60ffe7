"""One load: lock, read, stage, check, merge, commit. Everything of it becomes visible at once, or nothing does."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from shared.text import fold
from workers.analytics.rollups import layout
from workers.ingest import accounting, factors, inputs, readers
from workers.ingest.alt_names import alt_names
from workers.ingest.batches import DEFAULT_BUFFERS, Batch, LoadBuffers, Reject
from workers.ingest.item_tracker import KnownItems
from workers.ingest.known_items import known_items
from workers.ingest.linking import Linking
from workers.ingest.mapping import Mapping
from workers.ingest.merge import merge, touched_months
from workers.ingest.month_buffer import Chunk, Months
from workers.ingest.readers import alternating, prefetch
from workers.ingest.reject_log import RejectLog, nothing_used
from workers.ingest.stage import Spool, Stage, as_csv
from workers.ingest.transform import Transformed, Transformer
from workers.provenance import events, identifiers
from workers.provenance.events import Event

SQL = load_queries(__file__, "load.sql")
ReportProgress = Callable[[int], None]
_Ready = Chunk | tuple[Transformed, Any]  # rows of a month, or a batch with its items as COPY takes them


@dataclass
class Summary:
    """The outcome of a load. `counts` are rows, items and observations by their outcome.

    `examples`: the first reject of each reason. `joined` and `parted`: in words, the first of the items that became
    part of another article, and of those that left theirs.
    """

    load_id: str
    state: str = "running"
    data_version: int | None = None
    job_id: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rejects: Counter[str] = field(default_factory=Counter)
    field_rejects: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Reject] = field(default_factory=dict)
    joined: list[str] = field(default_factory=list)
    parted: list[str] = field(default_factory=list)

    @property
    def rows_rejected(self) -> int:
        """How many rows could not be used."""
        return sum(self.rejects.values())


def load(
    settings: Settings,
    mapping: Mapping,
    files: list[Path],
    report_progress: ReportProgress = lambda done: None,
    *,
    merges_allowed: bool = False,
    dry_run: bool = False,
    see: Callable[[Transformed], None] = lambda shaped: None,
    buffers: LoadBuffers = DEFAULT_BUFFERS,
) -> Summary:
    """Load files through a mapping and return what came of it; `report_progress` hears the bytes read so far.

    `merges_allowed`: whether more than a tenth of the index may be merged by it. `dry_run`: do everything, and roll it
    back. `see` is called with what is made of the rows, for those who show some. Raises LoadRefused where a file or the
    mapping cannot be used, or nothing that was read; nothing of the load is kept then but its reason.
    """
    with connect(settings.database_url, application="load-log", autocommit=True) as log:
        with (
            connect(settings.database_url, application="load") as connection,
            connect(settings.database_url, application="load-owners", autocommit=True) as lookup,
        ):
            events.lock(connection)
            layout.ensure(connection)  # the changes of this load must be all that the rollups lack
            identifiers.ensure(connection)
            log.execute(SQL.fail_stale)
            linking = Linking(settings.match_dir, merges_allowed)
            # What a dry run would log is in the transaction that it rolls back.
            kept = connection if dry_run else log
            loading = _Load(settings, mapping, files, report_progress, connection, kept, lookup, linking, buffers, see)
            return loading.run(dry_run=dry_run)


class _Load:
    def __init__(
        self,
        settings: Settings,
        mapping: Mapping,
        files: list[Path],
        report_progress: ReportProgress,
        connection: Connection,
        log: Connection,
        lookup: Connection,
        linking: Linking,
        buffers: LoadBuffers,
        see: Callable[[Transformed], None],
    ) -> None:
        self._settings = settings
        self._mapping = mapping
        self._files = files
        self._report_progress = report_progress
        self._connection = connection
        self._log = log
        self._lookup = lookup  # of its own: it is used by the thread that reads ahead
        self._linking = linking
        self._buffers = buffers
        self._see = see
        self._rows = 0
        self._inputs: bytes | None = None
        self._dayless = False

    def run(self, *, dry_run: bool) -> Summary:
        """Load, and return what came of it."""
        digest = hashlib.sha256(self._mapping.text.encode()).hexdigest()
        row = self._log.execute(SQL.begin, (self._mapping.source, digest)).fetchone()
        assert row is not None
        self._dry_run = dry_run
        self._rejects = RejectLog(self._log, row[0], 0 if dry_run else self._settings.rejects_kept_max)
        self._summary = Summary(
            row[0], rejects=self._rejects.rows, field_rejects=self._rejects.fields, examples=self._rejects.examples
        )
        try:
            if not self._known():
                self._merge()
        except BaseException as error:
            self._connection.rollback()
            reason = str(error) if isinstance(error, LoadRefused) else type(error).__name__
            values = (
                self._summary.load_id,
                reason.replace("\0", "\ufffd"),  # it may quote a file that is no text
                self._rows,
                self._summary.rows_rejected,
                Jsonb(self._rejects.counts()),
            )
            failed = self._log.execute(SQL.fail, values).rowcount
            if failed and isinstance(error, psycopg.Error | OSError):
                raise LoadRefused(f"the load was broken off and nothing of it was kept: {error}") from error
            raise
        if not dry_run:
            self._linking.keep(self._connection)
        return self._summary

    def _known(self) -> bool:
        files = [inputs.input_file(path) for path in self._files]
        for file in files:
            self._log.execute(SQL.add_file, (self._summary.load_id, *file))
        self._log.execute(SQL.forget_tried, (self._summary.load_id,))
        self._inputs = inputs.digest(self._mapping, self._files, files)
        same = self._connection.execute(SQL.same_before, (self._mapping.source, self._inputs)).fetchone()
        if same is not None:
            self._finish("unchanged")
        return same is not None

    def _merge(self) -> None:
        connection, mapping, summary = self._connection, self._mapping, self._summary
        terms = {name: getattr(mapping, name) for name in events.TERMS}
        kind = "factors" if mapping.factors else "load"
        version = events.next_version(connection)
        event = events.begin_load(connection, summary.load_id, kind, mapping.source, terms)
        touched: list[date] = []
        if mapping.factors:
            changed = factors.replace(connection, mapping, event, version, self._batches(), self._keep, summary.counts)
            self._rows = summary.counts.pop("rows")
        else:
            constants = _constants(mapping, event)
            with Spool(events=mapping.counts_events) as spool:
                stage = self._stage(constants, spool)
                changed = merge(connection, stage, event, version, summary.counts, self._linking)
                self._keep(self._linking.rejects)
                summary.joined, summary.parted = self._linking.joined, self._linking.parted
                touched = touched_months(connection, stage)
                loaded = sum(summary.counts[f"impacts_{part}"] for part in ("new", "replaced", "same", "rejected"))
                summary.counts["impacts_superseded"] = summary.counts["impacts_read"] - loaded
        if not accounting.uses_anything(summary.counts, self._rows, summary.field_rejects.total()):
            raise nothing_used(self._rows, summary.rejects + summary.field_rejects, summary.examples)
        if not (changed or event.terms_changed):  # answers show a source's license and follow its rank
            self._finish("unchanged")
            return
        summary.data_version, summary.job_id = events.commit_version(connection, summary.load_id, touched)
        self._finish("committed")

    def _stage(self, constants: dict[str, object], spool: Spool) -> Stage:
        channels = {fold(row[0]): row[0] for row in self._connection.execute(SQL.channel_spellings)}
        shaper = Transformer(
            self._mapping, alt_names(self._mapping, self._files), self._owners, channels, self._joined_items()
        )
        months = Months(constants, events=self._mapping.counts_events, buffers=self._buffers)
        stage = Stage(self._connection, self._mapping, months, constants, spool)
        counts = Counter(impacts_read=0, impacts_rejected=0)
        with closing(prefetch(self._shaped(shaper, months))) as made:
            for ready in made:
                if isinstance(ready, Chunk):
                    stage.take_observations(ready)
                    continue
                shaped, items = ready
                self._see(shaped)
                self._keep(shaped.rejects)
                self._rows += shaped.rows
                counts.update(shaped.counts)
                stage.take_items(shaped, items)
        stage.spans(*shaper.registry.spans())
        self._dayless = shaper.registry.has_dayless
        self._summary.counts |= counts
        if self._mapping.brings_items:
            self._summary.counts["items_read"] = len(shaper.registry)
        self._summary.counts["observation_tables"] = len(self._mapping.observations)
        return stage

    def _shaped(self, shaper: Transformer, months: Months) -> Iterator[_Ready]:
        """Shape batch after batch. A batch's items are cleaned among the observations of the next.

        The server writes these meanwhile; it would wait if all items of a batch were cleaned at once.
        """
        items: Iterator[_Ready] = iter(())
        for path, batch in self._batches():
            observed, finish = shaper.begin(batch, path)
            yield from alternating(months.take(observed.observations, observed.channels), items)
            yield observed, b""
            items = ((part, as_csv(part.items)) for part in finish())
        yield from alternating(months.rest(), items)

    def _owners(self, iids: list[str], ids: list[str]) -> set[tuple[str | None, str]]:
        return set(self._lookup.execute(SQL.owners, (self._mapping.source, iids, ids)).fetchall())

    def _joined_items(self) -> KnownItems | None:
        """Return how the items are found that a mapping with `join_by` speaks of."""
        item = self._mapping.item
        if item is None or not item.join_by:
            return None
        return known_items(self._lookup, item, self._mapping.source)

    def _finish(self, state: str) -> None:
        summary = self._summary
        summary.state = state
        totals = {
            "rows": self._rows,
            "rejected": summary.rows_rejected,
            "fields_rejected": summary.field_rejects.total(),
        }
        summary.counts = {**totals, **summary.counts}
        if state == "committed" or self._rows:
            accounting.check(summary.counts)
        kept = Jsonb({**summary.counts, **self._rejects.counts()})
        values = (summary.load_id, state, self._rows, summary.rows_rejected, kept, self._repeatable())
        self._connection.execute(SQL.finish, values)
        if self._dry_run:
            self._connection.rollback()
        else:
            self._connection.commit()

    def _repeatable(self) -> bytes | None:
        """Return the digest of the inputs, or None where another day or another index may give another outcome.

        A rejected row may be one of a day in the future, or of an IID or an item that the index lacks so far; an item
        without a day has the day of the load.
        """
        summary, item = self._summary, self._mapping.item
        joins = item is not None and bool(item.join_by)
        return None if summary.rejects or summary.field_rejects or joins or self._dayless else self._inputs

    def _batches(self) -> Iterator[tuple[Path, Batch]]:
        return readers.read_all(
            self._files,
            self._mapping,
            self._report_progress,
            batch_rows=self._settings.ingest_batch_rows,
            unpacked_bytes_max=self._settings.ingest_unpacked_bytes_max,
            block_bytes=self._buffers.block_bytes,
        )

    def _keep(self, rejects: list[Reject]) -> None:
        self._rejects.add(rejects)
        limit = self._mapping.rejects_max
        if limit is not None and self._summary.rows_rejected > limit:
            raise LoadRefused(f"more than {limit} rows cannot be used (rejects_max); nothing of the load is kept")


def _constants(mapping: Mapping, event: Event) -> dict[str, object]:
    """Return the columns of observations that have one value in the whole load, with that value."""
    specs = mapping.observations
    constants: dict[str, object] = {"source_id": event.source_id, "load_no": event.no}
    kinds = {spec.kind.constant for spec in specs} or {"listing"}
    currencies = {spec.currency.constant for spec in specs}
    if len(kinds) == 1 and (kind := kinds.pop()) is not None:
        constants["kind"] = kind[0]
    if len(currencies) == 1 and (currency := currencies.pop()) is not None:
        constants["currency"] = currency
    if all(spec.units is None for spec in specs):
        constants["units"] = 1
    return constants
