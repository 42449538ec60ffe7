"""Whether two names are one name in other spelling: the same amounts, and the same words beside them. Pure."""

import re
from typing import NamedTuple

from shared.text import indexed_words, stems
from shared.units.names import read, same_quantities
from shared.units.tokens import plain

_FILLERS = frozenset({"of", "pack", "per"})
_LETTER_BESIDE_DIGIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


class Comparison(NamedTuple):
    """The common parts of two names: amounts, other words."""

    quantities: bool
    words: bool

    @property
    def equal(self) -> bool:
        """Whether the names are equal but for spelling."""
        return self.quantities and self.words


def compare(first: str, second: str) -> Comparison:
    """Compare two names."""
    mine, theirs = read(first), read(second)
    return Comparison(same_quantities(mine.quantities, theirs.quantities), _words(mine.rest) == _words(theirs.rest))


def _words(rest: str) -> list[str]:
    words = stems(indexed_words(_LETTER_BESIDE_DIGIT.sub(" ", plain(rest))))
    return sorted(word for word in words if word not in _FILLERS)
