"""The view of a pair for a person: the words, codes, amounts and prices that agree or differ."""

import math

from workers.articles.matching.identifiers import part_numbers_differ
from workers.articles.matching.model import Model
from workers.articles.matching.profiles import Profile, price_ratio
from workers.articles.matching.quantities import contradictions
from workers.articles.matching.records import LinkEvidence

_MOST_WORDS = 5
# Prices within the first ratio speak for a link, beyond the second against it; in between, shops differ.
_NEAR, _FAR = math.log(1.25), math.log(1.5)
_MPN, _PRICE, _NUMBER = "mpn", "price", "number"
# A refurbished or compatible article is another one than the new, and a kit than the piece in it, though its name has
# the same part number.
_CONDITIONS = frozenset(
    ("refurbished", "remanufactured", "reconditioned", "recertified", "renewed", "compatible", "kit", "bundle")
)


def evidence(left: Profile, right: Profile) -> tuple[LinkEvidence, ...]:
    """Return the rarest shared words, equal codes, brand and price, and what the two state differently."""
    shared = sorted(left.named & right.named, key=lambda word: (-left.rarity[word], word))
    rows = [LinkEvidence("word", word, word, agrees=True) for word in shared[:_MOST_WORDS]]
    rows += [LinkEvidence("code", code, code, agrees=True) for code in sorted(left.all_codes & right.all_codes)]
    if left.brand and right.brand and left.brand & right.brand:
        rows.append(LinkEvidence("brand", left.record.brand, right.record.brand, agrees=True))
    if abs(price_ratio(left, right)) <= _NEAR:
        rows.append(LinkEvidence(_PRICE, _price(left), _price(right), agrees=True))
    numbers = [" ".join(sorted(one)) for one in _own_numbers(left, right)]
    said = {
        _MPN: (left.record.mpn, right.record.mpn),
        _PRICE: (_price(left), _price(right)),
        _NUMBER: (numbers[0], numbers[1]),
    }
    for field in opposed_fields(left, right):
        mine, theirs = said.get(field, (left.record.name, right.record.name))
        rows.append(LinkEvidence(field, mine, theirs, agrees=False))
    return tuple(rows)


def opposed_fields(left: Profile, right: Profile) -> list[str]:
    """Name what two records state differently, which is for a person however alike they are otherwise."""
    opposed = contradictions(left.amounts, right.amounts)
    if part_numbers_differ(left.mpn, right.mpn):
        opposed.append(_MPN)
    if abs(price_ratio(left, right)) > _FAR:
        opposed.append(_PRICE)
    if left.named & _CONDITIONS != right.named & _CONDITIONS:
        opposed.append("condition")
    # A generation, a length without its unit, the number of another model: shops tell variants apart by these.
    if all(_own_numbers(left, right)) and not same_code(left, right):
        opposed.append(_NUMBER)
    return opposed


def link_bound(left: Profile, right: Profile, model: Model, *, offers: bool) -> float:
    """Return from which probability on a pair is linked without a person; infinity where a person must decide.

    `offers`: both records have copies, as the offers of marketplaces do. Many of these are siblings with near-equal
    names and one model number, so no name may have a number that the other record lacks.
    """
    if offers and any(_own_numbers(left, right)):
        return math.inf
    learned = math.inf if model.link_learned is None or opposed_fields(left, right) else model.link_learned
    if not certain(left, right):
        return learned
    if offers:
        return min(learned, math.inf if model.link_offers is None else model.link_offers)
    return min(learned, model.link_coded if same_code(left, right) else model.link)


def same_code(left: Profile, right: Profile) -> bool:
    """Say whether both records have one model number in their name or part number."""
    return not set(left.codes).isdisjoint(right.codes)


def certain(left: Profile, right: Profile) -> bool:
    """Say whether a pair that the model is sure of may be linked without a person.

    Nothing opposes it, and neither record has a brand or a pack that the other lacks. Something besides the likeness of
    two names confirms it: each has every model number of the other, or neither name has a number that the other record
    lacks and there are prices of both, part numbers of both, or no word that the other record lacks.
    """
    if opposed_fields(left, right) or bool(left.amounts.packs) != bool(right.amounts.packs):
        return False
    if not (left.brand <= right.said and right.brand <= left.said):
        return False
    if same_code(left, right) and _all_in(left.codes, right) and _all_in(right.codes, left):
        return True
    if any(_own_numbers(left, right)):
        return False
    if (left.mpn and right.mpn) or not math.isnan(price_ratio(left, right)):
        return True
    return left.named <= right.said and right.named <= left.said


def _all_in(codes: tuple[str, ...], other: Profile) -> bool:
    return all(code in other.squashed for code in codes)


def _own_numbers(left: Profile, right: Profile) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers of each name that the other record has nowhere."""
    return left.numbers - right.all_numbers, right.numbers - left.all_numbers


def _price(one: Profile) -> str:
    return f"{one.price:.2f}"
