"""An index of all documents, and its update by those that changed: new segments, published by a manifest."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.search import directory as writers
from shared.search import layout
from shared.search.directory import name_segment, publish, read_deleted, unfinished, with_deleted
from shared.search.layout import Manifest, SegmentEntry
from shared.search.model import Document
from shared.search.segment import Numbers, Segment
from workers.search.merge import Source, merge
from workers.search.run import Run

# A segment of so many postings takes about 500 MB while it is written.
RUN_POSTINGS_MAX = 8_000_000
_PROGRESS_EVERY = 5_000

Progress = Callable[[int], None]


def build(
    documents: Iterable[Document],
    directory: Path,
    version: int,
    progress: Progress = lambda done: None,
    committed_at: str = "",
    identifiers: int | None = None,
) -> Manifest:
    """Build the index of a data_version from documents in ascending order of IID, and publish it.

    `identifiers`: by which rules those of the documents were made, None where some may be missing.

    A build that fails leaves nothing but folders that `prune` removes; the former manifest still counts. The caller
    holds the lock of `writing`, here and below.
    """
    written = write_segments(documents, directory, progress)
    if len(written) > 1:
        folder = unfinished(directory)
        merge([source(directory, entry) for entry in written], folder)
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
) -> list[SegmentEntry]:
    """Write what differs from a manifest's index; return the segments that make up the newer one, not yet published.

    `iids` names all items that may have changed, `changed` are those of them that can be found now, in ascending order.
    """
    gone = np.array([iid.encode() for iid in iids], np.bytes_)
    kept = [_without(directory, entry, gone) for entry in manifest.segments]
    return [*kept, *write_segments(changed, directory, progress)]


def write_segments(documents: Iterable[Document], directory: Path, progress: Progress) -> list[SegmentEntry]:
    """Write documents in ascending order of IID as segments, each of as many as fit into memory."""
    written: list[SegmentEntry] = []
    run, done = Run(), 0
    for done, document in enumerate(documents, 1):
        if run.postings >= RUN_POSTINGS_MAX:
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


# A tier holds segments of up to so many documents, the next one of up to eight times as many. Four of one tier are
# merged with all below it, so an index of 20,000,000 items has at most 15 segments.
FIRST_TIER = 16_384
_TIER_GROWTH = 8
SEGMENTS_PER_TIER = 4
# A segment is written anew where more than this share of its documents is deleted.
DELETED_SHARE_MAX = 0.25


def choose(segments: tuple[SegmentEntry, ...]) -> list[SegmentEntry]:
    """Return the segments to be merged next; none where their number is within its bound. Pure."""
    by_tier: dict[int, list[SegmentEntry]] = {}
    for segment in segments:
        by_tier.setdefault(_tier(segment.live), []).append(segment)
    full = [tier for tier, those in by_tier.items() if len(those) >= SEGMENTS_PER_TIER]
    if full:
        return [segment for segment in segments if _tier(segment.live) <= max(full)]
    return [segment for segment in segments if segment.deleted > DELETED_SHARE_MAX * segment.items][:1]


def merge_some(directory: Path) -> Manifest | None:
    """Merge the segments that are to be merged next, if any; return the manifest of the same data_version without them.

    Loads may publish meanwhile. Their deletions in the merged segments are repeated in the new one.
    """
    with writers.writing(directory):
        newest = layout.newest(directory)
        chosen = choose(newest[1].segments) if newest else []
        sources = [source(directory, entry) for entry in chosen]
    if not chosen:
        return None
    folder = writers.unmerged(directory)
    merge(sources, folder)
    with writers.writing(directory):
        newest = layout.newest(directory)
        assert newest is not None
        return _replace(directory, newest[1], chosen, sources, folder)


def _tier(items: int) -> int:
    tier, most = 0, FIRST_TIER
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
    entry = SegmentEntry(writers.name_segment(directory, folder), merged.items)
    gone = [_deleted_since(directory, now[old.id], of) for old, of in zip(chosen, sources, strict=True)]
    numbers = np.unique(np.concatenate([deleted_among(merged, iids) for iids in gone])).astype(np.uint32)
    entry = writers.with_deleted(directory, entry, numbers)
    names = {old.id for old in chosen}
    kept = [segment for segment in manifest.segments if segment.id not in names]
    segments = [*kept, entry]
    return writers.publish(directory, manifest.data_version, manifest.committed_at, segments, manifest.identifiers)


def _deleted_since(directory: Path, entry: SegmentEntry, before: Source) -> NDArray[np.bytes_]:
    new = np.setdiff1d(writers.read_deleted(directory, entry), before.deleted)
    return before.segment.iids[before.segment.ranks[new]]
