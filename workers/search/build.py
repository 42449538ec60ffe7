"""The search index: documents, segments of them, merges, and updates that a manifest publishes."""

import heapq
import shutil
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import psycopg
from numpy.typing import NDArray

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.objects.directory import ResultStore
from shared.search import layout, remote
from shared.search.directory import (
    is_whole,
    merging,
    name_segment,
    prune,
    publish,
    read_deleted,
    unfinished,
    unmerged,
    with_deleted,
    writing,
)
from shared.search.layout import Manifest, SegmentEntry
from shared.search.model import Brand, Category, Document, Item
from shared.search.segment import Numbers, Segment
from shared.text import fold, indexed_words, stems
from shared.units.names import indexed_quantities
from workers.jobs.job_handler import JobContext
from workers.search.writer import Bytes, Hits, Keys, finish, identifier_entries, iid_bytes, write_order


@dataclass(frozen=True, slots=True)
class Sizes:
    """The bounds by which an index is written in parts, and its segments are merged."""

    run_postings_max: int = 8_000_000
    """A segment of so many postings takes about 500 MB while it is written."""
    chunk_postings: int = 4_000_000
    """How many postings a merge handles at once: they are sorted in memory with their keys."""
    first_tier: int = 16_384
    """A tier holds segments of up to so many documents, the next one of up to eight times as many."""
    segments_per_tier: int = 4
    """So many of one tier are merged with all below it: an index of 20,000,000 items has at most 15 segments."""


SIZES = Sizes()


# The indexed form of an item: the keys under which it is found, and the stored fields of a hit.


_ENCODER = msgspec.json.Encoder()


class Entry(NamedTuple):
    """An item of the index: keys with frequencies, lengths in words, a hit's stored fields, hashes of identifiers."""

    iid: bytes
    times: dict[bytes, int]
    length: int
    description_length: int
    hit: bytes
    identifiers: list[int]


def analyze(document: Document) -> Entry:
    """Return the index's entry of a document."""
    item = document.item
    words = indexed_words("\n".join(_texts(document)))
    described = indexed_words(document.description) if document.description else []
    times = _times(layout.WORDS, words) | _times(layout.DESCRIPTION, described)
    times |= {layout.key(layout.PLAIN, word): 1 for word in words}
    times |= {layout.key(field, term): 1 for field, term in _filters(item) + _quantities(document)}
    return Entry(
        item.iid.encode(),
        times,
        min(len(words), layout.LENGTH_MAX),
        min(len(described), layout.LENGTH_MAX),
        _ENCODER.encode((item, document.alt_names)),
        [layout.identifier_hash(*identifier) for identifier in document.identifiers],
    )


def _times(field: str, words: list[str]) -> dict[bytes, int]:
    return {layout.key(field, stem): min(count, layout.TIMES_MAX) for stem, count in Counter(stems(words)).items()}


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[tuple[str, str]]:
    texts = [(layout.QUANTITIES, text) for text in (document.item.name, *document.alt_names)]
    texts += [(layout.DESCRIBED_QUANTITIES, document.description)] if document.description else []
    return [(field, term) for field, text in texts for term in indexed_quantities(text)]


def _filters(item: Item) -> list[tuple[str, str]]:
    filters = [(layout.BRAND, item.brand.slug)] if item.brand else []
    filters += [(layout.PRODUCT_TYPE, fold(item.product_type))] if item.product_type else []
    if item.category:
        # Every ancestor's code, so that a category finds what is in those below it.
        segments = item.category.code.split(".")
        filters += [(layout.CATEGORY, ".".join(segments[:depth])) for depth in range(1, len(segments) + 1)]
    return filters


# A segment made of documents, all of them in memory.


