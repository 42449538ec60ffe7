"""What a question says besides the words of an item: a bound of its price, and quantities. Pure.

Only what has one meaning is read: an amount beside a comparison and one currency. Everything else stays a word.
"""

import re
from decimal import Decimal

import msgspec

from shared.currencies import CODES, SIGNS
from shared.units.names import read

# Currencies whose codes are words too: these are read in capitals alone.
_WORDS_TOO = frozenset("ALL BAM BOB COP CUP GEL LIT MAD MOP PEN SIT SOS TOP TRY".split())
_SIGNS = {sign: next(iter(codes)) for sign, codes in SIGNS.items() if len(codes) == 1}
_AMOUNT = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9})(?:[.,][0-9]{1,2})?(?![0-9.,]*[0-9])"
_CURRENCY = "|".join([r"[A-Za-z]{3}(?![A-Za-z])", *(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))])
_MONEY = rf"(?:(?P<before>{_CURRENCY})\s?(?P<a>{_AMOUNT})|(?P<b>{_AMOUNT})\s?(?P<after>{_CURRENCY}))"
_MOST = r"under|below|less than|cheaper than|up to|at most|no more than|<=|<"
_LEAST = r"over|above|more than|at least|no less than|>=|>"
_BOUND = re.compile(rf"(?<!\S)(?:(?P<most>{_MOST})|(?P<least>{_LEAST}))\s*{_MONEY}(?!\S)", re.IGNORECASE)


class Understood(msgspec.Struct, frozen=True, omit_defaults=True):
    """The question without what was read of it, and that: bounds in whole units of the currency, quantities as read."""

    q: str
    currency: str | None = None
    price_min: str | None = None
    price_max: str | None = None
    quantities: tuple[str, ...] = ()


def understand(q: str) -> Understood | None:
    """Return what is read of a question; None where that is nothing."""
    rest, bounds = q, dict[str, str]()
    currencies: set[str] = set()
    for match in _BOUND.finditer(q):
        side = "price_max" if match["most"] else "price_min"
        currency = _currency(match["before"] or match["after"])
        if currency is None or side in bounds:
            return _quantities(q)
        bounds[side] = _amount(match["a"] or match["b"])
        currencies.add(currency)
        rest = rest.replace(match[0], " ")
    rest = " ".join(rest.split())
    if len(currencies) != 1 or not rest or _is_empty(bounds):
        return _quantities(q)
    quantities = tuple(quantity.text for quantity in read(rest).quantities)
    return Understood(rest, currencies.pop(), bounds.get("price_min"), bounds.get("price_max"), quantities)


def _quantities(q: str) -> Understood | None:
    quantities = tuple(quantity.text for quantity in read(q).quantities)
    return Understood(q, quantities=quantities) if quantities else None


def _is_empty(bounds: dict[str, str]) -> bool:
    return len(bounds) == 2 and Decimal(bounds["price_min"]) > Decimal(bounds["price_max"])


def _currency(text: str) -> str | None:
    code = _SIGNS.get(text, text.upper())
    return code if code in CODES and (code not in _WORDS_TOO or text == code or text in _SIGNS) else None


def _amount(text: str) -> str:
    """Return an amount in decimal digits; a comma before three digits separates thousands."""
    whole, mark, decimals = text.rpartition(",")
    return f"{whole}.{decimals}" if mark and len(decimals) < 3 else text.replace(",", "")
