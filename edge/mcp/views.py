"""API answers as a model reads them: the members that matter, in pages of at most 4 kB."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import msgspec

from edge.http.cursors import CursorSigner
from shared.errors import CursorExpired, InvalidCursor

# An answer holds each part twice, as text and as an object: such parts leave room for its head and for a cursor.
_PART_BYTES_MAX = 1_000
# How far the texts and lists of a part that is too large are cut, step by step: characters, entries.
_CUTS = ((400, 20), (120, 6), (40, 2))
_ELLIPSIS = "…"
_ENCODER = msgspec.json.Encoder()

ANSWER_BYTES_MAX = 4_096
"""Of a whole response body with a tool's answer."""
_KIND = "mcp"
_PARTS_LOOKED_AT = 512


AnswerBody: TypeAlias = Any  # type: ignore[explicit-any]
"""The JSON that a route of ours has answered: its schema says what is in it."""


class AnswerPart(NamedTuple):
    """A piece of an answer: the value of a member, an element of a list, or with `key` an entry of an object."""

    member: str
    value: object
    element: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """An answer: `head` is repeated on each page, then come `parts`; `following` is the REST call's own cursor."""

    head: Mapping[str, object]
    parts: Sequence[AnswerPart]
    following: str | None = None


def assemble(parts: Sequence[AnswerPart]) -> dict[str, object]:
    """Put parts together as the members that they are of."""
    document: dict[str, object] = {}
    for part in parts:
        if part.element:
            entries = document.setdefault(part.member, [])
            assert isinstance(entries, list)
            entries.append(part.value)
        elif part.key is not None:
            members = document.setdefault(part.member, {})
            assert isinstance(members, dict)
            members[part.key] = part.value
        else:
            document[part.member] = part.value
    return document


def fit(value: object) -> object:
    """Return a value that a page can hold: itself, or with its texts and lists cut where it is too large."""
    for characters, entries in _CUTS:
        if len(_ENCODER.encode(value)) <= _PART_BYTES_MAX:
            return value
        value = _cut(value, characters, entries)
    if len(_ENCODER.encode(value)) <= _PART_BYTES_MAX:
        return value
    # Of the type that it had: the tool's output schema holds for a value that is left out, too.
    return {_ELLIPSIS: _ELLIPSIS} if isinstance(value, dict) else [_ELLIPSIS] if isinstance(value, list) else _ELLIPSIS


