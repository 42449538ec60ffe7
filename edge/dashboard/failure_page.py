"""Failures, shown as pages."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.dashboard.page_requests import PageError, SessionEnded, is_part
from edge.dashboard.rendering import render
from edge.dashboard.visitor import NO_ORGANIZATION, SignedIn
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from shared.errors import ItemIndexError, RollupsOutdated, StoreUnavailable

OpenPage = Callable[[web.Request], Awaitable[web.StreamResponse]]
_TITLES = {403: "Not allowed", 404: "Not found", 409: "This changed in the meantime", 410: "Withdrawn"}
_STORES = {"state": "session store", "results": "result store", "search": "search index", "database": "database"}


def with_failure_page(page: OpenPage) -> OpenPage:
    """Make a handler of a page without a visitor that shows its failures as pages."""

    async def handler(request: web.Request) -> web.StreamResponse:
        try:
            return await page(request)
        except (PageError, ItemIndexError, Problem) as error:
            return show_failure(request, error, None)

    return handler


def show_failure(
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
        title="This is a page of organizations" if text == NO_ORGANIZATION else _title(status),
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
