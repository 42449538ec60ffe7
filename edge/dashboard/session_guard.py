"""The signed-in visitor of a dashboard page, and the parts of all pages and forms: guards, rendering, failures."""

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from aiohttp import web
from markupsafe import Markup, escape
from multidict import MultiDict

from edge.auth.actor import Actor
from edge.composition import Services
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.tables import amount, estimate, figure
from edge.http.context import CONTEXT
from edge.http.html import PAGE_FIELDS, Templates
from edge.http.problems import Problem, problem_of
from shared.errors import CopyableError, ItemIndexError, RollupsOutdated, StoreUnavailable
from shared.index.iid import require_uuid
from shared.organizations.accounts import Membership, Person, Session, may

_SPAN = re.compile(r"`([^`]+)`")
_DAY = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", re.ASCII)


def code_spans(text: str) -> Markup:
    """Return a sentence with the text between backticks as code; everything in it is escaped."""
    return Markup(_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped in the line itself


def whole_days(text: str) -> Markup:
    """Return text whose days are not broken at their hyphens; everything in it is escaped."""
    return Markup(_DAY.sub(r'<span class="day">\g<0></span>', str(escape(text))))  # noqa: S704 - as above


# With `no-referrer` a browser would send `Origin: null` with our own forms too, and the origin would prove nothing.
_FIELDS = {**PAGE_FIELDS, "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
_FORM_FIELDS_MAX = 30
_TITLES = {403: "Not allowed", 404: "Not found", 409: "This changed in the meantime", 410: "Withdrawn"}
_STORES = {"state": "session store", "results": "result store", "search": "search index", "database": "database"}


class PageError(CopyableError):
    """A failure of a page, as a sentence for the person in front of it."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class SessionEnded(PageError):
    """A form, or a part of a page, was requested after the session's end."""

    def __init__(self) -> None:
        super().__init__(
            403,
            "Your session has ended. Sign in in another tab, then go back here: what you typed is still there.",
        )


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in visitor. `membership` is None for a person of no organization; `staff` reviews matches."""

    cookie: str
    session: Session
    person: Person
    membership: Membership | None
    staff: bool = False

    @property
    def member(self) -> Membership:
        """The visitor's membership. Raises PageError if there is none."""
        if self.membership is None:
            raise PageError(404, NO_ORGANIZATION)
        return self.membership

    def require_operator(self) -> tuple[str, str]:
        """Return the id and the name of an operator of the service. Raises PageError for anybody else."""
        if not self.staff:
            raise PageError(403, "This page is for operators of the service only.")
        return self.person.id, (self.person.name or self.person.email or self.person.id)[:300]

    @property
    def acting(self) -> Actor:
        """The visitor as a member of an organization. Raises PageError if there is none."""
        return Actor.of(self.person, self.member)

    @property
    def organization(self) -> str:
        """The id of the organization that the visitor works in; empty without one."""
        return self.membership.organization_id if self.membership else ""

    @property
    def suspended(self) -> bool:
        """Whether the organization is refused every call."""
        return self.membership is not None and self.membership.state != "active"

    @property
    def barred(self) -> str | None:
        """Why the visitor makes no calls for the organization, whatever its plan includes; None for one who may."""
        return self.barred_from("call")

    def barred_from(self, right: str) -> str | None:
        """Return why the visitor has no right in the organization, whatever its plan includes; None for one who has."""
        if self.membership is None or (not self.suspended and may(self.membership.role, right)):
            return None
        return SUSPENDED if self.suspended else read_only(self.membership.role)

    @property
    def form_token(self) -> str:
        """The token of the forms on a page: it names the organization that the page shows."""
        return f"{self.session.csrf}.{self.organization}"


SUSPENDED = "This organization is suspended."
NO_ORGANIZATION = "You are not a member of an organization yet. Create one, or ask for an invitation."


def read_only(role: str) -> str:
    """Return why a role may not act."""
    return f"Your role ({role}) has read-only access here. Ask an owner or admin to make changes."


Page = Callable[[web.Request, SignedIn], Awaitable[web.StreamResponse]]
OpenPage = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LongForm(Protocol):
    """A form whose body is read as it arrives."""

    async def token(self) -> str:
        """Return the token in its first field."""


Form = TypeVar("Form", bound=LongForm)
UploadPage = Callable[[web.Request, SignedIn, Form], Awaitable[web.StreamResponse]]
Permit = Callable[[web.Request, SignedIn], AbstractContextManager[Form]]


class SessionGuard:
    """Finds the session of a request, guards forms, and shows every failure as a page."""

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies) -> None:
        self._users = services.resources.users
        self._limits = services.person_limits
        self._sessions = sessions
        self._cookies = cookies
        self._origin = services.origin
        self._staff = services.settings.staff_addresses

    def open(self, page: OpenPage) -> OpenPage:
        """Make a handler for a page that needs no session."""

        async def handler(request: web.Request) -> web.StreamResponse:
            try:
                return await page(request)
            except (PageError, ItemIndexError, Problem) as error:
                return _shown(request, error, None)

        return handler

    def page(self, page: Page, unsigned: Callable[[web.Request], web.Response] | None = None) -> OpenPage:
        """Make a handler for signed-in visitors; others are sent to sign in first, or see the page `unsigned`."""

        async def show(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            if any("\0" in value for value in request.query.values()):
                raise PageError(400, "This address contains a NUL character. Remove `%00` from it.")
            return await page(request, visitor)

        return self._guarded(show, unsigned or to_sign_in)

    def form(self, page: Page, *, personal: bool = False) -> OpenPage:
        """Make a handler for a form of ours, sent from a page of ours.

        Unless it is `personal`, it acts on the organization that its page shows, or on none.
        """

        async def receive(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            await self._admit(request, visitor, (await form_of(request)).get("csrf", ""), personal=personal)
            return await page(request, visitor)

        return self._guarded(receive, _refuse_unsigned)

    def upload(self, page: UploadPage[Form], permit: Permit[Form]) -> OpenPage:
        """Make a handler for a form of ours with a file. Its first field proves that; the page reads what follows.

        `permit` opens the form, or raises PageError before anything of the body is awaited: a body lasts as long as
        its sender likes.
        """

        async def receive(request: web.Request, visitor: SignedIn) -> web.StreamResponse:
            with permit(request, visitor) as form:
                await self._admit(request, visitor, await form.token(), personal=True)
                return await page(request, visitor, form)

        guarded = self._guarded(receive, _refuse_unsigned)

        async def handler(request: web.Request) -> web.StreamResponse:
            response = await guarded(request)
            if response.status >= 400:
                response.force_close()  # the rest of the file is not read
            return response

        return handler

    def _guarded(self, page: Page, unsigned: Callable[[web.Request], web.Response]) -> OpenPage:
        async def handler(request: web.Request) -> web.StreamResponse:
            visitor: SignedIn | None = None
            try:
                visitor = await self.visitor(request)
                return await page(request, visitor) if visitor else unsigned(request)
            except (PageError, ItemIndexError, Problem) as error:
                return _shown(request, error, visitor, signed_in=self._cookies.session in request.cookies)

        return handler

    async def visitor(self, request: web.Request) -> SignedIn | None:
        """Return the visitor whose session a request's cookie names."""
        cookie = request.cookies.get(self._cookies.session)
        session = await self._sessions.find(cookie) if cookie else None
        person = await self._users.by_id(session.person_id) if session else None
        if cookie is None or session is None or person is None:
            return None
        membership = person.membership(session.organization) or person.membership(None)
        request[CONTEXT].person = person
        staff = person.email_verified and (person.email or "").lower() in self._staff
        return SignedIn(cookie, session, person, membership, staff)

    async def _admit(self, request: web.Request, visitor: SignedIn, token: str, *, personal: bool) -> None:
        """Raise PageError unless a form came from a page of the visitor's; count it against the person's limits.

        The page may be in a tab that was open before another tab switched the organization.
        """
        origin = request.headers.get("Origin")
        csrf, _, organization = token.partition(".")
        own = hmac.compare_digest(csrf.encode(), visitor.session.csrf.encode())
        if (origin is not None and origin != self._origin) or not own:
            raise PageError(403, "This form could not be verified. Go back and try again.")
        if not personal and organization != visitor.organization:
            member = visitor.membership
            now = f"You now work in {member.name}." if member else "You left this organization."
            raise PageError(409, f"{now} Open this page again.")
        context = request[CONTEXT]
        await self._limits.consume_call(visitor.person.id, context.network, context.charge_id)


async def unknown_page(_request: web.Request, _visitor: SignedIn) -> web.StreamResponse:
    """Refuse an address that no page has, with the navigation around the refusal."""
    raise PageError(404, "There is no page at this address.")


def _refuse_unsigned(request: web.Request) -> web.Response:
    raise SessionEnded


async def form_of(request: web.Request) -> MultiDict[str]:
    """Return a form's fields. Raises PageError for anything but a small url-encoded form."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise PageError(415, "Submit this form from a browser.")
    try:
        fields = [(name, str(value)) for name, value in (await request.post()).items()]
        text = "".join(name + value for name, value in fields)
        text.encode()  # some charsets write halves of characters, which neither the database nor an address takes
    except (ValueError, LookupError):
        raise PageError(400, "The form could not be read. Go back and try again.") from None
    except web.HTTPRequestEntityTooLarge:
        raise PageError(413, "The form is too large (64 kB at most). Shorten its fields and submit it again.") from None
    if len(fields) > _FORM_FIELDS_MAX or "\0" in text:
        raise PageError(400, "The form could not be read. Go back and try again.")
    return MultiDict(fields)


def id_in(request: web.Request, name: str) -> str | None:
    """Return the id that the address gives under a name. Raises PageError for what is no id."""
    text = request.query.get(name)
    return (
        require_uuid(text, PageError(400, "This page of the list does not exist. Go back to the first page."))
        if text
        else None
    )


def render(request: web.Request, name: str, visitor: SignedIn | None, status: int = 200, **values: Any) -> web.Response:
    """Render a page's template. Every value is escaped unless it is markup of ours."""
    values = {"visitor": visitor, "here": request.path, **values}
    text = _TEMPLATES.text(name, **values)
    return web.Response(text=text, content_type="text/html", charset="utf-8", status=status, headers=_FIELDS)


def new_form_id() -> str:
    """Return a new id for one form on a page: 22 characters, 128 random bits."""
    return secrets.token_urlsafe(16)


_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    lstrip_blocks=True,
    form_id=new_form_id,
    amount=amount,
    estimate=estimate,
    figure=figure,
    code_spans=code_spans,
    whole_days=whole_days,
)


def see(location: str) -> web.Response:
    """Redirect to another page after a form (303), so that a reload does not send the form again."""
    return web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})


