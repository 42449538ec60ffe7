"""The map of the edge: the middlewares in their order, and every route with its rule.

A rule says which credential and plan a route needs and what a call costs. Fixed costs are charged by the last
middleware; where the cost depends on the request, the handler prepares, charges and responds.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_network
from typing import Any

from aiohttp import web

from edge import rules
from edge.analytics import light_reads, report_routes, weights
from edge.analytics.prior_price import PriorPrice
from edge.auth.middleware import Authentication
from edge.bulk.routes import dataset_routes, export_routes, unrouted_rules
from edge.composition import Resources, Services
from edge.dashboard import routes as dashboard
from edge.dashboard.public_pages import public_routes
from edge.dashboard.rendering import compile_templates
from edge.docs.client_packages import Clients, install_commands
from edge.docs.document import OpenApiDocument
from edge.docs.guides import Guides
from edge.docs.openapi_files import OpenApiFiles
from edge.docs.pages import SCALAR_VERSION, Docs
from edge.docs.problem_types import Errors
from edge.docs.root import Root
from edge.docs.search import DocsSearch
from edge.docs.static_files import StaticFiles
from edge.docs.well_known import WellKnown
from edge.events.routes import event_routes
from edge.health import Health
from edge.http.answer_keeping import answer_keeping
from edge.http.middleware import chunked_framing, dot_segments, negotiation, preflight, trailing_slash
from edge.http.problem_details import ProblemDetails
from edge.http.request_context import RequestContext
from edge.http.routing import ANY, BODY_BYTES_MAX, JSON, KEY, KEY_OR_BEARER, Route, Rule, register
from edge.http.routing import API_PATH as PREFIX
from edge.http.validation import validation
from edge.index import digital_link
from edge.index import lists as index_lists
from edge.index.batch_lookup import BatchLookup
from edge.index.lookup import Lookup
from edge.index.resolve import Resolve, ResolveBatch, Resolver
from edge.jobs.event_stream import JobEvents
from edge.jobs.handlers import RESULT_PROBLEMS, Jobs
from edge.mcp import handlers as mcp
from edge.organizations import handlers as organizations
from edge.organizations.handlers import OrganizationApi
from edge.quota.billing import rate_limit
from edge.quota.page import QuotaPage
from edge.quota.person_limits import person_limit
from edge.reconcile import routes as reconcile
from edge.search.answers import Search
from edge.search.suggestions import Suggest

DOCUMENT: web.AppKey[OpenApiDocument] = web.AppKey("document", OpenApiDocument)
SERVICES: web.AppKey[Services] = web.AppKey("services", Services)


def create_app(resources: Resources) -> web.Application:
    """Build the application: every request passes the middlewares from top to bottom, then its handler."""
    services, settings = Services(resources), resources.settings
    problems = ProblemDetails(settings.problem_base_url, resources.log)
    trusted = tuple(ip_network(text.strip()) for text in settings.trusted_proxies.split(",") if text.strip())
    sign_up = f"{services.origin}/dashboard"
    authentication = Authentication(
        resources.credentials, resources.users, services.path_keys, settings.anonymous_token, sign_up
    )
    app = web.Application(
        middlewares=[
            RequestContext(trusted, problems, resources.access_log, resources.spans, resources.usage.note).middleware(),
            answer_keeping(resources.answers),
            problems.middleware(),
            dot_segments,
            chunked_framing,
            preflight,
            trailing_slash,
            authentication.middleware(),
            person_limit(services.person_limits),
            validation,
            negotiation,
            rate_limit(services.billing),
        ],
        client_max_size=BODY_BYTES_MAX,
    )
    app.on_response_prepare.append(_hide_server)
    app.on_startup.append(compile_templates)
    app.cleanup_ctx.append(_running_schedules(services))
    app.on_shutdown.append(_close_streams(resources))
    document = OpenApiDocument(settings)
    listed = (*routes(services, document), *reconcile.routes(services, authentication))
    listed += mcp.routes(listed, services, authentication)
    register(app, listed, unrouted_rules())
    document.describe(app, listed)
    app[DOCUMENT] = document
    app[SERVICES] = services
    return app


def describe(app: web.Application) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    return app[DOCUMENT].as_dict()


def routes(services: Services, document: OpenApiDocument) -> tuple[Route, ...]:
    """Return every route of the edge with its rule: its credentials, its plan and its cost."""
    return (
        *_service_routes(services, document),
        *_free_routes(services),
        *_organization_routes(services),
        *_paid_routes(services),
        *public_routes(services),
        *dashboard.routes(services),
        *dataset_routes(services),
        *export_routes(services),
        *event_routes(services),
    )


def _service_routes(services: Services, document: OpenApiDocument) -> tuple[Route, ...]:
    settings, resources = services.settings, services.resources
    health = Health(resources)
    guides = Guides(install_commands(settings.base_url), services.origin)
    docs, errors = Docs(settings, document, resources.credentials, guides), Errors(settings)
    search = DocsSearch(document, docs, guides)
    openapi = OpenApiFiles(document, settings.base_url, settings.anonymous_token)
    root_rule = Rule(name="root", accepts=KEY_OR_BEARER, offers=JSON)
    root, quota = (
        Root(settings, resources.limiter),
        QuotaPage(resources.limiter, resources.database, services.stored_exports),
    )
    return (
        Route("GET", f"{PREFIX}/health", health.live, Rule(name="health", any_origin=True)),
        Route("GET", f"{PREFIX}/ready", health.ready, Rule(name="ready", any_origin=True)),
        Route("GET", "/metrics", health.metrics, Rule(name="metrics")),
        Route("GET", f"{PREFIX}/openapi.json", openapi.as_json, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/openapi.yaml", openapi.as_yaml, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/docs", docs.show, Rule(name="docs")),
        *_pages(docs, guides, openapi, WellKnown(settings, guides), Clients(settings.base_url)),
        Route("GET", f"{PREFIX}/docs/search", search.show, Rule(name="docs", page=True), documented=False),
        *_static_files(StaticFiles()),
        Route("GET", f"{PREFIX}/errors", errors.list, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/errors/{{slug}}", errors.show, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/", root.show, root_rule),
        Route("GET", PREFIX, root.show, root_rule, documented=False),
        Route("GET", f"{PREFIX}/quota", quota.show, Rule(name="quota", accepts=ANY, any_origin=True, offers=JSON)),
    )


def _pages(
    docs: Docs, guides: Guides, openapi: OpenApiFiles, well_known: WellKnown, clients: Clients
) -> tuple[Route, ...]:
    """Return what people and crawlers read: no part of the API's contract."""
    reference = f"{PREFIX}/docs/reference"
    listed = (
        (reference, docs.reference),
        (f"{reference}/scalar-{SCALAR_VERSION}.js", docs.script),
        (f"{reference}/openapi.json", openapi.with_samples),
        (f"{PREFIX}/docs/guides", guides.index),
        (f"{PREFIX}/docs/guides/{{guide}}", guides.show),
        (f"{PREFIX}/clients", clients.list),
        (f"{PREFIX}/clients/", clients.list),
        (f"{PREFIX}/clients/{{file}}", clients.file),
        ("/.well-known/api-catalog", well_known.api_catalog),
        ("/.well-known/security.txt", well_known.security_txt),
        ("/llms.txt", well_known.llms),
        ("/robots.txt", well_known.robots),
        ("/favicon.ico", well_known.favicon),
    )
    return tuple(Route("GET", path, handler, Rule(name="docs"), documented=False) for path, handler in listed)


