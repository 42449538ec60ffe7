"""API answers as a model reads them: the members that matter, in pages of at most 4 kB."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from edge.http.lists import CursorSigner
from shared.errors import CursorExpired, InvalidCursor

# An answer holds each part twice, as text and as an object: such parts leave room for its head and for a cursor.
_PART_BYTES_MAX = 1_000
# How far the texts and lists of a part that is too large are cut, step by step: characters, entries.
_CUTS = ((400, 20), (120, 6), (40, 2))
_ELLIPSIS = "…"
_ENCODER = msgspec.json.Encoder()


class Part(NamedTuple):
    """A piece of an answer: the value of a member, an element of a list, or with `key` an entry of an object."""

    member: str
    value: Any
    element: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """An answer: `head` is repeated on each page, then come `parts`; `following` is the REST call's own cursor."""

    head: Mapping[str, Any]
    parts: Sequence[Part]
    following: str | None = None


def assembled(parts: Sequence[Part]) -> dict[str, Any]:
    """Put parts together as the members that they are of."""
    document: dict[str, Any] = {}
    for part in parts:
        if part.element:
            document.setdefault(part.member, []).append(part.value)
        elif part.key is not None:
            document.setdefault(part.member, {})[part.key] = part.value
        else:
            document[part.member] = part.value
    return document


def fitted(value: Any) -> Any:
    """Return a value that a page can hold: itself, or with its texts and lists cut where it is too large."""
    for characters, entries in _CUTS:
        if len(_ENCODER.encode(value)) <= _PART_BYTES_MAX:
            return value
        value = _cut(value, characters, entries)
    if len(_ENCODER.encode(value)) <= _PART_BYTES_MAX:
        return value
    # Of the type that it had: the tool's output schema holds for a value that is left out, too.
    return {_ELLIPSIS: _ELLIPSIS} if isinstance(value, dict) else [_ELLIPSIS] if isinstance(value, list) else _ELLIPSIS


