"""The input and the result of the rule of the prior price."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

WINDOW_DAYS = 30


class Status(StrEnum):
    """The observations of one moment."""

    OFFERED = "offered"
    NOT_OFFERED = "not offered"
    UNOBSERVED = "no observation"


class Reason(StrEnum):
    """Why no reduction may be announced, or why that cannot be known."""

    NO_REDUCTION = "no_reduction"
    NOT_BELOW = "not_below_prior_price"
    MISSING_DAYS = "missing_days"
    FEWER_DAYS = "fewer_than_30_days"
    NEW_ARRIVAL = "new_arrival"
    PROGRESSIVE = "progressive_reduction"


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A price from a time of a day on; `list_price` is what the seller crossed out, None where nothing is known."""

    day: date
    time: str = "00:00"
    price: Decimal | None = None
    status: Status = Status.OFFERED
    list_price: Decimal | None = None

    @property
    def announced(self) -> bool:
        """Whether the seller showed a higher price beside this one."""
        return self.list_price is not None and self.price is not None and self.list_price > self.price


@dataclass(frozen=True, slots=True)
class Options:
    """The choices that the law leaves to a Member State. `progressive` None: not stated.

    `progressive`: Art. 6a(5) applies, for reductions whose steps begin within `progressive_days` of the first one.
    `new_arrivals`: Art. 6a(4) applies, so the lowest price since `first_offered` counts where that is under 30 days.
    """

    progressive: bool | None = None
    progressive_days: int | None = None
    new_arrivals: bool = False
    first_offered: date | None = None
    window_days: int = WINDOW_DAYS


@dataclass(frozen=True, slots=True)
class Evidence:
    """The lowest price of one day of the window."""

    day: date
    price: Decimal


@dataclass(frozen=True, slots=True)
class Reference:
    """The running reduction of one channel. `percent` is rounded half up to two decimals.

    `applicable` holds if the prior price is known and the new price is below it; else `reason` says why not. Where the
    window is not known completely, `prior_price` is None and `at_most` is the lowest price that was seen in it.
    """

    price: Decimal | None
    reduction_began_on: date | None
    reduction_began_at: str | None
    prior_price: Decimal | None
    percent: Decimal | None
    applicable: bool
    reason: Reason | None
    at_most: Decimal | None
    lowest_on: tuple[date, ...]
    evidence: tuple[Evidence, ...]

    @property
    def known(self) -> bool:
        """Whether the observations suffice to judge the reduction."""
        return self.applicable or self.reason in (Reason.NO_REDUCTION, Reason.NOT_BELOW)
