"""From errors to problem documents (RFC 9457), the bodies of all responses that are not successes."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from marshmallow import Schema, fields

from edge.http.context import CONTEXT, Context, instance_of
from edge.http.faults import CATALOGUE, Fault, detail_of
from edge.http.html import PAGES, wants_html
from edge.http.routing import rule_of
from shared.errors import (
    IdentifierNotFound,
    InvalidCursor,
    InvalidIid,
    InvalidJson,
    InvalidParameter,
    ItemIndexError,
    ItemMistyped,
    ItemNotFound,
    ItemWithdrawn,
    JobNotFound,
    MissingParameter,
    ResultGone,
    StoreUnavailable,
    WrongIdentifier,
)
from shared.telemetry.log import Log, trace_of

CONTENT_TYPE = "application/problem+json"
_NO_IID = f"is not an IID. {CATALOGUE['invalid-iid'].remedy}"
_ENCODER = msgspec.json.Encoder()


class ParameterFault(Schema):
    """A parameter that was refused."""

    parameter = fields.Str(required=True, metadata={"description": "Its name"})
    detail = fields.Str(required=True, metadata={"description": "Values that are allowed"})
    value = fields.Str(metadata={"description": "The value that was sent, shortened"})


class ProblemDocument(Schema):
    """A problem document (RFC 9457). A slug may add members."""

    type = fields.Str(
        required=True,
        metadata={
            "format": "uri",
            "description": "`{problem_base_url}/{slug}`: the page with its meaning and remedy",
        },
    )
    title = fields.Str(required=True, metadata={"description": "Reason phrase of the status"})
    status = fields.Int(required=True, metadata={"minimum": 300, "maximum": 599, "description": "Status of the answer"})
    detail = fields.Str(required=True, metadata={"description": "Cause of this occurrence"})
    instance = fields.Str(required=True, metadata={"format": "uri", "description": "Request, as a URN"})
    errors = fields.List(fields.Nested(ParameterFault()), metadata={"description": "All invalid parameters"})


class Problem(Exception):
    """An answer that is not the one asked for. `extra` are the members that the slug adds, `fields` more headers.

    `faults` are the parameters that are wrong; they are listed in `errors`.
    """

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        extra: Mapping[str, Any] | None = None,
        fields: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        super().__init__(slug)
        self.type = CATALOGUE[slug]
        self.detail = detail
        self.faults = tuple(faults)
        listed = {"errors": [fault.entry for fault in self.faults]} if self.faults else {}
        self.extra = {**listed, **(extra or {})}
        self.fields = dict(fields or {})

    def document(self, problem_base_url: str, request_id: str) -> bytes:
        """Encode the problem document."""
        return _ENCODER.encode(
            {
                "type": f"{problem_base_url}/{self.type.slug}",
                "title": self.type.title,
                "status": self.type.status,
                "detail": self.detail,
                "instance": instance_of(request_id),
                **self.extra,
            }
        )


def unavailable(error: StoreUnavailable) -> Problem:
    """Return the problem of a store that is unavailable, with the time to retry after."""
    seconds = error.retry_after_seconds
    detail = f"The {error.store} store {error.state}; nothing was charged. Try again in {seconds} s."
    return Problem("service-unavailable", detail, extra={"retry_after": seconds}, fields={"Retry-After": str(seconds)})


def invalid_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every invalid parameter, its value and what is allowed."""
    listed = list(faults)
    return Problem("invalid-parameter", detail_of(listed), faults=listed)


