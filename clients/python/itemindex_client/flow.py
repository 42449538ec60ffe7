"""Calls as generators that ask for what they need: a request to be sent, or a time to wait. They do no I/O themselves.

`Client` runs them with a blocking httpx client, `AsyncClient` with an asynchronous one; neither repeats their logic.
"""

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from itemindex_client.errors import ConnectionFailed, problem_of, retry_after
from itemindex_client.settings import user_agent

T = TypeVar("T")
_REPEATED = {429, 502, 503, 504}
# A call that was sent again after a lost connection, while the first one of its Idempotency-Key still runs.
_STILL_RUNNING = "idempotency-in-progress"
_BACKOFF_SECONDS, _BACKOFF_SECONDS_MAX = 0.5, 20.0
_TRIES_MAX = 8


@dataclass(frozen=True)
class Send:
    """A request to send. The answer to it is a response that was read whole, or an httpx.TransportError.

    A `repeatable` one may be sent again after a lost connection, which leaves open whether it was answered.
    """

    method: str
    url: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    repeatable: bool = False

    def request(self, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Return the request with what the client of httpx adds to each: its headers, cookies and encodings."""
        headers = {**user_agent(http), **self.headers}
        return http.build_request(self.method, self.url, params=dict(self.query), headers=headers, json=self.json)


@dataclass(frozen=True)
class Wait:
    """Seconds to wait."""

    seconds: float


Flow = Generator[Send | Wait, Any, T]


def exchange(send: Send, max_wait: float) -> Flow[httpx.Response]:
    """Send a request until it is answered. Raises ApiProblem or ConnectionFailed.

    Refusals that pass are repeated after what `Retry-After` says, and lost connections of a repeatable call after a
    pause that doubles, as long as all waiting together stays below `max_wait` seconds.
    """
    waited = 0.0
    for attempt in range(_TRIES_MAX):
        answer = yield send
        if isinstance(answer, httpx.TransportError):
            seconds = _pause(attempt) if send.repeatable else None
            error: Exception = ConnectionFailed(f"{send.url} cannot be reached: {answer}")
        elif answer.is_success or answer.status_code == 304:
            whole: httpx.Response = answer
            return whole
        else:
            said = retry_after(answer)
            passing = _pause(attempt) if said is None else said
            problem = problem_of(answer)
            error = problem
            seconds = passing if problem.status in _REPEATED or problem.slug == _STILL_RUNNING else None
        if seconds is None or waited + seconds > max_wait or attempt == _TRIES_MAX - 1:
            raise error
        waited += seconds
        yield Wait(seconds)
    raise AssertionError("the last try returns or raises")


def _pause(attempt: int) -> float:
    """A pause that doubles, with some chance in it, so that many clients do not come back at the same moment."""
    seconds: float = min(_BACKOFF_SECONDS * 2.0**attempt, _BACKOFF_SECONDS_MAX)
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
