"""One load: lock, read, stage, check, merge, commit. Everything of it becomes visible at once, or nothing does."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import psycopg
import pyarrow as pa
from psycopg import sql
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadInterrupted, LoadRefused
from shared.settings.settings import Settings
from shared.text import fold
from workers.analytics.rollups import refresh
from workers.analytics.rollups.aggregates import Items
from workers.analytics.rollups.refresh import BackgroundBuilder
from workers.articles.index import needed
from workers.events import watches
from workers.ingest import accounting, factors, readers
from workers.ingest.accounting import RejectLog, Summary, nothing_used
from workers.ingest.batches import DEFAULT_BUFFERS, Batch, LoadBuffers, Reject
from workers.ingest.cancellation import cancel_unless
from workers.ingest.item_tracker import known_items
from workers.ingest.linking import Linking
from workers.ingest.mapping import Mapping
from workers.ingest.outages import is_interruption
from workers.ingest.readers import alternating, prefetch
from workers.ingest.stage import SQL as PARTITIONS
from workers.ingest.stage import Chunk, Months, Spool, Stage, as_csv
from workers.ingest.transform import Transformed, Transformer
from workers.provenance import events, identifiers, items, standing
from workers.provenance.events import Event

SQL = load_queries(__file__, "load.sql")


# The merge: staged rows into the index, and the data derived from them, in proportion to what the load touches.


def merge(
    connection: Connection, stage: Stage, event: Event, version: int, counts: dict[str, int], linking: Linking
) -> bool:
    """Merge what was staged as one event; fill in the counts; return whether anything changed."""

    def run(query: str, *values: object) -> int:
        return connection.execute(query, values or None).rowcount

    run(SQL.newest_staged)
    run(SQL.analyze_staged)
    if not stage.joins:
        _check_keys(connection, event.source_id)
    run(SQL.brands)
    run(SQL.categories)
    run(SQL.resolved, event.source_id)
    run(SQL.analyze_resolved)
    figures = connection.execute(SQL.impact_counts, (event.source_id,)).fetchone() if stage.figures else None
    counts |= zip(("impacts_new", "impacts_replaced", "impacts_same"), figures or (0, 0, 0), strict=True)
    other_rank = event.source_id if event.rank_changed else None
    items.begin(connection, SQL.seeds, other_rank)
    _claim(connection, event, new=False)
    run(SQL.item_sources, False, event.source_id)
    run(SQL.regrouped)
    linked = needed(connection, event.source_id)
    if linked:  # the articles that new items belong to are made of what is claimed of them
        counts["items_new"] = _insert(connection, event, version, figures=stage.figures)
        linking.link(connection, event, counts)
    items.refresh(connection, version, SQL.refreshed, other_rank)
    groups, above = Items.read(connection, SQL.rollup_items), refresh.ancestors(connection)
    new_months = [first for first, _ in stage.partitions.new.values()]
    watched = watches.watched(connection, groups)
    with BackgroundBuilder(groups, above, sorted(new_months), stage.spool.read, watched.observe) as rollups:
        if not linked:
            counts["items_new"] = _insert(connection, event, version, figures=stage.figures)
        identifiers.of_load(connection, event.no, SQL.identified)
        stage.partitions.attach()
        _merge_observations(connection, stage, event, counts)
        seen = _count_changes(connection, stage, event, version, counts)
        refresh.refresh_touched(
            connection,
            groups,
            above,
            SQL.touched_by_load,
            but=set(new_months),
            observe=watched.observe,
            event_no=event.no,
        )
        rollups.write(connection, event.no)
    watches.evaluate(connection, event.no, new_months, watched)
    numbers = [int(row[0]) for row in connection.execute(SQL.recounted_brands)]
    items.refresh_brands(connection, numbers, [*numbers, *seen])
    changes = ("items_new", "items_changed", "items_touched", "observations_new", "observations_replaced")
    return any(counts[name] for name in changes)


def _insert(connection: Connection, event: Event, version: int, *, figures: bool) -> int:
    """Insert the items that are new, with what the load says of them; return how many they are.

    `figures`: whether the load brings any.
    """
    _claim(connection, event, new=True)
    inserted = connection.execute(SQL.insert_items, (version, event.at)).rowcount
    if figures:
        connection.execute(SQL.insert_impacts, (event.source_id,))
        connection.execute(SQL.insert_stages, (event.source_id,))
    connection.execute(SQL.item_sources, (True, event.source_id))
    connection.execute(SQL.returned)
    return inserted


def _claim(connection: Connection, event: Event, *, new: bool) -> None:
    """Keep what the load says of its items: of those that were there before, or of the new ones."""
    connection.execute(SQL.contents, (new,))
    connection.execute(SQL.claims, (new, event.source_id, event.no))


def _count_changes(
    connection: Connection, stage: Stage, event: Event, version: int, counts: dict[str, int]
) -> list[int]:
    """Give every record that the load changed a new version; return the brands of those that were there before."""
    [(counts["items_changed"], counts["items_same"])] = connection.execute(SQL.changed_count).fetchall()
    touched = _touched(connection, stage)
    written = connection.execute(SQL.changes, (event.no, event.at, list(touched))).rowcount
    counts["items_touched"] = written - counts["items_changed"] - counts["items_new"]
    connection.execute(SQL.new_versions, (event.no, event.at, version))
    connection.execute(SQL.regrouped_versions, (version,))
    return [int(row[0]) for row in connection.execute(SQL.brand_updates, (event.no, event.at))]


def _merge_observations(connection: Connection, stage: Stage, event: Event, counts: dict[str, int]) -> None:
    """Merge the observations of months that had some, and count those of all months."""
    if stage.events and stage.runs > 1:  # within a run they are numbered already
        connection.execute(PARTITIONS.number_equal.replace("{table}", "stage_observations"))
    connection.execute(SQL.observations)
    [(added, replaced)] = connection.execute(SQL.observation_counts).fetchall()
    new = stage.partitions
    [(repeated,)] = connection.execute(SQL.repeated_count, (event.no,)).fetchall()
    counts["observations_new"] = new.rows - new.superseded + added
    counts["observations_replaced"] = replaced
    counts["observations_same"] = repeated
    counts["observations_superseded"] = new.superseded + stage.observations - new.rows - added - replaced - repeated
    if stage.events and counts["observations_superseded"]:
        raise LoadRefused("equal events were taken for one another; nothing of the load was kept")


def changed_months(connection: Connection, stage: Stage) -> list[date]:
    """Return the months in which the load has added or changed observations; by them exports know what changed."""
    observed = {row[0] for row in connection.execute(SQL.observed_months)}
    return sorted(observed | {first for first, _ in stage.partitions.new.values()})


def _check_keys(connection: Connection, source_id: int) -> None:
    collision = connection.execute(SQL.collisions, (source_id,)).fetchone()
    if collision is not None:
        own, others, item_id = collision
        raise LoadRefused(
            f"id {item_id!r} would get {own}, and an item of another source has "
            f"{'it' if own == others else f'{others}, which has the same key'}: give the id an IID of its own by `iid`"
        )


def _touched(connection: Connection, stage: Stage) -> set[int]:
    """Return items that were there before and got other observations."""
    touched = {int(row[0]) for row in connection.execute("SELECT DISTINCT item_id FROM changed_observations")}
    before = {int(row[0]) for row in connection.execute(SQL.existing_among)} if stage.partitions.new else set()
    for table in stage.partitions.new if before else ():
        seen = sql.SQL("SELECT DISTINCT item_id FROM {}").format(sql.Identifier(table))
        touched |= before & {int(row[0]) for row in connection.execute(seen)}
    return touched


def alt_names(mapping: Mapping, files: list[Path]) -> dict[str, str]:
    """Read the other names; empty where the mapping has none. Raises LoadRefused where their file cannot be used."""
    path = alt_names_file(mapping, files)
    if path is None or mapping.alt_names is None:
        return {}
    keys = mapping.alt_names.keys
    try:
        entries = json.loads(path.read_bytes())
        return {str(k): " ".join(str(v[key]).strip() for key in keys if v.get(key)) for k, v in entries.items()}
    except (ValueError, AttributeError, TypeError):
        raise LoadRefused(f"{path.name}: must be a JSON object of objects with the members {', '.join(keys)}") from None


def alt_names_file(mapping: Mapping, files: list[Path]) -> Path | None:
    """Find the file of other names beside the first file or beside the mapping; None where the mapping has none."""
    if mapping.alt_names is None:
        return None
    name = mapping.alt_names.file
    for folder in (files[0].parent, mapping.path.parent):
        if (folder / name).exists():
            return folder / name
    raise LoadRefused(f"{mapping.path.name}: {name} is neither beside the data nor beside the mapping")


# All that a load is read from, as one digest: the same digest gives the same rows.


LAYOUT = 4
"""Raise it whenever the same files and mapping would be read otherwise, so that loaded files are read again."""


class InputFile(NamedTuple):
    """A file that a load reads. Its name is an input too: a day, a channel or the file's form may be taken from it."""

    name: str
    size: int
    sha256: bytes


