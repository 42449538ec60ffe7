"""Turns every error of a handler into a problem document."""

from collections.abc import Mapping

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from edge.http.catalogue import CATALOGUE
from edge.http.context import CONTEXT, Context, instance_of
from edge.http.faults import Fault, detail_of, unknown
from edge.http.html import PAGES, wants_html
from edge.http.problems import CONTENT_TYPE, Problem, invalid_parameters, missing_parameters, unavailable
from edge.http.routing import rule_of
from shared.errors import (
    CursorExpired,
    IdentifierNotFound,
    InvalidCursor,
    InvalidIid,
    InvalidJson,
    InvalidParameter,
    ItemMistyped,
    ItemNotFound,
    ItemWithdrawn,
    JobNotFound,
    MissingParameter,
    ResultGone,
    StoreUnavailable,
    UnknownTerm,
    WrongIdentifier,
)
from shared.telemetry.log import Log, trace_of

_NO_SUCH_PATH = f"{CATALOGUE['not-found'].meaning} {CATALOGUE['not-found'].remedy}"
_SEARCH = "Search at /v1/index/search?q=…"
_NO_IID = f"is not an IID. {CATALOGUE['invalid-iid'].remedy}"
_REDIRECTIONS = {301: "moved-permanently", 302: "found-elsewhere", 303: "see-other", 308: "permanent-redirect"}
# The slug, sentence and advice of each error whose problem says nothing about the request.
_SENTENCES: dict[type, tuple[str, str, str]] = {
    # The text is not repeated: it stands in the address, which another site may have written (promise C12).
    InvalidIid: ("invalid-iid", detail_of([Fault("iid", _NO_IID)]), ""),
    InvalidCursor: ("invalid-cursor", CATALOGUE["invalid-cursor"].remedy, ""),
    CursorExpired: ("cursor-expired", "The data has changed since the first page. Call again without `cursor`.", ""),
    IdentifierNotFound: ("identifier-not-found", "No item has this identifier.", _SEARCH),
    ItemMistyped: ("iid-not-found", "No item has this IID. It probably contains a typing error.", ""),
    ItemNotFound: ("iid-not-found", "No item has this IID.", _SEARCH),
    ItemWithdrawn: ("iid-withdrawn", "This item was withdrawn; its IID will not be used again.", ""),
    JobNotFound: ("job-not-found", CATALOGUE["job-not-found"].meaning, "List them at /v1/jobs."),
    ResultGone: ("result-expired", "The result is no longer stored. Request it again.", ""),
}


def problem_of(error: Exception) -> Problem | None:
    """Return a domain error's public form; None for an unexpected error."""
    match error:
        case Problem():
            return error
        case InvalidParameter():
            return _of_parameter(error)
        case InvalidJson():
            return Problem("invalid-request", error.detail)
        case StoreUnavailable():
            return unavailable(error)
        case web.HTTPException():
            return _of_framework(error)
    sentence = next(filter(None, map(_SENTENCES.get, type(error).__mro__)), None)
    if sentence is None:
        return None
    slug, detail, advice = sentence
    return Problem(slug, detail, advice=advice)


def _of_parameter(error: InvalidParameter) -> Problem:
    match error:
        case MissingParameter():
            return missing_parameters([Fault(error.parameter, error.detail)])
        case WrongIdentifier():
            return _wrong_identifier(error)
        case UnknownTerm():
            return invalid_parameters([unknown(error.parameter, error.kind, error.value)])
        case _:
            return invalid_parameters([Fault(error.parameter, error.detail, error.value)])


def _wrong_identifier(error: WrongIdentifier) -> Problem:
    details = {"expected_check_digit": error.expected, "suggestion": error.suggestion}
    meant = f"; did you mean `{error.suggestion}`?" if error.suggestion else ""
    fault = Fault(error.parameter, f"{error.detail}{meant}", error.value)
    return Problem("invalid-identifier", faults=[fault], extra=details)


def _of_framework(error: web.HTTPException) -> Problem:
    if isinstance(error, web.HTTPRedirection) and error.status in _REDIRECTIONS:
        slug = _REDIRECTIONS[error.status]
        return Problem(slug, CATALOGUE[slug].meaning, fields={"Location": error.headers["Location"]})
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods | ({"OPTIONS"} if "GET" in error.allowed_methods else set())))
        return Problem("method-not-allowed", f"This path allows {allowed}.", fields={"Allow": allowed})
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return Problem("content-too-large", "The body is larger than this call allows.")
    slugs = {404: "not-found", 406: "not-acceptable", 415: "unsupported-media-type", 417: "expectation-failed"}
    slug = slugs.get(error.status, "invalid-request" if error.status < 500 else "internal-error")
    return Problem(slug, _NO_SUCH_PATH if slug == "not-found" else CATALOGUE[slug].meaning)


class ProblemDetails:
    """The middleware that turns every error of a handler into a problem document."""

    def __init__(self, problem_base_url: str, log: Log) -> None:
        self._errors_base = problem_base_url
        self._log = log

    def answer(self, problem: Problem, context: Context, more: Mapping[str, object] | None = None) -> web.Response:
        """Return a problem's response, with `more` members, and keep its slug for the access line."""
        context.problem_slug = problem.type.slug
        body = problem.document(self._errors_base, context.request_id, more)
        fields = {"Cache-Control": "no-store", **problem.fields}
        return web.Response(
            status=problem.type.status, reason=problem.type.title, body=body, content_type=CONTENT_TYPE, headers=fields
        )

    def middleware(self) -> Middleware:

        @web.middleware
        async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
            context = request[CONTEXT]
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - the last line of defence: the caller always gets a document
                rule, problem = rule_of(request), problem_of(error) or self._report_unexpected(error, context)
                context.problem_slug = problem.type.slug
                if rule.fails_as is not None:
                    return rule.fails_as(problem, request)
                if rule.error_members is not None:
                    return self.answer(problem, context, rule.error_members(problem, request))
                for_person = rule.page or problem.type.slug == "not-found"
                if for_person and wants_html(request):
                    return self._page(problem, context)
                return self.answer(problem, context)

        return problems

    def _page(self, problem: Problem, context: Context) -> web.Response:
        """Make the answer to a person whose browser followed a wrong link, or sent a form that no page has read."""
        not_found = problem.cause == _NO_SUCH_PATH
        answer = PAGES.page(
            "problem.html",
            title=problem.type.title,
            detail="There is nothing at this address." if not_found else problem.cause,
            slug=problem.type.slug,
            instance=instance_of(context.request_id),
        )
        answer.set_status(problem.type.status, problem.type.title)
        answer.headers.update({"Cache-Control": "no-store", **problem.fields})
        return answer

    def _report_unexpected(self, error: Exception, context: Context) -> Problem:
        log = self._log.bind(request_id=context.request_id, **context.caller, **context.trace)
        log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        return Problem(
            "internal-error", "An unexpected error occurred. It is logged under the request ID in `instance`."
        )
