"""The dashboard's part of the map: its pages and forms, each with who may see it."""

from pathlib import Path

import aiohttp_jinja2
from aiohttp import web
from jinja2 import FileSystemLoader, StrictUndefined

from edge.analytics.pricing import Pricing
from edge.analytics.sustainability import Sustainability
from edge.container import Services, file_responder
from edge.dashboard.billing import Billing
from edge.dashboard.datasets import DatasetPages
from edge.dashboard.explorer import ExplorerPages
from edge.dashboard.exports import ExportPages
from edge.dashboard.one_time import OneTimeSecrets, new_form_id
from edge.dashboard.organization import OrganizationPages
from edge.dashboard.person import PersonPages
from edge.dashboard.reports import ReportPages
from edge.dashboard.session_guard import SessionGuard
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.sign_in import HOME, SignInPages
from edge.dashboard.sign_out import SignOutPages
from edge.exports.repository import ExportRepository
from edge.exports.serializers import ExportSerializer
from edge.exports.service import ExportService
from edge.http.routing import Handler, Route, Rule
from edge.http.signed_urls import SignedUrls
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders
from edge.organizations.idempotency import IdempotentActs
from edge.organizations.service import OrganizationService
from edge.quota.people import PersonLimits
from edge.releases.repository import ReleaseRepository
from edge.reports.service import ReportService


