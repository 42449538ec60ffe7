"""Two items side by side: the values that agree, that differ, and that only one of them has. Pure."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from shared.search.text import fold

State = Literal["agree", "differ", "alone"]


class Word(NamedTuple):
    """One word of a text; `shared` where the other text has it too."""

    text: str
    shared: bool


class Line(NamedTuple):
    """One field of both items."""

    field: str
    left: tuple[Word, ...]
    right: tuple[Word, ...]
    state: State


def compare(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[Line]:
    """Return the fields of two items, each with its words: name, brand, category, identifiers, attributes."""
    ours, theirs = _fields(left), _fields(right)
    return [_line(field, ours.get(field, ""), theirs.get(field, "")) for field in dict.fromkeys([*ours, *theirs])]


def _fields(item: Mapping[str, Any]) -> dict[str, str]:
    plain = {"name": item["name"] or "", "brand": item["brand"] or "", "category": item["category"] or ""}
    identifiers = {one["scheme"]: one["value"] for one in item["identifiers"]}
    return {**plain, **identifiers, **{name: str(value) for name, value in sorted(item["attributes"].items())}}


def _line(field: str, left: str, right: str) -> Line:
    ours, theirs = {fold(word) for word in left.split()}, {fold(word) for word in right.split()}
    if not left or not right:
        state: State = "alone"
    else:
        state = "agree" if fold(left) == fold(right) else "differ"
    return Line(field, _words(left, theirs), _words(right, ours), state)


def _words(text: str, other: set[str]) -> tuple[Word, ...]:
    return tuple(Word(word, fold(word) in other) for word in text.split())
