"""Features of a pair: numbers that can be read, each with its name."""

import math
from collections.abc import Callable, Collection

from workers.articles.matching.profiles import Profile, price_ratio
from workers.articles.matching.quantities import contradictions

_MISSING = math.nan


Group = Callable[[Profile, Profile], dict[str, float]]
"""Returns features of a pair, always the same names in the same order; what cannot be known is not a number."""


def words(left: Profile, right: Profile) -> dict[str, float]:
    """Compare what the two names have in common, and what each has alone."""
    mine, theirs = left.rarity, right.rarity
    shared = left.named & right.named
    only_left, only_right = left.named - shared, right.named - shared
    unsaid_left, unsaid_right = only_left - right.said, only_right - left.said
    weight_left, weight_right = left.weight or 1.0, right.weight or 1.0
    weight_shared = math.fsum(mine[word] for word in shared)
    letters = len(left.trigrams & right.trigrams)
    odd_left = [mine[word] for word in unsaid_left if not _spelled_alike(word, right)]
    odd_right = [theirs[word] for word in unsaid_right if not _spelled_alike(word, left)]
    return {
        "shared_rarest": max((mine[word] for word in shared), default=0.0),
        "only_left_rarest": max((mine[word] for word in only_left), default=0.0),
        "only_right_rarest": max((theirs[word] for word in only_right), default=0.0),
        "unsaid_left_rarest": max((mine[word] for word in unsaid_left), default=0.0),
        "unsaid_right_rarest": max((theirs[word] for word in unsaid_right), default=0.0),
        "shared_of_left": weight_shared / weight_left,
        "shared_of_right": weight_shared / weight_right,
        "said_of_left": 1 - math.fsum(mine[word] for word in unsaid_left) / weight_left,
        "said_of_right": 1 - math.fsum(theirs[word] for word in unsaid_right) / weight_right,
        "shared": len(shared),
        "only_left": len(only_left),
        "only_right": len(only_right),
        "odd_left_rarest": max(odd_left, default=0.0),
        "odd_left_weight": math.fsum(odd_left),
        "odd_right_rarest": max(odd_right, default=0.0),
        "odd_right_weight": math.fsum(odd_right),
        "letters_alike": 2 * letters / max(1, len(left.trigrams) + len(right.trigrams)),
        "letters_of_shorter": letters / max(1, min(len(left.trigrams), len(right.trigrams))),
        "same_beginning": _common_beginning(left.order, right.order),
    }


def codes(left: Profile, right: Profile) -> dict[str, float]:
    """Compare model numbers."""
    left_in_right = [code for code in left.codes if code in right.squashed]
    right_in_left = [code for code in right.codes if code in left.squashed]
    beginnings = [
        _common_beginning(one, other) / max(len(one), len(other)) for one in left.codes for other in right.codes
    ]
    both = bool(left.codes and right.codes)
    likenesses = [_dice(one, other) for one in left.code_bigrams for other in right.code_bigrams]
    digits_shared = left.code_digits & right.code_digits
    return {
        "codes_equal": len(set(left.codes) & set(right.codes)),
        "codes_left_found": len(left_in_right),
        "codes_right_found": len(right_in_left),
        "codes_left": len(left.codes),
        "codes_right": len(right.codes),
        "codes_disagree": float(both and not left_in_right and not right_in_left),
        "code_longest": max((len(code) for code in (*left_in_right, *right_in_left)), default=0),
        "code_beginning": max(beginnings, default=-1.0),
        "code_likeness": max(likenesses, default=-1.0),
        "code_digits_shared": max(map(len, digits_shared), default=0),
        "code_digits_left_found": _longest_run_in(left.code_digits, right.squashed),
        "code_digits_right_found": _longest_run_in(right.code_digits, left.squashed),
        "codes_left_share": len(left_in_right) / len(left.codes) if left.codes else -1.0,
        "codes_right_share": len(right_in_left) / len(right.codes) if right.codes else -1.0,
        "codes_anywhere": len(left.all_codes & right.all_codes),
    }


def numbers(left: Profile, right: Profile) -> dict[str, float]:
    """Compare numbers."""
    only_left, only_right = left.numbers - right.numbers, right.numbers - left.numbers
    return {
        "numbers_shared": len(left.numbers & right.numbers),
        "numbers_only_left": len(only_left),
        "numbers_only_right": len(only_right),
        "numbers_unsaid_left": len(left.numbers - right.all_numbers),
        "numbers_unsaid_right": len(right.numbers - left.all_numbers),
        "number_only_left_rarest": max((left.number_rarity[number] for number in only_left), default=0.0),
        "number_only_right_rarest": max((right.number_rarity[number] for number in only_right), default=0.0),
    }


def amounts(left: Profile, right: Profile) -> dict[str, float]:
    """Compare measures, packs and colours."""
    mine, theirs = left.amounts, right.amounts
    against = contradictions(mine, theirs)
    agree = [unit for unit in mine.measures if mine.measures[unit] & theirs.measures.get(unit, frozenset())]
    return {
        "amounts_against": len(against),
        "amounts_agree": len(agree),
        "colour_against": float("colour" in against),
        "pack_against": float("pack" in against),
        "colours_shared": len(mine.colours & theirs.colours),
        "colours_differ": len(mine.colours ^ theirs.colours),
        "packs_shared": len(mine.packs & theirs.packs),
        "packs_differ": len(mine.packs ^ theirs.packs),
    }


def fields(left: Profile, right: Profile) -> dict[str, float]:
    """Compare price, brand, part number and category."""
    ratio = price_ratio(left, right)
    return {
        "price_ratio": ratio,
        "price_distance": abs(ratio),
        "brand_agrees": _overlap(left.brand, right.brand),
        "brand_left_said": float(left.brand <= right.said) if left.brand else _MISSING,
        "brand_right_said": float(right.brand <= left.said) if right.brand else _MISSING,
        "mpn_equal": float(left.mpn == right.mpn) if left.mpn and right.mpn else _MISSING,
        "mpn_beginning": _beginning_share(left.mpn, right.mpn),
        "mpn_left_found": float(left.mpn in right.squashed) if left.mpn else _MISSING,
        "mpn_right_found": float(right.mpn in left.squashed) if right.mpn else _MISSING,
        "category_agrees": _overlap(left.category, right.category),
    }


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _longest_run_in(digits: frozenset[str], text: str) -> int:
    return max((len(run) for run in digits if run in text), default=0)


def _spelled_alike(word: str, other: Profile) -> bool:
    """Say whether another record's name has an abbreviation or a longer form of a word."""
    if len(word) < 3 or word[0].isdigit():
        return False
    return any(
        one.startswith(word) or word.startswith(one) or _keeps_letters(word, one)
        for one in other.by_initial.get(word[0], ())
    )


def _keeps_letters(one: str, other: str) -> bool:
    """Say whether the shorter word has the longer one's letters in their order, and its last: `ltr` for `letter`."""
    short, long = sorted((one, other), key=len)
    if short[-1] != long[-1]:
        return False
    rest = iter(long)
    return all(mark in rest for mark in short)


def _common_beginning(one: Collection[str], other: Collection[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _beginning_share(one: str, other: str) -> float:
    return _common_beginning(one, other) / max(len(one), len(other)) if one and other else _MISSING


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else _MISSING
