"""Pages of mails: which kinds a member has, the page of the link in each mail, and the outbox."""

from aiohttp import web

from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from shared.events.mails import DIGESTS, MAIL_KINDS, MAILS_PATH, UNSUBSCRIBE_PATH, Subscriber, kinds_of
from shared.organizations.accounts import BRAND

_WATCHES = "/dashboard/watches"
_OUTBOX_LISTED = 50
_TOKEN_CHARACTERS_MAX = 200
_NO_SENDER = "This service sends no mail: its operator has not set MAIL_FROM."
_NO_ADDRESS = "Your sign-in states no verified email address. Verify it there and sign in again."


class MailPages(Pages):
    """The handlers. A member decides about their own mails; the link of a mail needs no session."""

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The kinds of mails that the visitor's role has, and which of them are sent."""
        mails, role = self._services.mails, visitor.member.role
        chosen = await mails.choices(visitor.acting)
        kinds = [(name, kind, chosen.get(name, kind.wanted)) for name, kind in kinds_of(role).items()]
        return render(
            request,
            "mails.html",
            visitor,
            kinds=kinds,
            alerts=await mails.state(visitor.acting),
            alerts_refusal=await self._refusal(visitor, BRAND),
            obstacle=self._obstacle(visitor),
        )

    async def save(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Keep which mails the visitor wants."""
        form, mails, role = await form_of(request), self._services.mails, visitor.member.role
        frequency = form.get("alerts", "off")
        if frequency != "off" and frequency not in DIGESTS:
            raise PageError(400, "Choose how often alerts are sent.")
        offered = [name for name, kind in kinds_of(role).items() if kind.refusable]
        wanted = set(form.getall("kinds", []))
        await mails.choose(visitor.acting, {name: name in wanted for name in offered})
        if frequency != "off":
            await self._request(visitor, DIGESTS[frequency])
        elif await mails.state(visitor.acting) is not None:
            await mails.end(visitor.acting)
        return redirect(MAILS_PATH)

    async def choose(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Mail alerts to the visitor from now on, or no longer."""
        if (await form_of(request)).get("mail") == "off":
            await self._services.mails.end(visitor.acting)
        else:
            state = await self._services.mails.state(visitor.acting)
            await self._request(visitor, state.digest if state else None)
        return redirect(_WATCHES)

    async def _request(self, visitor: SignedIn, digest: str | None) -> None:
        await self._principal(visitor, BRAND)
        obstacle = self._obstacle(visitor)
        if obstacle:
            raise PageError(409, obstacle)
        await self._services.mails.request(visitor.acting, digest)

    def _obstacle(self, visitor: SignedIn) -> str | None:
        """Return why nothing can be mailed to the visitor, None where it can."""
        if not self._services.mails.offered:
            return _NO_SENDER
        return None if visitor.person.email and visitor.person.email_verified else _NO_ADDRESS

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Ask whether the mails should end: programs that fetch the links of a mail must not end them."""
        kind = MAIL_KINDS[self._subscriber(request).kind]
        action = f"{UNSUBSCRIBE_PATH}?{request.query_string}"
        return render(request, "unsubscribe.html", None, kind=kind, ended=False, action=action)

    async def unsubscribe(self, request: web.Request) -> web.StreamResponse:
        """End the mails; also by the one click of a mail program (RFC 8058), and as often as it is sent."""
        subscriber = self._subscriber(request)
        await self._services.mails.unsubscribe(subscriber)
        return render(request, "unsubscribe.html", None, kind=MAIL_KINDS[subscriber.kind], ended=True)

    async def outbox(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The mails that were kept instead of sent; for operators alone."""
        visitor.require_operator()
        return render(request, "outbox.html", visitor, mails=await self._services.mails.outbox(_OUTBOX_LISTED))

    def _subscriber(self, request: web.Request) -> Subscriber:
        token = request.query.get("token", "")
        subscriber = self._services.mails.subscriber_of(token) if len(token) <= _TOKEN_CHARACTERS_MAX else None
        if subscriber is None or not MAIL_KINDS[subscriber.kind].refusable:
            raise PageError(404, "This link is not complete. Copy the whole link from the mail, or sign in.")
        return subscriber
