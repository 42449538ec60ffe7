"""Which files a reader needs: its predicate hints against the statistics of each file. Pure.

A hint only spares reading: the reader filters the rows itself. So a file is left out only when its statistics prove
that no row of it matches; a hint that is not understood in its column's own type leaves out nothing.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import TypeVar

import msgspec

from shared.bulk.schema import KeptReleaseFile
from shared.json_types import JsonValue

Value = Decimal | date | str
Comparable = TypeVar("Comparable", str, date, Decimal)
Matches = Callable[[KeptReleaseFile], bool]
"""Whether some row of the file may match."""

_COMPARISON = re.compile(r"\s*`?([A-Za-z_]\w*)`?\s*(<=|>=|=|<|>)\s*('[^'\\]*'|-?\d+(?:\.\d+)?)\s*", re.ASCII)
_OPERATORS = {"=": "equal", "<": "lessThan", "<=": "lessThanOrEqual", ">": "greaterThan", ">=": "greaterThanOrEqual"}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
# Readers compare integers with decimals exactly only up to their own widest decimal; no value of ours is as long.
_DIGITS_MAX = 18
_DEPTH_MAX = 20
_INTEGER_COLUMNS = ("integer", "long")
_INTEGER_LITERALS = ("int", "integer", "long", "short", "byte")


@dataclass(frozen=True, slots=True)
class PredicateHints:
    """The hints of one query, read once; all of them must leave a file possible."""

    matches: tuple[Matches, ...]

    @classmethod
    def read(cls, sql: Iterable[str], json: str | None, types: dict[str, str]) -> "PredicateHints":
        """Read hints in SQL and in JSON. `types` are the table's columns, by name."""
        predicates = [_sql(text, types) for text in sql]
        tree = _tree(json)
        return cls((*predicates, _node(tree, types, 0)))

    def may_match(self, file: KeptReleaseFile) -> bool:
        """Return whether some row of the file may match all hints."""
        return all(matches(file) for matches in self.matches)


def _tree(text: str | None) -> JsonValue:
    if not text:
        return None
    try:
        tree: JsonValue = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return tree


def _matches_all(file: KeptReleaseFile) -> bool:
    return True


def _sql(text: str, types: dict[str, str]) -> Matches:
    """Read `column operator literal`; everything else, also a literal with quotes or escapes in it, matches."""
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return _matches_all
    column, sign, literal = match.groups()
    quoted = literal.startswith("'")
    value = _value(types.get(column), literal.strip("'"), "text" if quoted else "number")
    return _comparison(column, _OPERATORS[sign], value)


def _node(node: JsonValue, types: dict[str, str], depth: int) -> Matches:
    """Read one operation of a tree in JSON; one that is not of the protocol, or too deep, matches every file."""
    if not isinstance(node, dict) or depth > _DEPTH_MAX:
        return _matches_all
    children = node.get("children")
    if not isinstance(children, list) or not children:
        return _matches_all
    match node.get("op"):
        case "and":
            return partial(_every, [_node(child, types, depth + 1) for child in children])
        case "or":
            return partial(_some, [_node(child, types, depth + 1) for child in children])
        case str(op) if op in _OPERATORS.values() and len(children) == 2:
            return _operation(op, children[0], children[1], types)
        case _:
            return _matches_all


def _every(children: list[Matches], file: KeptReleaseFile) -> bool:
    return all(matches(file) for matches in children)


def _some(children: list[Matches], file: KeptReleaseFile) -> bool:
    return any(matches(file) for matches in children)


def _operation(op: str, left: JsonValue, right: JsonValue, types: dict[str, str]) -> Matches:
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return _matches_all
    if left.get("op") != "column" or right.get("op") != "literal":
        return _matches_all
    column, value, declared_type = left.get("name"), right.get("value"), right.get("valueType")
    if not isinstance(column, str) or isinstance(value, bool) or not isinstance(value, str | int):
        return _matches_all
    literal = {"date": "text", "string": "text"}.get(
        str(declared_type), "number" if declared_type in _INTEGER_LITERALS else "unknown"
    )
    # A date compared as a string, or the other way round, is the reader's own conversion: only like with like.
    if (declared_type == "date") != (types.get(column) == "date"):
        return _matches_all
    return _comparison(column, op, _value(types.get(column), str(value) if _is_short(value) else "", literal))


def _is_short(value: str | int) -> bool:
    """Return whether a number may be written out: writing thousands of digits is slow, and forbidden from 4,300 on."""
    return isinstance(value, str) or abs(value) < 10**_DIGITS_MAX


def _value(type: str | None, text: str, literal: str) -> Value | None:
    """Read a literal as the column's type reads it; None where it has another form, or the column another type."""
    if type == "string" and literal == "text":
        return text
    if type == "date" and literal == "text" and _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            return None
    if type in _INTEGER_COLUMNS and literal == "number" and len(text) <= _DIGITS_MAX and _NUMBER.fullmatch(text):
        return Decimal(text)
    return None


def _comparison(column: str, op: str, value: Value | None) -> Matches:
    return _matches_all if value is None else partial(_may_compare, column, op, value)


def _may_compare(column: str, op: str, value: Value, file: KeptReleaseFile) -> bool:
    """Compare with a file's least and greatest value, read as the literal was; those of another kind match."""
    least, most = file.statistics["minValues"].get(column), file.statistics["maxValues"].get(column)
    if isinstance(value, Decimal):
        if not (isinstance(least, int) and isinstance(most, int)):
            return True
        return _may_hold(op, value, Decimal(least), Decimal(most))
    if not (isinstance(least, str) and isinstance(most, str)):
        return True
    if isinstance(value, date):
        return _may_hold(op, value, date.fromisoformat(least), date.fromisoformat(most))
    return _may_hold(op, value, least, most)


def _may_hold(op: str, value: Comparable, least: Comparable, most: Comparable) -> bool:
    match op:
        case "equal":
            return least <= value <= most
        case "lessThan":
            return least < value
        case "lessThanOrEqual":
            return least <= value
        case "greaterThan":
            return most > value
        case _:
            return most >= value
