"""The records that new ones are compared with, and the inverted index that finds candidates among them."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from workers.matching.identifiers import identifier_keys
from workers.matching.records import Record
from workers.matching.text import words

# A word of more records than this finds no candidates.
_COMMON = 1000
_FILE = "records.jsonl"


class MatchIndex:
    """Records by key, by identifier and by rare word. A cache: the records make it again at any time."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._postings: dict[str, set[str]] = defaultdict(set)

    @classmethod
    def open(cls, directory: Path) -> "MatchIndex":
        """Read an index that `save` wrote; a directory without one gives an empty index."""
        index = cls()
        path = directory / _FILE
        if path.exists():
            index.add(msgspec.json.decode(line, type=Record) for line in path.read_bytes().splitlines())
        return index

    def save(self, directory: Path) -> None:
        """Write the index, so that `open` gives it back."""
        directory.mkdir(parents=True, exist_ok=True)
        body = b"\n".join(msgspec.json.encode(record) for record in self._records.values())
        (directory / _FILE).write_bytes(body)

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __len__(self) -> int:
        return len(self._records)

    def add(self, records: Iterable[Record]) -> None:
        """Add records; a record whose key is there takes the place of the former one."""
        for record in records:
            if record.key in self._records:
                self.remove([record.key])
            self._records[record.key] = record
            for term in _terms(record):
                self._postings[term].add(record.key)

    def remove(self, keys: Iterable[str]) -> None:
        """Take records out; a key that is not there is ignored."""
        for key in keys:
            record = self._records.pop(key, None)
            for term in _terms(record) if record else ():
                self._postings[term].discard(key)

    def record(self, key: str) -> Record:
        """Return one record; `KeyError` if it is not there."""
        return self._records[key]

    def by_identifier(self, identifier: str) -> list[Record]:
        """Return the records that carry an identifier as `identifier_keys` writes it."""
        return [self._records[key] for key in sorted(self._postings.get(identifier, ()))]

    def candidates(self, record: Record, most: int = 10) -> list[Record]:
        """Return the records of other sources that share the most and the rarest words with one, best first."""
        shared: Counter[str] = Counter()
        for term in words(record.name):
            found = self._postings.get(term, ())
            if len(found) <= _COMMON:
                shared.update({key: 1000 // len(found) for key in found})
        ranked = sorted(shared, key=lambda key: (-shared[key], key))
        others = (self._records[key] for key in ranked)
        return [other for other in others if other.source != record.source][:most]


def _terms(record: Record) -> list[str]:
    return [*set(words(record.name)), *identifier_keys(record)]
