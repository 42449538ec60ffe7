"""Series of prices of an offer, and the judgement of a reduction among them."""

from datetime import date, timedelta
from decimal import Decimal

from shared.prior_price import Moment, Reason, Reference, Status

FIRST = date(2026, 1, 1)


def series(*runs: tuple[int, str | None]) -> list[Moment]:
    """Make a moment a day: runs of (days, price); the price None is a run of days without an observation."""
    moments, day = [], FIRST
    for length, price in runs:
        for _ in range(length):
            if price == "closed":
                moments.append(Moment(day, status=Status.NOT_OFFERED))
            elif price is not None:
                moments.append(Moment(day, price=Decimal(price)))
            day += timedelta(days=1)
    return moments


def listed(*runs: tuple[int, str, str]) -> list[Moment]:
    """Make a moment a day: runs of (days, price, list price)."""
    made = series(*((length, price) for length, price, _ in runs))
    lists = [text for length, _, text in runs for _ in range(length)]
    return [Moment(one.day, price=one.price, list_price=Decimal(text)) for one, text in zip(made, lists, strict=True)]


def judged(found: Reference) -> tuple[str | None, str | None, Reason | None]:
    text = [None if value is None else str(value) for value in (found.prior_price, found.percent)]
    return text[0], text[1], found.reason
