"""Templates of the dashboard's pages."""

import asyncio
import re
import secrets
from pathlib import Path
from typing import Any

from aiohttp import web
from markupsafe import Markup, escape

from edge.analytics.wording import amount, estimate, figure
from edge.dashboard.attribute_words import attribute_words
from edge.dashboard.dates import day_text, moment_text, range_text, with_days
from edge.dashboard.navigation import Navigation
from edge.dashboard.theme import theme_of
from edge.dashboard.visitor import SignedIn
from edge.http.html import PAGE_FIELDS, Templates

# With `no-referrer` a browser would send `Origin: null` with our own forms too, and the origin would prove nothing.
_FIELDS = {**PAGE_FIELDS, "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
_SPAN = re.compile(r"`([^`]+)`")


def render(request: web.Request, name: str, visitor: SignedIn | None, status: int = 200, **values: Any) -> web.Response:
    """Render a page's template. Every value is escaped unless it is markup of ours."""
    address = request.path_qs if request.method == "GET" else "/dashboard"
    values = {"visitor": visitor, "here": request.path, "theme": theme_of(request), "address_now": address, **values}
    text = _TEMPLATES.text(name, **values)
    return web.Response(text=text, content_type="text/html", charset="utf-8", status=status, headers=_FIELDS)


async def compile_templates(_app: web.Application) -> None:
    """Begin to compile the templates in a thread, beside the first requests, which would be blocked by it."""
    asyncio.get_running_loop().run_in_executor(None, _TEMPLATES.compile)


def new_form_id() -> str:
    """Return a new id for one form on a page: 22 characters, 128 random bits."""
    return secrets.token_urlsafe(16)


def code_spans(text: str) -> Markup:
    """Return a sentence with the text between backticks as code; everything in it is escaped."""
    return Markup(_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped in the line itself


def whole_days(text: str) -> Markup:
    """Return text with its days as people write them, none broken at its end of a line; everything in it is escaped."""
    return Markup(with_days(str(escape(text)), '<span class="day">{}</span>'))  # noqa: S704 - as above


_TEMPLATES = Templates(
    Path(__file__).with_name("templates"),
    lstrip_blocks=True,
    form_id=new_form_id,
    amount=amount,
    attribute_words=attribute_words,
    estimate=estimate,
    figure=figure,
    code_spans=code_spans,
    whole_days=whole_days,
    day_text=day_text,
    day_range=range_text,
    moment_text=moment_text,
    navigation=Navigation.of,
)
