"""An item's attributes as people read them: `volume_l` of 1 is "Volume" and "1 l". Pure."""

import re
from typing import NamedTuple

_UNITS = {
    "kg_per_l": "kg/l",
    "kg": "kg",
    "g": "g",
    "l": "l",
    "ml": "ml",
    "cm": "cm",
    "mm": "mm",
    "kcal": "kcal",
    "kj": "kJ",
}
_MEASURE = re.compile(rf"(.+?)_({'|'.join(sorted(_UNITS, key=len, reverse=True))})", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z]+(_[a-z]+)+")


class AttributeWords(NamedTuple):
    """An attribute's name and value in words."""

    name: str
    value: str


def attribute_words(name: str, value: object) -> AttributeWords:
    """Return an attribute in words: the unit that ends its name follows the value, and lower lines become spaces."""
    measure = _MEASURE.fullmatch(name)
    stem, unit = (measure[1], f" {_UNITS[measure[2].lower()]}") if measure else (name, "")
    words, text = stem.replace("_", " ").strip(), str(value)
    text = text.replace("_", " ") if _TOKEN.fullmatch(text) else text
    return AttributeWords(words[:1].upper() + words[1:], f"{text}{unit}")
