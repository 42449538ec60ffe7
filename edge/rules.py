"""The rules of the routes, by kind: which credential and plan each asks for, what it costs, how it may fail."""

from dataclasses import replace

from edge.http.routing import ANY, BODY_BYTES_MAX, JSON, KEY, LISTS_BODY_BYTES_MAX, Rule, RulePrice
from shared.organizations.accounts import BRAND, FREE, INSTITUTIONAL

BATCH = "lookup-batch"
RESOLVE_BATCH = "resolve-batch"
RECONCILE = "reconcile"
# Identifiers of a batch for one unit; a part of as many costs one too.
IIDS_PER_UNIT = 10
SUGGESTIONS_PER_UNIT = 10
# A paid read of one item.
LIGHT_UNITS = 2
JOB_PROBLEMS = ("job-failed", "job-cancelled")
FILE_PROBLEMS = ("dataset-not-found", "result-expired", "precondition-failed", "range-not-satisfiable")


def export(name: str, *problems: str, price: RulePrice | None = None) -> Rule:
    """The exports of an organization; only an order has a price, and a filter that may be long."""
    bound = BODY_BYTES_MAX if price is None else LISTS_BODY_BYTES_MAX
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems, price=price, body_bytes_max=bound)


def light(name: str) -> Rule:
    """A paid read of one item, which the edge answers at once."""
    problems = ("iid-not-found", "iid-withdrawn", "not-acceptable")
    return Rule(name=name, accepts=KEY, rank_min=BRAND, problems=problems, price=RulePrice(LIGHT_UNITS))


def dataset(name: str, *problems: str) -> Rule:
    """Releases of the datasets; downloads are not charged."""
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems)


def description() -> Rule:
    """Descriptions of releases: data portals read them without a credential."""
    return Rule(name="release-description", any_origin=True, problems=("dataset-not-found", "rate-limited"))


def free(name: str, *problems: str) -> Rule:
    """A free call: any credential, one unit, readable by pages of any origin."""
    return Rule(name=name, accepts=ANY, units=1, any_origin=True, offers=JSON, problems=problems)


def suggestions() -> Rule:
    """Suggestions while a person types: any credential but the anonymous one, ten of them a unit."""
    price = RulePrice(1, SUGGESTIONS_PER_UNIT, "suggestions")
    return Rule(name="suggest", accepts=ANY, rank_min=FREE, any_origin=True, offers=JSON, price=price)


def batch() -> Rule:
    """Many lookups in one call, as many as the plan allows."""
    price = RulePrice(1, IIDS_PER_UNIT, "IIDs")
    return _batch(BATCH, price)


def resolve_batch() -> Rule:
    """Many identifiers in one call, as many as the plan allows IIDs."""
    price = RulePrice(1, IIDS_PER_UNIT, "identifiers")
    return _batch(RESOLVE_BATCH, price)


def reconcile() -> Rule:
    """Many rows of a table in one call, as many as the plan allows IIDs, also from pages of any origin."""
    price = RulePrice(1, IIDS_PER_UNIT, "queries")
    return replace(_batch(RECONCILE, price), any_origin=True, problems=JOB_PROBLEMS)


def reconcile_manifest() -> Rule:
    """What reconciliation offers, for everybody; the same path with queries is admitted by the rule of these."""
    of_queries = ("missing-credentials", "invalid-credentials", "ambiguous-credentials", "credential-not-accepted")
    problems = (*JOB_PROBLEMS, *of_queries, "insufficient-plan", "rate-limited")
    return Rule(name="reconcile-manifest", any_origin=True, offers=JSON, problems=problems)


def reconcile_suggestions() -> Rule:
    """Suggestions of reconciliation; as other suggestions they cost a key nothing."""
    return Rule(name="reconcile-suggest", accepts=KEY, rank_min=BRAND, any_origin=True, offers=JSON)


def _batch(name: str, price: RulePrice) -> Rule:
    return Rule(name=name, accepts=KEY, rank_min=BRAND, offers=JSON, price=price, body_bytes_max=LISTS_BODY_BYTES_MAX)
