"""An index of all documents, and its update by those that changed: new segments, published by a manifest."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.directory import publish, read_deleted, with_deleted
from shared.search.layout import Manifest, SegmentEntry
from shared.search.model import Document
from shared.search.segment import Segment
from workers.search.dictionary_writer import DOCUMENTS_MAX
from workers.search.segment_writer import SegmentWriter

POSTINGS_MAX = 40_000_000
"""A segment of so many postings, about 1,100,000 items, takes at most 1.2 GB while it is written; 1,000,000, 1.0 GB."""
_PROGRESS_EVERY = 5_000

Progress = Callable[[int], None]


def build(
    documents: Iterable[Document],
    directory: Path,
    version: int,
    progress: Progress = lambda done: None,
    committed_at: str = "",
    identifiers: int | None = None,
    postings_max: int = POSTINGS_MAX,
) -> Manifest:
    """Build the index of a data_version from documents in ascending order of IID, and publish it.

    `identifiers`: by which rules those of the documents were made, None where some may be missing.

    A build that fails leaves nothing but folders that `prune` removes; the former manifest still counts. The caller
    holds the lock of `writing`, here and below.
    """
    segments = _write_segments(documents, directory, progress, postings_max, update=False)
    return publish(directory, version, committed_at, segments, identifiers)


def update(
    segments: Sequence[SegmentEntry],
    changed: Iterable[Document],
    iids: Sequence[str],
    directory: Path,
    progress: Progress = lambda done: None,
    postings_max: int = POSTINGS_MAX,
) -> list[SegmentEntry]:
    """Write what differs from an index of these segments; return the segments of the newer one, not yet published.

    `iids` names all items that may have changed, `changed` are those of them that can be found now, in ascending order.
    """
    gone = np.array([iid.encode() for iid in iids], np.bytes_)
    kept = [_without(directory, entry, gone) for entry in segments]
    return [*kept, *_write_segments(changed, directory, progress, postings_max, update=True)]


def _write_segments(
    documents: Iterable[Document], directory: Path, progress: Progress, postings_max: int, *, update: bool
) -> list[SegmentEntry]:
    """Write documents in ascending order of IID as segments, each of as many as fit into memory."""
    written: list[SegmentEntry] = []
    writer, done = SegmentWriter(directory), 0
    for done, document in enumerate(documents, 1):
        if writer.postings >= postings_max or len(writer) == DOCUMENTS_MAX:
            written.append(writer.write(update=update))
            writer = SegmentWriter(directory, writer.last)
        writer.add(document)
        if done % _PROGRESS_EVERY == 0:
            progress(done)
    if len(writer):
        written.append(writer.write(update=update))
    progress(done)
    return written


def _without(directory: Path, entry: SegmentEntry, iids: NDArray[np.bytes_]) -> SegmentEntry:
    if not len(iids):
        return entry
    segment = Segment(directory / layout.SEGMENTS / entry.id, entry.items)
    ranks = np.minimum(np.searchsorted(segment.iids, iids), entry.items - 1)
    deleted = segment.documents[ranks[segment.iids[ranks] == iids]]
    return with_deleted(directory, entry, np.union1d(read_deleted(directory, entry), deleted).astype(np.uint32))
