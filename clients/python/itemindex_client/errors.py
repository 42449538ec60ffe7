"""The errors of a call: problem documents of the API (RFC 9457) and faults on the way, each as an exception."""

import copyreg
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx


class ItemIndexError(Exception):
    """Every error of this client. Copies and pickles have all its attributes, so it crosses from process to process."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would make a copy by a call of the class with `args`, where ApiProblem takes a document and a response.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class KeyNeeded(ItemIndexError):
    """The call needs an API key and none was given; nothing was sent."""


class UnknownArgument(ItemIndexError, TypeError):
    """The call has no argument of this name; nothing was sent."""


class InvalidSetting(ItemIndexError):
    """The address, the key or the token cannot be one; nothing was sent."""


class ConnectionFailed(ItemIndexError):
    """The service could not be reached, or the connection ended before the whole answer had come."""


class JobFailed(ItemIndexError):
    """A report or export ended without a result. `job` is the job's document, `errors` as of ApiProblem."""

    def __init__(self, job: dict[str, Any]) -> None:
        error = job.get("error") or {}
        detail = _text(error) or f"it was {job['state']}"
        super().__init__(f"job {job['id']}: {detail}")
        self.job = job
        self.errors = _errors(error)


class DownloadFailed(ItemIndexError):
    """A file of a release could not be downloaded whole; the text says why."""


class NotVerified(ItemIndexError):
    """A downloaded release is not what the service published; the text says what differs."""


class ApiProblem(ItemIndexError):
    """A problem document. `slug` is the last part of its `type`; the operator finds the call by `request_id`.

    `errors` are all parameters that are wrong, each with `parameter`, `detail` and mostly `value`; `detail` has the
    first of them.
    `retry_after` is the number of seconds until the same call is accepted again, None where the service does not say.
    """

    def __init__(self, document: dict[str, Any], response: httpx.Response) -> None:
        self.status = status = response.status_code
        request_id = response.headers.get("X-Request-Id")
        self.type = str(document.get("type", "about:blank"))
        self.slug = self.type.rpartition("/")[2]
        self.title = str(document.get("title", ""))
        self.detail = str(document.get("detail", ""))
        self.request_id = request_id
        self.retry_after = retry_after(response)
        self.document = document
        self.errors = _errors(document)
        super().__init__(f"{status} {self.slug}: {_text(document)} (request {request_id})")


class NotFound(ApiProblem):
    """There is nothing under this name."""


class Gone(ApiProblem):
    """It is there no more: an item that was withdrawn, a result that expired, events or a cursor of long ago."""


class Withdrawn(Gone):
    """The item was withdrawn; its IID will not be used again."""


class SeveralCandidates(ApiProblem):
    """The identifier belongs to several items. `candidates` are they."""

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The items that have the identifier."""
        return list(self.document.get("candidates", []))


class RateLimited(ApiProblem):
    """A limit is used up; `retry_after` says when the call is accepted again."""


class InsufficientPlan(ApiProblem):
    """The organization's plan does not include this call."""


class Conflict(ApiProblem):
    """The request does not fit the present state."""


class Unavailable(ApiProblem):
    """The service cannot answer at the moment."""


_BY_SLUG: dict[str, type[ApiProblem]] = {
    "insufficient-plan": InsufficientPlan,
    "iid-withdrawn": Withdrawn,
}
_BY_STATUS: dict[int, type[ApiProblem]] = {
    300: SeveralCandidates,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def _errors(document: dict[str, Any]) -> list[dict[str, str]]:
    listed = document.get("errors")
    return [fault for fault in listed if isinstance(fault, dict)] if isinstance(listed, list) else []


def _text(document: dict[str, Any]) -> str:
    """Return a problem's detail, followed by the faults of parameters that it does not have."""
    detail = str(document.get("detail") or "")
    others = [f"`{one.get('parameter')}`: {one.get('detail')}" for one in _errors(document)]
    return "; ".join([detail, *(text for text in others if text.partition(": ")[2] not in detail)])


def problem_of(response: httpx.Response) -> ApiProblem:
    """Return the exception for an answer that is not a success, described by its status if it has no document."""
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {"title": response.reason_phrase, "detail": f"The service answered {response.status_code}."}
    slug = str(document.get("type", "")).rpartition("/")[2]
    kind = _BY_SLUG.get(slug) or _BY_STATUS.get(response.status_code, ApiProblem)
    return kind(document, response)


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds of `Retry-After`, which is a number or a date; None where there is none."""
    text = response.headers.get("Retry-After", "")
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