def _static_files(files: StaticFiles) -> tuple[Route, ...]:
    paths = ("/static/{file}", "/static/{folder}/{file}")
    return tuple(Route("GET", path, files.show, Rule(name="static"), documented=False) for path in paths)


def _free_routes(services: Services) -> tuple[Route, ...]:
    resources = services.resources
    base_url = resources.settings.base_url
    lookup = Lookup(resources.records, base_url)
    batch = BatchLookup(resources.records, resources.version, services.billing)
    resolver = Resolver(resources.resolutions, resources.records, base_url)
    resolve = Resolve(resolver, resources.records, base_url)
    resolve_batch = ResolveBatch(resolver, resources.records, resources.version, services.billing)
    resolve_rule = rules.free("resolve", "invalid-identifier", "identifier-not-found", "iid-not-found", "iid-withdrawn")
    search = Search(services.search_answers)
    suggest = Suggest(resources.search, services.suggestion_billing)
    return (
        Route("GET", f"{PREFIX}/index/lookup/{{iid}}", lookup.show, rules.free("lookup")),
        Route("GET", f"{PREFIX}/index/lookup", batch.list, rules.batch()),
        Route("POST", f"{PREFIX}/index/lookup", batch.list_body, rules.batch()),
        Route("GET", f"{PREFIX}/index/resolve", resolve.show, resolve_rule),
        Route("POST", f"{PREFIX}/index/resolve", resolve_batch.list_body, rules.resolve_batch()),
        Route("GET", f"{PREFIX}/index/search", search.show, rules.free("search", "cursor-expired")),
        Route("GET", f"{PREFIX}/index/suggest", suggest.show, rules.suggestions()),
        *index_lists.routes(resources.database, services.lists),
        *digital_link.routes(resolver, base_url, services.origin),
    )


