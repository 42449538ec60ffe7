"""Pairs of items that wait for an operator: two records side by side, accept, reject, undo."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from aiohttp import web

from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.storage.database import Database, Scope
from shared.articles.pairs import ALL, SQL
from shared.index.iid import canonical_iid
from shared.text import fold

# Two items side by side: the values that agree, that differ, and that only one of them has.


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


# Pairs of items that wait for an operator: two records side by side, accept, reject, undo.


PAGE = "/dashboard/matches"
_DECISIONS = {"accept": "accepted", "reject": "rejected", "undo": "taken back"}
_SKIPPED_MAX = 500
_RECENT = 10


class MatchPages:
    """The handlers; for operators alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def review(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the most probable pair that waits, after those that were skipped, and the last decisions."""
        _operator(visitor)
        skipped = _skipped(request.query.get("skip", "0"))
        waiting = await self._database.fetch(SQL.pairs, "waiting", None, skipped + 1, *ALL)
        pair = waiting[skipped] if len(waiting) > skipped else None
        figures = await self._database.fetch_row(SQL.stats)
        assert figures is not None
        judged = figures["accepted"] + figures["rejected"]
        return render(
            request,
            "matches.html",
            visitor,
            pair=pair,
            evidence=msgspec.json.decode(pair["evidence"]) if pair else [],
            sides=await self._sides(pair["left_iid"], pair["right_iid"]) if pair else None,
            skipped=skipped,
            figures=figures,
            precision=f"{100 * figures['accepted'] / judged:.1f} %" if judged else None,
            recent=await self._database.fetch(SQL.recent, _RECENT),
        )

    async def decide(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Note a decision, and show the next pair. It becomes an event when operators' decisions are applied."""
        _operator(visitor)
        form = await form_of(request)
        decision = form.get("decision", "")
        iids = [canonical_iid(form.get(side, "")) for side in ("left", "right")]
        if decision not in _DECISIONS or None in iids:
            raise PageError(400, "Choose a pair and a decision.")
        name = (visitor.person.name or visitor.person.email or visitor.person.id)[:300]
        scope = Scope(person=visitor.person.id)
        noted = await self._database.fetch(SQL.decide, *iids, decision, visitor.person.id, name, scope=scope)
        if not noted:
            raise PageError(404, "This pair no longer exists. Reload the page.")
        return see(f"{PAGE}?skip={_skipped(form.get('skip', '0'))}")

    async def _sides(self, *iids: str) -> dict[str, Any]:
        """Return both records. Raises PageError where one was removed since the pair was read."""
        rows = {row["iid"]: dict(row) for row in await self._database.fetch(SQL.sides, list(iids))}
        if not rows.keys() >= set(iids):
            raise PageError(404, "An item of this pair has been removed. Reload the page.")
        items = [
            {**rows[iid], **{name: msgspec.json.decode(rows[iid][name]) for name in ("identifiers", "attributes")}}
            for iid in iids
        ]
        return {"items": items, "lines": compare(*items)}


def _operator(visitor: SignedIn) -> None:
    if not visitor.staff:
        raise PageError(403, "This page is for operators of the service only.")


def _skipped(text: str) -> int:
    return min(int(text), _SKIPPED_MAX) if text.isascii() and text.isdigit() and len(text) < 6 else 0