def _cut(value: object, characters: int, entries: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= characters else value[:characters] + _ELLIPSIS
    if isinstance(value, dict):
        kept = list(value.items())[:entries]
        return {_cut(name, characters, entries): _cut(inner, characters, entries) for name, inner in kept}
    if isinstance(value, list):
        return [_cut(inner, characters, entries) for inner in value[:entries]]
    return value


def hits(body: AnswerBody) -> View:
    """Show a page of a search, or suggestions."""
    if "total" not in body:
        parts = [AnswerPart("items", without_unknown(entry), element=True) for entry in body["data"]]
        return View({"data_version": body["data_version"]}, parts)
    parts = [AnswerPart("items", _hit(hit), element=True) for hit in body["data"]]
    return View({"total": body["total"], "data_version": body["data_version"]}, parts, body["next_cursor"])


def record(body: AnswerBody) -> View:
    """Show a record, or the items to choose from where an identifier has several."""
    if "candidates" in body:
        parts = [
            AnswerPart("candidates", _known_members(entry, "iid", "name", "sources"), element=True)
            for entry in body["candidates"]
        ]
        return View({"detail": body["detail"]}, parts)
    return View(
        {}, [part for name, value in body.items() if name not in ("status", "links") for part in _split(name, value)]
    )


def prices(body: AnswerBody) -> View:
    """Show the statistics of a price history, then its days."""
    meta = body["meta"]
    parts = [AnswerPart(name, entry, element=True) for name in ("statistics", "unit_prices") for entry in meta[name]]
    parts += [AnswerPart("days", without_unknown(row), element=True) for row in body["data"]]
    return View(_known_members(meta, "from", "to", "data_version", "cost_units"), parts)


def comparison(body: AnswerBody) -> View:
    """Show items side by side, each with its price band and footprint."""
    return View({}, [AnswerPart("items", _comparison_entry(entry), element=True) for entry in body["data"]])


def footprint(body: AnswerBody) -> View:
    """Show the indicators of an item."""
    meta = body["meta"]
    parts = [AnswerPart("indicators", without_unknown(row), element=True) for row in body["data"]]
    return View(_known_members(meta, "from", "to", "basis", "data_version", "cost_units"), parts)


def report(body: AnswerBody) -> View:
    """Show the rows of a report, its price, or the job that computes it."""
    if "data" not in body:
        return View({}, list(_members(body)))
    meta = body["meta"]
    head = _known_members(meta, "from", "to", "data_version", "cost_units", "cached", "method")
    return View(
        {**head, "rows": []},
        [AnswerPart("rows", without_unknown(row), element=True) for row in body["data"]],
        meta.get("next_cursor"),
    )


def job(body: AnswerBody) -> View:
    """Show a job that has not ended yet, and how to get its result."""
    document = {
        "job": body["id"],
        "state": body["state"],
        "progress": body["progress"],
        "cost_units": body["cost_units"],
    }
    return View({**document, "next": "Call market_report again with this `job` alone."}, [])


def quota(body: AnswerBody) -> View:
    """Show every limit of the caller."""
    return View({}, list(_members(body)))


def without_unknown(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row without what no source knows."""
    return {name: value for name, value in row.items() if value is not None and value != []}


def _hit(hit: AnswerBody) -> dict[str, object]:
    category, brand = hit["category"], hit["brand"]
    shown = {"iid": hit["iid"], "name": hit["name"], "brand": brand and brand["slug"], "all_words": hit["all_words"]}
    return without_unknown({**shown, "category": category and category["code"]})


def _comparison_entry(entry: AnswerBody) -> dict[str, object]:
    body = entry["record"]
    if body is None:
        return without_unknown({name: value for name, value in entry.items() if name != "record"})
    category, brand = body["category"], body["brand"]
    named = {"iid": body["iid"], "name": body["name"], "brand": brand and brand["slug"]}
    classified = {"category": category and category["code"], "product_type": body["product_type"]}
    return without_unknown({**named, **classified, **_known_members(body, "price_band", "sustainability")})


def _known_members(document: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: document[name] for name in names if document.get(name) is not None}


def _members(document: Mapping[str, object]) -> Iterator[AnswerPart]:
    for name, value in document.items():
        yield from _split(name, value)


def _split(name: str, value: object) -> Iterator[AnswerPart]:
    """Split a member into parts, so that a long list or object continues on the next page."""
    if isinstance(value, list):
        yield from (AnswerPart(name, entry, element=True) for entry in value)
    elif isinstance(value, dict):
        yield from (AnswerPart(name, entry, key=key) for key, entry in value.items())
    elif value is not None:
        yield AnswerPart(name, value)


class PagePosition(NamedTuple):
    """Where a page begins: the cursor of the REST call's own page, and the part of its answer in a data_version.

    The data_version is 0 for an answer that has none.
    """

    rest_cursor: str | None = None
    part: int = 0
    data_version: int = 0


class AnswerPages:
    """Cuts answers into pages; each cursor is bound to its tool and arguments."""

    def __init__(self, cursors: CursorSigner) -> None:
        self._cursors = cursors

    def position(self, tool: str, arguments: Mapping[str, object], cursor: str | None) -> PagePosition:
        """Return where a page begins. Raises InvalidCursor."""
        if cursor is None:
            return PagePosition()
        values = self._cursors.open(_KIND, {"tool": tool, **arguments}, cursor)
        try:
            return msgspec.convert(values, PagePosition)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    def page(
        self,
        tool: str,
        arguments: Mapping[str, object],
        view: View,
        position: PagePosition,
        encode: Callable[[Mapping[str, object]], bytes],
    ) -> dict[str, object]:
        """Return a page: the most parts with which `encode`, the whole response, has 4 kB.

        Raises CursorExpired where the data has changed since the page before, which ended within this answer.
        """
        version = view.head.get("data_version", 0)
        assert isinstance(version, int)
        if position.data_version not in (0, version):
            raise CursorExpired
        following = view.parts[position.part : position.part + _PARTS_LOOKED_AT]
        parts = [part._replace(value=fit(part.value)) for part in following]
        left = len(view.parts) - position.part

        def page(count: int) -> dict[str, object]:
            document = {**view.head, **assemble(parts[:count])}
            if count < left:
                end = PagePosition(position.rest_cursor, position.part + count, version)
                document["next_cursor"] = self._seal(tool, arguments, end)
            elif view.following is not None:
                document["next_cursor"] = self._seal(tool, arguments, PagePosition(view.following))
            return document

        # The last page has no cursor and may hold more than one that is cut: it is tried first.
        if left <= len(parts) and len(encode(page(len(parts)))) <= ANSWER_BYTES_MAX:
            return page(len(parts))
        least, most = min(1, len(parts)), len(parts)
        while least < most:
            middle = (least + most + 1) // 2
            if len(encode(page(middle))) <= ANSWER_BYTES_MAX:
                least = middle
            else:
                most = middle - 1
        return page(least)

    def _seal(self, tool: str, arguments: Mapping[str, object], position: PagePosition) -> str:
        return self._cursors.seal(_KIND, {"tool": tool, **arguments}, list(position))
