"""Several segments, without what is deleted in them, written as one. Memory holds a few bytes of each document."""

import heapq
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search import layout
from shared.search.segment import Numbers, Segment
from workers.search.writer import Bytes, Hits, Keys, finish, identifier_entries, write_order

# How much is handled at once: postings are sorted in memory with their keys, stored items are copied.
CHUNK_POSTINGS = 4_000_000
_CHUNK_KEYS = 100_000
_CHUNK_DOCUMENTS = 200_000
_CHUNK_IIDS = 1_000_000
_GONE = np.uint32(0xFFFF_FFFF)
_HASHES = 1 << 32


class Source(NamedTuple):
    """A segment to be merged, and the sorted numbers of its deleted documents."""

    segment: Segment
    deleted: Numbers


def merge(sources: list[Source], folder: Path) -> None:
    """Write a segment of all documents that are left; no IID is left in two of the sources."""
    folder.mkdir(parents=True)
    ranks = _new_ranks(sources)
    width = max((source.segment.iids.itemsize for source in sources), default=1)
    lengths, description_lengths = _write_documents(sources, ranks, folder, width)
    documents = write_order(folder, lengths, description_lengths)
    segments = [source.segment for source in sources]
    numbers = [_new_numbers(segment, of, documents) for segment, of in zip(segments, ranks, strict=True)]
    del ranks, documents  # 8 bytes of each document
    _write_keys(segments, numbers, folder)
    _write_identifiers(segments, numbers, folder)
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


def _write_keys(segments: list[Segment], numbers: list[Numbers], folder: Path) -> None:
    chunk: list[_Term] = []
    size = 0
    with Keys(folder) as keys:
        for term in _terms(segments):
            chunk.append(term)
            size += sum(segments[of].dictionary.size((ordinal, ordinal + 1)) for of, ordinal in term.positions)
            if size >= CHUNK_POSTINGS or len(chunk) >= _CHUNK_KEYS:
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


def _write_identifiers(segments: list[Segment], numbers: list[Numbers], folder: Path) -> None:
    parts = 1 + sum(len(segment.identifiers) for segment in segments) // CHUNK_POSTINGS
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