class Run:
    """Gathers documents in ascending order of IID and writes them as a segment."""

    def __init__(self, after: bytes = b"") -> None:
        """`after`: the IID that the first document's must follow."""
        self._last = after
        self._codes: dict[bytes, int] = {}
        self._gathered, self._times = array("I"), array("B")
        self._counts = array("I")
        self._lengths, self._description_lengths = array("B"), array("B")
        self._iids: list[bytes] = []
        self._hits: list[bytes] = []
        self._identifiers, self._identified = array("I"), array("I")

    def __len__(self) -> int:
        return len(self._iids)

    @property
    def last(self) -> bytes:
        """The highest IID so far."""
        return self._last

    @property
    def postings(self) -> int:
        """How many postings were gathered; what the run takes in memory is in proportion to them."""
        return len(self._gathered)

    def add(self, document: Document) -> None:
        entry = analyze(document)
        if entry.iid <= self._last:
            raise ValueError(f"documents must come in the order of their IIDs: {entry.iid!r} after {self._last!r}")
        self._last = entry.iid
        self._identifiers.extend(entry.identifiers)
        self._identified.extend([len(self._iids)] * len(entry.identifiers))
        codes = self._codes
        self._gathered.extend([codes.setdefault(key, len(codes)) for key in entry.times])
        self._times.extend(entry.times.values())
        self._counts.append(len(entry.times))
        self._lengths.append(entry.length)
        self._description_lengths.append(entry.description_length)
        self._iids.append(entry.iid)
        self._hits.append(entry.hit)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        width = iid_bytes(max(map(len, self._iids), default=0))
        np.array(self._iids, f"S{width}").tofile(folder / layout.IIDS)
        lengths, description_lengths = np.array(self._lengths), np.array(self._description_lengths)
        documents = write_order(folder, lengths, description_lengths)
        with Hits(folder) as hits:
            hits.add(self._hits)
        self._write_keys(folder, np.repeat(documents, np.array(self._counts)))
        with (folder / layout.IDENTIFIERS).open("wb") as file:
            file.write(identifier_entries(np.array(self._identifiers), documents[np.array(self._identified)]).data)
        finish(folder, width)

    def _write_keys(self, folder: Path, owners: Numbers) -> None:
        keys = sorted(self._codes)
        ordinals = np.empty(len(keys), np.uint64)
        ordinals[[self._codes[key] for key in keys]] = np.arange(len(keys), dtype=np.uint64)
        ordered = ordinals[np.array(self._gathered)] << np.uint64(32) | owners
        order = np.argsort(ordered)
        sizes = np.bincount(np.array(self._gathered), minlength=len(keys))[[self._codes[key] for key in keys]]
        with Keys(folder) as writer:
            writer.add(keys, sizes.tolist(), owners[order], np.array(self._times)[order])


# Several segments, without what is deleted in them, written as one. Memory holds a few bytes of each document.


# How much is handled at once, as `chunk_postings` above: keys are sorted in memory, stored items are copied.
_CHUNK_KEYS = 100_000
_CHUNK_DOCUMENTS = 200_000
_CHUNK_IIDS = 1_000_000
_GONE = np.uint32(0xFFFF_FFFF)
_HASHES = 1 << 32


class Source(NamedTuple):
    """A segment to be merged, and the sorted numbers of its deleted documents."""

    segment: Segment
    deleted: Numbers


def merge(sources: list[Source], folder: Path, sizes: Sizes) -> None:
    """Write a segment of all documents that are left; no IID is left in two of the sources."""
    folder.mkdir(parents=True)
    ranks = _new_ranks(sources)
    width = max((source.segment.iids.itemsize for source in sources), default=1)
    lengths, description_lengths = _write_documents(sources, ranks, folder, width)
    documents = write_order(folder, lengths, description_lengths)
    segments = [source.segment for source in sources]
    numbers = [_new_numbers(segment, of, documents) for segment, of in zip(segments, ranks, strict=True)]
    del ranks, documents  # 8 bytes of each document
    _write_keys(segments, numbers, folder, sizes.chunk_postings)
    _write_identifiers(segments, numbers, folder, sizes.chunk_postings)
    del numbers
    finish(folder, width)


def _new_ranks(sources: list[Source]) -> list[Numbers]:
    """Return for each source the new rank of each old rank, or _GONE."""
    positions = [_positions(source.segment, [other.segment for other in sources]) for source in sources]
    taken = np.zeros(sum(source.segment.items for source in sources) + 1, np.uint32)
    for source, of_ranks in zip(sources, positions, strict=True):
        of_ranks[source.segment.ranks[source.deleted]] = _GONE
        taken[of_ranks[of_ranks != _GONE] + 1] = 1
    before = np.cumsum(taken, dtype=np.uint32)
    for of_ranks in positions:
        left = of_ranks != _GONE
        of_ranks[left] = before[of_ranks[left]]
    return positions


