"""Pages of watches."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from aiohttp import web

from edge.analytics.wording import name_of
from edge.composition import Services
from edge.dashboard.catalogue import Catalogue, ShopPrice
from edge.dashboard.forms import Choice, Form, FormPages
from edge.dashboard.page_requests import form_of, id_in, redirect
from edge.dashboard.rendering import render
from edge.dashboard.reports import names_in
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from edge.events.schemas import MEMBERS, NewWatch, Watch
from edge.events.watches import WantedWatch, render_watch
from shared.errors import ItemMerged, ItemNotFound, ItemWithdrawn, StoreUnavailable
from shared.events.types import ABSENT_DAYS_DEFAULT, NEW_LOW_DAYS, TARGETS, Condition, Event
from shared.events.words import noun
from shared.index.iid import canonical_iid
from shared.organizations.accounts import BRAND, Principal

_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "code": {"label": "Which one", "completes": "watched", "sentence": "Type its name and choose from the list."},
    "percent": {"sentence": "How much prices must change from one month to the next."},
    "kind": {"choices": (("listing", "listings"), ("sale", "sales")), "default": ""},
    "label": {"sentence": "Optional: what you call it."},
}
_LOWEST_OF = {
    "label": "Lowest of",
    "sentence": "",
    "choices": tuple((str(days), f"{days} days") for days in NEW_LOW_DAYS),
    "default": "",
}
_ABSENCE = {"label": "Absence", "sentence": f"Days without a price; {ABSENT_DAYS_DEFAULT} if empty."}


def _form(condition: Condition) -> Form:
    """Return the form of a watch with this condition: what is watched, what the condition needs, and a label."""
    needed, optional = MEMBERS[condition]
    moved = condition == "index-moved"  # a single item has no index
    target = {
        "label": "Watch",
        "sentence": "" if moved else "For a brand or category, each item is reported separately.",
        "choices": tuple((name, noun(name)) for name in TARGETS if name != "article" or not moved),
        "default": "",
    }
    words = {**_FIELDS, "target": target, "days": _LOWEST_OF if condition == "new-low" else _ABSENCE}
    names, chosen = ("target", "code", *needed, *optional, "kind", "label"), {"condition": condition}
    return Form.over(NewWatch(), names, words, chosen, chosen)


_TITLES: Mapping[Condition, tuple[str, str]] = {
    "below": ("Below an amount", "The lowest price of an item's newest day is below the amount."),
    "new-low": ("A new low", "An item's price is lower than on any of the days before."),
    "returned": ("Offered again", "An item is back after some days without a price."),
    "index-moved": ("Prices moved", "Prices of the same items changed by more than a percentage within a month."),
}
FORMS: dict[str, Choice] = {
    name: Choice(title, sentence, BRAND, _form(name)) for name, (title, sentence) in _TITLES.items()
}
_PAGE = "/dashboard/watches"
_LISTED = 50
# Of how many events the newest of each watch is looked for: what fired before them is on the page of events.
_FIRED_READ = 500


class WatchedItem(NamedTuple):
    """An item that is to be watched: its name and its cheapest price now, which a sensible amount is below."""

    iid: str
    name: str
    price: ShopPrice | None

    @property
    def settled(self) -> dict[str, str]:
        """The fields of the form that the item answers."""
        return {"target": "article", "code": self.iid}


class ListedWatch(NamedTuple):
    """A watch with the name of what it watches, its cheapest price now, and what fired last."""

    watch: Watch
    name: str
    price: ShopPrice | None
    fired: Event | None


class WatchPages(FormPages):
    """The handlers. Every member reads; members who may call the API also change, where the plan includes watches."""

    path, title, button, chooses, choices = _PAGE, "New watch", "Create watch", "condition", FORMS
    crumb, previews = "Alerts", False

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies, catalogue: Catalogue) -> None:
        super().__init__(services, sessions, cookies)
        self._catalogue = catalogue

    async def _about(self, form: Form) -> WatchedItem | None:
        """Return the item of a form that names one; None for a brand, a category, or an item that is not there."""
        iid = canonical_iid(form.given.get("code", "")) if form.given.get("target", "article") == "article" else None
        if iid is None:
            return None
        try:
            view = await self._catalogue.item(iid)
        except (ItemNotFound, ItemWithdrawn, ItemMerged, StoreUnavailable):
            return None
        return WatchedItem(iid, view.record["name"], next(iter(view.prices), None))

    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        wanted, watches = WantedWatch(**form.load()), self._services.watches
        return await self._once(
            request, visitor, _PAGE, lambda transaction: watches.within(transaction).add(visitor.acting, wanted)
        )

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The organization's watches, the newest first, a page at a time."""
        rows, total = await self._services.watches.page(visitor.acting, _LISTED, id_in(request, "after"))
        watches = [render_watch(row) for row in rows[:_LISTED]]
        subjects = [("iid" if watch.target == "article" else watch.target, watch.code) for watch in watches]
        names = await names_in(self._database, [dict([subject]) for subject in subjects])
        prices = await self._catalogue.cheapest([watch.code for watch in watches if watch.target == "article"])
        fired = await self._fired(visitor)
        listed = [
            ListedWatch(watch, name_of(names, *subject), prices.get(watch.code), fired.get(watch.id))
            for watch, subject in zip(watches, subjects, strict=True)
        ]
        return render(
            request,
            "watches.html",
            visitor,
            watches=listed,
            noun=noun,
            total=total,
            next=rows[_LISTED - 1]["id"] if len(rows) > _LISTED else None,
            refusal=await self._refusal(visitor, BRAND),
            mail=await self._services.mails.state(visitor.acting),
            mail_offered=self._services.mails.offered,
        )

    async def _fired(self, visitor: SignedIn) -> Mapping[str, Event]:
        """Return the newest event of each watch that fired lately."""
        events = await self._services.events.newest(visitor.acting.organization, None, _FIRED_READ, ["watch.fired"])
        return {event.data["watch"]: event for event in reversed(events)}

    async def pause(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Pause a watch, or have it evaluated again."""
        await self._principal(visitor, BRAND)
        paused = (await form_of(request)).get("paused") == "true"
        await self._services.watches.pause(visitor.acting, request.match_info["id"], paused=paused)
        return redirect(_PAGE)

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete a watch; its events stay in the log for their time."""
        await self._principal(visitor, BRAND)
        await self._services.watches.delete(visitor.acting, request.match_info["id"])
        return redirect(_PAGE)
