"""Slugs: names of brands and categories as parts of addresses. Pure."""

import re
from functools import lru_cache

from shared.text import fold

_NOT_SLUG = re.compile(r"[^\w]+")


@lru_cache(maxsize=65_536)
def slug(text: str) -> str:
    """Return a text as part of an address: folded, words joined by hyphens; scripts without case keep their letters."""
    return beginning_of_slug(text) or "other"


def beginning_of_slug(text: str) -> str:
    """Return how the slug of a name begins whose beginning is this text; empty where the text has no letter."""
    return _NOT_SLUG.sub("-", fold(text)).strip("-_")
