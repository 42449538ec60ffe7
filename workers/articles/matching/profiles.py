"""The fields of a record that are compared, parsed once for all of its pairs."""

import math
from collections.abc import Iterable
from functools import cached_property

from workers.articles.matching.quantities import StatedAmounts, amounts_of
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.text import (
    bigrams,
    codes,
    digit_runs,
    normalize,
    numbers,
    squash,
    trigrams,
    words,
)
from workers.articles.matching.vocabulary import Vocabulary


class Profile:
    """A record's words, numbers and codes. `named`: of name, brand and part number; `said`: of everything.

    `codes` are the model numbers of name and part number; `code_bigrams` and `code_digits` also have a part number that
    does not look like one. `price` is NaN where it is missing, zero or negative. The properties are computed on first
    use, because most pairs are ruled out without them.
    """

    def __init__(self, record: MatchRecord, vocabulary: Vocabulary) -> None:
        self.record, self._vocabulary = record, vocabulary
        values = " ".join(value for _, value in record.attributes)
        texts = (record.name, record.brand, record.mpn, record.category, f"{record.description} {values}")
        parts = [normalize(text) for text in texts]
        said = [words(part) for part in parts]
        part_codes, part_numbers = [codes(part) for part in parts], [numbers(part) for part in parts]
        self.name, self.order = parts[0], said[0]
        self.named, self.said = _union(said[:3]), _union(said)
        self.brand, self.mpn, self.category = frozenset(said[1]), squash(parts[2]), frozenset(said[3])
        self.codes = tuple(dict.fromkeys(part_codes[0] + part_codes[2]))
        self.all_codes = _union(part_codes)
        numbered = dict.fromkeys((*self.codes, self.mpn)) if self.mpn else self.codes
        self.code_bigrams, self.code_digits = [bigrams(code) for code in numbered], digit_runs(numbered)
        self.squashed = squash(" ".join(parts))
        self.numbers, self.all_numbers = _union(part_numbers[:3]), _union(part_numbers)
        self.price = record.price if record.price is not None and record.price > 0 else math.nan

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How rare each word of `named` is."""
        return {word: self._vocabulary.rarity(word) for word in self.named}

    @cached_property
    def number_rarity(self) -> dict[str, float]:
        """How rare each of `numbers` is."""
        return {number: self._vocabulary.rarity(number) for number in self.numbers}

    @cached_property
    def weight(self) -> float:
        """The sum of the words' rarity."""
        return math.fsum(self.rarity.values())

    @cached_property
    def by_initial(self) -> dict[str, list[str]]:
        """The words of `named` that have three letters and more, by the first one."""
        groups: dict[str, list[str]] = {}
        for word in self.named:
            if len(word) >= 3:
                groups.setdefault(word[0], []).append(word)
        return groups

    @cached_property
    def trigrams(self) -> frozenset[tuple[str, str, str]]:
        """Every three neighbouring letters and digits of the name."""
        return trigrams(self.name)

    @cached_property
    def amounts(self) -> StatedAmounts:
        """What name and attributes state of amounts."""
        return amounts_of(self.record)


def price_ratio(left: Profile, right: Profile) -> float:
    """Return the logarithm of two prices' ratio; not a number where a price is missing."""
    return math.log(left.price / right.price)


def _union(parts: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset().union(*parts)
