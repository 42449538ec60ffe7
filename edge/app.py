"""The one map of the edge: the way through the gates, and every route with its rule."""

from ipaddress import ip_network
from typing import Any

from aiohttp import web

from edge.account.quota import QuotaPage
from edge.account.root import Root
from edge.auth.gate import AuthGate
from edge.http import cors, redirects
from edge.http.cursors import Cursors
from edge.http.openapi import Document
from edge.http.parameters import validation
from edge.http.problems import Problems
from edge.http.routing import ANY, KEY, KEY_OR_BEARER, Route, Rule, register
from edge.http.trace import Trace
from edge.index.brands import Brands
from edge.index.lookup import Lookup, batch_units
from edge.index.search import Search
from edge.quota.gate import QuotaGate
from edge.resources import Resources
from edge.site.errors import Errors
from edge.site.health import Health
from edge.site.pages import Pages

PREFIX = "/v1"
DOCUMENT: web.AppKey[Document] = web.AppKey("document", Document)
REQUEST_BODY_BYTES_MAX = 64 * 1024


def create_app(resources: Resources) -> web.Application:
    """Build the application: every request passes the gates from top to bottom, then its handler."""
    settings = resources.settings
    problems = Problems(settings.errors_base, resources.log)
    trusted = tuple(ip_network(text.strip()) for text in settings.trusted_proxies.split(",") if text.strip())
    app = web.Application(
        middlewares=[
            Trace(trusted, problems, resources.lines).middleware(),
            problems.middleware(),
            cors.preflight,
            redirects.trailing_slash,
            AuthGate(resources.directory, settings.anonymous_token, f"{settings.base_url}/docs").middleware(),
            validation,
            QuotaGate(resources.meter).middleware(),
        ],
        client_max_size=REQUEST_BODY_BYTES_MAX,
    )
    app.on_response_prepare.append(_tell_no_server)
    document = Document(settings)
    listed = routes(resources, document)
    register(app, listed)
    document.describe(app, listed)
    app[DOCUMENT] = document
    return app


def describe(app: web.Application) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    return app[DOCUMENT].as_dict()


def routes(resources: Resources, document: Document) -> tuple[Route, ...]:
    """Return every route of the edge with its rule: who may come in, and what one call costs."""
    settings = resources.settings
    cursors = Cursors(settings.cursor_secret)
    stores = {"state": resources.state, "cache": resources.cache}
    health = Health(settings, resources.database, stores, resources.version, resources.search)
    pages, errors = Pages(settings, document), Errors(settings)
    lookup = Lookup(resources.records, settings.base_url)
    search = Search(resources.search, cursors, settings.base_url)
    brands = Brands(resources.database, resources.version, cursors)
    root, quota = Root(settings, resources.meter), QuotaPage(resources.meter)
    return (
        Route("GET", f"{PREFIX}/health", health.live, Rule(name="health", any_origin=True)),
        Route("GET", f"{PREFIX}/ready", health.ready, Rule(name="ready", any_origin=True)),
        Route("GET", "/metrics", health.metrics, Rule(name="metrics")),
        Route("GET", f"{PREFIX}/openapi.json", pages.openapi_json, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/openapi.yaml", pages.openapi_yaml, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/docs", pages.docs, Rule(name="docs")),
        Route("GET", f"{PREFIX}/errors", errors.list, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/errors/{{slug}}", errors.show, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/", root.show, Rule(name="root", accepts=KEY_OR_BEARER)),
        Route("GET", f"{PREFIX}/quota", quota.show, Rule(name="quota", accepts=ANY, any_origin=True)),
        Route("GET", f"{PREFIX}/index/lookup/{{iid}}", lookup.show, _free("lookup")),
        Route("GET", f"{PREFIX}/index/lookup", lookup.list, Rule(name="lookup-batch", accepts=KEY, units=batch_units)),
        Route("GET", f"{PREFIX}/index/search", search.show, _free("search")),
        Route("GET", f"{PREFIX}/index/brands", brands.list, _free("brands")),
    )


async def _tell_no_server(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop("Server", None)  # aiohttp would tell its version and Python's


def _free(name: str) -> Rule:
    return Rule(name=name, accepts=ANY, units=1, any_origin=True)
