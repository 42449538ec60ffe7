"""The rules of the routes, by kind: which credential and plan each asks for, what it costs, how it may fail."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.analytics.envelope import LIGHT_UNITS, light_units
from edge.http.routing import ANY, JSON, KEY, Price, Rule
from edge.index.batch import IIDS_PER_UNIT, KIND, batch_units
from shared.jobs.contract import EXPORT, SUSTAINABILITY_ROLLUP, Kind
from shared.plans import BRAND, INSTITUTIONAL

RESULT_PROBLEMS = ("job-not-ready", "result-expired", "precondition-failed", "range-not-satisfiable")
# The name in metrics and statistics of use, where it is older than the kind's.
_REPORT_NAMES = {SUSTAINABILITY_ROLLUP: "rollup"}
FILE_PROBLEMS = ("dataset-not-found", "result-expired", "precondition-failed", "range-not-satisfiable")


def report(kind: Kind, units: Callable[[web.Request], Awaitable[int]], rank_min: int, *problems: str) -> Rule:
    """A report: a job behind a GET, priced by its handler."""
    listed = ("not-acceptable", "query-too-large", "job-failed", "job-cancelled", *RESULT_PROBLEMS, *problems)
    price = Price(kind.units, stored=kind.units_cached)
    name = _REPORT_NAMES.get(kind, kind.name)
    return Rule(name=name, accepts=KEY, units=units, rank_min=rank_min, problems=listed, price=price)


def export(name: str, *problems: str, units: Callable[[web.Request], Awaitable[int]] | int = 0) -> Rule:
    """The exports of an organization; `units` is what one order is charged."""
    price = Price(EXPORT.units if units else 0)
    return Rule(name=name, accepts=KEY, units=units, rank_min=INSTITUTIONAL, problems=problems, price=price)


def light(name: str) -> Rule:
    """A paid read of one item, which the edge answers at once."""
    problems = ("iid-not-found", "iid-withdrawn", "not-acceptable")
    return Rule(name=name, accepts=KEY, units=light_units, rank_min=BRAND, problems=problems, price=Price(LIGHT_UNITS))


def dataset(name: str, *problems: str) -> Rule:
    """Releases of the datasets; downloads are not charged."""
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems)


def free(name: str) -> Rule:
    """A free call: any credential, one unit, readable by pages of any origin."""
    return Rule(name=name, accepts=ANY, units=1, any_origin=True, offers=JSON)


def batch() -> Rule:
    """Many look-ups in one call, as many as the plan allows."""
    return Rule(
        name=KIND, accepts=KEY, units=batch_units, rank_min=BRAND, offers=JSON, price=Price(1, IIDS_PER_UNIT, "IIDs")
    )
