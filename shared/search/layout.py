"""How an index is stored on disk: immutable segments, and a manifest that says which of them make up a data_version.

{SEARCH_DIR}/{data_version}.{number}.json      a manifest; the highest data_version and number count
{SEARCH_DIR}/segments/{id}/                    the files of a segment, named below
{SEARCH_DIR}/deletions/{sha256}                which documents of a segment are deleted, as sorted 32-bit numbers
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

# Raised with every change of words, fields or files: an edge never opens an index that it would misread.
FORMAT = 8

SEGMENTS = "segments"
DELETIONS = "deletions"

# The files of a segment. A document's number is its position in the order of (words of its texts, IID).
IIDS = "iids"
RANKS = "ranks"
DOCUMENTS = "documents"
HITS = "hits"
HIT_OFFSETS = "hit_offsets"
KEYS = "keys"
KEY_OFFSETS = "key_offsets"
POSTING_STARTS = "posting_starts"
POSTINGS = "postings"
TIMES = "times"
# Hashes of keys, each followed by the key's position: 64-bit numbers in ascending order.
KEY_HASHES = "key_hashes"
ROWS = "rows"
ROW_KEYS = "row_keys.json"
VOCABULARY = "vocabulary"
# Likewise of identifiers, each followed by a document that has it.
IDENTIFIERS = "identifiers"
# The names of brands and the paths of categories, by slug and code.
NAMES = "names.json"
WORD = "word"

# Columns: a number of each document, in the order of their numbers, with the type in which it is stored.
LENGTHS = "lengths"
DESCRIPTION_LENGTHS = "description_lengths"
SEEN = "seen"
POPULARITY = "popularity"
PRICE = "price"
UNIT_PRICE = "unit_price"
COLUMNS = {LENGTHS: "B", DESCRIPTION_LENGTHS: "B", SEEN: "H", POPULARITY: "H", PRICE: "d", UNIT_PRICE: "d"}
RANGES = (SEEN, PRICE)
"""The columns by which searches may be filtered: the term of such a filter is `low:high`."""

# A term that more documents have than this is common: it is found by a row of bits, not by a list of documents.
COMMON_DOCUMENTS_MIN = 20_000
COMMON_SHARE = 64
LENGTH_MAX = 255
TIMES_MAX = 255
POPULARITY_MAX = 65_535

# Fields, as the first letters of keys; those of words come last. Stems are under WORDS, the words as they are under
# PLAIN. PREFIXES has rows of bits only: the documents of a beginning are those of the neighbouring PLAIN words that
# begin so.
WORDS = "w"
PREFIXES = "^"
PLAIN = "y"
DESCRIPTION = "x"
QUANTITIES = "q"
DESCRIBED_QUANTITIES = "r"
BRAND = "b"
CATEGORY = "c"
PRODUCT_TYPE = "t"
CHANNEL = "h"
CURRENCY = "m"
WITHOUT_ROWS = (PLAIN, DESCRIPTION, DESCRIBED_QUANTITIES)
"""Fields whose terms are found by lists of documents however common they are."""

_DELETED_BYTES = 4
_MANIFEST_NAME = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})\.json")


class IndexFile(NamedTuple):
    """A file of an index: its path in the directory, its size and its SHA-256."""

    path: str
    size: int
    digest: str


class SegmentEntry(msgspec.Struct, frozen=True):
    """A segment of an index: its documents, how many of them are deleted, and the file that says which.

    `files`: the size and the SHA-256 of each. `update`: whether the segment is of a change since the last whole build.
    """

    id: str
    items: int
    deleted: int = 0
    deletions: str | None = None
    files: dict[str, tuple[int, str]] = {}
    update: bool = False

    @property
    def live(self) -> int:
        """How many documents are not deleted."""
        return self.items - self.deleted


class Manifest(msgspec.Struct, frozen=True):
    """The segments of a data_version. `id` differs between any two manifests, so an edge notices a new one.

    `committed_at` is the moment of the data_version, so that the index of another database is not continued.
    `identifiers`: by which rules (`LAYOUT` of shared/index/identifiers.py) the segments' identifiers were made;
    None where some may be missing. `built_version`: of which data_version the segments without updates are.
    """

    id: str
    format: int
    data_version: int
    number: int
    committed_at: str
    segments: tuple[SegmentEntry, ...]
    identifiers: int | None = None
    built_version: int = 0

    @property
    def items(self) -> int:
        """How many items can be found."""
        return sum(segment.live for segment in self.segments)

    @property
    def updates(self) -> int:
        """How many segments are of changes since the last whole build."""
        return sum(segment.update for segment in self.segments)

    @property
    def name(self) -> str:
        """The manifest's file."""
        return f"{self.data_version}.{self.number}.json"

    def files(self) -> Iterator[IndexFile]:
        """Yield every file of the index but the manifest."""
        for entry in self.segments:
            for name, (size, digest) in entry.files.items():
                yield IndexFile(f"{SEGMENTS}/{entry.id}/{name}", size, digest)
            if entry.deletions is not None:
                yield IndexFile(f"{DELETIONS}/{entry.deletions}", _DELETED_BYTES * entry.deleted, entry.deletions)


def key(field: str, term: str) -> bytes:
    """Return the key under which a segment lists a field's term."""
    return f"{field}{term}".encode()


def identifier_hash(scheme: str, value: str) -> int:
    """Return the 32-bit hash of an identifier, given in the form in which it is compared."""
    return crc32(f"{scheme}\x1f{value}".encode())


def common_from(items: int) -> int:
    """Return how many documents make a term a common one in an index of so many items."""
    return max(COMMON_DOCUMENTS_MIN, items // COMMON_SHARE)


def row_words(items: int) -> int:
    """Return the length of a row of bits, one for each item, in 64-bit words."""
    return -(-items // 64)


def read_manifest(path: Path) -> Manifest | None:
    """Return a manifest, of whatever format; None where it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return None


def manifests(directory: Path) -> list[Path]:
    """Return the files of all manifests, newest first."""
    try:
        matched = [(_MANIFEST_NAME.fullmatch(path.name), path) for path in directory.iterdir()]
    except FileNotFoundError:
        return []
    numbered = [((int(match[1]), int(match[2])), path) for match, path in matched if match]
    return [path for _, path in sorted(numbered, reverse=True)]


def newest(directory: Path) -> Manifest | None:
    """Return a directory's newest manifest of our format, or None where there is none yet."""
    for path in manifests(directory):
        manifest = read_manifest(path)
        if manifest is not None and manifest.format == FORMAT:
            return manifest
    return None
