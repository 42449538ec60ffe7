"""Which segments are merged, and their merge beside loads that go on publishing."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.search import directory as writers
from shared.search import layout
from shared.search.layout import Manifest, SegmentEntry
from shared.search.segment import Segment
from workers.search.build import deleted_among, source
from workers.search.merge import Source, merge

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
