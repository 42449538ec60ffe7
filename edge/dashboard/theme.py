"""The theme of the pages: light, dark, or as the system asks; kept in a cookie that says nothing else."""

import re

from aiohttp import web

from edge.dashboard.page_requests import form_of, redirect

_COOKIE = "theme"
_THEMES = ("light", "dark")
_SECONDS = 365 * 86_400
# A path of ours: a second slash, also as a browser reads a backslash, would begin the name of another host.
_PATH = re.compile(r"/(?![/\\])[!-~]*")


def theme_of(request: web.Request) -> str:
    """Return the theme that was chosen, empty for that of the system."""
    chosen = request.cookies.get(_COOKIE, "")
    return chosen if chosen in _THEMES else ""


async def choose_theme(request: web.Request) -> web.StreamResponse:
    """Keep the theme of the form's button, and show the page again that it was on."""
    form = await form_of(request)
    page = form.get("next", "")
    response = redirect(page if _PATH.fullmatch(page) else "/dashboard")
    theme = form.get("theme", "")
    if theme in _THEMES:
        # Scripts of the documentation read it: those pages are the same for everybody.
        response.set_cookie(_COOKIE, theme, max_age=_SECONDS, path="/", samesite="Lax")
    else:
        response.del_cookie(_COOKIE, path="/", samesite="Lax")
    return response
