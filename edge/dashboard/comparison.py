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
    return [_line(key[1], ours.get(key, ""), theirs.get(key, "")) for key in dict.fromkeys([*ours, *theirs])]


def _fields(item: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return the text of each field by its kind and name: an attribute may be called as a field of its own is."""
    plain = {("field", name): item[name] or "" for name in ("name", "brand", "category")}
    identifiers = {("identifier", one["scheme"]): one["value"] for one in item["identifiers"]}
    attributes = {("attribute", name): str(value) for name, value in sorted(item["attributes"].items())}
    return {**plain, **identifiers, **attributes}


def _line(field: str, left: str, right: str) -> Line:
    ours, theirs = {fold(word) for word in left.split()}, {fold(word) for word in right.split()}
    if not left or not right:
        state: State = "alone"
    else:
        state = "agree" if fold(left) == fold(right) else "differ"
    return Line(field, _words(left, theirs), _words(right, ours), state)


def _words(text: str, other: set[str]) -> tuple[Word, ...]:
    return tuple(Word(word, fold(word) in other) for word in text.split())
