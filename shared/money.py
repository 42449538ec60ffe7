"""Money as integers of the currency's minor unit, and as decimal text for people. Never as binary floating point.

Minor digits: ISO 4217, list of current currency codes (only those that differ from two are written here).
"""

from decimal import Decimal, InvalidOperation

MINOR_MAX = 10**15
_NOT_TWO = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def minor_digits(currency: str) -> int:
    """Return how many decimal digits the currency has: 2 for HKD, 0 for JPY."""
    return _NOT_TWO.get(currency, 2)


def to_minor(text: str, currency: str) -> int:
    """Turn decimal text into minor units; raise ValueError when it is no amount, negative, too fine or too large."""
    try:
        amount = Decimal(text).scaleb(minor_digits(currency))
    except InvalidOperation:
        raise ValueError("not a decimal number") from None
    if not amount.is_finite() or amount != amount.to_integral_value():
        raise ValueError(f"finer than the currency's {minor_digits(currency)} decimal digits, or not finite")
    if not 0 <= amount <= MINOR_MAX:
        raise ValueError("negative or too large")
    return int(amount)


def to_text(minor: int | Decimal, currency: str) -> str:
    """Write minor units as decimal text: (1050, "HKD") is "10.50". A half unit of a median stays exact: "10.505"."""
    digits = minor_digits(currency)
    units = int(minor)
    if units == minor and units >= 0:
        whole, rest = divmod(units, 10**digits)
        return f"{whole}.{rest:0{digits}}" if digits else str(whole)
    amount = Decimal(minor).scaleb(-digits).normalize()
    shown = max(digits, -int(amount.as_tuple().exponent))
    return f"{amount:.{shown}f}"


def minor_exceptions() -> dict[str, int]:
    """Return the currencies that have other than two decimal digits."""
    return dict(_NOT_TWO)
