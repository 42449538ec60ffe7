"""What a reader looks for, as far as it spares files: predicate hints over the statistics of files. Pure.

A hint is a hint: what is not understood spares nothing, and the reader filters rows by itself. A file is left out only
when its statistics say that no row of it can fit.
"""

import re
from typing import Any

import msgspec

from edge.releases.repository import ReleaseFile

_COMPARISON = re.compile(r"\s*`?([A-Za-z_]\w*)`?\s*(<=|>=|=|<|>)\s*('(?:[^']|'')*'|-?\d+)\s*", re.ASCII)
_OPERATORS = {"=": "equal", "<": "lessThan", "<=": "lessThanOrEqual", ">": "greaterThan", ">=": "greaterThanOrEqual"}
_DEPTH_MAX = 20
_NUMBERS = ("int", "long", "integer")


def may_fit(file: ReleaseFile, sql: list[str], tree: dict[str, Any] | None) -> bool:
    """Tell whether some row of the file may fit all hints."""
    return all(_sql_may_fit(file, text) for text in sql) and (tree is None or _may_fit(file, tree, 0))


def tree_of(text: str | None) -> dict[str, Any] | None:
    """Read a hint in JSON; None where it is none."""
    if not text:
        return None
    try:
        tree = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def _sql_may_fit(file: ReleaseFile, text: str) -> bool:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        return True
    literal = found[3]
    value = literal[1:-1].replace("''", "'") if literal.startswith("'") else int(literal)
    return _compare(file, _OPERATORS[found[2]], found[1], value)


def _may_fit(file: ReleaseFile, tree: Any, depth: int) -> bool:
    if depth > _DEPTH_MAX or not isinstance(tree, dict):
        return True
    children = tree.get("children") or []
    match tree.get("op"):
        case "and":
            return all(_may_fit(file, child, depth + 1) for child in children)
        case "or":
            return not children or any(_may_fit(file, child, depth + 1) for child in children)
        case str(op) if op in _OPERATORS.values() and len(children) == 2:
            return _comparison_may_fit(file, op, *children)
        case _:
            return True


def _comparison_may_fit(file: ReleaseFile, op: str, left: Any, right: Any) -> bool:
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return True
    if left.get("op") != "column" or right.get("op") != "literal":
        return True
    value: Any = right.get("value")
    if str(right.get("valueType")) in _NUMBERS:
        try:
            value = int(value)
        except (TypeError, ValueError):
            return True
    return _compare(file, op, str(left.get("name")), value)


def _compare(file: ReleaseFile, op: str, column: str, value: Any) -> bool:
    least, most = (file.statistics[which].get(column) for which in ("minValues", "maxValues"))
    if least is None or most is None or type(least) is not type(value):
        return True
    match op:
        case "equal":
            return bool(least <= value <= most)
        case "lessThan":
            return bool(least < value)
        case "lessThanOrEqual":
            return bool(least <= value)
        case "greaterThan":
            return bool(most > value)
        case _:
            return bool(most >= value)
