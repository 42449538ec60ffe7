"""Requests of dashboard pages: their forms, ids and redirects, and the failures that a page can show."""

from urllib.parse import quote

from aiohttp import web
from multidict import MultiDict

from shared.errors import CopyableError
from shared.index.iid import require_uuid

# An upload has a menu above each of sixty columns.
_FORM_FIELDS_MAX = 100


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


def refuse_nul(request: web.Request) -> None:
    """Raise PageError for an address with a NUL character, which PostgreSQL takes in no text."""
    if any("\0" in value for value in (*request.match_info.values(), *request.query.values())):
        raise PageError(400, "This address contains a NUL character. Remove `%00` from it.")


def id_in(request: web.Request, name: str) -> str | None:
    """Return the id that the address gives under a name. Raises PageError for what is no id."""
    text = request.query.get(name)
    return (
        require_uuid(text, PageError(400, "This page of the list does not exist. Go back to the first page."))
        if text
        else None
    )


def redirect(location: str) -> web.Response:
    """Redirect to another page after a form (303), so that a reload does not send the form again."""
    return web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})


def send_file(content: bytes, media_type: str, name: str) -> web.Response:
    """Send a file that was made for this request; its name is of letters, digits and marks alone."""
    fields = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=content, headers={**fields, "Content-Type": media_type})


def redirect_to_sign_in(request: web.Request) -> web.Response:
    """Redirect to sign-in and then back to the page with its query.

    Raises SessionEnded for a part of a page: its page may be a form that is half filled in.
    """
    if is_part(request):
        raise SessionEnded
    return redirect(f"/dashboard/sign-in?next={quote(request.path_qs, safe='')}")


def redirect_to_survivor(request: web.Request, location: str) -> web.Response:
    """Redirect to the page of an item's survivor (301); a part of a page redirects the whole page.

    A merge can be undone, so no browser may keep it.
    """
    if is_part(request):
        return web.Response(status=204, headers={"HX-Redirect": location, "Cache-Control": "no-store"})
    return web.Response(status=301, headers={"Location": location, "Cache-Control": "no-store"})


def is_part(request: web.Request) -> bool:
    """Return whether a script requests a part of its page."""
    return request.headers.get("HX-Request") == "true"
