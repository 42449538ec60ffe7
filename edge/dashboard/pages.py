"""What every group of pages is made of: the services, the plan that counts, the account that is charged, acts once."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from aiohttp import web

from edge.composition import Services
from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import NO_ORGANIZATION, SignedIn
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.quota.billing import Charge
from edge.storage.database import Scope, Transaction
from edge.storage.idempotency import ActOutcome
from shared.organizations.accounts import Plan, Principal

_FORM_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


def form_id_in(form: Mapping[str, str]) -> str:
    """Return the id that a form got with its page. Raises PageError where it has none."""
    form_id = form.get("once", "")
    if not _FORM_ID.fullmatch(form_id):
        raise PageError(400, "This form has expired. Open its page again.")
    return form_id


class Pages:
    """Base of the groups of pages. Charges and counts as the API does."""

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies) -> None:
        self._services = services
        self._settings = services.settings
        self._base_url = services.settings.base_url
        self._database = services.resources.database
        self._credentials = services.resources.credentials
        self._users = services.resources.users
        self._log = services.resources.log
        self._acts = services.organizations
        self._sessions = sessions
        self._cookies = cookies

    async def _plan(self, visitor: SignedIn) -> Plan:
        """Return the plan that counts for a person: the organization's if their role may call the API, else `free`."""
        if visitor.membership and not visitor.barred:
            return await self._credentials.plan(visitor.membership.plan)
        return await self._credentials.plan("free")

    async def _includes(self, visitor: SignedIn, rank: int) -> bool:
        """Return whether the plan that counts for a person includes what asks for this rank."""
        return (await self._plan(visitor)).rank >= rank

    async def _refusal(self, visitor: SignedIn, rank_min: int, right: str = "call") -> str | None:
        """Return in a sentence why the visitor's role or plan does not allow an act, None where they do."""
        plan = await self._plan(visitor)
        barred = visitor.barred_from(right)
        if barred or plan.rank >= rank_min:
            return barred
        upgrade = (
            f"The {plan.title} plan does not include this. "
            "An owner requests a higher one on the page of plans, or asks the operator for it."
        )
        return upgrade if visitor.membership else NO_ORGANIZATION

    async def _principal(self, visitor: SignedIn, rank_min: int = 0, right: str = "call") -> Principal:
        """Return the person as a caller. Raises PageError (403) where the role or the plan does not allow the act."""
        refusal = await self._refusal(visitor, rank_min, right) if rank_min else None
        if refusal is not None:
            raise PageError(403, refusal)
        return Principal("bearer", visitor.person.id, await self._plan(visitor), visitor.organization or None)

    def _charge(self, request: web.Request, principal: Principal, units: int) -> AbstractAsyncContextManager[Charge]:
        """Charge a person as a caller, as `Billing.charge` does."""
        context = request[CONTEXT]
        context.act_as(principal)
        return self._services.billing.charge(context, units)

    async def _count(self, request: web.Request, principal: Principal) -> None:
        """Count a part of a page that a browser asks for again and again: it costs nothing and is no call of the usage.

        Raises the problem `rate-limited` where the limit of calls that cost nothing is reached.
        """
        asked = replace(request[CONTEXT])
        asked.act_as(principal)
        await self._services.billing.count_call(asked)

    async def _once(
        self, request: web.Request, visitor: SignedIn, page: str, make: Callable[[Transaction], Awaitable[object]]
    ) -> web.Response:
        """Run what a form orders, unless the form was sent before, and redirect to the page (303).

        Where `make` returns text, a secret, the page shows it, once.
        """
        key = f"form {form_id_in(await form_of(request))}"

        async def act(transaction: Transaction) -> ActOutcome:
            made = await make(transaction)
            if isinstance(made, str):
                # Kept before the act commits: a second sending waits for that, and its page must find the secret.
                await self._sessions.put_flash(visitor.cookie, page, f"{key}\n{made}")
            return ActOutcome(200)

        sent = sorted(f"{name}={value!s}" for name, value in (await request.post()).items() if name != "csrf")
        digest = hashlib.sha256("\0".join((request.path, *sent)).encode()).digest()
        try:
            await self._services.idempotent_acts.once(Scope(person=visitor.person.id), key, digest, act, wait=True)
        except Problem as problem:
            if problem.type.slug == "idempotency-key-reused":
                raise PageError(409, "This form was already submitted. Open its page again.") from None
            raise
        return redirect(page)

    async def _secret(self, visitor: SignedIn, page: str) -> str | None:
        """Return the secret that waits for this page, once; none where PostgreSQL was lost before its act committed."""
        key, _, text = (await self._sessions.take_flash(visitor.cookie, page) or "").partition("\n")
        done = key and await self._services.idempotent_acts.is_done(Scope(person=visitor.person.id), key)
        return text if done else None