def input_file(path: Path) -> InputFile:
    """Digest a file. Raises LoadRefused where it cannot be read."""
    try:
        with path.open("rb") as file:
            return InputFile(path.name, path.stat().st_size, hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        if is_interruption(error):
            raise
        raise LoadRefused(f"{path}: cannot be read: {error.strerror}") from None


def digest(mapping: Mapping, paths: list[Path], files: Sequence[InputFile]) -> bytes:
    """Return the digest of a load. The order of its files counts: of two equal observations the later one stays."""
    beside = alt_names_file(mapping, paths)
    others = [] if beside is None else [input_file(beside)]
    return hashlib.sha256(
        msgspec.msgpack.encode((LAYOUT, mapping.text, mapping.loaded_on, mapping.member, files, others))
    ).digest()


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
    see: Callable[[Transformed], None] = lambda shaped: None,
    buffers: LoadBuffers = DEFAULT_BUFFERS,
) -> Summary:
    """Load files through a mapping and return what came of it; `report_progress` hears the bytes read so far.

    `wanted` is called about every second, in every step, and raises where the load is to end: nothing of it is kept.
    `merges_allowed`: whether more than a tenth of the index may be merged by it. `dry_run`: do everything, and roll it
    back. `see` is called with what is made of the rows, for those who show some. Raises LoadRefused where a file or the
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
            return _Load(settings, mapping, files, report_progress, *connections, linking, buffers, see, dry_run).run()


def _lookup(settings: Settings, mapping: Mapping) -> AbstractContextManager[Connection | None]:
    """Open what items of the index are looked up by; None for a mapping that names none."""
    if mapping.item is None or not (mapping.item.iid or mapping.item.join_by):
        return nullcontext()
    return connect(settings.database_url, application="load-owners", autocommit=True)


@contextmanager
def recorded(
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
    see: Callable[[Transformed], None]
    dry_run: bool
    inputs: bytes | None = None
    dayless: bool = False

    def run(self) -> Summary:
        """Load, and return what came of it."""
        mapping, kept_max = self.mapping, 0 if self.dry_run else self.settings.rejects_kept_max
        with recorded(self.connection, self.log, mapping.source, mapping.digest, kept_max) as self._rejects:
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
            with Spool(events=mapping.counts_events) as spool:
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

    def _stage(self, constants: dict[str, object], spool: Spool) -> Stage:
        channels = {fold(row[0]): row[0] for row in self.connection.execute(SQL.channel_spellings)}
        item = self.mapping.item
        known = known_items(self.lookup, item, self.mapping.source) if item and item.join_by and self.lookup else None
        shaper = Transformer(self.mapping, alt_names(self.mapping, self.files), self._owners, channels, known)
        months = Months(constants, events=self.mapping.counts_events, buffers=self.buffers)
        stage = Stage(self.connection, self.mapping, months, constants, spool)
        counts = Counter(impacts_read=0, impacts_rejected=0)
        with closing(prefetch(self._shaped(shaper, months))) as made:
            for ready in made:
                if isinstance(ready, Chunk):
                    stage.take_observations(ready)
                    continue
                shaped, items = ready
                self.see(shaped)
                self._keep(shaped.rejects)
                self._rejects.rows_read += shaped.rows
                counts.update(shaped.counts)
                stage.take_items(shaped, items)
        self.see(Transformed(counts=Counter(items_read=len(shaper.registry))))
        stage.spans(*shaper.registry.spans())
        self.dayless = shaper.registry.has_dayless
        self._summary.counts |= counts
        if self.mapping.brings_items:
            self._summary.counts["items_read"] = len(shaper.registry)
        self._summary.counts["observation_tables"] = len(self.mapping.observations)
        return stage

    def _shaped(self, shaper: Transformer, months: Months) -> Iterator[_Ready]:
        """Shape batch after batch. A batch's items are cleaned among the observations of the next.

        The server writes these meanwhile; it would wait if all items of a batch were cleaned at once.
        """
        items: Iterator[_Ready] = iter(())
        for path, batch in self._batches():
            observed, cleaned = shaper.begin(batch, path)
            yield from alternating(months.take(observed.observations, observed.channels), items)
            yield observed, b""
            items = ((part, as_csv(part.items)) for part in cleaned)
        yield from alternating(months.rest(), items)

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
        return readers.read_all(
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
