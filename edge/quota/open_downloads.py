"""How many downloads of an organization may be under way at the same time: each lasts as long as its reader likes."""

from edge.http.problems import Problem, retry_later
from edge.http.result_body import ResultBody
from edge.quota.concurrency import ConcurrencyLimit

# In one process. Programs that read a release in parallel ask for a few dozen ranges at a time.
_OF_ORGANIZATION_MAX, _IN_ALL_MAX = 64, 500
_RETRY_SECONDS = 5


class OpenDownloads:
    """Counts the bodies that this process sends itself; what nginx sends holds nothing here."""

    def __init__(self) -> None:
        self._limit = ConcurrencyLimit(_OF_ORGANIZATION_MAX, _IN_ALL_MAX)

    def hold(self, body: ResultBody, organization: str | None) -> None:
        """Count a body until it is closed. Closes it and raises a problem where there are as many as may be."""
        holder = organization or ""
        if self._limit.is_reached(holder):
            body.close()
            raise _refusal("rate-limited", f"{_OF_ORGANIZATION_MAX} downloads of your organization are under way.")
        if self._limit.is_reached_in_all:
            body.close()
            raise _refusal("service-unavailable", "As many downloads are under way as this service sends.")
        body.count(self._limit.hold(holder))


def _refusal(slug: str, why: str) -> Problem:
    detail = f"{why} Try again in {_RETRY_SECONDS} s, when one of them has ended."
    return retry_later(slug, detail, _RETRY_SECONDS)
