"""How items, brands and categories are named: written again from the contract, so that a mistake there shows. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ALIKE = {
    "ø": "o",
    "Ø": "o",
    "ł": "l",
    "Ł": "l",
    "đ": "d",
    "Đ": "d",
    "ð": "d",
    "Ð": "d",
    "ı": "i",
    "æ": "ae",
    "Æ": "ae",
    "œ": "oe",
    "Œ": "oe",
    "þ": "th",
    "Þ": "th",
}
# ISO 4217: currencies whose minor unit is not the hundredth.
_MINOR_DIGITS = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def minor(currency: str) -> int:
    """Return how many decimal digits a currency has."""
    return _MINOR_DIGITS.get(currency, 2)


def clean(text: str | None) -> str | None:
    """Return a text without white space at its ends; None where nothing is left."""
    return (text or "").strip() or None


def mint(source: str, item: str) -> str:
    """Return the IID of a source's item: 70 bits of a hash as Crockford base 32, and a check character."""
    bits = bin(int.from_bytes(hashlib.blake2b(f"{source}\0{item}".encode(), digest_size=9).digest()))[2:].zfill(72)
    digits = [int(bits[start : start + 5], 2) for start in range(0, 70, 5)]
    check = sum((2 * place + 1) * digit for place, digit in enumerate(digits)) % 32
    text = "".join(_DIGITS[digit] for digit in (*digits, check))
    return f"IID-{text[:5]}-{text[5:10]}-{text[10:]}"


def fold(text: str) -> str:
    """Return a text without case, accents, compatibility forms and apostrophes."""
    plain = "".join(_ALIKE.get(letter, letter) for letter in text if letter not in "'’ʼ＇`´")
    apart = unicodedata.normalize("NFKD", plain).casefold()
    return unicodedata.normalize("NFC", "".join(mark for mark in apart if not "\u0300" <= mark <= "\u036f"))


def slug(text: str) -> str:
    """Return a text as part of an address: folded, its words joined by hyphens."""
    return "-".join(re.findall(r"\w+", fold(text))).strip("-_") or "other"


_GRAMS = {
    **dict.fromkeys(("g", "gm"), Decimal(1)),
    "kg": Decimal(1000),
    "oz": Decimal("28.349523125"),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), Decimal("453.59237")),
}
_MILLILITRES = {
    "ml": Decimal(1),
    "cl": Decimal(10),
    "gal": Decimal("3785.411784"),
    **dict.fromkeys(("l", "lt", "litre", "litres"), Decimal(1000)),
}
_SIZE = re.compile(
    r"(?:(?<![\w.])([0-9]+) ?(?:'?s|pcs|packs?|bags?)? ?[x×*] ?|(?<![0-9.,a-z])(?<![0-9] to ))"
    r"([0-9]+(?:[.,][0-9]+)?) ?(kg|gm|g|oz|lbs|lb|pounds|pound|gal|litres|litre|lt|l|cl|ml)(?![a-wyz])"
    r"(?: ?[x×*] ?([0-9]+)(?! ?(?:kg|g|ml|l)\b))?"
)
_PACKS = re.compile(r"(?<![\w.])(?<!x )([0-9]+) ?(?:packs?|sachets)\b(?! ?[x×*])|\bpk of ([0-9]+)")


def kilograms(text: str | None) -> str | None:
    """Return the weight of one article that its name states; None where it states none, or several."""
    return _amount(text, _GRAMS)


def litres(text: str | None) -> str | None:
    """Return the volume of one article that its name states."""
    return _amount(text, _MILLILITRES)


def _amount(text: str | None, units: Mapping[str, Decimal]) -> str | None:
    name = (text or "").lower()
    found = []
    for times, number, unit, behind in _SIZE.findall(name):
        if unit in units:
            found.append(Decimal(number.replace(",", ".")) * units[unit] * int(times or 1) * int(behind or 1) / 1000)
    packs = ["".join(count) for count in _PACKS.findall(name)]
    if len(found) == len(packs) == 1:
        found = [found[0] * int(packs[0])]
    # A second statement within 3 % says the first again in another unit, a third one is another.
    kept = found[:1] + [
        amount for n, amount in enumerate(found[1:]) if n or abs(amount - found[0]) > found[0] * Decimal("0.03")
    ]
    return f"{kept[0].normalize():f}" if len(kept) == 1 and kept[0] else None


def unit_price(price: str, amount: str) -> str:
    """Return a price for one unit of an amount, with six decimals."""
    return f"{(Decimal(price) / Decimal(amount)).quantize(Decimal('0.000001')):f}"
