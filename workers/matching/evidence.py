"""What a person is shown of a pair: the words, codes, amounts and prices that agree or differ."""

from workers.matching.profiles import Profile
from workers.matching.quantities import contradictions
from workers.matching.records import Evidence
from workers.matching.vocabulary import Vocabulary

_MOST_WORDS = 5
# Prices within this ratio speak for a link; further apart they say nothing, for shops differ.
_FAR = 1.25
_MPN = "mpn"


def evidence(left: Profile, right: Profile, vocabulary: Vocabulary) -> tuple[Evidence, ...]:
    """Return the rarest shared words, equal codes, brand and price, and what the two state differently."""
    shared = sorted(left.named & right.named, key=lambda word: (-vocabulary.rarity(word), word))
    found = [Evidence("word", word, word, agrees=True) for word in shared[:_MOST_WORDS]]
    found += [Evidence("code", code, code, agrees=True) for code in sorted(left.all_codes & right.all_codes)]
    if left.brand and right.brand and left.brand & right.brand:
        found.append(Evidence("brand", left.record.brand, right.record.brand, agrees=True))
    if 1 / _FAR <= left.price / right.price <= _FAR:  # not where either is missing, which is no number
        found.append(Evidence("price", f"{left.price:.2f}", f"{right.price:.2f}", agrees=True))
    for field in opposed(left, right):
        said = (left.record.mpn, right.record.mpn) if field == _MPN else (left.record.name, right.record.name)
        found.append(Evidence(field, *said, agrees=False))
    return tuple(found)


def opposed(left: Profile, right: Profile) -> list[str]:
    """Name what two records state differently, which is for a person however alike they are otherwise.

    Part numbers differ where neither contains the other: shops add a country or a pack to the maker's number.
    """
    found = contradictions(left.amounts, right.amounts)
    if left.mpn and right.mpn and left.mpn not in right.mpn and right.mpn not in left.mpn:
        found.append(_MPN)
    return found