def to_sign_in(request: web.Request) -> web.Response:
    """Redirect to sign-in and then back to the page with its query.

    Raises SessionEnded for a part of a page: its page may be a form that is half filled in.
    """
    if is_part(request):
        raise SessionEnded
    return see(f"/dashboard/sign-in?next={quote(request.path_qs, safe='')}")


def moved(request: web.Request, location: str) -> web.Response:
    """Redirect to the page of an item's survivor (301); a part of a page redirects the whole page.

    A merge can be undone, so no browser may keep it.
    """
    if is_part(request):
        return web.Response(status=204, headers={"HX-Redirect": location, "Cache-Control": "no-store"})
    return web.Response(status=301, headers={"Location": location, "Cache-Control": "no-store"})


def is_part(request: web.Request) -> bool:
    """Return whether a script requests a part of its page."""
    return request.headers.get("HX-Request") == "true"


def _shown(
    request: web.Request, error: Exception, visitor: SignedIn | None, *, signed_in: bool = False
) -> web.Response:
    """Show a failure as a page. With `signed_in` it keeps the navigation although nobody could be looked up.

    A page that can be had again in a moment reloads itself; a form is sent again by the person alone.
    """
    problem = None if isinstance(error, PageError) else problem_of(error)
    retry = problem.fields.get("Retry-After") if problem is not None else None
    if isinstance(error, PageError):
        status, text = error.status, error.text
    elif isinstance(error, StoreUnavailable):
        status, text = 503, _unavailable(error)
    else:
        status, text = (
            (problem.type.status, problem.cause) if problem else (500, "An unexpected error occurred. Try again.")
        )
    again = status == 503 and retry is not None and request.method == "GET" and not is_part(request)
    response = render(
        request,
        "problem_part.html" if is_part(request) else "problem.html",
        visitor,
        status=status,
        title=_title(status),
        text=text,
        retry=retry if again else None,
        address=request.path_qs,
        signed_in=signed_in or visitor is not None,
        ended=isinstance(error, SessionEnded),
    )
    if retry is not None:
        response.headers["Retry-After"] = retry
    return response


def _unavailable(error: StoreUnavailable) -> str:
    """Return which part of the service is down, and when to try again."""
    seconds = error.retry_after_seconds
    part = _STORES.get(error.store, f"{error.store} store")
    state = "is being upgraded" if isinstance(error, RollupsOutdated) else "isn't responding"
    return f"The {part} {state}. Try again in {seconds} {'second' if seconds == 1 else 'seconds'}."


def _title(status: int) -> str:
    """Return the heading of a failure; the text below it gives the details."""
    if status == 429:
        return "Limit reached"
    if status == 503:
        return "Temporarily unavailable"
    if status >= 500:
        return "Something went wrong"
    return _TITLES.get(status, "This request can't be completed")
