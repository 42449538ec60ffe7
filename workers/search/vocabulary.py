"""The vocabulary of a segment: an index of its words, in which similar spellings are found."""

from pathlib import Path

import tantivy

from shared.search import layout
from shared.search.segment import Dictionary

# All words must be in one part, in their order: a word's number there is its position among the plain words.
_BYTES_MIN, _BYTES_MAX = 20_000_000, 1_000_000_000
_BYTES_PER_WORD = 200
_CODE = layout.key(layout.PLAIN, "")


def write_vocabulary(folder: Path, dictionary: Dictionary) -> None:
    """Write the index of all plain words of a dictionary."""
    folder.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field(layout.WORD, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(schema.build(), str(folder))
    first, end = dictionary.beginning(_CODE)
    size = _BYTES_MIN + (end - first) * _BYTES_PER_WORD
    writer = index.writer(min(size, _BYTES_MAX), 1)
    for ordinal in range(first, end):
        entry = tantivy.Document()
        entry.add_text(layout.WORD, dictionary.key(ordinal)[len(_CODE) :].decode())
        writer.add_document(entry)
    writer.commit()
    writer.wait_merging_threads()
