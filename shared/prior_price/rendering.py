"""A reference as the fields of an answer."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from shared.prior_price.model import Reference


def as_fields(judged: Reference, money: Callable[[Decimal], str] = str) -> dict[str, Any]:
    """Return the fields in their order: amounts and the percentage as decimal text, days as dates."""

    def amount(value: Decimal | None) -> str | None:
        return None if value is None else money(value)

    return {
        "price": amount(judged.price),
        "reduction_began_on": judged.reduction_began_on,
        "reduction_began_at": judged.reduction_began_at,
        "prior_price": amount(judged.prior_price),
        "percent": None if judged.percent is None else str(judged.percent),
        "applicable": judged.applicable,
        "reason": judged.reason.value if judged.reason else None,
        "known": judged.known,
        "at_most": amount(judged.at_most),
        "lowest_on": list(judged.lowest_on),
        "evidence": [{"day": one.day, "price": money(one.price)} for one in judged.evidence],
    }
