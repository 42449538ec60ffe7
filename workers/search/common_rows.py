"""Rows of bits for the common terms of a segment: which documents have the term, in the order of their numbers."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from shared.search import layout
from shared.search.rows import bits, count
from shared.search.segment import Dictionary, Span
from shared.text import is_unspaced

_PLAIN = layout.key(layout.PLAIN, "")
# Longer beginnings are of few words, whose documents are read without a row.
_BEGINNING_CHARACTERS_MAX = 12
_FIELDS = [
    layout.key(field, "")
    for field in (
        layout.WORDS,
        layout.QUANTITIES,
        layout.BRAND,
        layout.CATEGORY,
        layout.PRODUCT_TYPE,
        layout.CHANNEL,
        layout.CURRENCY,
    )
]


def write_rows(folder: Path, dictionary: Dictionary, items: int) -> None:
    """Write the rows of all terms and beginnings of words that are common among so many documents."""
    least = layout.common_from(items)
    names = []
    with (folder / layout.ROWS).open("wb") as file:
        for name, span in [*_terms(dictionary, least), *_beginnings(dictionary, least)]:
            row = bits(dictionary.read(span).documents, items)
            if count(row) > least:
                names.append(name.hex())
                file.write(row.tobytes())
    (folder / layout.ROW_KEYS).write_bytes(msgspec.json.encode(names))


def _terms(dictionary: Dictionary, least: int) -> Iterator[tuple[bytes, Span]]:
    for code in _FIELDS:
        first, end = dictionary.beginning(code)
        for position in np.flatnonzero(np.diff(dictionary.starts[first : end + 1]) > least).tolist():
            yield dictionary.key(first + position), (first + position, first + position + 1)


def _beginnings(dictionary: Dictionary, least: int) -> Iterator[tuple[bytes, Span]]:
    # Sorted words with one beginning are neighbours; a longer beginning is only looked for below a common shorter one.
    level = [("", dictionary.beginning(_PLAIN))]
    for _ in range(_BEGINNING_CHARACTERS_MAX):
        deeper = []
        for begun, span in level:
            for longer, part in _continuations(dictionary, begun, span):
                if dictionary.size(part) > least and not is_unspaced(longer):
                    yield layout.key(layout.PREFIXES, longer), part
                    deeper.append((longer, part))
        level = deeper


def _continuations(dictionary: Dictionary, begun: str, span: Span) -> Iterator[tuple[str, Span]]:
    """Return each beginning that is one character longer, with the words that begin so."""
    first, end = span
    while first < end:
        word = dictionary.key(first)[len(_PLAIN) :].decode()
        longer = word[: len(begun) + 1]
        if longer == begun:  # the word ends here
            first += 1
            continue
        last = min(end, dictionary.position(_PLAIN + longer.encode() + b"\xff", first))
        yield longer, (first, last)
        first = last
