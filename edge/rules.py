"""The rules of the routes, by kind: which credential and plan each asks for, what it costs, how it may fail."""

from edge.analytics.envelope import LIGHT_UNITS
from edge.http.routing import ANY, JSON, KEY, Price, Rule
from edge.index.batch import IIDS_PER_UNIT, KIND
from edge.index.resolve_batch import KIND as RESOLVE_KIND
from shared.plans import BRAND, INSTITUTIONAL

FILE_PROBLEMS = ("dataset-not-found", "result-expired", "precondition-failed", "range-not-satisfiable")


def export(name: str, *problems: str, price: Price | None = None) -> Rule:
    """The exports of an organization; only an order has a price."""
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems, price=price)


def light(name: str) -> Rule:
    """A paid read of one item, which the edge answers at once."""
    problems = ("iid-not-found", "iid-withdrawn", "not-acceptable")
    return Rule(name=name, accepts=KEY, rank_min=BRAND, problems=problems, price=Price(LIGHT_UNITS))


def dataset(name: str, *problems: str) -> Rule:
    """Releases of the datasets; downloads are not charged."""
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems)


def free(name: str, *problems: str) -> Rule:
    """A free call: any credential, one unit, readable by pages of any origin."""
    return Rule(name=name, accepts=ANY, units=1, any_origin=True, offers=JSON, problems=problems)


def batch() -> Rule:
    """Many look-ups in one call, as many as the plan allows."""
    return Rule(name=KIND, accepts=KEY, rank_min=BRAND, offers=JSON, price=Price(1, IIDS_PER_UNIT, "IIDs"))


def resolve_batch() -> Rule:
    """Many identifiers in one call, as many as the plan allows IIDs."""
    price = Price(1, IIDS_PER_UNIT, "identifiers")
    return Rule(name=RESOLVE_KIND, accepts=KEY, rank_min=BRAND, offers=JSON, price=price)
