"""Statistics in exact fractions, and the rounding that an answer may show. Shares no code with the product. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

_ROOT = Context(prec=80)


@dataclass(frozen=True)
class Near:
    """An exact value that may be shown rounded: to `places`, to significant `digits`, or to the nearest double.

    Only what `meta.rounding` announces is compared so.
    """

    exact: Fraction
    places: int | None = None
    digits: int | None = None

    def allows(self, shown: Fraction) -> bool:
        """Return whether `shown` is at most half a unit of the last place away; ties may go either way."""
        if self.places is None and self.digits is None:
            return float(shown) == float(self.exact)
        # Numbers in JSON are doubles: of a large one fewer decimals are there than were promised, and of a large
        # geometric mean one or two fewer still, because the error of a logarithm grows with the logarithm.
        return abs(shown - self.exact) <= max(self._unit() / 2, abs(self.exact) / 2**47)

    def _unit(self) -> Fraction:
        if self.places is not None:
            return Fraction(1, 10**self.places)
        if not self.exact:
            return Fraction(0)
        magnitude = Decimal(self.exact.numerator) / Decimal(self.exact.denominator)
        return Fraction(10) ** (magnitude.adjusted() - (self.digits or 0) + 1)


@dataclass(frozen=True)
class Within:
    """A value that a simulation, or another approximation of a quantile, gives: shown may be a share of it away."""

    exact: float
    share: float

    def allows(self, shown: Fraction) -> bool:
        """Return whether `shown` is near enough."""
        return abs(float(shown) - self.exact) <= self.share * abs(self.exact)


def percentile(ascending: Sequence[Decimal | Fraction], percent: int) -> Fraction:
    """Return a percentile of sorted values by linear interpolation, as SQL's percentile_cont."""
    place, rest = divmod(percent * (len(ascending) - 1), 100)
    low = Fraction(ascending[place])
    high = Fraction(ascending[min(place + 1, len(ascending) - 1)])
    return low + (high - low) * Fraction(rest, 100)


def mean(values: Sequence[Decimal]) -> Fraction:
    """Return the arithmetic mean."""
    return sum((Fraction(value) for value in values), Fraction(0)) / len(values)


def deviation(values: Sequence[Decimal]) -> Fraction | None:
    """Return the sample standard deviation to eighty digits; None for a single value."""
    if len(values) < 2:
        return None
    middle = mean(values)
    variance = sum(((Fraction(value) - middle) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
    return Fraction(_ROOT.sqrt(_ROOT.divide(Decimal(variance.numerator), Decimal(variance.denominator))))


def change(now: Fraction, before: Fraction | None) -> Near | None:
    """Return by how much a figure changed, as a ratio to six places; None where there was none before."""
    return Near(now / before - 1, places=6) if before else None


def share(part: int, whole: int) -> Near:
    """Return a share to six places."""
    return Near(Fraction(part, whole), places=6)
