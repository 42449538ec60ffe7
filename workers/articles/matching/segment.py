"""One unchangeable part of the index: records, their word vectors and the postings of their rare words, as arrays."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from workers.articles.matching.identifiers import identifier_keys
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.text import normalize, words
from workers.articles.matching.vocabulary import BUCKETS, Vocabulary, bucket

Array = NDArray[Any]
# A word of more records than this finds no candidates.
COMMON = 2000
# So many records are taken apart at a time: their words as Python values take far more memory than the arrays.
_PART = 20_000
SPACES = ("said", "named")
_NAMES = (
    "text", "text_at", "source", "content", "offers", "key_hash", "key_row", "identifier_hash", "identifier_row",
    "said_at", "said_term", "said_weight", "named_at", "named_term", "named_weight",
    "post_term", "post_at", "post_row", "post_weight",
)  # fmt: skip


class RecordSegment:
    """Records 0 … n-1 as arrays; read from files they are mapped into memory, not loaded."""

    def __init__(self, arrays: dict[str, Array], sources: Sequence[str]) -> None:
        self.arrays, self.sources = arrays, tuple(sources)
        self._postings: Any = None

    def __len__(self) -> int:
        return len(self.arrays["source"])

    @classmethod
    def build(cls, records: Iterable[MatchRecord], vocabulary: Vocabulary) -> "RecordSegment":
        """Make a segment of records with distinct keys, of which only some are held at a time."""
        numbers: dict[str, int] = {}
        parts: list[dict[str, Array]] = []
        waiting, row = iter(records), 0
        while part := list(islice(waiting, _PART)):
            parts.append(_part(part, row, numbers, vocabulary))
            row += len(part)
        arrays = {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}
        sources = sorted(numbers)
        arrays["source"] = np.searchsorted(sources, list(numbers)).astype(np.int32)[arrays["source"]]
        for what in ("text", *SPACES):
            arrays[f"{what}_at"] = np.concatenate([[0], np.cumsum(arrays[f"{what}_at"], dtype=np.int64)])
        for what in ("key", "identifier"):
            order = np.argsort(arrays[f"{what}_hash"], kind="stable")
            arrays |= {name: arrays[name][order] for name in (f"{what}_hash", f"{what}_row")}
        arrays |= _postings(arrays["said_at"], arrays["said_term"], arrays["said_weight"], vocabulary)
        return cls(arrays, sources)

    def save(self, directory: Path) -> None:
        """Write the arrays into a new directory."""
        directory.mkdir(parents=True)
        for name in _NAMES:
            np.save(directory / f"{name}.npy", self.arrays[name])
        (directory / "sources.json").write_bytes(msgspec.json.encode(self.sources))

    @classmethod
    def open(cls, directory: Path) -> "RecordSegment":
        """Map the arrays of a directory that `save` wrote."""
        arrays = {name: _open_mapped(directory / f"{name}.npy") for name in _NAMES}
        return cls(arrays, msgspec.json.decode((directory / "sources.json").read_bytes(), type=list[str]))

    def record(self, row: int) -> MatchRecord:
        """Return one record."""
        return msgspec.json.decode(self.texts(np.array([row]))[0], type=MatchRecord)

    def texts(self, rows: Array) -> list[bytes]:
        """Return records in JSON."""
        at, text = self.arrays["text_at"], self.arrays["text"].data
        return [bytes(text[start:end]) for start, end in zip(at[rows].tolist(), at[rows + 1].tolist(), strict=True)]

    def rows_of_keys(self, keys: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield those of the keys that are here, with their rows."""
        for key, row in self._find("key", keys):
            if self.record(row).key == key:
                yield key, row

    def rows_of_identifier(self, identifier: str) -> list[int]:
        """Return the rows of records that carry an identifier."""
        found = self._find("identifier", [identifier])
        return [row for _, row in found if identifier in identifier_keys(self.record(row))]

    def vectors(self, space: str, rows: Array) -> Any:
        """Return the vectors of rows in a space, one sparse row each, in the order given."""
        from scipy import sparse  # only here: a process that judges pairs starts without it in two thirds of the time

        at = self.arrays[f"{space}_at"]
        lengths = at[rows + 1] - at[rows]
        entries = np.repeat(at[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(
            lengths.sum()
        )
        parts = (self.arrays[f"{space}_weight"][entries], self.arrays[f"{space}_term"][entries])
        shape = (len(rows), BUCKETS)
        return sparse.csr_matrix((*parts, np.concatenate([[0], np.cumsum(lengths)])), shape=shape, copy=False)

    def scores(self, queries: Any) -> Any:
        """Multiply query vectors with the postings of rare words: one sparse row of similarities per query."""
        from scipy import sparse  # see `vectors`

        terms = self.arrays["post_term"]
        if self._postings is None:
            parts = (self.arrays["post_weight"], self.arrays["post_row"], self.arrays["post_at"])
            self._postings = sparse.csr_matrix(parts, shape=(len(terms), len(self)), copy=False)
        position = np.searchsorted(terms, queries.indices)
        position[position == len(terms)] = 0
        known = terms[position] == queries.indices if len(terms) else np.zeros(len(position), bool)
        counts = np.concatenate([[0], np.cumsum(known)])
        local = sparse.csr_matrix(
            (queries.data[known], position[known], counts[queries.indptr]), shape=(queries.shape[0], len(terms))
        )
        return local @ self._postings

    def _find(self, what: str, values: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield each value with the rows that may have it: those with its hash."""
        hashes, rows = self.arrays[f"{what}_hash"], self.arrays[f"{what}_row"]
        wanted = np.array([zlib.crc32(value.encode()) for value in values], np.uint32)
        starts, ends = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        for at in np.flatnonzero(starts < ends).tolist():
            for row in rows[starts[at] : ends[at]].tolist():
                yield values[at], row


def _part(
    records: Sequence[MatchRecord], first: int, numbers: dict[str, int], vocabulary: Vocabulary
) -> dict[str, Array]:
    """Return the arrays of records from row `first` on, with lengths in place of offsets and hashes unsorted.

    `numbers` gets a number for each source that it lacks.
    """
    texts = [msgspec.json.encode(record) for record in records]
    arrays: dict[str, Array] = {
        "text": np.frombuffer(b"".join(texts), np.uint8),
        "text_at": np.array([len(text) for text in texts]),
        "source": np.array([numbers.setdefault(record.source, len(numbers)) for record in records]),
        "offers": np.array([record.one_per_source is False for record in records], bool),
        "content": np.array([content_hash(record) for record in records], np.uint64),
    }
    keys = ((record.key, row) for row, record in enumerate(records, first))
    identifiers = ((key, row) for row, record in enumerate(records, first) for key in identifier_keys(record))
    arrays["key_hash"], arrays["key_row"] = _hash(keys)
    arrays["identifier_hash"], arrays["identifier_row"] = _hash(identifiers)
    for space, texts_of in zip(SPACES, zip(*map(_spaces, records), strict=True), strict=True):
        lengths, term, weight = _vectors(texts_of, vocabulary)
        arrays |= {f"{space}_at": lengths, f"{space}_term": term, f"{space}_weight": weight}
    return arrays


def content_hash(record: MatchRecord) -> int:
    """Return 64 bits that are equal for copies: records whose compared texts are the same."""
    texts = (record.name, record.brand, record.mpn, record.category, record.description, *map(str, record.attributes))
    return int.from_bytes(blake2b("\0".join(texts).encode(), digest_size=8).digest(), "big")


def _spaces(record: MatchRecord) -> tuple[frozenset[str], frozenset[str]]:
    named = normalize(f"{record.name} {record.brand} {record.mpn}")
    rest = normalize(" ".join((record.category, record.description, *(value for _, value in record.attributes))))
    in_name = frozenset(words(named))
    return in_name | frozenset(words(rest)), in_name


def _vectors(texts: Sequence[frozenset[str]], vocabulary: Vocabulary) -> tuple[Array, Array, Array]:
    """Return the lengths, buckets and weights of texts; each vector has the norm one."""
    buckets = [sorted({bucket(word) for word in text}) for text in texts]
    lengths = np.array([len(text) for text in buckets])
    term = np.fromiter((one for text in buckets for one in text), np.int32, lengths.sum())
    weight = vocabulary.rarities(term)
    row = np.repeat(np.arange(len(texts)), lengths)
    norm = np.sqrt(np.bincount(row, weight.astype(np.float64) ** 2, minlength=len(texts)))
    return lengths, term, (weight / np.maximum(norm, 1e-9)[row]).astype(np.float32)


def _postings(at: Array, term: Array, weight: Array, vocabulary: Vocabulary) -> dict[str, Array]:
    rare = vocabulary.frequency[term] <= COMMON
    row = np.repeat(np.arange(len(at) - 1, dtype=np.int32), np.diff(at))[rare]
    order = np.argsort(term[rare], kind="stable")
    terms, counts = np.unique(term[rare], return_counts=True)
    return {
        "post_term": terms,
        "post_at": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "post_row": row[order],
        "post_weight": weight[rare][order],
    }


def _hash(pairs: Iterable[tuple[str, int]]) -> tuple[Array, Array]:
    hashed = [(zlib.crc32(value.encode()), row) for value, row in pairs]
    return np.array([one for one, _ in hashed], np.uint32), np.array([row for _, row in hashed], np.int32)


def _open_mapped(path: Path) -> Array:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
