"""Pages of the watches: the list, the form of a new one; pause, resume, delete."""

from typing import Any

from aiohttp import web

from edge.dashboard.acting import PlanRights, acting_of
from edge.dashboard.form_faults import FormFaults
from edge.dashboard.one_time import OneTimeSecrets
from edge.dashboard.session_guard import SignedIn, form_of, id_in, render, see
from edge.dashboard.watch_form import TITLES, condition_of, fields_of, read_form
from edge.http.problems import Problem
from edge.storage.database import Transaction
from edge.watches.service import WatchService, rendered
from shared.watches import CONDITIONS

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
            "conditions": CONDITIONS,
            "titles": TITLES,
            "chosen": chosen,
            "fields": fields_of(chosen),
        }
        values |= {"given": given, "faults": faults, "refusal": await self._rights.refusal(visitor, _RIGHT)}
        return render(request, "watch_new.html", visitor, 400 if faults else 200, **values)
