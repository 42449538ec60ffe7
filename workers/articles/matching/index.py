"""The records that new ones are compared with, in segments that are written once, and the search for candidates."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec
import numpy as np

from workers.articles.matching.records import MatchRecord
from workers.articles.matching.segment import Array, RecordSegment
from workers.articles.matching.text import normalize, words
from workers.articles.matching.vocabulary import BUCKETS, Vocabulary

# So many records of each other source are candidates of a record.
MOST = 8
# Less alike than this in rare words, and so much less than the best, is no candidate.
_LEAST, LEAST_OF_BEST = 0.1, 0.25
_CHUNK = 1000
# More small segments than this become one.
_SEGMENTS = 8
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class _Manifest:
    segments: list[str]
    removed: list[int]
    vocabulary_records: int
    vocabulary: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """Candidates: parallel arrays of row, candidate's row and likeness in rare words, best first within a row."""

    row: Array
    other: Array
    score: Array


class MatchIndex:
    """Records by row, key and identifier, and the nearest of a row. A cache: the records make it again at any time.

    Scores depend on the records and the vocabulary alone. The index counts its vocabulary anew whenever it has grown to
    twice the records that were counted.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary, self._vocabulary_name = vocabulary or Vocabulary(), ""
        self._segments: list[RecordSegment] = []
        self._names: list[str] = []
        self._removed: set[int] = set()
        self._sources: list[str] = []
        self._row_sources: Array | None = None
        self.check: Callable[[], None] = lambda: None
        """Called between the steps of what is asked; it may raise, and the index is then of no use any more."""

    @classmethod
    def of_all(cls, records: Iterable[MatchRecord], check: Callable[[], None] = lambda: None) -> "MatchIndex":
        """Index records with distinct keys, of which only some are held at a time.

        They wait in an unnamed temporary file until the words of all are counted.
        """
        with TemporaryFile() as file:

            def noted(record: MatchRecord) -> MatchRecord:
                check()
                file.write(msgspec.json.encode(record) + b"\n")
                return record

            index = cls(_vocabulary_of(map(noted, records)))
            index.check = check
            if index.vocabulary.records:
                file.seek(0)
                again = (msgspec.json.decode(line, type=MatchRecord) for line in file)
                index._append(RecordSegment.build(index._each(again), index.vocabulary), "")
        return index

    @classmethod
    def open(cls, directory: Path) -> "MatchIndex":
        """Map an index that `save` wrote; a directory without one gives an empty index."""
        if not (directory / _MANIFEST).exists():
            return cls()
        manifest = msgspec.json.decode((directory / _MANIFEST).read_bytes(), type=_Manifest)
        frequency = np.load(directory / manifest.vocabulary, mmap_mode="r", allow_pickle=False)
        index = cls(Vocabulary(frequency, manifest.vocabulary_records))
        index._vocabulary_name = manifest.vocabulary
        for name in manifest.segments:
            index._append(RecordSegment.open(directory / name), name)
        index._removed = set(manifest.removed)
        return index

    def save(self, directory: Path) -> None:
        """Write what is not there; the manifest comes last, in one step, so that a broken run leaves the former index.

        What this index was opened from may be there no more: another process may have saved its own meanwhile.
        """
        directory.mkdir(parents=True, exist_ok=True)
        for at, segment in enumerate(self._segments):
            if not (self._names[at] and (directory / self._names[at]).exists()):
                self._names[at] = f"segment-{uuid.uuid4().hex}"
                segment.save(directory / self._names[at])
        if not (self._vocabulary_name and (directory / self._vocabulary_name).exists()):
            self._vocabulary_name = f"vocabulary-{uuid.uuid4().hex}.npy"
            np.save(directory / self._vocabulary_name, self.vocabulary.frequency)
        manifest = _Manifest(self._names, sorted(self._removed), self.vocabulary.records, self._vocabulary_name)
        fresh = directory / f"{_MANIFEST}.new"
        fresh.write_bytes(msgspec.json.encode(manifest))
        fresh.replace(directory / _MANIFEST)
        for folder in directory.glob("segment-*"):
            if folder.name not in self._names:
                shutil.rmtree(folder)
        for file in directory.glob("vocabulary-*.npy"):
            if file.name != self._vocabulary_name:
                file.unlink()

    def __len__(self) -> int:
        return self._rows() - len(self._removed)

    def add(self, records: Iterable[MatchRecord]) -> None:
        """Add records; a record whose key is there replaces the former one."""
        fresh = {record.key: record for record in records}
        self.remove(fresh)
        if len(self._segments) > _SEGMENTS:
            self._join_small()
        if len(self) + len(fresh) > 2 * self.vocabulary.records:
            self._count_anew(list(fresh.values()))
        elif fresh:
            self._append(RecordSegment.build(self._each(fresh.values()), self.vocabulary), "")

    def remove(self, keys: Iterable[str]) -> None:
        """Take records out; a key that is not there is ignored."""
        self._removed.update(self.rows_of(keys).values())

    def rows_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the rows of those of the keys that are here."""
        wanted = list(keys)
        found = ((key, start + row) for start, segment in self._parts() for key, row in segment.rows_of_keys(wanted))
        return {key: row for key, row in found if row not in self._removed}

    def record(self, row: int) -> MatchRecord:
        """Return the record of a row."""
        [record] = self.records(np.array([row]))
        return record

    def records(self, rows: Array) -> Iterator[MatchRecord]:
        """Yield the records of rows, in the order given; only some are held at a time."""
        for at in range(0, len(rows), _CHUNK):
            yield from (msgspec.json.decode(text, type=MatchRecord) for text in self.texts(rows[at : at + _CHUNK]))

    def texts(self, rows: Array) -> list[bytes]:
        """Return the records of rows as they are kept, in JSON."""
        texts = np.empty(len(rows), object)
        for at, segment, of_segment in self._locate(rows):
            texts[at] = segment.texts(of_segment)
        return texts.tolist()

    def by_identifier(self, identifier: str) -> list[MatchRecord]:
        """Return the records that carry an identifier as `identifier_keys` writes it."""
        return list(self.records(self.rows_of_identifier(identifier)))

    def rows_of_identifier(self, identifier: str) -> Array:
        """Return the rows of the records that carry an identifier."""
        rows = (start + row for start, segment in self._parts() for row in segment.rows_of_identifier(identifier))
        return np.array([row for row in rows if row not in self._removed], np.int64)

    def rows(self) -> Array:
        """Return the rows of all records that were not removed."""
        rows = np.arange(self._rows())
        return rows[~np.isin(rows, list(self._removed))]

    def sources(self, rows: Array) -> Array:
        """Return the number of each row's source."""
        return self._source_numbers()[rows]

    def contents(self, rows: Array) -> Array:
        """Return the hash of each row's compared texts; copies have the same one."""
        return self._values("content", rows, np.uint64)

    def _values(self, name: str, rows: Array, kind: type[np.generic]) -> Array:
        values = np.zeros(len(rows), kind)
        for at, segment, of_segment in self._locate(rows):
            values[at] = segment.arrays[name][of_segment]
        return values

    def vectors(self, space: str, rows: Array) -> Any:
        """Return the vectors of rows in a space, in the order given."""
        from scipy import sparse  # see `Segment.vectors`

        located = list(self._locate(rows))
        if not located:
            return sparse.csr_matrix((0, BUCKETS))
        blocks = [segment.vectors(space, of_segment) for _, segment, of_segment in located]
        back = np.argsort(np.concatenate([at for at, _, _ in located]))
        return sparse.vstack(blocks, format="csr")[back] if len(blocks) > 1 else blocks[0]

    def nearest(self, rows: Array, least_of_best: float = LEAST_OF_BEST) -> Nearest:
        """Return the records of other sources that are most like each row in rare words, `MOST` of each source.

        Those less like it than a share of the best one are left out. Copies of the row are listed besides, and are not
        that best one. Of a source that does not list each product once, records are compared with each other too.
        """
        blocks = [self._nearest(rows[at : at + _CHUNK], least_of_best) for at in range(0, len(rows), _CHUNK)]
        empty = [Nearest(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))]
        row, other, score = zip(*((one.row, one.other, one.score) for one in blocks or empty), strict=True)
        return Nearest(np.concatenate(row), np.concatenate(other), np.concatenate(score))

    def _nearest(self, rows: Array, least_of_best: float) -> Nearest:
        """Search for one block of rows."""
        queries, source = self.vectors("said", rows), self._source_numbers()
        several = self._values("offers", rows, np.bool_)
        ats: list[Array] = []
        others: list[Array] = []
        scores: list[Array] = []
        for start, segment in self._parts():
            similarities = segment.scores(queries)
            at = np.repeat(np.arange(len(rows)), np.diff(similarities.indptr))
            keep = similarities.data >= _LEAST
            at, other, score = at[keep], similarities.indices[keep].astype(np.int64) + start, similarities.data[keep]
            keep = (source[other] != source[rows[at]]) | (several[at] & (other != rows[at]))
            ats, others, scores = [*ats, at[keep]], [*others, other[keep]], [*scores, score[keep]]
        at, other, score = np.concatenate(ats), np.concatenate(others), np.concatenate(scores)
        if self._removed:
            keep = ~np.isin(other, list(self._removed))
            at, other, score = at[keep], other[keep], score[keep]
        copy = self.contents(rows)[at] == self.contents(other)
        best = np.zeros(len(rows), np.float32)
        np.maximum.at(best, at[~copy], score[~copy])
        keep = copy | (score >= least_of_best * best[at])
        at, other, score, copy = at[keep], other[keep], score[keep], copy[keep]
        order = np.lexsort((other, -score, ~copy, source[other], at))
        at, other, score, copy = at[order], other[order], score[order], copy[order]
        keep = position_in_group(at, source[other], copy) < MOST
        return Nearest(rows[at[keep]], other[keep], score[keep])

    def _append(self, segment: RecordSegment, name: str) -> None:
        self._row_sources = None
        for source in segment.sources:
            if source not in self._sources:
                self._sources.append(source)
        self._segments.append(segment)
        self._names.append(name)

    def _join_small(self) -> None:
        """Make one segment of all but the first, or of all where it is the smaller part; removed rows go from it."""
        rows, first = self.rows(), len(self._segments[0])
        small = rows[rows >= first]
        kept, joined = (1, small) if len(small) <= first else (0, rows)
        segments = [RecordSegment.build(self.records(joined), self.vocabulary)] if len(joined) else []
        self._removed = {row for row in self._removed if kept and row < first}
        del self._segments[kept:], self._names[kept:]
        for segment in segments:
            self._append(segment, "")

    def _count_anew(self, fresh: Sequence[MatchRecord]) -> None:
        """Count the vocabulary of all records, with the new ones, and make one segment of them."""
        rows = self.rows()
        self.vocabulary, self._vocabulary_name = _vocabulary_of(self._each(chain(self.records(rows), fresh))), ""
        segment = RecordSegment.build(self._each(chain(self.records(rows), fresh)), self.vocabulary)
        self._removed, self._segments, self._names = set(), [], []
        self._append(segment, "")

    def _each(self, records: Iterable[MatchRecord]) -> Iterator[MatchRecord]:
        for record in records:
            self.check()
            yield record

    def _locate(self, rows: Array) -> Iterator[tuple[Array, RecordSegment, Array]]:
        """Yield positions in `rows`, the segment of the rows there, and these rows as it numbers them."""
        starts = np.array([start for start, _ in self._parts()], np.int64)
        part = np.searchsorted(starts, rows, "right") - 1
        for at in np.unique(part).tolist():
            self.check()
            positions = np.flatnonzero(part == at)
            yield positions, self._segments[at], rows[positions] - starts[at]

    def _parts(self) -> Iterator[tuple[int, RecordSegment]]:
        start = 0
        for segment in self._segments:
            yield start, segment
            start += len(segment)

    def _rows(self) -> int:
        return sum(map(len, self._segments))

    def _source_numbers(self) -> Array:
        if self._row_sources is None:
            number = {source: at for at, source in enumerate(self._sources)}
            parts = [np.array([number[one] for one in part.sources])[part.arrays["source"]] for part in self._segments]
            self._row_sources = np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int32)
        return self._row_sources


def _vocabulary_of(records: Iterable[MatchRecord]) -> Vocabulary:
    """Count the words of records."""
    return Vocabulary.of(words(normalize(_everything(record))) for record in records)


def position_in_group(*keys: Array) -> Array:
    """Return each element's position within its run of equal keys; the arrays are sorted so that a group is one run."""
    length = len(keys[0])
    if not length:
        return np.zeros(0, np.int64)
    change = np.zeros(length, bool)
    change[0] = True
    for key in keys:
        change[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(change)
    return np.arange(length) - np.repeat(starts, np.diff(np.append(starts, length)))


def _everything(record: MatchRecord) -> str:
    values = (value for _, value in record.attributes)
    return " ".join((record.name, record.brand, record.mpn, record.category, record.description, *values))
