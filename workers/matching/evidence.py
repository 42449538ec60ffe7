"""What a person is shown of a pair: the words, codes, amounts and prices that agree or differ."""

from workers.matching.profiles import Profile
from workers.matching.quantities import contradictions
from workers.matching.records import Evidence
from workers.matching.vocabulary import Vocabulary

_MOST_WORDS = 5
# Prices within this ratio speak for a link; further apart they say nothing, for shops differ.
_FAR = 1.25


def evidence(left: Profile, right: Profile, vocabulary: Vocabulary) -> tuple[Evidence, ...]:
    """Return the rarest shared words, equal codes, brand and price, and each amount that contradicts."""
    shared = sorted(left.named & right.named, key=lambda word: (-vocabulary.rarity(word), word))
    found = [Evidence("word", word, word, agrees=True) for word in shared[:_MOST_WORDS]]
    found += [Evidence("code", code, code, agrees=True) for code in sorted(left.all_codes & right.all_codes)]
    if left.brand and right.brand and left.brand & right.brand:
        found.append(Evidence("brand", left.record.brand, right.record.brand, agrees=True))
    if 1 / _FAR <= left.price / right.price <= _FAR:  # not where either is missing, which is no number
        found.append(Evidence("price", f"{left.price:.2f}", f"{right.price:.2f}", agrees=True))
    for field in contradictions(left.amounts, right.amounts):
        found.append(Evidence(field, left.record.name, right.record.name, agrees=False))
    return tuple(found)
