"""The one map of the edge: the way through the gates, and every route with its rule."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from typing import Any

from aiohttp import web

from edge import rules
from edge.analytics.pricing import Pricing
from edge.analytics.prior_price import PriorPrice
from edge.analytics.sustainability import Sustainability
from edge.bulk_routes import dataset_routes, export_routes
from edge.container import Services
from edge.dashboard import routes as dashboard
from edge.http.cursors import CursorSigner
from edge.http.lists import Paginator
from edge.http.parameters import validation
from edge.http.problems import ProblemDetails
from edge.http.routing import ANY, JSON, KEY, KEY_OR_BEARER, Route, Rule, register
from edge.http.routing import API_PATH as PREFIX
from edge.index.batch import BatchLookup
from edge.index.brands import Brands
from edge.index.categories import Categories
from edge.index.channels import Channels
from edge.index.lookup import Lookup
from edge.index.resolve import Resolve, Resolver
from edge.index.resolve_batch import ResolveBatch
from edge.jobs.events import Events
from edge.jobs.handlers import RESULT_PROBLEMS, Jobs
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders
from edge.meta.docs import Pages
from edge.meta.health import Health
from edge.meta.problem_types import Errors
from edge.meta.quota import QuotaPage
from edge.meta.root import Root
from edge.middleware import cors, redirects
from edge.middleware.authentication import Authentication
from edge.middleware.chunked import chunked_framing
from edge.middleware.negotiation import negotiation
from edge.middleware.rate_limit import RateLimit
from edge.middleware.request_context import RequestContext
from edge.openapi.document import Document
from edge.organizations import routes as organizations
from edge.organizations.handlers import OrganizationApi
from edge.organizations.idempotency import IdempotentActs
from edge.organizations.member_handlers import MembersApi
from edge.organizations.service import OrganizationService
from edge.quota.people import PersonLimits
from edge.reports import routes as reports
from edge.reports.service import ReportService
from edge.search.handlers import Search
from shared.config import Settings

DOCUMENT: web.AppKey[Document] = web.AppKey("document", Document)
REQUEST_BODY_BYTES_MAX = 64 * 1024


def create_app(resources: Services) -> web.Application:
    """Build the application: every request passes the gates from top to bottom, then its handler."""
    settings = resources.settings
    problems = ProblemDetails(settings.problem_base_url, resources.log)
    trusted = tuple(ip_network(text.strip()) for text in settings.trusted_proxies.split(",") if text.strip())
    sign_up = f"{origin_of(settings)}/dashboard"
    limits = RateLimit(resources.meter, PersonLimits(resources.meter, settings))
    app = web.Application(
        middlewares=[
            RequestContext(trusted, problems, resources.lines, resources.spans, resources.usage.note).middleware(),
            problems.middleware(),
            chunked_framing,
            cors.preflight,
            redirects.trailing_slash,
            Authentication(resources.directory, resources.people, settings.anonymous_token, sign_up).middleware(),
            limits.person_middleware(),
            validation,
            negotiation,
            limits.middleware(),
        ],
        client_max_size=REQUEST_BODY_BYTES_MAX,
    )
    app.on_response_prepare.append(_tell_no_server)
    app.on_shutdown.append(_end_streams(resources))
    dashboard.prepare(app)
    document = Document(settings)
    listed = routes(resources, document)
    register(app, listed)
    document.describe(app, listed)
    app[DOCUMENT] = document
    return app


def describe(app: web.Application) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    return app[DOCUMENT].as_dict()


def routes(resources: Services, document: Document) -> tuple[Route, ...]:
    """Return every route of the edge with its rule: who may come in, and what one call costs."""
    settings = resources.settings
    cursors = CursorSigner(settings.signing_secret, settings.signing_secret_previous)
    lists = Paginator(cursors, lambda: resources.version.current)
    acts = OrganizationService(resources.database, settings)
    idempotent = IdempotentActs(resources.database, settings)
    org = OrganizationApi(acts, idempotent, resources.plan_notices, cursors, lambda: resources.version.current)
    people = MembersApi(acts, idempotent, origin_of(settings), lambda: resources.version.current)
    orders = JobOrders(resources.database, resources.watch, settings.jobs_waiting_max, resources.log)
    documents = JobSerializer(settings.base_url, settings.problem_base_url)
    desk = ReportService(
        resources.database, resources.version, orders, documents, resources.results, resources.meter, cursors
    )
    return (
        *_service_routes(resources, document),
        *_free_routes(resources, lists, cursors),
        *organizations.routes(org, people, PREFIX),
        *_paid_routes(resources, lists, desk, orders),
        *dashboard.routes(resources, acts, desk, orders, origin_of(settings)),
        *dataset_routes(resources, lists),
        *export_routes(resources, lists),
    )


def _service_routes(resources: Services, document: Document) -> tuple[Route, ...]:
    settings = resources.settings
    stores = {"state": resources.state, "cache": resources.cache}
    health = Health(settings, resources.database, stores, resources.version, resources.search)
    pages, errors = Pages(settings, document, resources.directory), Errors(settings)
    root_rule = Rule(name="root", accepts=KEY_OR_BEARER, offers=JSON)
    root, quota = Root(settings, resources.meter), QuotaPage(resources.meter, resources.database)
    return (
        Route("GET", f"{PREFIX}/health", health.live, Rule(name="health", any_origin=True)),
        Route("GET", f"{PREFIX}/ready", health.ready, Rule(name="ready", any_origin=True)),
        Route("GET", "/metrics", health.metrics, Rule(name="metrics")),
        Route("GET", f"{PREFIX}/openapi.json", pages.openapi_json, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/openapi.yaml", pages.openapi_yaml, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/docs", pages.docs, Rule(name="docs")),
        Route("GET", f"{PREFIX}/errors", errors.list, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/errors/{{slug}}", errors.show, Rule(name="errors", any_origin=True)),
        Route("GET", "/", pages.home, Rule(name="home", any_origin=True), documented=False),
        Route("GET", f"{PREFIX}/", root.show, root_rule),
        Route("GET", PREFIX, root.show, root_rule, documented=False),
        Route("GET", f"{PREFIX}/quota", quota.show, Rule(name="quota", accepts=ANY, any_origin=True, offers=JSON)),
    )


def _free_routes(resources: Services, lists: Paginator, cursors: CursorSigner) -> tuple[Route, ...]:
    base_url = resources.settings.base_url
    lookup = Lookup(resources.records, base_url)
    batch = BatchLookup(resources.records, resources.version)
    resolver = Resolver(resources.resolutions, resources.records, base_url)
    resolve = Resolve(resolver, resources.records, base_url)
    resolve_batch = ResolveBatch(resolver, resources.records, resources.version)
    resolve_rule = rules.free("resolve", "invalid-identifier", "identifier-not-found", "iid-not-found", "iid-withdrawn")
    search = Search(resources.search, cursors, base_url)
    brands, categories = Brands(resources.database, lists), Categories(resources.database, lists)
    channels = Channels(resources.database, lists)
    return (
        Route("GET", f"{PREFIX}/index/lookup/{{iid}}", lookup.show, rules.free("lookup")),
        Route("GET", f"{PREFIX}/index/lookup", batch.list, rules.batch()),
        Route("POST", f"{PREFIX}/index/lookup", batch.list_body, rules.batch()),
        Route("GET", f"{PREFIX}/index/resolve", resolve.show, resolve_rule),
        Route("POST", f"{PREFIX}/index/resolve", resolve_batch.list_body, rules.resolve_batch()),
        Route("GET", f"{PREFIX}/index/search", search.show, rules.free("search")),
        Route("GET", f"{PREFIX}/index/brands", brands.list, rules.free("brands")),
        Route("GET", f"{PREFIX}/index/categories", categories.list, rules.free("categories")),
        Route("GET", f"{PREFIX}/index/channels", channels.list, rules.free("channels")),
    )


def _paid_routes(resources: Services, lists: Paginator, desk: ReportService, orders: JobOrders) -> tuple[Route, ...]:
    settings = resources.settings
    documents = JobSerializer(settings.base_url, settings.problem_base_url)
    jobs = Jobs(orders, documents, resources.results, lists)
    events = Events(orders, documents)
    pricing = Pricing(resources.database, settings.base_url)
    prior = PriorPrice(resources.database, settings.base_url)
    footprint = Sustainability(resources.database, settings.base_url)
    job = Rule(name="job", accepts=KEY_OR_BEARER, problems=("job-not-found",))
    cancel = Rule(name="job-cancel", accepts=KEY, problems=("job-not-found", "state-conflict"))
    result = Rule(name="job-result", accepts=KEY_OR_BEARER, problems=("job-not-found", *RESULT_PROBLEMS))
    return (
        Route("GET", f"{PREFIX}/index/pricing/{{iid}}", pricing.show, rules.light("pricing")),
        Route("GET", f"{PREFIX}/index/pricing/{{iid}}/reference", prior.show, rules.light("prior-price")),
        Route("GET", f"{PREFIX}/index/sustainability/{{iid}}", footprint.show, rules.light("sustainability")),
        *reports.routes(desk),
        Route("GET", f"{PREFIX}/jobs", jobs.list, Rule(name="jobs", accepts=KEY_OR_BEARER)),
        Route("GET", f"{PREFIX}/jobs/{{id}}", jobs.show, job),
        Route("DELETE", f"{PREFIX}/jobs/{{id}}", jobs.cancel, cancel),
        Route("GET", f"{PREFIX}/jobs/{{id}}/result", jobs.result, result),
        Route("GET", f"{PREFIX}/jobs/{{id}}/events", events.show, job),
    )


async def _tell_no_server(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop("Server", None)  # aiohttp would tell its version and Python's


def _end_streams(resources: Services) -> Callable[[web.Application], Awaitable[None]]:
    async def close(app: web.Application) -> None:
        resources.watch.close()  # who follows a job goes on at another edge, from the last event it saw

    return close


def origin_of(settings: Settings) -> str:
    """Return the service's address without the API's version segment."""
    return settings.base_url.removesuffix(PREFIX)
