"""The model of likeness: the probability that two records are one article."""

import math
from dataclasses import dataclass

from workers.matching.quantities import amounts, contradictions
from workers.matching.records import Evidence, Record
from workers.matching.text import words


@dataclass(frozen=True, slots=True)
class Model:
    """A logistic model over a few readable features. `link` and `review` are the two bounds of its score."""

    link: float = 0.99
    review: float = 0.5

    @classmethod
    def shipped(cls) -> "Model":
        """Return the model that comes with the program."""
        return cls()

    def score(self, left: Record, right: Record) -> float:
        """Return the probability that two records are one article."""
        mine, theirs = set(words(left.name)), set(words(right.name))
        union = mine | theirs
        shared = len(mine & theirs) / len(union) if union else 0.0
        coded = bool({word for word in mine & theirs if _is_code(word)})
        against = len(contradictions(amounts(left.name), amounts(right.name)))
        return 1 / (1 + math.exp(5.0 - 9.0 * shared - 2.5 * coded + 3.0 * against))

    def evidence(self, left: Record, right: Record) -> tuple[Evidence, ...]:
        """Return what the two records say that speaks for and against the link."""
        shared = [word for word in words(left.name) if word in set(words(right.name))]
        agree = [Evidence("word", word, word, agrees=True) for word in dict.fromkeys(shared)]
        against = contradictions(amounts(left.name), amounts(right.name))
        return (*agree, *(Evidence(name, left.name, right.name, agrees=False) for name in against))


def _is_code(word: str) -> bool:
    return any(mark.isdigit() for mark in word) and any(mark.isalpha() for mark in word)
