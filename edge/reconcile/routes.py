"""The routes of reconciliation, each also with the credential in its path."""

from dataclasses import replace
from typing import TYPE_CHECKING

from edge import rules
from edge.auth.middleware import Authentication
from edge.http.routing import API_PATH, JSON, Route, Rule
from edge.reconcile.handlers import Reconcile, ReconcileAddresses
from edge.reconcile.manifest import PATH
from edge.reconcile.service import Reconciliation

if TYPE_CHECKING:
    from edge.composition import Services

_OPEN = f"{API_PATH}/{PATH}"
_WITH_KEY = f"{_OPEN}/{{address}}"


def routes(services: "Services", authentication: Authentication) -> tuple[Route, ...]:
    """Return the routes with their rules."""
    resources, settings = services.resources, services.settings
    service = Reconciliation(services.item_matching, resources.search, resources.records)
    by_header = rules.reconcile()
    by_path = replace(by_header, key_in_path=True)
    headers, path = (
        Reconcile(service, services.billing, authentication, rule, settings.base_url) for rule in (by_header, by_path)
    )
    addresses = ReconcileAddresses(services.path_keys, settings.base_url)
    address_rule = Rule(name="reconcile-address", accepts=by_header.accepts, rank_min=by_header.rank_min, offers=JSON)
    return (
        Route("GET", _OPEN, headers.show, rules.reconcile_manifest()),
        Route("POST", _OPEN, headers.ask, by_header),
        Route("GET", f"{_OPEN}/address", addresses.show, address_rule),
        Route("GET", _WITH_KEY, path.show, replace(by_path, name="reconcile-manifest"), documented=False),
        Route("POST", _WITH_KEY, path.ask, by_path, documented=False),
    )
