"""Standings by number of items: 1 is the one with most, equals share a place. Exact."""

from collections.abc import Mapping
from fractions import Fraction

from tests.assurance.truth.exact import Near


def rank(counts: Mapping[str, int], name: str) -> int | None:
    """Return the rank of a name; None where it has no items."""
    return 1 + sum(n > counts[name] for n in counts.values()) if name in counts else None


def percentile(counts: Mapping[str, int], name: str) -> Near:
    """Return which percentage of the others has fewer items, to four places."""
    others = len(counts) - 1
    fewer = sum(n < counts[name] for n in counts.values())
    return Near(Fraction(100 * fewer, others) if others else Fraction(100), places=4)


def most(counts: Mapping[str, int], numbers: Mapping[str, int], limit: int) -> list[str]:
    """Return the names that count most; equals are in the order of their numbers, then of their names."""
    return sorted(counts, key=lambda name: (-counts[name], numbers.get(name, 0), name))[:limit]