def _cut(value: Any, characters: int, entries: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else value[:characters] + _ELLIPSIS
    if isinstance(value, dict):
        kept = list(value.items())[:entries]
        return {_cut(name, characters, entries): _cut(inner, characters, entries) for name, inner in kept}
    if isinstance(value, list):
        return [_cut(inner, characters, entries) for inner in value[:entries]]
    return value


def hits(body: Any) -> View:
    """Show a page of a search."""
    parts = [Part("items", _hit(hit), element=True) for hit in body["data"]]
    return View({"total": body["total"], "data_version": body["data_version"]}, parts, body["next_cursor"])


def record(body: Any) -> View:
    """Show a record, or the items to choose from where an identifier has several."""
    if "candidates" in body:
        parts = [
            Part("candidates", _known(entry, "iid", "name", "sources"), element=True) for entry in body["candidates"]
        ]
        return View({"detail": body["detail"]}, parts)
    return View(
        {}, [part for name, value in body.items() if name not in ("status", "links") for part in _split(name, value)]
    )


def prices(body: Any) -> View:
    """Show the statistics of a price history, then its days."""
    meta = body["meta"]
    parts = [Part(name, entry, element=True) for name in ("statistics", "unit_prices") for entry in meta[name]]
    parts += [Part("days", without_unknown(row), element=True) for row in body["data"]]
    return View(_known(meta, "from", "to", "data_version", "cost_units"), parts)


def comparison(body: Any) -> View:
    """Show items side by side, each with its price band and footprint."""
    return View({}, [Part("items", _compared(entry), element=True) for entry in body["data"]])


def footprint(body: Any) -> View:
    """Show the indicators of an item."""
    meta = body["meta"]
    parts = [Part("indicators", without_unknown(row), element=True) for row in body["data"]]
    return View(_known(meta, "from", "to", "basis", "data_version", "cost_units"), parts)


def report(body: Any) -> View:
    """Show the rows of a report, its price, or the job that computes it."""
    if "data" not in body:
        return View({}, list(_members(body)))
    meta = body["meta"]
    head = _known(meta, "from", "to", "data_version", "cost_units", "cached", "method")
    return View(
        {**head, "rows": []},
        [Part("rows", without_unknown(row), element=True) for row in body["data"]],
        meta.get("next_cursor"),
    )


def job(body: Any) -> View:
    """Show a job that has not ended yet, and how to get its result."""
    document = {
        "job": body["id"],
        "state": body["state"],
        "progress": body["progress"],
        "cost_units": body["cost_units"],
    }
    return View({**document, "next": "Call market_report again with this `job` alone."}, [])


def quota(body: Any) -> View:
    """Show every limit of the caller."""
    return View({}, list(_members(body)))


def without_unknown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without what no source knows."""
    return {name: value for name, value in row.items() if value is not None and value != []}


def _hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    category, brand = hit["category"], hit["brand"]
    shown = {"iid": hit["iid"], "name": hit["name"], "brand": brand and brand["slug"], "all_words": hit["all_words"]}
    return without_unknown({**shown, "category": category and category["code"]})


def _compared(entry: Mapping[str, Any]) -> dict[str, Any]:
    body = entry["record"]
    if body is None:
        return without_unknown({name: value for name, value in entry.items() if name != "record"})
    category, brand = body["category"], body["brand"]
    named = {"iid": body["iid"], "name": body["name"], "brand": brand and brand["slug"]}
    classified = {"category": category and category["code"], "product_type": body["product_type"]}
    return without_unknown({**named, **classified, **_known(body, "price_band", "sustainability")})


def _known(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: document[name] for name in names if document.get(name) is not None}


def _members(document: Mapping[str, Any]) -> Iterator[Part]:
    for name, value in document.items():
        yield from _split(name, value)


def _split(name: str, value: Any) -> Iterator[Part]:
    """Split a member into parts, so that a long list or object continues on the next page."""
    if isinstance(value, list):
        yield from (Part(name, entry, element=True) for entry in value)
    elif isinstance(value, dict):
        yield from (Part(name, entry, key=key) for key, entry in value.items())
    elif value is not None:
        yield Part(name, value)


ANSWER_BYTES_MAX = 4_096
"""Of a whole response body with a tool's answer."""
_KIND = "mcp"
_PARTS_LOOKED_AT = 512


class Position(NamedTuple):
    """Where a page begins: the cursor of the REST call's own page, and the part of its answer in a data_version.

    The data_version is 0 for an answer that has none.
    """

    rest_cursor: str | None = None
    part: int = 0
    data_version: int = 0


class Pages:
    """Cuts answers into pages; each cursor is bound to its tool and arguments."""

    def __init__(self, cursors: CursorSigner) -> None:
        self._cursors = cursors

    def position(self, tool: str, arguments: Mapping[str, Any], cursor: str | None) -> Position:
        """Return where a page begins. Raises InvalidCursor."""
        if cursor is None:
            return Position()
        values = self._cursors.open(_KIND, {"tool": tool, **arguments}, cursor)
        try:
            return msgspec.convert(values, Position)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    def page(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        view: View,
        position: Position,
        encoded: Callable[[Mapping[str, Any]], bytes],
    ) -> dict[str, Any]:
        """Return a page: the most parts with which `encoded`, the whole response, has 4 kB.

        Raises CursorExpired where the data has changed since the page before, which ended within this answer.
        """
        version = view.head.get("data_version", 0)
        if position.data_version not in (0, version):
            raise CursorExpired
        following = view.parts[position.part : position.part + _PARTS_LOOKED_AT]
        parts = [part._replace(value=fitted(part.value)) for part in following]
        left = len(view.parts) - position.part

        def page(count: int) -> dict[str, Any]:
            document = {**view.head, **assembled(parts[:count])}
            if count < left:
                end = Position(position.rest_cursor, position.part + count, version)
                document["next_cursor"] = self._seal(tool, arguments, end)
            elif view.following is not None:
                document["next_cursor"] = self._seal(tool, arguments, Position(view.following))
            return document

        # The last page has no cursor and may hold more than one that is cut: it is tried first.
        if left <= len(parts) and len(encoded(page(len(parts)))) <= ANSWER_BYTES_MAX:
            return page(len(parts))
        least, most = min(1, len(parts)), len(parts)
        while least < most:
            middle = (least + most + 1) // 2
            if len(encoded(page(middle))) <= ANSWER_BYTES_MAX:
                least = middle
            else:
                most = middle - 1
        return page(least)

    def _seal(self, tool: str, arguments: Mapping[str, Any], position: Position) -> str:
        return self._cursors.seal(_KIND, {"tool": tool, **arguments}, list(position))
