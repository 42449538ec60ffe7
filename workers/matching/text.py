"""Words as matching sees them."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")


def words(text: str) -> list[str]:
    """Return the words of a text in small letters and compatibility form; dots and hyphens inside a word stay."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())
