"""Build a search index: written beside, made durable, renamed. A reader sees a whole index or none."""

import os
import shutil
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from uuid import uuid4

import msgspec
import tantivy

from shared.errors import ItemIndexError
from shared.search import layout
from shared.search.layout import Manifest
from shared.search.model import Document, Item
from shared.search.text import analyzer, fold, indexed_words, prefixes
from shared.units.terms import indexed_quantities
from workers.search.terms import Terms

# One segment keeps documents in the order in which they came, and ranks them by one set of word counts.
# The memory is a bound, used only as far as the items need it (about 1.1 GB for a million).
WRITER_BYTES_MAX = 3_900_000_000
VOCABULARY_BYTES_MAX = 200_000_000
KEPT_VERSIONS = 2
_UNFINISHED = ".unfinished-"
_PROGRESS_EVERY = 5_000
_ENCODER = msgspec.json.Encoder()

Progress = Callable[[int], None]


class IndexTooLarge(ItemIndexError):
    """The items do not fit one segment; nothing was published."""


def build(documents: Iterable[Document], directory: Path, version: int, progress: Progress = lambda done: None) -> Path:
    """Build the index of a data_version from documents in ascending order of IID; return its folder.

    Replaces an index of the same version. A build that fails leaves nothing but a folder that `prune` removes.
    """
    directory.mkdir(parents=True, exist_ok=True)
    folder = directory / f"{_UNFINISHED}{version}-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    terms = Terms()
    items = _write_items(documents, folder, terms, progress)
    terms.write(folder)
    _write_vocabulary(terms.words(), folder / layout.VOCABULARY)
    manifest = Manifest(uuid4().hex, layout.FORMAT, version, items, quantities=True)
    (folder / layout.MANIFEST).write_bytes(_ENCODER.encode(manifest))
    _make_durable(folder)
    return _publish(folder, directory / str(version))


def prune(directory: Path) -> list[int]:
    """Remove all but the newest versions, and what broken builds left; return the versions removed.

    Not safe beside a running build of another process: the lease of the job keeps those apart.
    An edge may still read a removed version: its files exist as long as they are mapped.
    """
    for left in directory.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)
    removed = layout.versions(directory)[KEPT_VERSIONS:]
    for version in removed:
        shutil.rmtree(directory / str(version), ignore_errors=True)
    return removed


def _write_items(documents: Iterable[Document], folder: Path, terms: Terms, progress: Progress) -> int:
    index = _items_index(folder / layout.ITEMS)
    writer = index.writer(WRITER_BYTES_MAX, 1)
    offsets, last = array("Q", [0]), ""
    with (folder / layout.IIDS).open("wb") as iids:
        for rank, document in enumerate(documents):
            iid = document.item.iid
            if iid <= last:
                raise ValueError(f"documents must come in the order of their IIDs: {iid} after {last}")
            last = iid
            writer.add_document(_entry(document, rank, terms))
            iids.write(iid.encode())
            offsets.append(offsets[-1] + len(iid))
            if rank % _PROGRESS_EVERY == 0:
                progress(rank)
    (folder / layout.IID_OFFSETS).write_bytes(offsets.tobytes())
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    items = len(offsets) - 1
    if index.searcher().num_segments > 1:
        raise IndexTooLarge(f"{items} items need more than {WRITER_BYTES_MAX} bytes while they are written")
    progress(items)
    return items


def _items_index(folder: Path) -> tantivy.Index:
    folder.mkdir(parents=True)
    schema = tantivy.SchemaBuilder()
    # No positions: neighbourhood of words gained nothing on judged queries and would double the size.
    schema.add_text_field(layout.WORDS, tokenizer_name=layout.TOKENS_STEMMED, index_option="freq")
    schema.add_text_field(layout.DESCRIPTION, tokenizer_name=layout.TOKENS_STEMMED, index_option="freq")
    schema.add_text_field(layout.PREFIXES, tokenizer_name=layout.TOKENS_PLAIN, index_option="freq")
    for name in (layout.BRAND, layout.CATEGORY, layout.PRODUCT_TYPE, layout.QUANTITIES, layout.DESCRIBED_QUANTITIES):
        schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
    schema.add_unsigned_field(layout.RANK, fast=True)
    schema.add_bytes_field(layout.HIT, stored=True)
    index = tantivy.Index(schema.build(), str(folder))
    index.register_tokenizer(layout.TOKENS_STEMMED, analyzer())
    plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(layout.TOKENS_PLAIN, plain)
    return index


def _entry(document: Document, rank: int, terms: Terms) -> tantivy.Document:
    item = document.item
    words = indexed_words("\n".join(_texts(document)))
    distinct = set(words)
    exact = _filters(item) + _quantities(document)
    terms.add(distinct, exact, len(words))
    entry = tantivy.Document()
    for field, term in exact:
        entry.add_text(field, term)
    entry.add_text(layout.WORDS, " ".join(words))
    entry.add_text(layout.PREFIXES, " ".join(set().union(*map(prefixes, distinct))))
    if document.description:
        entry.add_text(layout.DESCRIPTION, " ".join(indexed_words(document.description)))
        for term in indexed_quantities(document.description):
            entry.add_text(layout.DESCRIBED_QUANTITIES, term)
    entry.add_unsigned(layout.RANK, rank)
    entry.add_bytes(layout.HIT, _ENCODER.encode((item, document.alt_names)))
    return entry


def _texts(document: Document) -> list[str]:
    item = document.item
    texts = [item.name, *document.alt_names]
    texts += [item.brand.name] if item.brand else []
    texts += [item.product_type] if item.product_type else []
    texts += item.category.path if item.category else []
    return texts


def _quantities(document: Document) -> list[tuple[str, str]]:
    terms = (term for text in (document.item.name, *document.alt_names) for term in indexed_quantities(text))
    return [(layout.QUANTITIES, term) for term in dict.fromkeys(terms)]


def _filters(item: Item) -> list[tuple[str, str]]:
    filters = [(layout.BRAND, item.brand.slug)] if item.brand else []
    filters += [(layout.PRODUCT_TYPE, fold(item.product_type))] if item.product_type else []
    if item.category:
        # Every ancestor's code, so that a category finds what is in those below it.
        segments = item.category.code.split(".")
        filters += [(layout.CATEGORY, ".".join(segments[:depth])) for depth in range(1, len(segments) + 1)]
    return filters


def _write_vocabulary(words: Iterable[tuple[str, int]], folder: Path) -> None:
    folder.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field(layout.WORD, stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_unsigned_field(layout.FREQUENCY, fast=True)
    index = tantivy.Index(schema.build(), str(folder))
    writer = index.writer(VOCABULARY_BYTES_MAX, 1)
    for word, frequency in words:
        entry = tantivy.Document()
        entry.add_text(layout.WORD, word)
        entry.add_unsigned(layout.FREQUENCY, frequency)
        writer.add_document(entry)
    writer.commit()
    writer.wait_merging_threads()


def _make_durable(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        # tantivy leaves its own files to their writer alone; edges may run as another user of the same group.
        path.chmod(0o775 if path.is_dir() else 0o664)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _publish(folder: Path, target: Path) -> Path:
    if target.exists():
        replaced = target.with_name(f"{_UNFINISHED}{target.name}-replaced-{os.getpid()}")
        target.rename(replaced)
        folder.rename(target)
        shutil.rmtree(replaced)
    else:
        folder.rename(target)
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return target
