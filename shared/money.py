"""Money as integers of the currency's minor unit, and as decimal text for people. Never as binary floating point."""

from decimal import Decimal, InvalidOperation

MINOR_MAX = 10**15
# Minor digits by ISO 4217, list one: only those that differ from two are written here.
_NOT_TWO = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def minor_digits(currency: str) -> int:
    """Return how many decimal digits the currency has: 2 for HKD, 0 for JPY."""
    return _NOT_TWO.get(currency, 2)


def to_minor(text: str, currency: str) -> int:
    """Turn decimal text into minor units; raise ValueError, which says what an amount of the currency must be."""
    digits = minor_digits(currency)
    try:
        amount = Decimal(text).scaleb(digits)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ValueError(f"must be a number, such as {to_text(1_000, currency)}")
    if amount != amount.to_integral_value():
        raise ValueError(f"must have {f'at most {digits}' if digits else 'no'} decimals in {currency}")
    if not 0 <= amount <= MINOR_MAX:
        raise ValueError(f"must be from 0 to {Decimal(to_text(MINOR_MAX, currency)):,}")
    return int(amount)


def to_amount(minor: int | Decimal, currency: str) -> Decimal:
    """Turn minor units into an amount."""
    return Decimal(minor).scaleb(-minor_digits(currency))


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
