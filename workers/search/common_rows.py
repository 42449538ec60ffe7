"""Rows of bits for the common terms of a segment: which documents have the term, in the order of their numbers."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from shared.search import layout
from shared.search.rows import bits, count
from shared.search.segment import Dictionary, Span
from shared.text import is_unspaced

# Longer beginnings are of few words, whose documents are read without a row.
_BEGINNING_CHARACTERS_MAX = 12


def write_rows(folder: Path, dictionary: Dictionary, items: int) -> None:
    """Write the rows of all terms and beginnings of words that are common among so many documents."""
    least = layout.common_from(items)
    names = []
    with (folder / layout.ROWS).open("wb") as file:
        for name, span in [*_terms(dictionary, least), *_beginnings(dictionary, least)]:
            row = bits(dictionary.read(span).documents, items)
            if count(row) > least:
                names.append(name)
                file.write(row.tobytes())
    (folder / layout.ROW_KEYS).write_bytes(msgspec.json.encode(names))


def _terms(dictionary: Dictionary, least: int) -> Iterator[tuple[str, Span]]:
    for position in np.flatnonzero(np.diff(dictionary.starts) > least).tolist():
        key = dictionary.key(position).decode()
        if key[0] not in layout.WITHOUT_ROWS:
            yield key, (position, position + 1)


def _beginnings(dictionary: Dictionary, least: int, begun: str = "") -> Iterator[tuple[str, Span]]:
    # Sorted words with one beginning are neighbours; a longer beginning is only looked for below a common shorter one.
    at, end = dictionary.beginning(layout.key(layout.PLAIN, begun))
    while at < end:
        longer = dictionary.key(at).decode()[1 : len(begun) + 2]
        if longer == begun:  # the word ends here
            at += 1
            continue
        span = dictionary.beginning(layout.key(layout.PLAIN, longer))
        if dictionary.size(span) > least and not is_unspaced(longer):
            yield layout.PREFIXES + longer, span
            if len(longer) < _BEGINNING_CHARACTERS_MAX:
                yield from _beginnings(dictionary, least, longer)
        at = span[1]
