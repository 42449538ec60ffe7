"""The one map of the edge: the way through the gates, and every route with its rule."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from typing import Any

from aiohttp import web

from edge.analytics.envelope import light_units
from edge.analytics.pricing import Pricing
from edge.analytics.sustainability import Sustainability
from edge.container import Services
from edge.dashboard import routes as dashboard
from edge.delta_sharing.handlers import Sharing
from edge.downloads.files import FileResponder
from edge.exports.handlers import Exports
from edge.exports.repository import ExportRepository
from edge.exports.serializers import ExportSerializer
from edge.exports.service import ExportService
from edge.http.cursors import CursorSigner
from edge.http.lists import Paginator
from edge.http.parameters import validation
from edge.http.problems import ProblemDetails
from edge.http.routing import ANY, JSON, KEY, KEY_OR_BEARER, Route, Rule, register
from edge.http.signed_urls import SignedUrls
from edge.index.brands import Brands
from edge.index.lookup import Lookup, batch_units
from edge.jobs.events import Events
from edge.jobs.handlers import Jobs
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders
from edge.meta.docs import Pages
from edge.meta.health import Health
from edge.meta.problem_types import Errors
from edge.meta.quota import QuotaPage
from edge.meta.root import Root
from edge.middleware import cors, redirects
from edge.middleware.authentication import Authentication
from edge.middleware.negotiation import negotiation
from edge.middleware.rate_limit import RateLimit
from edge.middleware.request_context import RequestContext
from edge.openapi.document import Document
from edge.organizations import routes as organizations
from edge.organizations.handlers import OrganizationApi
from edge.organizations.idempotency import IdempotentActs
from edge.organizations.service import OrganizationService
from edge.releases.handlers import Datasets
from edge.releases.repository import ReleaseRepository
from edge.releases.serializers import UrlSigner
from edge.reports.handlers import BrandInsights, CategoryInsights, Cohorts, SustainabilityRollup
from edge.reports.service import ReportService
from edge.search.handlers import Search
from shared.config import Settings
from shared.plans import BRAND, INSTITUTIONAL

PREFIX = "/v1"
DOCUMENT: web.AppKey[Document] = web.AppKey("document", Document)
_RESULT_PROBLEMS = ("job-not-ready", "result-expired", "precondition-failed", "range-not-satisfiable")
_FILE_PROBLEMS = ("dataset-not-found", "result-expired", "precondition-failed", "range-not-satisfiable")
REQUEST_BODY_BYTES_MAX = 64 * 1024


def create_app(resources: Services) -> web.Application:
    """Build the application: every request passes the gates from top to bottom, then its handler."""
    settings = resources.settings
    problems = ProblemDetails(settings.errors_base, resources.log)
    trusted = tuple(ip_network(text.strip()) for text in settings.trusted_proxies.split(",") if text.strip())
    sign_up = f"{origin_of(settings)}/dashboard"
    app = web.Application(
        middlewares=[
            RequestContext(trusted, problems, resources.lines, resources.spans, resources.usage.note).middleware(),
            problems.middleware(),
            cors.preflight,
            redirects.trailing_slash,
            Authentication(resources.directory, resources.people, settings.anonymous_token, sign_up).middleware(),
            validation,
            negotiation,
            RateLimit(resources.meter).middleware(),
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
    cursors = CursorSigner(settings.cursor_secret)
    lists = Paginator(cursors, lambda: resources.version.current)
    stores = {"state": resources.state, "cache": resources.cache}
    health = Health(settings, resources.database, stores, resources.version, resources.search)
    pages, errors = Pages(settings, document), Errors(settings)
    lookup = Lookup(resources.records, settings.base_url)
    search = Search(resources.search, cursors, settings.base_url)
    brands = Brands(resources.database, lists)
    root, quota = Root(settings, resources.meter), QuotaPage(resources.meter)
    acts = OrganizationService(resources.database, settings.token_pepper)
    idempotent = IdempotentActs(resources.database, settings.token_pepper)
    orders = JobOrders(resources.database, resources.watch, settings.jobs_waiting_max)
    documents = JobSerializer(settings.base_url, settings.errors_base)
    desk = ReportService(resources.database, resources.version, orders, documents, resources.results, resources.meter)
    return (
        Route("GET", f"{PREFIX}/health", health.live, Rule(name="health", any_origin=True)),
        Route("GET", f"{PREFIX}/ready", health.ready, Rule(name="ready", any_origin=True)),
        Route("GET", "/metrics", health.metrics, Rule(name="metrics")),
        Route("GET", f"{PREFIX}/openapi.json", pages.openapi_json, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/openapi.yaml", pages.openapi_yaml, Rule(name="openapi", any_origin=True)),
        Route("GET", f"{PREFIX}/docs", pages.docs, Rule(name="docs")),
        Route("GET", f"{PREFIX}/errors", errors.list, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/errors/{{slug}}", errors.show, Rule(name="errors", any_origin=True)),
        Route("GET", f"{PREFIX}/", root.show, Rule(name="root", accepts=KEY_OR_BEARER, offers=JSON)),
        Route("GET", f"{PREFIX}/quota", quota.show, Rule(name="quota", accepts=ANY, any_origin=True, offers=JSON)),
        Route("GET", f"{PREFIX}/index/lookup/{{iid}}", lookup.show, _free("lookup")),
        Route("GET", f"{PREFIX}/index/lookup", lookup.list, _batch()),
        Route("GET", f"{PREFIX}/index/search", search.show, _free("search")),
        Route("GET", f"{PREFIX}/index/brands", brands.list, _free("brands")),
        *organizations.routes(OrganizationApi(acts, idempotent, cursors, origin_of(settings)), PREFIX),
        *_paid_routes(resources, lists, desk, orders),
        *dashboard.routes(resources, acts, desk, orders, origin_of(settings)),
        *_dataset_routes(resources, lists),
        *_export_routes(resources, lists),
    )


def _paid_routes(resources: Services, lists: Paginator, desk: ReportService, orders: JobOrders) -> tuple[Route, ...]:
    settings = resources.settings
    documents = JobSerializer(settings.base_url, settings.errors_base)
    jobs = Jobs(orders, documents, resources.results, lists)
    events = Events(orders, documents)
    pricing = Pricing(resources.database, settings.base_url)
    footprint = Sustainability(resources.database, settings.base_url)
    cohorts, rollup = Cohorts(desk), SustainabilityRollup(desk)
    categories, brands = CategoryInsights(desk), BrandInsights(desk)
    insights = f"{PREFIX}/index/insights"
    one_category = _report("category-insights", categories.units, BRAND, "category-not-found")
    one_brand = _report("brand-insights", brands.units, BRAND, "brand-not-found")
    job = Rule(name="job", accepts=KEY_OR_BEARER, problems=("job-not-found",))
    cancel = Rule(name="job-cancel", accepts=KEY, problems=("job-not-found", "state-conflict"))
    result = Rule(name="job-result", accepts=KEY_OR_BEARER, problems=("job-not-found", *_RESULT_PROBLEMS))
    return (
        Route("GET", f"{PREFIX}/index/pricing/{{iid}}", pricing.show, _light("pricing")),
        Route("GET", f"{PREFIX}/index/sustainability/{{iid}}", footprint.show, _light("sustainability")),
        Route("GET", f"{PREFIX}/index/cohorts", cohorts.show, _report("cohorts", cohorts.units, BRAND)),
        Route("GET", f"{insights}/categories", categories.list, _report("category-insights", categories.units, BRAND)),
        Route("GET", f"{insights}/categories/{{code}}", categories.show, one_category),
        Route("GET", f"{insights}/brands", brands.list, _report("brand-insights", brands.units, BRAND)),
        Route("GET", f"{insights}/brands/{{slug}}", brands.show, one_brand),
        Route(
            "GET", f"{PREFIX}/index/rollups/sustainability", rollup.show, _report("rollup", rollup.units, INSTITUTIONAL)
        ),
        Route("GET", f"{PREFIX}/jobs", jobs.list, Rule(name="jobs", accepts=KEY_OR_BEARER)),
        Route("GET", f"{PREFIX}/jobs/{{id}}", jobs.show, job),
        Route("DELETE", f"{PREFIX}/jobs/{{id}}", jobs.cancel, cancel),
        Route("GET", f"{PREFIX}/jobs/{{id}}/result", jobs.result, result),
        Route("GET", f"{PREFIX}/jobs/{{id}}/events", events.show, job),
    )


def _export_routes(resources: Services, lists: Paginator) -> tuple[Route, ...]:
    settings = resources.settings
    orders = JobOrders(resources.database, resources.watch, settings.jobs_waiting_max)
    jobs, links = JobSerializer(settings.base_url, settings.errors_base), SignedUrls(settings.cursor_secret)
    documents = ExportSerializer(settings.base_url, jobs, links, settings.signed_url_seconds)
    desk = ExportService(resources.database, resources.version, settings.jobs_waiting_max)
    shelf = ExportRepository(resources.database, orders, FileResponder(resources.results, settings.accel_location))
    exports = Exports(
        resources.database, desk, shelf, resources.meter, documents, links, lists, resources.version, INSTITUTIONAL
    )
    booked = ("idempotency-in-progress", "idempotency-key-reused", "missing-parameter")
    above = f"{PREFIX}/index/exports"
    one = ("export-not-found", "result-expired")
    link_problems = ("invalid-signature", "expired-signature", *one, *_RESULT_PROBLEMS)
    return (
        Route("POST", above, exports.create, _export("export-order", *booked, units=exports.units)),
        Route("GET", above, exports.list, _export("exports")),
        Route("GET", f"{above}/{{id}}", exports.show, _export("export", *one)),
        Route("DELETE", f"{above}/{{id}}", exports.end, _export("export-end", *one)),
        Route("GET", f"{above}/{{id}}/files/{{file}}", exports.file, _export("export-file", *one, *_RESULT_PROBLEMS)),
        Route(
            "GET", f"{above}/{{id}}/signed/{{file}}", exports.signed, Rule(name="export-signed", problems=link_problems)
        ),
    )


def _dataset_routes(resources: Services, lists: Paginator) -> tuple[Route, ...]:
    settings = resources.settings
    shelf, links = ReleaseRepository(resources.database), SignedUrls(settings.cursor_secret)
    signer = UrlSigner(links, settings.base_url, settings.signed_url_seconds)
    downloads = FileResponder(resources.results, settings.accel_location)
    datasets = Datasets(shelf, signer, links, downloads, lists, resources.version, INSTITUTIONAL)
    path = f"{PREFIX}/index/datasets"
    release = f"{path}/{{name}}/releases/{{release}}"
    signed = Rule(name="dataset-signed", problems=("invalid-signature", "expired-signature", *_FILE_PROBLEMS))
    return (
        Route("GET", path, datasets.list, _dataset("datasets")),
        Route("GET", f"{path}/{{name}}/releases", datasets.releases, _dataset("releases", "dataset-not-found")),
        Route("GET", release, datasets.manifest, _dataset("release", "dataset-not-found")),
        Route("GET", f"{release}/files/{{file}}", datasets.file, _dataset("release-file", *_FILE_PROBLEMS)),
        Route("GET", f"{release}/signed/{{file}}", datasets.signed, signed),
        *_sharing_routes(Sharing(shelf, signer, settings.base_url)),
    )


def _sharing_routes(sharing: Sharing) -> tuple[Route, ...]:
    shares = f"{PREFIX}/delta-sharing/shares"
    share = f"{shares}/{{share}}"
    tables = f"{share}/schemas/{{schema}}/tables"
    table = f"{tables}/{{table}}"
    rule = Rule(
        name="sharing", accepts=KEY, rank_min=INSTITUTIONAL, problems=("dataset-not-found",), key_as_bearer=True
    )
    return (
        Route("GET", f"{PREFIX}/delta-sharing/profile", sharing.profile, rule),
        Route("GET", shares, sharing.shares, rule),
        Route("GET", share, sharing.share, rule),
        Route("GET", f"{share}/schemas", sharing.schemas, rule),
        Route("GET", tables, sharing.tables, rule),
        Route("GET", f"{share}/all-tables", sharing.all_tables, rule),
        Route("GET", f"{table}/version", sharing.version, rule),
        Route("GET", f"{table}/metadata", sharing.metadata, rule),
        Route("POST", f"{table}/query", sharing.query, rule),
        Route("GET", f"{table}/changes", sharing.changes, rule),
    )


async def _tell_no_server(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.pop("Server", None)  # aiohttp would tell its version and Python's


def _end_streams(resources: Services) -> Callable[[web.Application], Awaitable[None]]:
    async def close(app: web.Application) -> None:
        resources.watch.close()  # who follows a job goes on at another edge, from the last event it saw

    return close


def _report(name: str, units: Callable[[web.Request], Awaitable[int]], rank_min: int, *problems: str) -> Rule:
    listed = ("not-acceptable", "query-too-large", "job-failed", "job-cancelled", *_RESULT_PROBLEMS, *problems)
    return Rule(name=name, accepts=KEY, units=units, rank_min=rank_min, problems=listed)


def _export(name: str, *problems: str, units: Callable[[web.Request], Awaitable[int]] | int = 0) -> Rule:
    return Rule(name=name, accepts=KEY, units=units, rank_min=INSTITUTIONAL, problems=problems)


def _light(name: str) -> Rule:
    problems = ("iid-not-found", "iid-withdrawn", "not-acceptable")
    return Rule(name=name, accepts=KEY, units=light_units, rank_min=BRAND, problems=problems)


def _dataset(name: str, *problems: str) -> Rule:
    return Rule(name=name, accepts=KEY, rank_min=INSTITUTIONAL, problems=problems)


def origin_of(settings: Settings) -> str:
    """Return the service's address without the API's version segment."""
    return settings.base_url.removesuffix(PREFIX)


def _free(name: str) -> Rule:
    return Rule(name=name, accepts=ANY, units=1, any_origin=True, offers=JSON)


def _batch() -> Rule:
    return Rule(name="lookup-batch", accepts=KEY, units=batch_units, offers=JSON)
