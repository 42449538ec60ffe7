"""Pairs of items that wait for an operator: two records side by side, accept, reject, undo."""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
from aiohttp import web

from edge.dashboard.page_requests import PageError, form_of, id_in
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.parameters import whole_number
from edge.storage.database import Transaction
from shared.articles import SQL, Filters
from shared.index.iid import canonical_iid, require_uuid
from shared.text import fold
from shared.uncertainty.stated import wilson

State = Literal["agree", "differ", "alone"]


class ComparedWord(NamedTuple):
    """One word of a text; `shared` where the other text has it too."""

    text: str
    shared: bool


class Line(NamedTuple):
    """One field of both items."""

    field: str
    left: tuple[ComparedWord, ...]
    right: tuple[ComparedWord, ...]
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


def _words(text: str, other: set[str]) -> tuple[ComparedWord, ...]:
    return tuple(ComparedWord(word, fold(word) in other) for word in text.split())


PAGE = "/dashboard/matches"
_EVIDENCE = ("identifier", "likeness", "gtin", "mpn", "brand", "code", "word")
_SAMPLE = 50
# More are decided in several steps: each is one statement, and one event of all its pairs.
_BULK_MAX = 10_000
_DECISIONS = {"accept": "accepted", "reject": "rejected", "undo": "taken back"}
_SKIPPED_MAX = 500
_RECENT = 10


class MatchPages(Pages):
    """The handlers; for operators alone.

    A decision that was noted twice would have to be undone twice.
    """

    async def review(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the most probable pair that waits, after those that were skipped, and the last decisions.

        With filters or a sample also what deciding all of the pairs at once comes to; a sample's pairs come in random
        order, always the same one.
        """
        visitor.require_operator()
        skipped = _skipped(request.query.get("skip", "0"))
        filters, sample = _filters(request.query), id_in(request, "sample")
        choosing = bool(filters.chosen or sample)
        limit = _BULK_MAX + 1 if choosing else skipped + 1
        waiting = await self._database.fetch(SQL.waiting, limit, *filters)
        pairs = _named(waiting[:_BULK_MAX]) if choosing else None
        if sample:
            waiting.sort(key=lambda pair: blake2b(f"{sample}/{pair['left_id']}/{pair['right_id']}".encode()).digest())
        pair = waiting[skipped] if len(waiting) > skipped else None
        sampled = await self._database.fetch_row(SQL.sampled, sample) if sample else None
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
            filters=filters,
            evidence_kinds=_EVIDENCE,
            choosing=choosing,
            pairs=pairs,
            count=min(len(waiting), _BULK_MAX),
            more=len(waiting) > _BULK_MAX,
            sample=sample,
            new_sample=str(uuid.uuid4()),
            sampled=sampled,
            rate=wilson(sampled["accepted"], sampled["decided"]) if sampled else None,
            sample_size=_SAMPLE,
            address=partial(_address, filters, sample),
            figures=figures,
            precision=f"{100 * figures['accepted'] / judged:.1f} %" if judged else None,
            recent=await self._database.fetch(SQL.recent, _RECENT),
        )

    async def decide(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Note a decision, and show the next pair. It becomes an event when operators' decisions are applied."""
        operator, form = visitor.require_operator(), await form_of(request)
        decision = form.get("decision", "")
        iids = [canonical_iid(form.get(side, "")) for side in ("left", "right")]
        if decision not in _DECISIONS or None in iids:
            raise PageError(400, "Choose a pair and a decision.")
        filters, sample = _filters(form), form.get("sample") or None
        values = (*iids, decision, *operator, sample and require_uuid(sample, _no_sample()))

        async def note(transaction: Transaction) -> None:
            if not await transaction.fetch(SQL.decide, *values):
                raise PageError(404, "This pair no longer exists. Go back and try again.")

        return await self._once(request, visitor, _address(filters, sample, _skipped(form.get("skip", "0"))), note)

    async def decide_all(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Note one decision on all pairs that the filters choose, or that a former one is undone."""
        person, form = visitor.require_operator(), await form_of(request)
        batch = form.get("batch")
        decision, filters = form.get("decision", ""), _filters(form)
        if not batch and decision not in ("accept", "reject"):
            raise PageError(400, "Choose a decision.")

        async def undo(transaction: Transaction) -> None:
            if not await transaction.fetch(SQL.undo_all, require_uuid(batch or "", _no_sample()), *person):
                raise PageError(404, "This decision no longer exists. Go back and try again.")

        async def note(transaction: Transaction) -> None:
            waiting = await transaction.fetch(SQL.waiting, _BULK_MAX, *filters)
            if form.get("pairs") != _named(waiting):
                raise PageError(409, "The pairs have changed since the page was shown. Go back and review them again.")
            ends = [pair["left_id"] for pair in waiting], [pair["right_id"] for pair in waiting]
            chosen = msgspec.json.encode(filters.chosen).decode()
            await transaction.fetch(SQL.decide_all, *ends, decision, *person, str(uuid.uuid4()), chosen)

        return await self._once(request, visitor, PAGE, undo if batch else note)

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


def _named(pairs: Sequence[Any]) -> str:
    """Return a text by which a form says which pairs its page has counted: as many may wait later, and not the same."""
    ends = sorted((pair["left_id"], pair["right_id"]) for pair in pairs)
    return blake2b(repr(ends).encode(), digest_size=16).hexdigest()


def _filters(given: Mapping[str, str]) -> Filters:
    """Return the filters of an address or a form; an empty field is none. Raises PageError."""
    texts = {name: given.get(name, "").strip()[:200] or None for name in Filters._fields}
    scores = _score(texts["min_score"]), _score(texts["max_score"])
    return Filters(texts["source"], *scores, texts["evidence"], texts["brand"])


def _no_sample() -> PageError:
    return PageError(400, "This sample or decision does not exist. Go back and try again.")


def _score(text: str | None) -> float | None:
    if text is None:
        return None
    with suppress(ValueError):
        if 0 <= (score := float(text)) <= 1:
            return score
    raise PageError(400, "A score is a number from 0 to 1, such as 0.97.")


def _address(filters: Filters, sample: str | None, skipped: int = 0) -> str:
    """Return the address of the page with its filters, its sample and the skipped pairs."""
    query = {**filters.chosen, **({"sample": sample} if sample else {}), **({"skip": skipped} if skipped else {})}
    return f"{PAGE}?{urlencode(query)}" if query else PAGE


def _skipped(text: str) -> int:
    return min(whole_number(text, 5) or 0, _SKIPPED_MAX)