def missing_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every missing parameter."""
    listed = list(faults)
    return Problem("missing-parameter", detail_of(listed), faults=listed)


def _wrong_identifier(error: WrongIdentifier) -> Problem:
    details = {"expected_check_digit": error.expected, "suggestion": error.suggestion}
    meant = f"; did you mean `{error.suggestion}`?" if error.suggestion else ""
    fault = Fault(error.parameter, f"{error.detail}{meant}", error.value)
    return Problem("invalid-identifier", detail_of([fault]), faults=[fault], extra=details)


def problem_of(error: Exception) -> Problem | None:
    """Return a domain error's public form; None for an unexpected error."""
    match error:
        case Problem():
            return error
        case MissingParameter():
            return missing_parameters([Fault(error.parameter, error.detail)])
        case WrongIdentifier():
            return _wrong_identifier(error)
        case InvalidParameter():
            return invalid_parameters([Fault(error.parameter, error.detail, error.value)])
        case InvalidJson():
            return Problem("invalid-request", error.detail)
        case InvalidIid():
            # The text is not repeated: it stands in the address, which another site may have written (promise C12).
            return Problem("invalid-iid", detail_of([Fault("iid", _NO_IID)]))
        case InvalidCursor():
            return Problem("invalid-cursor", CATALOGUE["invalid-cursor"].remedy)
        case IdentifierNotFound():
            return Problem("identifier-not-found", "No item has this identifier. Search at /v1/index/search?q=…")
        case ItemMistyped():
            return Problem("iid-not-found", "No item has this IID. It probably contains a typing error.")
        case ItemNotFound():
            return Problem("iid-not-found", "No item has this IID. Search at /v1/index/search?q=…")
        case ItemWithdrawn():
            return Problem("iid-withdrawn", "This item was withdrawn; its IID will not be used again.")
        case JobNotFound():
            return Problem("job-not-found", CATALOGUE["job-not-found"].meaning)
        case ResultGone():
            return Problem("result-expired", "The result is no longer stored. Request it again.")
        case StoreUnavailable():
            return unavailable(error)
        case web.HTTPException():
            return _of_framework(error)
        case _:
            return None


_REDIRECTIONS = {301: "moved-permanently", 302: "found-elsewhere", 303: "see-other", 308: "permanent-redirect"}


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
    return Problem(slug, CATALOGUE[slug].meaning)


class ProblemDetails:
    """The middleware that turns every error of a handler into a problem document."""

    def __init__(self, problem_base_url: str, log: Log) -> None:
        self._errors_base = problem_base_url
        self._log = log

    def answer(self, problem: Problem, context: Context) -> web.Response:
        """Return a problem's response and keep its slug for the access line."""
        context.problem_slug = problem.type.slug
        body = problem.document(self._errors_base, context.request_id)
        fields = {"Cache-Control": "no-store", **problem.fields}
        return web.Response(
            status=problem.type.status, reason=problem.type.title, body=body, content_type=CONTENT_TYPE, headers=fields
        )

    def middleware(self) -> Any:
        """Return the aiohttp middleware."""

        @web.middleware
        async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
            context = request[CONTEXT]
            try:
                return await handler(request)
            except (ItemIndexError, Problem, web.HTTPException) as error:
                known = problem_of(error)
                problem = known or self._unexpected(error, context)
                if rule_of(request).fails_as is not None:
                    return self._translated(request, problem, context)
                for_person = isinstance(error, web.HTTPNotFound) or rule_of(request).page
                return (
                    self._page(problem, context)
                    if for_person and wants_html(request)
                    else self.answer(problem, context)
                )
            except Exception as error:  # noqa: BLE001 - the last line of defence: the caller always gets a document
                problem = self._unexpected(error, context)
                if rule_of(request).fails_as is not None:
                    return self._translated(request, problem, context)
                return self.answer(problem, context)

        return problems

    def _translated(self, request: web.Request, problem: Problem, context: Context) -> web.Response:
        context.problem_slug = problem.type.slug
        translate = rule_of(request).fails_as
        assert translate is not None
        return translate(problem, request)

    def _page(self, problem: Problem, context: Context) -> web.Response:
        """Make the answer to a person whose browser followed a wrong link, or sent a form that no page has read."""
        context.problem_slug = problem.type.slug
        not_found = problem.type.slug == "not-found"
        answer = PAGES.page(
            "problem.html",
            title=problem.type.title,
            detail="There is nothing at this address." if not_found else problem.detail,
            slug=problem.type.slug,
            instance=instance_of(context.request_id),
        )
        answer.set_status(problem.type.status, problem.type.title)
        answer.headers.update({"Cache-Control": "no-store", **problem.fields})
        return answer

    def _unexpected(self, error: Exception, context: Context) -> Problem:
        log = self._log.bind(request_id=context.request_id, **context.caller, **context.trace)
        log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        return Problem("internal-error", "An unexpected error occurred, logged under the request ID in `instance`.")
