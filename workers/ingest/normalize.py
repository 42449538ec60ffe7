"""Texts of a source as the index writes them: slugs, paths, quantities. Pure."""

import re
from decimal import Context, Decimal
from functools import lru_cache

from shared.index.identifiers import slug

# "210g", "1.5 KG", "3 x 250 ml", "24's × 330ML", "3'S X 5G": how many times, how much, of what unit, at the end.
# The text before must not make it another quantity, as in the sum "1kg+200g", the range "800-1000g" and "1/2 kg".
_ALONE = r"(?<![0-9.,+])(?<![gl]\+ )(?<![gl] \+ )(?<![0-9][-–/])"
_QUANTITY = re.compile(
    rf"(?:{_ALONE}(?P<times>[0-9]{{1,4}}) ?(?:'s|s|pcs|packs?|bags?)? ?[x×*] ?|{_ALONE}(?<![xX*×]))"
    r"(?P<number>[0-9]{1,6}(?:[.,][0-9]{1,4})?) ?(?P<unit>kg|g|mg|l|cl|ml)\.?\Z",
    re.IGNORECASE | re.ASCII,
)
# "2,500 g" is two and a half grams in one country and two and a half kilograms in another.
_AMBIGUOUS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}", re.ASCII)
_UNITS = {
    "kg": {"kg": Decimal(1), "g": Decimal("0.001"), "mg": Decimal("0.000001")},
    "l": {"l": Decimal(1), "cl": Decimal("0.01"), "ml": Decimal("0.001")},
}
_EXACT = Context(prec=4_000)


def quantity(text: str | None, unit: str) -> str | None:
    """Return the weight (unit kg) or volume (unit l) that ends a text, times its packs; None unless it is one."""
    match = _QUANTITY.search((text or "").strip())
    factor = _UNITS[unit].get(match["unit"].lower()) if match else None
    if match is None or factor is None or _AMBIGUOUS.fullmatch(match["number"]):
        return None
    amount = Decimal(match["number"].replace(",", ".")) * factor * int(match["times"] or 1)
    return f"{amount.normalize():f}" if amount else None


@lru_cache(maxsize=65_536)
def category(levels: tuple[str | None, ...], splits: tuple[str, ...]) -> tuple[str | None, tuple[str, ...] | None]:
    """Join the levels of a category, each a text or several in one, eight at most; return its code and its path."""
    parts: list[str] = []
    for text, split in zip(levels, splits, strict=True):
        if text:
            parts += [part.strip() for part in text.split(split) if part.strip()] if split else [text]
    path = tuple(parts[:8])
    return ".".join(slug(part) for part in path) or None, path or None


def times(text: str, factor: str) -> Decimal:
    """Return a number times the mapping's factor, exactly."""
    return _EXACT.multiply(Decimal(text), Decimal(factor)) if factor else Decimal(text)
