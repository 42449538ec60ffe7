"""What is compared of a record, taken apart once for all of its pairs."""

import math
from dataclasses import dataclass

from workers.matching.quantities import Amounts, amounts
from workers.matching.records import Record
from workers.matching.text import codes, normalize, numbers, squash, trigrams, words


@dataclass(frozen=True, slots=True)
class Profile:
    """A record's words, numbers and codes. `named`: of name, brand and part number; `said`: of everything."""

    record: Record
    name: str
    order: tuple[str, ...]
    named: frozenset[str]
    said: frozenset[str]
    trigrams: frozenset[str]
    codes: tuple[str, ...]
    all_codes: frozenset[str]
    squashed: str
    numbers: frozenset[str]
    all_numbers: frozenset[str]
    amounts: Amounts
    brand: frozenset[str]
    mpn: str
    category: frozenset[str]
    price: float


def profile(record: Record) -> Profile:
    """Take a record apart; a price that is missing, zero or negative is not a number."""
    name, brand, mpn = normalize(record.name), normalize(record.brand), normalize(record.mpn)
    category = normalize(record.category)
    values = " ".join(value for _, value in record.attributes)
    named = f"{name} {brand} {mpn}"
    said = f"{named} {category} {normalize(f'{record.description} {values}')}"
    return Profile(
        record=record,
        name=name,
        order=tuple(words(name)),
        named=frozenset(words(named)),
        said=frozenset(words(said)),
        trigrams=trigrams(name),
        codes=tuple(codes(f"{name} {mpn}")),
        all_codes=frozenset(codes(said)),
        squashed=squash(said),
        numbers=numbers(named),
        all_numbers=numbers(said),
        amounts=amounts(f"{name} {normalize(values)}"),
        brand=frozenset(words(brand)),
        mpn=squash(mpn),
        category=frozenset(words(category)),
        price=record.price if record.price is not None and record.price > 0 else math.nan,
    )
