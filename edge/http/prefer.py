"""Preferences of a request: how long to wait (RFC 7240), which media type (RFC 9110, section 12). Pure."""

import re
from collections.abc import Mapping

WAIT_SECONDS, WAIT_SECONDS_MAX = 10, 30
_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,6})\"?", re.ASCII | re.IGNORECASE)
_QUALITY = re.compile(r"q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.ASCII | re.IGNORECASE)


def wait_seconds(field: str | None) -> int:
    """Return how long the caller prefers to wait, 0 to 30 s.

    A preference is a wish, not a parameter: one that we do not know is passed over, and one that is too long is
    fulfilled as far as we can.
    """
    wait = WAIT_SECONDS
    for wish in (field or "").split(","):
        text = wish.partition(";")[0].strip()
        match = _WAIT.fullmatch(text)
        if text.lower() == "respond-async":
            return 0
        if match:
            wait = min(int(match[1]), WAIT_SECONDS_MAX)
    return wait


def best_format(field: str | None, media_types: Mapping[str, str]) -> str | None:
    """Return the format whose media type `Accept` prefers, the first of equals; None if it accepts none of them."""
    if not field or not field.strip():
        return next(iter(media_types))
    preferences = [_preference(text) for text in field.split(",") if text.strip()]
    liked = {name: _quality(media_type, preferences) for name, media_type in media_types.items()}
    best = max(liked, key=lambda name: liked[name])
    return best if liked[best] > 0 else None


def _preference(text: str) -> tuple[str, float]:
    media_range, *parameters = (part.strip() for part in text.split(";"))
    for parameter in parameters:
        match = _QUALITY.fullmatch(parameter)
        if match:
            return media_range.lower(), float(match[1])
    return media_range.lower(), 1.0


def _quality(media_type: str, preferences: list[tuple[str, float]]) -> float:
    # The most specific range decides: `text/csv;q=0, */*` means anything but CSV.
    for media_range in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        qualities = [quality for requested, quality in preferences if requested == media_range]
        if qualities:
            return max(qualities)
    return 0.0
