"""Texts of a source as the index writes them: slugs, paths, weights. Pure."""

import re
from decimal import Decimal
from functools import lru_cache

from shared.slugs import slug

_WEIGHT = re.compile(
    r"(?<![0-9.xX*])(?P<number>[0-9]{1,6}(?:\.[0-9]{1,4})?) ?(?P<unit>kg|g)\Z", re.IGNORECASE | re.ASCII
)


def kilograms(text: str | None) -> str | None:
    """Return the weight that ends a text (`… 210g`, `… 1.5 KG`) in kilograms; None where there is none."""
    found = _WEIGHT.search(text or "")
    if found is None:
        return None
    weight = Decimal(found["number"]) / (1000 if found["unit"].lower() == "g" else 1)
    return f"{weight.normalize():f}" if weight else None


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
    return Decimal(text) * Decimal(factor) if factor else Decimal(text)
