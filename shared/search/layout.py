"""How an index is stored on disk: immutable segments, and a manifest that says which of them make up a data_version.

{SEARCH_DIR}/{data_version}.{number}.json      a manifest; the highest data_version and number count
{SEARCH_DIR}/segments/{id}/                    the files of a segment, named below
{SEARCH_DIR}/deletions/{id}                    which documents of a segment are deleted, as sorted 32-bit numbers
"""

import re
from pathlib import Path
from zlib import crc32

import msgspec

# Raised with every change of words, fields or files: an edge never opens an index that it would misread.
FORMAT = 5

SEGMENTS = "segments"
DELETIONS = "deletions"

# The files of a segment. A document's number is its position in the order of (words of its texts, IID).
SEGMENT = "segment.json"
IIDS = "iids"
RANKS = "ranks"
DOCUMENTS = "documents"
HITS = "hits"
HIT_OFFSETS = "hit_offsets"
LENGTHS = "lengths"
DESCRIPTION_LENGTHS = "description_lengths"
KEYS = "keys"
KEY_OFFSETS = "key_offsets"
POSTING_STARTS = "posting_starts"
POSTINGS = "postings"
TIMES = "times"
SLOT_STARTS = "slot_starts"
SLOTS = "slots"
ROWS = "rows"
ROW_KEYS = "row_keys.json"
VOCABULARY = "vocabulary"
# Hashes of identifiers, each followed by a document that has it: 64-bit numbers in ascending order. Segments of former
# releases lack this file; a manifest that names such a segment has no `identifiers`.
IDENTIFIERS = "identifiers"
WORD = "word"

# A term that more documents have than this is common: it is found by a row of bits, not by a list of documents.
COMMON_DOCUMENTS_MIN = 20_000
COMMON_SHARE = 64
LENGTH_MAX = 255
TIMES_MAX = 255

WORDS = "words"
PREFIXES = "prefixes"
PLAIN = "plain"
DESCRIPTION = "description"
QUANTITIES = "quantities"
DESCRIBED_QUANTITIES = "described_quantities"
BRAND = "brand"
CATEGORY = "category"
PRODUCT_TYPE = "product_type"

# The first byte of a key. Stems are under WORDS, the words as they are under PLAIN. PREFIXES has rows of bits only: the
# documents of a beginning are those of the neighbouring PLAIN words that begin so.
_CODES = {
    WORDS: b"w",
    PREFIXES: b"^",
    PLAIN: b"p",
    DESCRIPTION: b"d",
    QUANTITIES: b"q",
    DESCRIBED_QUANTITIES: b"r",
    BRAND: b"b",
    CATEGORY: b"c",
    PRODUCT_TYPE: b"t",
}
_MANIFEST_NAME = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})\.json")


class SegmentEntry(msgspec.Struct, frozen=True):
    """A segment of an index: its documents, how many of them are deleted, and the file that says which."""

    id: str
    items: int
    deleted: int = 0
    deletions: str | None = None

    @property
    def live(self) -> int:
        """How many documents are not deleted."""
        return self.items - self.deleted


class Manifest(msgspec.Struct, frozen=True):
    """The segments of a data_version. `id` differs between any two manifests, so an edge notices a new one.

    `committed_at` is the moment of the data_version, so that the index of another database is not continued.
    `identifiers`: by which rules (`LAYOUT` of shared/index/identifiers.py) the segments' identifiers were made;
    None where some may be missing.
    """

    id: str
    format: int
    data_version: int
    number: int
    committed_at: str
    segments: tuple[SegmentEntry, ...]
    identifiers: int | None = None

    @property
    def items(self) -> int:
        """How many items can be found."""
        return sum(segment.live for segment in self.segments)

    @property
    def name(self) -> str:
        """The manifest's file."""
        return f"{self.data_version}.{self.number}.json"


class SegmentInfo(msgspec.Struct, frozen=True):
    """The description of a segment: documents, bytes of an IID, sums of lengths, and its files with their digests."""

    items: int
    iid_bytes: int
    length_sum: int
    description_length_sum: int
    files: dict[str, tuple[int, str]]


def key(field: str, term: str) -> bytes:
    """Return the key under which a segment lists a field's term."""
    return _CODES[field] + term.encode()


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
