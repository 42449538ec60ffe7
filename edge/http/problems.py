"""The catalogue of problems, faults of parameters, and how errors become problem documents (RFC 9457)."""

import tomllib
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from marshmallow import Schema, fields

from edge.http.context import CONTEXT, Context, instance_of
from edge.http.html import PAGES, wants_html
from edge.http.redaction import has_credential
from edge.http.routing import rule_of
from shared.errors import (
    CopyableError,
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
from shared.printable import printable
from shared.telemetry.log import Log, trace_of

_NEWER_PHRASES = {
    413: "Content Too Large",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
    414: "URI Too Long",
}


def reason_phrase(status: int) -> str:
    """Return the status code's reason phrase as RFC 9110 has it."""
    return _NEWER_PHRASES.get(status) or HTTPStatus(status).phrase


class ProblemType(NamedTuple):
    """One entry of the public catalogue behind `{problem_base_url}`."""

    slug: str
    status: int
    meaning: str
    remedy: str
    # Of a problem that no test records: a request that may cause it, and members of its answer.
    request: str | None = None
    example: Mapping[str, Any] = {}

    @property
    def title(self) -> str:
        """The reason phrase of the status."""
        return reason_phrase(self.status)


def _load() -> dict[str, ProblemType]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {slug: ProblemType(slug, **entry) for slug, entry in tomllib.loads(text).items()}


CATALOGUE: dict[str, ProblemType] = _load()


DETAIL_CHARACTERS_MAX = 300
_VALUE_CHARACTERS_MAX = 40
# Sentences that continue "`limit`: `0` …"; before any other one a verb is missing.
_VERBS = tuple(f"{verb} " for verb in "is are has does comes cannot ends belongs only of takes says weights".split())
LISTS = {
    "brand": "/v1/index/brands",
    "category": "/v1/index/categories",
    "channel": "/v1/index/channels",
    "item": "/v1/index/search",
}
_HARMLESS = str.maketrans({"`": "'", "<": "\\u003c", ">": "\\u003e"})


class Fault(NamedTuple):
    """A parameter, why it was refused, and the value that came; without a value the sentence is about the name.

    `listed_at` is the path of the list of what is allowed, for programs; forms suggest the same entries.
    """

    parameter: str
    detail: str
    value: Any = None
    listed_at: str = ""

    @property
    def sentence(self) -> str:
        """The fault in words: "`brand`: `nosuch` is not a known brand; see /v1/index/brands"."""
        named = quoted(self.value) is None and self.detail.startswith(_VERBS)
        return f"`{self.parameter}`{'' if named else ':'} {self.of_value}"

    @property
    def of_value(self) -> str:
        """The fault without the parameter's name: "`nosuch` is not a known brand; see /v1/index/brands"."""
        value, continues = quoted(self.value), self.detail.startswith(_VERBS)
        if value is None:
            return self._advised
        return f"`{value}` {self._advised if continues else f'is not valid; {self._advised}'}"

    @property
    def entry(self) -> dict[str, str]:
        """The fault as an entry of `errors`."""
        value = quoted(self.value)
        return {"parameter": self.parameter, "detail": self._advised, **({} if value is None else {"value": value})}

    @property
    def _advised(self) -> str:
        return f"{self.detail}; see {self.listed_at}" if self.listed_at else self.detail


def unknown(parameter: str, name: str, value: Any) -> Fault:
    """Return the fault of a value that the index does not have; `name` is brand, category, channel or item."""
    return Fault(parameter, f"is not a known {name}", value, LISTS[name])


def quoted(value: Any) -> str | None:
    """Return a value for a response: short, in one line, without a backtick. None for a blank one and a credential."""
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    # A key or an ID token in the wrong place must not be repeated: details are printed, and end up in logs of callers.
    if not text.strip() or has_credential(text):
        return None
    # A browser that takes the answer for HTML all the same finds no tag in it.
    shown = printable(text[: _VALUE_CHARACTERS_MAX + 1]).translate(_HARMLESS)
    return shown if len(shown) <= _VALUE_CHARACTERS_MAX else f"{shown[: _VALUE_CHARACTERS_MAX - 1]}…"


def detail_of(faults: Iterable[Fault]) -> str:
    """Return as many faults as 300 characters hold, at least the beginning of the first, and the number of others."""
    sentences = [fault.sentence.rstrip(".") for fault in faults]
    for kept in range(min(len(sentences), DETAIL_CHARACTERS_MAX), 0, -1):  # each has a character at least
        left = len(sentences) - kept
        more = f" {left} more in `errors`." if left else ""
        text = ". ".join(sentences[:kept])
        if len(text) + 1 + len(more) <= DETAIL_CHARACTERS_MAX:
            return f"{text}{'' if text.endswith('?') else '.'}{more}"
    return f"{sentences[0][: DETAIL_CHARACTERS_MAX - 1 - len(more)]}…{more}"


def value_in(given: Any, name: str, message: Any) -> Any:
    """Return the value to which a validation's message belongs: of a list the entry that the message names."""
    value = given.get(name) if isinstance(given, Mapping) else None
    position = next(iter(message), None) if isinstance(message, Mapping) else None
    if isinstance(value, list) and isinstance(position, int) and position < len(value):
        return value[position]
    return value


CONTENT_TYPE = "application/problem+json"
_NO_SUCH_PATH = f"{CATALOGUE['not-found'].meaning} {CATALOGUE['not-found'].remedy}"
_SEARCH = "Search at /v1/index/search?q=…"
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
    status = fields.Int(
        required=True, metadata={"minimum": 300, "maximum": 599, "description": "Status of the response"}
    )
    detail = fields.Str(required=True, metadata={"description": "Cause of this occurrence"})
    instance = fields.Str(required=True, metadata={"format": "uri", "description": "Request, as a URN"})
    errors = fields.List(fields.Nested(ParameterFault()), metadata={"description": "All invalid parameters"})


class Problem(CopyableError):
    """An answer that is not the one asked for. `extra` are the members that the slug adds, `fields` more headers.

    `cause` is the sentence for everyone, `advice` one more for programs: the call that helps; pages leave it out.
    `faults` are the parameters that are wrong; they are listed in `errors`, and are the cause where none is given.
    """

    def __init__(
        self,
        slug: str,
        cause: str | None = None,
        *,
        advice: str = "",
        extra: Mapping[str, Any] | None = None,
        fields: Mapping[str, str] | None = None,
        faults: Iterable[Fault] = (),
    ) -> None:
        super().__init__(slug)
        self.type = CATALOGUE[slug]
        self.faults = tuple(faults)
        self.cause = detail_of(self.faults) if cause is None else cause
        self.detail = f"{self.cause} {advice}" if advice else self.cause
        listed = {"errors": [fault.entry for fault in self.faults]} if self.faults else {}
        self.extra = {**listed, **(extra or {})}
        self.fields = dict(fields or {})

    def document(self, problem_base_url: str, request_id: str, more: Mapping[str, object] | None = None) -> bytes:
        """Return the problem document; `more` are members that another protocol adds."""
        return _ENCODER.encode(
            {
                "type": f"{problem_base_url}/{self.type.slug}",
                "title": self.type.title,
                "status": self.type.status,
                "detail": self.detail,
                "instance": instance_of(request_id),
                **self.extra,
                **(more or {}),
            }
        )


def unavailable(error: StoreUnavailable) -> Problem:
    """Return the problem of a store that is unavailable, with the time to retry after."""
    seconds = error.retry_after_seconds
    detail = f"The {error.store} store {error.state}; nothing was charged. Try again in {seconds} s."
    return Problem("service-unavailable", detail, extra={"retry_after": seconds}, fields={"Retry-After": str(seconds)})


def invalid_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every invalid parameter, its value and what is allowed."""
    return Problem("invalid-parameter", faults=faults)


def missing_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every missing parameter."""
    return Problem("missing-parameter", faults=faults)


def _wrong_identifier(error: WrongIdentifier) -> Problem:
    details = {"expected_check_digit": error.expected, "suggestion": error.suggestion}
    meant = f"; did you mean `{error.suggestion}`?" if error.suggestion else ""
    fault = Fault(error.parameter, f"{error.detail}{meant}", error.value)
    return Problem("invalid-identifier", faults=[fault], extra=details)


def problem_of(error: Exception) -> Problem | None:
    """Return a domain error's public form; None for an unexpected error."""
    match error:
        case Problem():
            return error
        case MissingParameter():
            return missing_parameters([Fault(error.parameter, error.detail)])
        case WrongIdentifier():
            return _wrong_identifier(error)
        case UnknownTerm():
            return invalid_parameters([unknown(error.parameter, error.kind, error.value)])
        case InvalidParameter():
            return invalid_parameters([Fault(error.parameter, error.detail, error.value)])
        case InvalidJson():
            return Problem("invalid-request", error.detail)
        case InvalidIid():
            # The text is not repeated: it stands in the address, which another site may have written (promise C12).
            return Problem("invalid-iid", detail_of([Fault("iid", _NO_IID)]))
        case InvalidCursor():
            return Problem("invalid-cursor", CATALOGUE["invalid-cursor"].remedy)
        case CursorExpired():
            return Problem("cursor-expired", "The data has changed since the first page. Call again without `cursor`.")
        case IdentifierNotFound():
            return Problem("identifier-not-found", "No item has this identifier.", advice=_SEARCH)
        case ItemMistyped():
            return Problem("iid-not-found", "No item has this IID. It probably contains a typing error.")
        case ItemNotFound():
            return Problem("iid-not-found", "No item has this IID.", advice=_SEARCH)
        case ItemWithdrawn():
            return Problem("iid-withdrawn", "This item was withdrawn; its IID will not be used again.")
        case JobNotFound():
            return Problem("job-not-found", CATALOGUE["job-not-found"].meaning, advice="List them at /v1/jobs.")
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

    def middleware(self) -> Any:

        @web.middleware
        async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
            context = request[CONTEXT]
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - the last line of defence: the caller always gets a document
                rule, problem = rule_of(request), problem_of(error) or self._unexpected(error, context)
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

    def _unexpected(self, error: Exception, context: Context) -> Problem:
        log = self._log.bind(request_id=context.request_id, **context.caller, **context.trace)
        log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
        return Problem(
            "internal-error", "An unexpected error occurred. It is logged under the request ID in `instance`."
        )
