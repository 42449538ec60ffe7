"""How an index is stored on disk: a folder per data_version, in it the parts below."""

from pathlib import Path

import msgspec

# Raised with every change of words, fields or files: an edge never opens an index that it would misread.
FORMAT = 1

ITEMS = "items"
VOCABULARY = "vocabulary"
IIDS = "iids"
IID_OFFSETS = "iid_offsets"
COMMON_TERMS = "common_terms.json"
COMMON_BITS = "common_bits"
COMMON_ORDER = "common_order"
COMMON_LENGTHS = "common_lengths"
MANIFEST = "manifest.json"

# A term that more documents have than this is common. tantivy has to look at every one of them; a row of bits does not.
COMMON_DOCUMENTS_MIN = 20_000
COMMON_SHARE = 64

# Fields of ITEMS. Documents lie in the order of their IIDs, so a document's number is its IID's rank.
RANK = "rank"
WORDS = "words"
PREFIXES = "prefixes"
DESCRIPTION = "description"
QUANTITIES = "quantities"
DESCRIBED_QUANTITIES = "described_quantities"
BRAND = "brand"
CATEGORY = "category"
PRODUCT_TYPE = "product_type"
HIT = "hit"

# Fields of VOCABULARY: every word, and how many items have it.
WORD = "word"
FREQUENCY = "frequency"

TOKENS_PLAIN = "itemindex_words"
TOKENS_STEMMED = "itemindex_stems"


class Manifest(msgspec.Struct, frozen=True):
    """What a finished index says of itself; written last, so its presence means that the rest is whole.

    `id` differs between two builds of one data_version, so an edge notices that it was built again. `quantities` is
    false of indexes built before quantities had a field: they are read, but find quantities as they are written.
    """

    id: str
    format: int
    data_version: int
    items: int
    quantities: bool = False


def common_from(items: int) -> int:
    """Return how many documents make a term a common one in an index of so many items."""
    return max(COMMON_DOCUMENTS_MIN, items // COMMON_SHARE)


def row_bytes(items: int) -> int:
    """Return the length of a row of bits, one for each item, in whole 64-bit words."""
    return -(-items // 64) * 8


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a finished index of our format, or None."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return None
    return manifest if manifest.format == FORMAT else None


def versions(directory: Path) -> list[int]:
    """Return the data_versions that have a folder, newest first."""
    try:
        names = [entry.name for entry in directory.iterdir() if entry.is_dir()]
    except FileNotFoundError:
        return []
    return sorted((int(name) for name in names if name.isdecimal()), reverse=True)


def newest(directory: Path) -> tuple[Path, Manifest] | None:
    """Return the newest finished index, or None where there is none yet."""
    for version in versions(directory):
        folder = directory / str(version)
        manifest = read_manifest(folder)
        if manifest is not None:
            return folder, manifest
    return None
