"""How items, brands and categories are named: written again from the contract, so that a mistake there shows. Pure."""

import hashlib
import re
import unicodedata
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


def weight(text: str | None) -> str | None:
    """Return the weight that ends a product's name in kilograms, times its packs; None where none does, or not alone."""
    number = r"([0-9]{1,6}(?:[.,][0-9]{1,4})?) ?([kKmM]?)[gG]\.?$"
    packs = re.search(
        r"(?<![0-9.,])([0-9]{1,4}) ?(?:'[sS]|[sS]|[pP][cC][sS]|[pP]acks?|[bB]ags?)? ?[xX×*] ?" + number, text or ""
    )
    single = re.search(r"(?:^|[^0-9.,xX*×])" + number, text or "")
    found = packs or single
    if found is None or _is_part(found.string[: found.start(1)]):
        return None
    times, amount, prefix = packs.groups() if packs else ("1", *found.groups())
    if re.fullmatch(r"[1-9][0-9]{0,2},[0-9]{3}", amount):
        return None
    unit = {"k": Decimal(1), "": Decimal("0.001"), "m": Decimal("0.000001")}[prefix.lower()]
    kilograms = Decimal(amount.replace(",", ".")) * int(times) * unit
    return f"{kilograms.normalize():f}" if kilograms else None


def _is_part(before: str) -> bool:
    """Return whether the text before a quantity makes it the end of a sum, a range or a fraction."""
    added = before.endswith("+") or re.search(r"[gGlL] ?\+ $", before) is not None
    return added or re.search(r"[0-9][-–/]$", before) is not None
