"""One load: lock, read, stage, check, merge, commit. Everything of it becomes visible at once, or nothing does."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadInterrupted, LoadRefused
from shared.settings.settings import Settings
from shared.text import fold
from workers.ingest import factors
from workers.ingest.batches import DEFAULT_BUFFERS, Batch, LoadBuffers, Reject
from workers.ingest.files import read_file
from workers.ingest.known_items import known_items
from workers.ingest.load import accounting
from workers.ingest.load.alt_names import alt_names
from workers.ingest.load.cancellation import cancel_unless
from workers.ingest.load.input_files import digest, input_file
from workers.ingest.load.linking import Linking
from workers.ingest.load.merge import changed_months, merge
from workers.ingest.load.months import Chunk, Months
from workers.ingest.load.prefetch import alternate, prefetch
from workers.ingest.load.rejects import RejectLog, nothing_used
from workers.ingest.load.spool import RowSpool
from workers.ingest.load.stage import Stage, as_csv
from workers.ingest.load.summary import Summary
from workers.ingest.mapping import Mapping
from workers.ingest.outages import is_interruption
from workers.ingest.transform import Transformed, Transformer
from workers.provenance import events, standing
from workers.provenance.events import ProvenanceEvent

SQL = load_queries(__file__, "load.sql")

ReportProgress = Callable[[int], None]
_Ready = Chunk | tuple[Transformed, Any]  # rows of a month, or a batch with its items as COPY takes them


def load(
    settings: Settings,
    mapping: Mapping,
    files: list[Path],
    report_progress: ReportProgress = lambda done: None,
    *,
    wanted: Callable[[], None] = lambda: None,
    merges_allowed: bool = False,
    dry_run: bool = False,
    show: Callable[[Transformed], None] = lambda shaped: None,
    buffers: LoadBuffers = DEFAULT_BUFFERS,
) -> Summary:
    """Load files through a mapping and return what came of it; `report_progress` hears the bytes read so far.

    `wanted` is called about every second, in every step, and raises where the load is to end: nothing of it is kept.
    `merges_allowed`: whether more than a tenth of the index may be merged by it. `dry_run`: do everything, and roll it
    back. `show` is called with the rows of each batch as they are loaded. Raises LoadRefused where a file or the
    mapping cannot be used, or nothing that was read, and LoadInterrupted for an outage; nothing of the load is kept
    then but its reason.
    """
    # Arrow's own default keeps 70 MiB more of what it has freed, in a load of a million products.
    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    with connect(settings.database_url, application="load-log", autocommit=True) as log:
        with (
            connect(settings.database_url, application="load") as connection,
            _lookup(settings, mapping) as lookup,
            cancel_unless(wanted, connection) as check,
        ):
            standing.lock(connection)  # the changes of this load must be all that the rollups lack
            log.execute(SQL.fail_stale)
            linking = Linking(settings.match_dir, merges_allowed, check)
            # What a dry run would log is in the transaction that it rolls back.
            kept = connection if dry_run else log
            connections = (connection, kept, lookup)
            return _Load(settings, mapping, files, report_progress, *connections, linking, buffers, show, dry_run).run()


def _lookup(settings: Settings, mapping: Mapping) -> AbstractContextManager[Connection | None]:
    """Open what items of the index are looked up by; None for a mapping that names none."""
    if mapping.item is None or not (mapping.item.iid or mapping.item.join_by):
        return nullcontext()
    return connect(settings.database_url, application="load-owners", autocommit=True)


@contextmanager
def record_load(
    connection: Connection, log: Connection, source: str, digest: str, rejects_kept_max: int
) -> Iterator[RejectLog]:
    """Begin the row of a load; where the block fails, roll back and note why: that is all that is kept of the load."""
    [(load_id,)] = log.execute(SQL.begin, (source, digest)).fetchall()
    rejects = RejectLog(log, load_id, rejects_kept_max)
    try:
        yield rejects
    except BaseException as error:
        connection.rollback()
        reason = str(error) if isinstance(error, LoadRefused) else type(error).__name__
        reason = reason.replace("\0", "\ufffd")  # it may quote a file that is no text
        values = (load_id, reason, rejects.rows_read, rejects.rows.total(), Jsonb(rejects.counts()))
        failed = log.execute(SQL.fail, values).rowcount
        if failed and isinstance(error, psycopg.Error | OSError):
            kind = LoadInterrupted if is_interruption(error) else LoadRefused
            raise kind(f"the load was broken off and nothing of it was kept: {error}") from error
        raise


@dataclass
class _Load:
    settings: Settings
    mapping: Mapping
    files: list[Path]
    report_progress: ReportProgress
    connection: Connection
    log: Connection
    lookup: Connection | None  # of its own: it is used by the thread that reads ahead
    linking: Linking
    buffers: LoadBuffers
    show: Callable[[Transformed], None]
    dry_run: bool
    inputs: bytes | None = None
    dayless: bool = False

    def run(self) -> Summary:
        """Load, and return what came of it."""
        mapping, kept_max = self.mapping, 0 if self.dry_run else self.settings.rejects_kept_max
        with record_load(self.connection, self.log, mapping.source, mapping.digest, kept_max) as self._rejects:
            rejects = self._rejects
            self._summary = Summary(
                rejects.load_id, rejects=rejects.rows, field_rejects=rejects.fields, examples=rejects.examples
            )
            if self._already_loaded():
                self._finish("unchanged")
            else:
                self._merge()
        if not self.dry_run:
            self.linking.keep(self.connection)
        return self._summary

    def _already_loaded(self) -> bool:
        """Note what is read, and return whether the index has all of it from a load that could be repeated."""
        files = [input_file(path) for path in self.files]
        for file in files:
            self.log.execute(SQL.add_file, (self._summary.load_id, *file))
        self.log.execute(SQL.forget_tried, (self._summary.load_id,))
        self.inputs = digest(self.mapping, self.files, files)
        return self.connection.execute(SQL.same_before, (self.mapping.source, self.inputs)).fetchone() is not None

    def _merge(self) -> None:
        connection, mapping, summary = self.connection, self.mapping, self._summary
        terms = {name: getattr(mapping, name) for name in events.TERMS}
        kind = "factors" if mapping.factors else "load"
        version = events.next_version(connection)
        event = events.begin_load(connection, summary.load_id, kind, mapping.source, terms)
        months: list[date] = []
        if mapping.factors:
            changed = factors.replace(connection, mapping, event, version, self._batches(), self._keep, summary.counts)
            self._rejects.rows_read = summary.counts.pop("rows")
        else:
            constants = _constants(mapping, event)
            with RowSpool(events=mapping.counts_events) as spool:
                stage = self._stage(constants, spool)
                changed = merge(connection, stage, event, version, summary.counts, self.linking)
                self._keep(self.linking.rejects)
                summary.joined, summary.parted = self.linking.joined, self.linking.parted
                months = changed_months(connection, stage)
                loaded = sum(summary.counts[f"impacts_{part}"] for part in ("new", "replaced", "same", "rejected"))
                summary.counts["impacts_superseded"] = summary.counts["impacts_read"] - loaded
        if not accounting.uses_anything(summary.counts, self._rejects.rows_read, summary.field_rejects.total()):
            raise nothing_used(self._rejects.rows_read, summary.rejects + summary.field_rejects, summary.examples)
        if not (changed or event.terms_changed):  # answers show a source's license and follow its rank
            self._finish("unchanged")
            return
        summary.data_version, summary.job_id = events.commit_version(connection, summary.load_id, months)
        self._finish("committed")

    def _stage(self, constants: dict[str, object], spool: RowSpool) -> Stage:
        channels = {fold(row[0]): row[0] for row in self.connection.execute(SQL.channel_spellings)}
        item = self.mapping.item
        known = known_items(self.lookup, item, self.mapping.source) if item and item.join_by and self.lookup else None
        shaper = Transformer(self.mapping, alt_names(self.mapping, self.files), self._owners, channels, known)
        months = Months(constants, events=self.mapping.counts_events, buffers=self.buffers)
        stage = Stage(self.connection, self.mapping, months, constants, spool)
        counts = Counter(impacts_read=0, impacts_rejected=0)
        with closing(prefetch(self._shape_batches(shaper, months), self.linking.check)) as made:
            for ready in made:
                if isinstance(ready, Chunk):
                    stage.take_observations(ready)
                    continue
                shaped, items = ready
                self.show(shaped)
                self._keep(shaped.rejects)
                self._rejects.rows_read += shaped.rows
                counts.update(shaped.counts)
                stage.take_items(shaped, items)
        self.show(Transformed(counts=Counter(items_read=len(shaper.registry))))
        stage.spans(*shaper.registry.spans())
        self.dayless = shaper.registry.has_dayless
        self._summary.counts |= counts
        if self.mapping.brings_items:
            self._summary.counts["items_read"] = len(shaper.registry)
        self._summary.counts["observation_tables"] = len(self.mapping.observations)
        return stage

    def _shape_batches(self, shaper: Transformer, months: Months) -> Iterator[_Ready]:
        """Shape batch after batch. A batch's items are cleaned among the observations of the next.

        The server writes these meanwhile; it would wait if all items of a batch were cleaned at once.
        """
        items: Iterator[_Ready] = iter(())
        for path, batch in self._batches():
            observed, cleaned = shaper.begin(batch, path)
            yield from alternate(months.take(observed.observations, observed.channels), items)
            yield observed, b""
            items = ((part, as_csv(part.items)) for part in cleaned)
        yield from alternate(months.rest(), items)

    def _owners(self, iids: list[str], ids: list[str]) -> set[tuple[str | None, str]]:
        assert self.lookup is not None, "the mapping names IIDs"
        return set(self.lookup.execute(SQL.owners, (self.mapping.source, iids, ids)).fetchall())

    def _finish(self, state: str) -> None:
        summary = self._summary
        summary.state = state
        totals = {
            "rows": self._rejects.rows_read,
            "rejected": summary.rows_rejected,
            "fields_rejected": summary.field_rejects.total(),
            "rejects_dropped": 0 if self.dry_run else self._rejects.dropped,
        }
        summary.counts = {**totals, **summary.counts}
        if state == "committed" or self._rejects.rows_read:
            accounting.check(summary.counts)
        kept = Jsonb({**summary.counts, **self._rejects.counts()})
        values = (summary.load_id, state, self._rejects.rows_read, summary.rows_rejected, kept, self._repeatable())
        self.connection.execute(SQL.finish, values)
        if self.dry_run:
            self.connection.rollback()
        else:
            self.connection.commit()

    def _repeatable(self) -> bytes | None:
        """Return the digest of the inputs, or None where another day or another index may give another outcome.

        A rejected row may be one of a day in the future, or of an IID or an item that the index lacks so far; an item
        without a day has the day of the load.
        """
        summary, item = self._summary, self.mapping.item
        joins = item is not None and bool(item.join_by)
        return None if summary.rejects or summary.field_rejects or joins or self.dayless else self.inputs

    def _batches(self) -> Iterator[tuple[Path, Batch]]:
        return read_file.read_all(
            self.files,
            self.mapping,
            self.report_progress,
            batch_rows=self.settings.ingest_batch_rows,
            unpacked_bytes_max=self.settings.ingest_unpacked_bytes_max,
            block_bytes=self.buffers.block_bytes,
        )

    def _keep(self, rejects: list[Reject]) -> None:
        self._rejects.add(rejects)
        limit = self.mapping.rejects_max
        if limit is not None and self._summary.rows_rejected > limit:
            raise LoadRefused(f"more than {limit} rows cannot be used (rejects_max); nothing of the load is kept")


def _constants(mapping: Mapping, event: ProvenanceEvent) -> dict[str, object]:
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
