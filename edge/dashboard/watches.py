"""Pages of the watches: the list, the form of a new one; pause, resume, delete."""

import re
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from marshmallow import ValidationError

from edge.dashboard.acting import PlanRights, acting_of
from edge.dashboard.forms import Control, FormFaults
from edge.dashboard.one_time import OneTimeSecrets
from edge.dashboard.session_guard import SignedIn, form_of, id_in, render, see
from edge.events.schemas import MEMBERS, NewWatch
from edge.events.watch_service import WatchService, rendered
from edge.http.problems import Problem
from edge.storage.database import Transaction
from shared.events.types import ABSENT_DAYS_DEFAULT, CONDITIONS, NEW_LOW_DAYS, TARGETS, Condition

CARDS: dict[Condition, tuple[str, str]] = {
    "below": ("Below an amount", "The lowest price of an item's newest day is below the amount."),
    "new-low": ("A new low", "An item's price is lower than on every one of the days before."),
    "returned": ("Offered again", "An item is back after at least n days without a price."),
    "index-moved": ("Prices moved", "Prices of the same items changed by more than a percentage within a month."),
}


@dataclass(frozen=True, slots=True)
class WatchField:
    """A field of the form with the sentence under it; `choices` are values with their texts, for a choice alone."""

    name: str
    label: str
    sentence: str
    control: Control = "text"
    choices: tuple[tuple[str, str], ...] = ()
    completes: str | None = None


_CODE = WatchField(
    "code", "Target", "The IID of an item, the slug of a brand, or the code of a category.", completes="watched"
)
_MEASURES = {
    "amount": WatchField("amount", "Amount", "For example `12.50`."),
    "currency": WatchField("currency", "Currency", "Three letters, for example `HKD`."),
    "percent": WatchField("percent", "Percent", "How much prices must change from one month to the next."),
}
_KIND = WatchField("kind", "Prices of", "", "choice", (("listing", "listings"), ("sale", "sales")))
_LABEL = WatchField("label", "Label", "Optional. Included in every event.")


def condition_of(text: str) -> Condition:
    """Return the condition that an address names, the first one for any other text."""
    return next((name for name in CONDITIONS if name == text), "below")


def fields_of(condition: Condition) -> tuple[WatchField, ...]:
    """Return the fields of a condition's form."""
    needed, optional = MEMBERS[condition]
    measures = tuple(_measure(name, condition) for name in (*needed, *optional))
    return (_target(condition), _CODE, *measures, _KIND, _LABEL)


def read_form(form: dict[str, str]) -> dict[str, Any]:
    """Return the watch that a filled-in form orders. Raises FormFaults with a sentence for each field."""
    condition = condition_of(form.get("condition", ""))
    given: dict[str, Any] = {"condition": condition}
    for field in fields_of(condition):
        text = form.get(field.name, "").strip()
        if text:
            given[field.name] = _number(text) if field.name in ("days", "percent") else text
    try:
        loaded: dict[str, Any] = NewWatch().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, {}) from None
    return loaded


def _number(text: str) -> float | str:
    """Return the number that a text is; other text as it is, so that the schema refuses it with its sentence."""
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII) else text


def _target(condition: Condition) -> WatchField:
    # One article has no index.
    offered = [target for target in TARGETS if condition != "index-moved" or target != "article"]
    sentence = "For a brand or category, each item is reported separately." if condition != "index-moved" else ""
    return WatchField("target", "Watch", sentence, "choice", tuple((name, name) for name in offered))


def _measure(name: str, condition: Condition) -> WatchField:
    if name != "days":
        return _MEASURES[name]
    if condition == "new-low":
        choices = tuple((str(days), f"{days} days") for days in NEW_LOW_DAYS)
        return WatchField("days", "Lowest of", "", "choice", choices)
    sentence = f"Days without a price; {ABSENT_DAYS_DEFAULT} if empty."
    return WatchField("days", "Absence", sentence, "number")


_PAGE = "/dashboard/watches"
_LISTED = 50
_RIGHT = "call"


class WatchPages:
    """The handlers. Every member reads; members who may call the API also change, where the plan includes watches."""

    def __init__(self, watches: WatchService, once: OneTimeSecrets, rights: PlanRights) -> None:
        self._watches = watches
        self._once = once
        self._rights = rights

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's watches, the newest first, a page at a time."""
        rows, total = await self._watches.page(acting_of(visitor), _LISTED, id_in(request, "after"))
        return render(
            request,
            "watches.html",
            visitor,
            watches=[rendered(row) for row in rows[:_LISTED]],
            total=total,
            next=rows[_LISTED - 1]["id"] if len(rows) > _LISTED else None,
            refusal=await self._rights.refusal(visitor, _RIGHT),
        )

    async def new(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form. The address chooses the condition and can fill the fields in."""
        given = {name: value for name, value in request.query.items() if len(value) <= 400}
        return await self._form(request, visitor, given, {})

    async def create(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Make a watch, then show the list; a form that is not valid is shown again as it was filled in."""
        await self._rights.require(visitor, _RIGHT)
        form = await form_of(request)
        names = frozenset(field.name for field in fields_of(condition_of(form.get("condition", ""))))
        try:
            wanted = read_form(form)

            async def make(transaction: Transaction) -> None:
                await WatchService(transaction).add(acting_of(visitor), wanted)

            return await self._once.once(request, visitor, _PAGE, make)
        except (FormFaults, Problem) as error:
            if isinstance(error, Problem) and error.type.slug not in ("invalid-parameter", "state-conflict"):
                raise
            return await self._form(request, visitor, form, FormFaults.of_failure(error, {}, names).faults)

    async def pause(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Pause a watch, or have it evaluated again."""
        await self._rights.require(visitor, _RIGHT)
        paused = (await form_of(request)).get("paused") == "true"
        await self._watches.pause(acting_of(visitor), request.match_info["id"], paused=paused)
        return see(_PAGE)

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete a watch; its events stay in the log for their time."""
        await self._rights.require(visitor, _RIGHT)
        await self._watches.delete(acting_of(visitor), request.match_info["id"])
        return see(_PAGE)

    async def _form(
        self, request: web.Request, visitor: SignedIn, given: dict[str, str], faults: dict[str, str]
    ) -> web.StreamResponse:
        chosen = condition_of(given.get("condition", ""))
        values: dict[str, Any] = {
            "conditions": CARDS,
            "chosen": chosen,
            "fields": fields_of(chosen),
        }
        values |= {"given": given, "faults": faults, "refusal": await self._rights.refusal(visitor, _RIGHT)}
        return render(request, "watch_new.html", visitor, 400 if faults else 200, **values)
