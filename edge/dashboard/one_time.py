"""New keys, tokens and links: made once however often a form is sent, and shown once on the page that follows it."""

import hashlib
import re
from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.dashboard.session_guard import PageError, SignedIn, form_of, see
from edge.dashboard.sessions import Sessions
from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from edge.storage.database import Scope, Transaction
from edge.storage.idempotency import IdempotentActs, Outcome

Make = Callable[[OrganizationService], Awaitable[str]]
MakeInTransaction = Callable[[Transaction], Awaitable[str | None]]
_FORM_ID = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


class OneTimeSecrets:
    """Makes secrets once for each form, and keeps each until the session's next page takes it."""

    def __init__(self, idempotent: IdempotentActs, sessions: Sessions) -> None:
        self._idempotent = idempotent
        self._sessions = sessions

    async def make(self, request: web.Request, visitor: SignedIn, page: str, make: Make) -> web.Response:
        """Make the secret of an organization for a form, unless the form was sent before, and redirect to the page."""
        settings = self._idempotent.settings

        async def in_transaction(transaction: Transaction) -> str:
            return await make(OrganizationService(transaction, settings))

        return await self.once(request, visitor, page, in_transaction)

    async def once(self, request: web.Request, visitor: SignedIn, page: str, make: MakeInTransaction) -> web.Response:
        """Run what a form orders, unless the form was sent before, and redirect to the page (303).

        The page shows the text that `make` returns, once; None is no text.
        """
        form = await form_of(request)
        form_id = form.get("once", "")
        if not _FORM_ID.fullmatch(form_id):
            raise PageError(400, "This form has expired. Reload the page and try again.")

        async def act(transaction: Transaction) -> Outcome:
            text = await make(transaction)
            if text is not None:
                # Kept before the act commits: a second sending waits for that, and its page must find the secret.
                await self._sessions.put_flash(visitor.cookie, page, text)
            return Outcome(200)

        sent = sorted(f"{name}={value!s}" for name, value in (await request.post()).items() if name != "csrf")
        digest = hashlib.sha256("\0".join((request.path, *sent)).encode()).digest()
        try:
            owner = Scope(person=visitor.person.id)
            await self._idempotent.once(owner, f"form {form_id}", digest, act, wait=True)
        except Problem as problem:
            if problem.type.slug == "idempotency-key-reused":
                raise PageError(409, "This form was already submitted. Reload the page to continue.") from None
            raise
        return see(page)

    async def take(self, visitor: SignedIn, page: str) -> str | None:
        """Return the secret that waits for this page, once."""
        return await self._sessions.take_flash(visitor.cookie, page)