def _positions(segment: Segment, all_segments: list[Segment]) -> Numbers:
    """Return for each rank how many documents of all segments have a lower IID."""
    positions = np.zeros(segment.items, np.uint32)
    for other in all_segments:
        if other is segment:
            positions += np.arange(segment.items, dtype=np.uint32)
        elif segment.items and other.items and other.iids[-1] < segment.iids[0]:
            positions += np.uint32(other.items)
        elif segment.items and other.items and other.iids[0] <= segment.iids[-1]:
            for first in range(0, segment.items, _CHUNK_IIDS):
                part = segment.iids[first : first + _CHUNK_IIDS]
                positions[first : first + _CHUNK_IIDS] += np.searchsorted(other.iids, part).astype(np.uint32)
    return positions


def _new_numbers(segment: Segment, new_ranks: Numbers, documents: Numbers) -> Numbers:
    of_documents = new_ranks[segment.ranks]
    left = of_documents != _GONE
    of_documents[left] = documents[of_documents[left]]
    return of_documents


def _write_documents(sources: list[Source], ranks: list[Numbers], folder: Path, width: int) -> tuple[Bytes, Bytes]:
    items = sum(int(np.count_nonzero(of_ranks != _GONE)) for of_ranks in ranks)
    owners, olds = np.empty(items, np.uint16), np.empty(items, np.uint32)
    lengths, description_lengths = np.empty(items, np.uint8), np.empty(items, np.uint8)
    for number, (source, of_ranks) in enumerate(zip(sources, ranks, strict=True)):
        kept = np.flatnonzero(of_ranks != _GONE)
        new = of_ranks[kept]
        owners[new], olds[new] = number, kept
        of_old = source.segment.documents[kept]
        lengths[new] = source.segment.lengths[of_old]
        description_lengths[new] = source.segment.description_lengths[of_old]
    with (folder / layout.IIDS).open("wb") as iids, Hits(folder) as hits:
        for first in range(0, items, _CHUNK_DOCUMENTS):
            owner, old = owners[first : first + _CHUNK_DOCUMENTS], olds[first : first + _CHUNK_DOCUMENTS]
            part = np.empty(len(owner), f"S{width}")
            for number, source in enumerate(sources):
                mine = owner == number
                part[mine] = source.segment.iids[old[mine]]
            iids.write(part.tobytes())
            segments = [source.segment for source in sources]
            hits.add([segments[of].hit(rank) for of, rank in zip(owner.tolist(), old.tolist(), strict=True)])
    return lengths, description_lengths


class _Term(NamedTuple):
    key: bytes
    positions: list[tuple[int, int]]
    """The segments that have it, each with the key's ordinal there."""


def _write_keys(segments: list[Segment], numbers: list[Numbers], folder: Path, chunk_postings: int) -> None:
    chunk: list[_Term] = []
    size = 0
    with Keys(folder) as keys:
        for term in _terms(segments):
            chunk.append(term)
            size += sum(segments[of].dictionary.size((ordinal, ordinal + 1)) for of, ordinal in term.positions)
            if size >= chunk_postings or len(chunk) >= _CHUNK_KEYS:
                _write_chunk(chunk, segments, numbers, keys)
                chunk, size = [], 0
        if chunk:
            _write_chunk(chunk, segments, numbers, keys)


def _terms(segments: list[Segment]) -> Iterator[_Term]:
    def of(number: int, segment: Segment) -> Iterator[tuple[bytes, int, int]]:
        for ordinal in range(len(segment.dictionary)):
            yield segment.dictionary.key(ordinal), number, ordinal

    merged = heapq.merge(*(of(number, segment) for number, segment in enumerate(segments)))
    for key, same in groupby(merged, key=lambda entry: entry[0]):
        yield _Term(key, [(number, ordinal) for _, number, ordinal in same])


def _write_chunk(chunk: list[_Term], segments: list[Segment], numbers: list[Numbers], keys: Keys) -> None:
    of_segments: list[list[tuple[int, int]]] = [[] for _ in segments]
    for position, term in enumerate(chunk):
        for number, ordinal in term.positions:
            of_segments[number].append((position, ordinal))
    ordered, times = [], []
    for segment, new_numbers, ordinals in zip(segments, numbers, of_segments, strict=True):
        if not ordinals:
            continue
        # Keys come in the same order everywhere, so a chunk's keys are neighbours in each segment.
        first, end = ordinals[0][1], ordinals[-1][1] + 1
        documents, of_documents = segment.dictionary.read((first, end))
        sizes = np.diff(segment.dictionary.starts[first : end + 1])
        positions = np.repeat(np.array([position for position, _ in ordinals], np.uint64), sizes.astype(np.int64))
        new = new_numbers[documents]
        left = new != _GONE
        ordered.append(positions[left] << np.uint64(32) | new[left])
        times.append(of_documents[left])
    _write_sorted([term.key for term in chunk], np.concatenate(ordered), np.concatenate(times), keys)


