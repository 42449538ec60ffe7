"""What came of one attempt to deliver events, and when the next one follows."""

from dataclasses import dataclass
from typing import NamedTuple

from shared.events.webhooks import RETRY_SECONDS

# How many failures are counted in an outage on our side: the pause then stays ten minutes.
_OUTAGE_FAILURES_MAX = 4


class NextAttempt(NamedTuple):
    """The seconds until the next attempt, and how many failures in a row are counted at most."""

    pause: int
    failures_max: int


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The outcome of one attempt: the status, or why there is none, and the beginning of the receiver's text.

    `ends` says in a sentence why the receiver gets nothing more. An `outage` is a fault on our side of it: it is tried
    again without an end.
    """

    status: int | None
    outcome: str
    text: str = ""
    milliseconds: int = 0
    ends: str | None = None
    outage: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the receiver has the events."""
        return self.outcome == "accepted"

    def next_attempt(self, failures: int) -> NextAttempt | None:
        """Return what follows a failure after `failures` others in a row; None: the receiver gets nothing more."""
        if self.outage:
            return NextAttempt(RETRY_SECONDS[min(failures, _OUTAGE_FAILURES_MAX - 1)], _OUTAGE_FAILURES_MAX)
        if failures >= len(RETRY_SECONDS):
            return None
        return NextAttempt(RETRY_SECONDS[failures], len(RETRY_SECONDS))