def prepare(app: web.Application) -> None:
    """Give the application its templates: everything escaped, an unknown name raises."""
    loader = FileSystemLoader(Path(__file__).with_name("templates"))
    aiohttp_jinja2.setup(
        app, loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    aiohttp_jinja2.get_env(app).globals["form_id"] = new_form_id


def routes(
    resources: Services, acts: OrganizationService, desk: ReportService, orders: JobOrders, origin: str
) -> tuple[Route, ...]:
    """Return every page and form below /dashboard."""
    settings = resources.settings
    cookies = Cookies(secure=origin.startswith("https://"))
    sessions = Sessions(
        resources.state, idle_seconds=settings.session_idle_seconds, seconds_max=settings.session_seconds_max
    )
    limits = PersonLimits(resources.meter, settings)
    door = SessionGuard(resources.people, sessions, cookies, origin, limits)
    sign_in = SignInPages(resources.people, limits, sessions, cookies, settings, origin, resources.log)
    sign_out = SignOutPages(resources.people, sessions, cookies, settings, origin, resources.log)
    secret = OneTimeSecrets(IdempotentActs(resources.database, settings), sessions)
    org = OrganizationPages(acts, secret, resources.directory, resources.meter, origin, settings.base_url)
    person = PersonPages(acts, secret, resources.directory, resources.plan_notices, sessions, settings)
    payer = Billing(resources.directory, resources.meter)
    return (
        *_organization(door, org),
        *_person(door, person),
        *_explorer(door, resources, payer),
        *_reports(door, ReportPages(desk, orders, resources.results, payer, resources.directory, settings.base_url)),
        *_bulk_data(door, resources, payer, orders),
        _get("/sign-in", door.open(sign_in.begin)),
        _get("/sign-in/callback", door.open(sign_in.finish)),
        _post("/sign-out", door.form(sign_out.sign_out)),
        _get("/signed-out", door.open(sign_out.signed_out)),
        _get("/sessions", door.page(sign_out.list)),
        _post("/sessions/end", door.form(sign_out.end)),
        Route("POST", f"{HOME}/back-channel-logout", sign_out.back_channel, Rule(name="back-channel-logout")),
    )


def _organization(door: SessionGuard, org: OrganizationPages) -> tuple[Route, ...]:
    return (
        _get("", door.page(org.overview)),
        _get("/key", door.page(org.key)),
        _post("/key", door.form(org.issue_key)),
        _post("/key/rotation", door.form(org.rotate_key)),
        _post("/key/revocation", door.form(org.revoke_keys)),
        _get("/usage", door.page(org.usage)),
        _get("/usage.csv", door.page(org.usage_sheet)),
        _get("/members", door.page(org.members)),
        _post("/members/invitations", door.form(org.invite)),
        _post("/members/withdrawals", door.form(org.withdraw_invitation)),
        _post("/members/roles", door.form(org.change_role)),
        _post("/members/removals", door.form(org.remove_member)),
        _get("/audit", door.page(org.audit)),
    )


def _person(door: SessionGuard, person: PersonPages) -> tuple[Route, ...]:
    return (
        _get("/token", door.page(person.token)),
        _post("/token", door.form(person.issue_token)),
        _post("/token/revocation", door.form(person.revoke_token)),
        _get("/organizations/new", door.page(person.new_organization)),
        _post("/organizations", door.form(person.create_organization)),
        _post("/organizations/choice", door.form(person.choose_organization)),
        _get("/invitation", door.page(person.invitation)),
        _post("/invitation", door.form(person.accept_invitation)),
    )


def _explorer(door: SessionGuard, resources: Services, payer: Billing) -> tuple[Route, ...]:
    base_url, name = resources.settings.base_url, "dashboard-explorer"
    pricing, footprint = Pricing(resources.database, base_url), Sustainability(resources.database, base_url)
    explorer = ExplorerPages(resources.search, resources.records, pricing, footprint, payer, base_url)
    return (
        _get("/explorer", door.page(explorer.explorer), name),
        _get("/explorer/hits", door.page(explorer.hits), name),
        _get("/explorer/{iid}", door.page(explorer.record), name),
        _get("/explorer/{iid}/history", door.page(explorer.history), name),
    )


def _reports(door: SessionGuard, reports: ReportPages) -> tuple[Route, ...]:
    return (
        _get("/reports", door.page(reports.builder)),
        _get("/reports/price", door.page(reports.price)),
        _post("/reports", door.form(reports.run), "dashboard-reports"),
        _get("/jobs", door.page(reports.jobs)),
        _get("/jobs/{id}", door.page(reports.job)),
        _get("/jobs/{id}/state", door.page(reports.state)),
        _get("/jobs/{id}/result", door.page(reports.result)),
        _post("/jobs/{id}/cancel", door.form(reports.cancel)),
    )


def _bulk_data(door: SessionGuard, resources: Services, payer: Billing, orders: JobOrders) -> tuple[Route, ...]:
    settings, base_url = resources.settings, resources.settings.base_url
    downloads = file_responder(resources)
    datasets = DatasetPages(ReleaseRepository(resources.database), downloads, resources.directory, payer, base_url)
    jobs, links = (
        JobSerializer(base_url, settings.problem_base_url),
        SignedUrls(*settings.signing_secrets),
    )
    desk = ExportService(resources.database, resources.version, settings.jobs_waiting_max)
    documents = ExportSerializer(base_url, jobs, links, settings.signed_url_seconds)
    shelf = ExportRepository(resources.database, orders, downloads)
    exports = ExportPages(resources.database, desk, shelf, documents, payer, resources.version, base_url)
    return (
        _get("/datasets", door.page(datasets.list)),
        _post("/datasets/profile", door.form(datasets.profile)),
        _get("/datasets/{name}", door.page(datasets.one)),
        _get("/datasets/{name}/{release}/{file}", door.page(datasets.file)),
        _get("/exports", door.page(exports.list)),
        _post("/exports", door.form(exports.order), "dashboard-exports"),
        _get("/exports/new", door.page(exports.builder)),
        _get("/exports/preview", door.page(exports.preview)),
        _get("/exports/{id}", door.page(exports.show)),
        _get("/exports/{id}/state", door.page(exports.state)),
        _get("/exports/{id}/files/{file}", door.page(exports.file)),
        _post("/exports/{id}/end", door.form(exports.end)),
    )


def _get(path: str, handler: Handler, name: str = "dashboard") -> Route:
    return Route("GET", HOME + path, handler, Rule(name=name, page=True))


def _post(path: str, handler: Handler, name: str = "dashboard") -> Route:
    return Route("POST", HOME + path, handler, Rule(name=name, page=True))