def _write_sorted(names: list[bytes], ordered: NDArray[np.uint64], times: Bytes, keys: Keys) -> None:
    order = np.argsort(ordered)
    ordered = ordered[order]
    starts = np.searchsorted(ordered, np.arange(len(names) + 1, dtype=np.uint64) << np.uint64(32))
    sizes = [end - start for start, end in pairwise(starts.tolist())]
    left = [(name, size) for name, size in zip(names, sizes, strict=True) if size]  # some are only in deleted documents
    keys.add([name for name, _ in left], [size for _, size in left], ordered.astype(np.uint32), times[order])


def _write_identifiers(segments: list[Segment], numbers: list[Numbers], folder: Path, chunk_postings: int) -> None:
    parts = 1 + sum(len(segment.identifiers) for segment in segments) // chunk_postings
    bounds = [_HASHES * part // parts for part in range(parts + 1)]
    with (folder / layout.IDENTIFIERS).open("wb") as file:
        for first, end in pairwise(bounds):
            hashes, documents = [], []
            for segment, new_numbers in zip(segments, numbers, strict=True):
                entries = segment.identified(first, end)
                new = new_numbers[entries.astype(np.uint32)]
                left = new != _GONE
                hashes.append((entries >> np.uint64(32))[left])
                documents.append(new[left])
            if hashes:
                file.write(identifier_entries(np.concatenate(hashes), np.concatenate(documents)).data)


# An index of all documents, and its update by those that changed: new segments, published by a manifest.


_PROGRESS_EVERY = 5_000

Progress = Callable[[int], None]


def build(
    documents: Iterable[Document],
    directory: Path,
    version: int,
    progress: Progress = lambda done: None,
    committed_at: str = "",
    identifiers: int | None = None,
    sizes: Sizes = SIZES,
) -> Manifest:
    """Build the index of a data_version from documents in ascending order of IID, and publish it.

    `identifiers`: by which rules those of the documents were made, None where some may be missing.

    A build that fails leaves nothing but folders that `prune` removes; the former manifest still counts. The caller
    holds the lock of `writing`, here and below.
    """
    written = write_segments(documents, directory, progress, sizes)
    if len(written) > 1:
        folder = unfinished(directory)
        merge([source(directory, entry) for entry in written], folder, sizes)
        for entry in written:
            shutil.rmtree(directory / layout.SEGMENTS / entry.id)
        written = [SegmentEntry(name_segment(directory, folder), sum(entry.items for entry in written))]
    return publish(directory, version, committed_at, written, identifiers)


def update(
    manifest: Manifest,
    changed: Iterable[Document],
    iids: Sequence[str],
    directory: Path,
    progress: Progress = lambda done: None,
    sizes: Sizes = SIZES,
) -> list[SegmentEntry]:
    """Write what differs from a manifest's index; return the segments that make up the newer one, not yet published.

    `iids` names all items that may have changed, `changed` are those of them that can be found now, in ascending order.
    """
    gone = np.array([iid.encode() for iid in iids], np.bytes_)
    kept = [_without(directory, entry, gone) for entry in manifest.segments]
    return [*kept, *write_segments(changed, directory, progress, sizes)]


def write_segments(
    documents: Iterable[Document], directory: Path, progress: Progress, sizes: Sizes
) -> list[SegmentEntry]:
    """Write documents in ascending order of IID as segments, each of as many as fit into memory."""
    written: list[SegmentEntry] = []
    run, done = Run(), 0
    for done, document in enumerate(documents, 1):
        if run.postings >= sizes.run_postings_max:
            written.append(_write(run, directory))
            run = Run(after=run.last)
        run.add(document)
        if done % _PROGRESS_EVERY == 0:
            progress(done)
    if len(run):
        written.append(_write(run, directory))
    progress(done)
    return written


def source(directory: Path, entry: SegmentEntry) -> Source:
    """Open a segment that is to be merged."""
    return Source(Segment(directory / layout.SEGMENTS / entry.id), read_deleted(directory, entry))


def deleted_among(segment: Segment, iids: NDArray[np.bytes_]) -> Numbers:
    """Return the numbers of the segment's documents that have one of these IIDs."""
    if not segment.items or not len(iids):
        return np.zeros(0, np.uint32)
    ranks = np.minimum(np.searchsorted(segment.iids, iids), segment.items - 1)
    numbers: Numbers = segment.documents[ranks[segment.iids[ranks] == iids]]
    return numbers


def _write(run: Run, directory: Path) -> SegmentEntry:
    folder = unfinished(directory)
    run.write(folder)
    return SegmentEntry(name_segment(directory, folder), len(run))


def _without(directory: Path, entry: SegmentEntry, iids: NDArray[np.bytes_]) -> SegmentEntry:
    opened = source(directory, entry)
    numbers = np.union1d(opened.deleted, deleted_among(opened.segment, iids)).astype(np.uint32)
    return with_deleted(directory, entry, numbers)


# Which segments are merged, and their merge beside loads that go on publishing.


_TIER_GROWTH = 8
# A segment is written anew where more than this share of its documents is deleted.
DELETED_SHARE_MAX = 0.25


def choose(segments: tuple[SegmentEntry, ...], sizes: Sizes = SIZES) -> list[SegmentEntry]:
    """Return the segments to be merged next; none where their number is within its bound. Pure."""
    by_tier: dict[int, list[SegmentEntry]] = {}
    for segment in segments:
        by_tier.setdefault(_tier(segment.live, sizes.first_tier), []).append(segment)
    full = [tier for tier, those in by_tier.items() if len(those) >= sizes.segments_per_tier]
    if full:
        return [segment for segment in segments if _tier(segment.live, sizes.first_tier) <= max(full)]
    return [segment for segment in segments if segment.deleted > DELETED_SHARE_MAX * segment.items][:1]


def merge_some(directory: Path, sizes: Sizes = SIZES) -> Manifest | None:
    """Merge the segments that are to be merged next, if any; return the manifest of the same data_version without them.

    Loads may publish meanwhile. Their deletions in the merged segments are repeated in the new one.
    """
    with writing(directory):
        newest = layout.newest(directory)
        chosen = choose(newest.segments, sizes) if newest else []
        sources = [source(directory, entry) for entry in chosen]
    if not chosen:
        return None
    folder = unmerged(directory)
    merge(sources, folder, sizes)
    with writing(directory):
        newest = layout.newest(directory)
        assert newest is not None
        return _replace(directory, newest, chosen, sources, folder)


def _tier(items: int, first_tier: int) -> int:
    tier, most = 0, first_tier
    while items > most:
        tier, most = tier + 1, most * _TIER_GROWTH
    return tier


def _replace(
    directory: Path, manifest: Manifest, chosen: list[SegmentEntry], sources: list[Source], folder: Path
) -> Manifest | None:
    now = {entry.id: entry for entry in manifest.segments}
    if not all(entry.id in now for entry in chosen):
        return None  # a whole build has replaced them; the next merge removes the folder
    merged = Segment(folder)
    entry = SegmentEntry(name_segment(directory, folder), merged.items)
    gone = [_deleted_since(directory, now[old.id], of) for old, of in zip(chosen, sources, strict=True)]
    numbers = np.unique(np.concatenate([deleted_among(merged, iids) for iids in gone])).astype(np.uint32)
    entry = with_deleted(directory, entry, numbers)
    names = {old.id for old in chosen}
    kept = [segment for segment in manifest.segments if segment.id not in names]
    segments = [*kept, entry]
    return publish(directory, manifest.data_version, manifest.committed_at, segments, manifest.identifiers)


def _deleted_since(directory: Path, entry: SegmentEntry, before: Source) -> NDArray[np.bytes_]:
    new = np.setdiff1d(read_deleted(directory, entry), before.deleted)
    return before.segment.iids[before.segment.ranks[new]]


# The job `search-index`: brings the search index to the newest data_version, from one snapshot of the items.


SQL = load_queries(__file__, "job.sql")
CHANNEL = "search_index"
_FETCH_ROWS = 5_000
# Where more than this share of the items changed, all of them are read again: one segment is searched faster.
_UPDATED_SHARE_MAX = 0.25
ReportProgress = Callable[[str, int, int | None], None]


def build_index(context: JobContext) -> dict[str, Any]:
    """Return the job's result: which data_version was built, and how many items it has."""
    services = context.services
    objects = services.objects if services.settings.search_in_store else None
    return make_index(services.settings.worker_database_url, services.settings.search_dir, context.progress, objects)


def make_index(
    url: str,
    directory: Path,
    report_progress: ReportProgress = lambda stage, done, total: None,
    objects: ResultStore | None = None,
    sizes: Sizes = SIZES,
) -> dict[str, Any]:
    """Bring the index to the newest data_version, notify the edges, then merge segments and remove old ones.

    With an object store, the index there is continued, and is what edges take.
    """
    with connect(url, application="search-index") as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        if objects is not None:
            connection.execute(SQL.lock)
            connection.commit()  # the lock is the session's; the snapshot must begin after it was had
            _continue(objects, directory)
        with writing(directory):
            prune(directory)  # a build that found no room would find still less beside the files of the one before
            manifest = _newest(connection, directory, report_progress, sizes)
        if manifest is None:
            return {"data_version": 0, "items": 0}
        _give_out(connection, directory, manifest, objects)
        with merging(directory) as alone:
            while alone and (merged := merge_some(directory, sizes)):
                report_progress("merging", merged.items, merged.items)
                _give_out(connection, directory, merged, objects)
        with writing(directory):
            prune(directory)
        if objects is not None:
            remote.clean(objects, directory)
    return {"data_version": manifest.data_version, "items": manifest.items}


def _continue(objects: ResultStore, directory: Path) -> None:
    try:
        remote.fetch(objects, directory)
    except remote.Damaged:
        remote.discard(objects)  # the index that is whole here, or is built now, replaces it


def _newest(connection: Connection, directory: Path, report_progress: ReportProgress, sizes: Sizes) -> Manifest | None:
    """Return the manifest of the newest data_version, made unless it exists; None without any load."""
    row = connection.execute(SQL.newest).fetchone()
    if row is None:
        return None
    version, moment = int(row[0]), str(row[1])
    identifiers = _scalar(connection, SQL.identifiers) or None
    former = _former(connection, directory, identifiers)
    if former is not None and former.data_version == version:
        return former
    items = _scalar(connection, SQL.count)
    changed = _scalar(connection, SQL.changed_count, former.data_version) if former else items
    if former is not None and changed <= _UPDATED_SHARE_MAX * items:
        iids = [str(row[0]) for row in connection.execute(SQL.changed, (former.data_version,))]
        documents = _documents(connection, former.data_version)
        report_progress("reading", 0, changed)
        segments = update(
            former, documents, iids, directory, lambda done: report_progress("indexing", done, changed), sizes
        )
        # A change that its row does not tell of would stay unnoticed otherwise.
        if sum(segment.live for segment in segments) == items:
            return publish(directory, version, moment, segments, identifiers)
    report_progress("reading", 0, items)
    documents = _documents(connection, -1)
    return build(
        documents, directory, version, lambda done: report_progress("indexing", done, items), moment, identifiers, sizes
    )


def _former(connection: Connection, directory: Path, identifiers: int | None) -> Manifest | None:
    """Return the newest manifest if it is of this database, its identifiers are of these rules, and it is whole."""
    newest = layout.newest(directory)
    if newest is None or newest.identifiers != identifiers or not is_whole(directory, newest):
        return None
    row = connection.execute(SQL.moment, (newest.data_version,)).fetchone()
    return newest if row is not None and row[0] == newest.committed_at else None


def _give_out(connection: Connection, directory: Path, manifest: Manifest, objects: ResultStore | None) -> None:
    if objects is not None:
        remote.upload(objects, directory, manifest)
    connection.commit()
    connection.execute("SELECT pg_notify($1, $2)", (CHANNEL, str(manifest.data_version)))
    connection.commit()


def _documents(connection: Connection, after: int) -> Iterator[Document]:
    with psycopg.RawServerCursor(connection, "documents") as cursor:
        cursor.itersize = _FETCH_ROWS
        for row in cursor.execute(SQL.documents, (after,)):
            yield _document(*row)


def _document(
    iid: str,
    name: str,
    alt_names: list[str],
    brand_id: int | None,
    brand: str,
    slug: str,
    product_type: str | None,
    code: str | None,
    path: list[str],
    description: str | None,
    schemes: list[str],
    values: list[str],
) -> Document:
    item = Item(
        iid,
        name,
        Brand(brand_id, brand, slug) if brand_id is not None else None,
        product_type,
        Category(code, path) if code is not None else None,
    )
    return Document(item, alt_names, description, list(zip(schemes, values, strict=True)))


def _scalar(connection: Connection, query: str, *values: object) -> int:
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