def _organization_routes(services: Services) -> tuple[Route, ...]:
    acts, idempotent, notices = services.organizations, services.idempotent_acts, services.resources.plan_notices
    org = OrganizationApi(acts, idempotent, notices, services.lists, services.data_version, services.origin)
    return organizations.routes(org)


def _paid_routes(services: Services) -> tuple[Route, ...]:
    resources, orders, serializer = services.resources, services.orders, services.job_serializer
    jobs = Jobs(orders, serializer, resources.results, services.lists, services.open_downloads)
    events = JobEvents(orders, serializer)
    prior = PriorPrice(resources.database, services.settings.base_url)
    reads = (services.price_history, prior, services.sustainability)
    job = Rule(name="job", accepts=KEY_OR_BEARER, problems=("job-not-found",))
    cancel = Rule(name="job-cancel", accepts=KEY, problems=("job-not-found", "state-conflict"))
    result = Rule(name="job-result", accepts=KEY_OR_BEARER, problems=("job-not-found", *RESULT_PROBLEMS))
    return (
        *light_reads.routes(reads, resources.database, services.billing),
        *report_routes.routes(services.reports, services.billing),
        *weights.routes(services.weights, services.data_version),
        Route("GET", f"{PREFIX}/jobs", jobs.list, Rule(name="jobs", accepts=KEY_OR_BEARER)),
        Route("GET", f"{PREFIX}/jobs/{{id}}", jobs.show, job),
        Route("DELETE", f"{PREFIX}/jobs/{{id}}", jobs.cancel, cancel),
        Route("GET", f"{PREFIX}/jobs/{{id}}/result", jobs.result, result),
        Route("GET", f"{PREFIX}/jobs/{{id}}/events", events.show, job),
    )


async def _hide_server(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop("Server", None)  # aiohttp would send its version and Python's


def _running_schedules(services: Services) -> Callable[[web.Application], AsyncIterator[None]]:
    async def running(app: web.Application) -> AsyncIterator[None]:
        schedules = dashboard.report_schedules(services)
        schedules.start()
        yield
        await schedules.stop()

    return running


def _close_streams(resources: Resources) -> Callable[[web.Application], Awaitable[None]]:
    async def close(app: web.Application) -> None:
        resources.job_waiters.close()  # followers of a job continue at another edge, from the last event they received

    return close
