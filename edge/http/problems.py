"""Problems: answers other than the one requested, as problem documents (RFC 9457)."""

from collections.abc import Iterable, Mapping

import msgspec
from marshmallow import Schema, fields

from edge.http.catalogue import CATALOGUE
from edge.http.context import instance_of
from edge.http.faults import Fault, detail_of
from shared.errors import CopyableError, StoreUnavailable

CONTENT_TYPE = "application/problem+json"


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
        extra: Mapping[str, object] | None = None,
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


def retry_later(slug: str, detail: str, seconds: int, members: Mapping[str, object] | None = None) -> Problem:
    """Return a problem that says when to try again, with more members of the slug."""
    extra = {"retry_after": seconds, **(members or {})}
    return Problem(slug, detail, extra=extra, fields={"Retry-After": str(seconds)})


def unavailable(error: StoreUnavailable) -> Problem:
    """Return the problem of a store that is unavailable, with the time to retry after."""
    seconds = error.retry_after_seconds
    detail = f"The {error.store} store {error.state}; nothing was charged. Try again in {seconds} s."
    return retry_later("service-unavailable", detail, seconds)


def invalid_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every invalid parameter with its value and the allowed ones."""
    return Problem("invalid-parameter", faults=faults)


def missing_parameters(faults: Iterable[Fault]) -> Problem:
    """Return the problem that names every missing parameter."""
    return Problem("missing-parameter", faults=faults)
