"""What is compared of a record, taken apart once for all of its pairs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from workers.articles.matching.quantities import Amounts, amounts
from workers.articles.matching.records import Record
from workers.articles.matching.text import (
    bigrams,
    codes,
    compose,
    digit_runs,
    normalize,
    numbers,
    squash,
    trigrams,
    words,
)
from workers.articles.matching.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Profile:
    """A record's words, numbers and codes. `named`: of name, brand and part number; `said`: of everything.

    `rarity` has the words of `named`, `weight` is their sum, and `by_initial` groups those of three letters and more.
    `codes` are the model numbers of name and part number; `code_bigrams` and `code_digits` also have a part number that
    does not look like one.
    """

    record: Record
    name: str
    order: tuple[str, ...]
    named: frozenset[str]
    said: frozenset[str]
    rarity: dict[str, float]
    weight: float
    by_initial: dict[str, list[str]]
    trigrams: frozenset[tuple[str, str, str]]
    codes: tuple[str, ...]
    all_codes: frozenset[str]
    code_bigrams: tuple[frozenset[str], ...]
    code_digits: frozenset[str]
    squashed: str
    numbers: frozenset[str]
    all_numbers: frozenset[str]
    amounts: Amounts
    brand: frozenset[str]
    mpn: str
    category: frozenset[str]
    price: float


def profile(record: Record, vocabulary: Vocabulary) -> Profile:
    """Take a record apart; a price that is missing, zero or negative is not a number."""
    name, brand, mpn = normalize(record.name), normalize(record.brand), normalize(record.mpn)
    category, values = normalize(record.category), " ".join(value for _, value in record.attributes)
    parts = (name, brand, mpn, category, normalize(f"{record.description} {values}"))
    said = [words(part) for part in parts]
    named = _union(said[:3])
    rarity = {word: vocabulary.rarity(word) for word in named}
    part_codes = [codes(part) for part in parts]
    squashed_mpn = squash(mpn)
    named_codes = tuple(dict.fromkeys(part_codes[0] + part_codes[2]))
    numbered = dict.fromkeys((*named_codes, squashed_mpn)) if squashed_mpn else named_codes
    part_numbers = [numbers(part) for part in parts]
    return Profile(
        record=record,
        name=name,
        order=tuple(said[0]),
        named=named,
        said=_union(said),
        rarity=rarity,
        weight=math.fsum(rarity.values()),
        by_initial=_by_initial(named),
        trigrams=trigrams(name),
        codes=named_codes,
        all_codes=_union(part_codes),
        code_bigrams=tuple(bigrams(code) for code in numbered),
        code_digits=digit_runs(numbered),
        squashed=squash(" ".join(parts)),
        numbers=_union(part_numbers[:3]),
        all_numbers=_union(part_numbers),
        amounts=amounts(compose(record.name), *(compose(value) for _, value in record.attributes)),
        brand=frozenset(said[1]),
        mpn=squashed_mpn,
        category=frozenset(said[3]),
        price=record.price if record.price is not None and record.price > 0 else math.nan,
    )


def price_ratio(left: Profile, right: Profile) -> float:
    """Return the logarithm of two prices' ratio; not a number where a price is missing or the currencies differ."""
    currencies = left.record.currency, right.record.currency
    if all(currencies) and currencies[0] != currencies[1]:
        return math.nan
    return math.log(left.price / right.price)


def _union(parts: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset().union(*parts)


def _by_initial(words_of_name: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for word in words_of_name:
        if len(word) >= 3:
            groups.setdefault(word[0], []).append(word)
    return groups
