"""The rules of the routes, by kind: which credential and plan each asks for, what it costs, how it may fail."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.analytics.envelope import light_units
from edge.http.routing import ANY, JSON, KEY, Rule
from edge.index.batch import KIND, batch_units
from shared.plans import BRAND, INSTITUTIONAL

RESULT_PROBLEMS = ("job-not-ready", "result-expired", "precondition-failed", "range-not-satisfiable")
FILE_PROBLEMS = ("dataset-not-found", "result-expired", "precondition-failed", "range-not-satisfiable")


def report(name: str, units: Callable[[web.Request], Awaitable[int]], rank_min: int, *problems: str) -> Rule:
    """A report: a job behind a GET, priced by its handler."""
    listed = ("not-acceptable", "query-too-large", "job-failed", "job-cancelled", *RESULT_PROBLEMS, *problems)
    return Rule(name=name, accepts=KEY, units=units, rank_min=rank_min, problems=listed)


def export(name: str, *problems: str, units: Callable[[web.Request], Awaitable[int]] | int = 0) -> Rule:
    """The exports of an organization; `units` is what one order is charged."""
    return Rule(name=name, accepts=KEY, units=units, rank_min=INSTITUTIONAL, problems=problems)


def light(name: str) -> Rule:
    """A paid read of one item, which the edge answers at once."""
    problems = ("iid-not-found", "iid-withdrawn", "not-acceptable")
    return Rule(name=name, accepts=KEY, units=light_units, rank_min=BRAND, problems=problems)


def dataset(name: str, *problems: str) -> Rule:
    """Releases of the datasets; downloads are not charged."""
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems)


def free(name: str) -> Rule:
    """A free call: any credential, one unit, readable by pages of any origin."""
    return Rule(name=name, accepts=ANY, units=1, any_origin=True, offers=JSON)


def batch() -> Rule:
    """Many look-ups in one call, as many as the plan allows."""
    return Rule(name=KIND, accepts=KEY, units=batch_units, offers=JSON)
