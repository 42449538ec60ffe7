"""The routes of reconciliation, each also with the credential in its path."""

from dataclasses import replace
from typing import TYPE_CHECKING

from edge import rules
from edge.auth.middleware import Authentication
from edge.http.routing import API_PATH, JSON, Route, Rule
from edge.reconcile.handlers import Reconcile, ReconcileAddresses
from edge.reconcile.manifest import PATH
from edge.reconcile.preview import EntityPages
from edge.reconcile.service import Reconciliation
from edge.reconcile.suggest import ReconcileSuggest

if TYPE_CHECKING:
    from edge.composition import Services

_OPEN = f"{API_PATH}/{PATH}"
_NOT_FOUND = ("iid-not-found", "not-found")
_WITH_KEY = f"{_OPEN}/{{address}}"


def routes(services: "Services", authentication: Authentication) -> tuple[Route, ...]:
    """Return the routes with their rules."""
    resources, settings = services.resources, services.settings
    service = Reconciliation(services.item_matching, resources.search, resources.records)
    by_header = rules.reconcile()
    by_path = replace(by_header, key_in_path=True)
    headers, path = (
        Reconcile(service, resources.records, services.billing, authentication, rule, settings.base_url)
        for rule in (by_header, by_path)
    )
    addresses = ReconcileAddresses(services.path_keys, settings.base_url)
    address_rule = Rule(name="reconcile-address", accepts=by_header.accepts, rank_min=by_header.rank_min, offers=JSON)
    previewed = replace(by_path, name="reconcile-preview", price=None, units=1, offers=(), problems=_NOT_FOUND)
    entity_rule = Rule(name="reconcile-entity", any_origin=True, problems=("not-found",))
    pages = EntityPages(resources.records, services.origin)
    return (
        Route("GET", _OPEN, headers.show, rules.reconcile_manifest()),
        Route("POST", _OPEN, headers.ask, by_header),
        Route("GET", f"{_OPEN}/address", addresses.show, address_rule),
        Route("GET", _WITH_KEY, path.show, replace(by_path, name="reconcile-manifest"), documented=False),
        Route("POST", _WITH_KEY, path.ask, by_path, documented=False),
        Route("GET", f"{_WITH_KEY}/preview/{{id}}", pages.preview, previewed, documented=False),
        Route("GET", f"{_OPEN}/entities/{{id}}", pages.show, entity_rule, documented=False),
        *_suggest_routes(services, _OPEN, rules.reconcile_suggestions()),
        *_suggest_routes(services, _WITH_KEY, replace(rules.reconcile_suggestions(), key_in_path=True)),
    )


def _suggest_routes(services: "Services", below: str, rule: Rule) -> tuple[Route, ...]:
    suggest = ReconcileSuggest(services.resources.search, services.resources.records)
    listed = (
        ("suggest/entity", suggest.entities),
        ("suggest/property", suggest.properties),
        ("suggest/type", suggest.types),
        ("properties", suggest.columns),
    )
    documented = not rule.key_in_path
    return tuple(Route("GET", f"{below}/{path}", handler, rule, documented=documented) for path, handler in listed)
