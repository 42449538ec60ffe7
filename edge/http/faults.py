"""Faults of parameters and the sentences that describe them to callers."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from edge.http.redaction import has_credential
from shared.printable import printable

DETAIL_CHARACTERS_MAX = 300
_VALUE_CHARACTERS_MAX = 40
# Sentences that continue "`limit`: `0` …"; before any other one a verb is missing.
_VERBS = tuple(f"{verb} " for verb in "is are has does comes cannot ends belongs only of takes says weights".split())
LISTS = {
    "brand": "/v1/index/brands",
    "category": "/v1/index/categories",
    "channel": "/v1/index/channels",
    "item": "/v1/index/search",
}
_HARMLESS = str.maketrans({"`": "'", "<": "\\u003c", ">": "\\u003e"})


class Fault(NamedTuple):
    """A parameter, why it was refused, and the value that came; without a value the sentence is about the name.

    `listed_at` is the path of the list of what is allowed, for programs; forms suggest the same entries.
    """

    parameter: str
    detail: str
    value: object = None
    listed_at: str = ""

    @property
    def sentence(self) -> str:
        """The fault in words: "`brand`: `nosuch` is not a known brand; see /v1/index/brands"."""
        named = shown_value(self.value) is None and self.detail.startswith(_VERBS)
        return f"`{self.parameter}`{'' if named else ':'} {self.of_value}"

    @property
    def of_value(self) -> str:
        """The fault without the parameter's name: "`nosuch` is not a known brand; see /v1/index/brands"."""
        value, continues = shown_value(self.value), self.detail.startswith(_VERBS)
        if value is None:
            return self._detail_with_advice
        return f"`{value}` {self._detail_with_advice if continues else f'is not valid; {self._detail_with_advice}'}"

    @property
    def entry(self) -> dict[str, str]:
        """The fault as an entry of `errors`."""
        value = shown_value(self.value)
        return {
            "parameter": self.parameter,
            "detail": self._detail_with_advice,
            **({} if value is None else {"value": value}),
        }

    @property
    def _detail_with_advice(self) -> str:
        return f"{self.detail}; see {self.listed_at}" if self.listed_at else self.detail


def unknown(parameter: str, name: str, value: object) -> Fault:
    """Return the fault of a value that the index does not have; `name` is brand, category, channel or item."""
    return Fault(parameter, f"is not a known {name}", value, LISTS[name])


def shown_value(value: object) -> str | None:
    """Return a value for a response: short, in one line, without a backtick. None for a blank one and a credential."""
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    # A key or an ID token in the wrong place must not be repeated: details are printed, and end up in logs of callers.
    if not text.strip() or has_credential(text):
        return None
    # A browser that takes the answer for HTML all the same finds no tag in it.
    shown = printable(text[: _VALUE_CHARACTERS_MAX + 1]).translate(_HARMLESS)
    return shown if len(shown) <= _VALUE_CHARACTERS_MAX else f"{shown[: _VALUE_CHARACTERS_MAX - 1]}…"


def detail_of(faults: Iterable[Fault]) -> str:
    """Return as many faults as 300 characters hold, at least the beginning of the first, and the number of others."""
    sentences = [fault.sentence.rstrip(".") for fault in faults]
    for kept in range(min(len(sentences), DETAIL_CHARACTERS_MAX), 0, -1):  # each has a character at least
        left = len(sentences) - kept
        more = f" {left} more in `errors`." if left else ""
        text = ". ".join(sentences[:kept])
        if len(text) + 1 + len(more) <= DETAIL_CHARACTERS_MAX:
            return f"{text}{'' if text.endswith('?') else '.'}{more}"
    return f"{sentences[0][: DETAIL_CHARACTERS_MAX - 1 - len(more)]}…{more}"


def value_in(given: object, name: str, message: object) -> object:
    """Return the value to which a validation's message belongs: of a list the entry that the message names."""
    value = given.get(name) if isinstance(given, Mapping) else None
    position = next(iter(message), None) if isinstance(message, Mapping) else None
    if isinstance(value, list) and isinstance(position, int) and position < len(value):
        return value[position]
    return value
