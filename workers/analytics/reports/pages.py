"""Which of many brands or categories an answer is about: sorted, from a position on, at most so many."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LIMIT = 50
LIMIT_MAX = 500


class Listed(NamedTuple):
    """One of the brands or categories that a list may name: how many it has of what is counted, and its name."""

    n: int
    name: str


class PageOfIds(NamedTuple):
    """The ids of a page in their order, the position after it (None: it is the last), and how many there are in all."""

    ids: tuple[int, ...]
    after: list[Any] | None
    total: int


def page_of(listed: Mapping[int, Listed], parameters: Mapping[str, Any]) -> PageOfIds:
    """Return the page that `sort`, `limit` and `after` ask for.

    Equals are in the order of their names, so a position is exact even when other observations came in between.
    """
    sort, limit, after = parameters["sort"], parameters["limit"], parameters.get("after")
    keys = {number: _key(one, sort) for number, one in listed.items()}
    left = [number for number, key in keys.items() if after is None or _follows(key, after, sort)]
    ordered = sorted(left, key=lambda number: listed[number].name)
    ordered.sort(key=lambda number: keys[number][0], reverse=sort.startswith("-"))
    ids = tuple(ordered[:limit])
    return PageOfIds(ids, list(keys[ids[-1]]) if len(ordered) > limit else None, len(listed))


def _key(one: Listed, sort: str) -> tuple[Any, ...]:
    return (one.n, one.name) if sort.removeprefix("-") in ("items", "observations") else (one.name,)


def _follows(key: tuple[Any, ...], after: Sequence[Any], sort: str) -> bool:
    if key[0] != after[0]:
        return bool(key[0] < after[0]) if sort.startswith("-") else bool(key[0] > after[0])
    return len(key) > 1 and bool(key[1] > after[1])
