"""The dashboard's part of the map: its pages and forms, each open or guarded by the session."""

from edge.auth.oauth_errors import error_members
from edge.composition import Services
from edge.dashboard.catalogue import Catalogue
from edge.dashboard.datasets import DatasetPages
from edge.dashboard.events import EventPages
from edge.dashboard.explorer import CompletionPages, ExplorerPages
from edge.dashboard.exports import ExportPages
from edge.dashboard.home import HomePages
from edge.dashboard.mails import MailPages
from edge.dashboard.matches import MatchPages
from edge.dashboard.operators.accounts import AccountPages
from edge.dashboard.operators.models import ModelPages
from edge.dashboard.operators.running import RunningPages
from edge.dashboard.organization import OrganizationPages
from edge.dashboard.person import PersonPages
from edge.dashboard.price_files import PriceFilePages
from edge.dashboard.question_pages import QuestionPages
from edge.dashboard.report_schedules import ReportSchedules
from edge.dashboard.reports import ReportPages
from edge.dashboard.session_guard import SessionGuard, unknown_page
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.sign_in import HOME, SignInPages
from edge.dashboard.sign_out import SignOutPages
from edge.dashboard.theme import choose_theme
from edge.dashboard.uploads import UploadPages
from edge.dashboard.usage import UsagePages
from edge.dashboard.watches import WatchPages
from edge.dashboard.webhooks import WebhookPages
from edge.http.routing import Handler, Route, Rule

_BACK_CHANNEL = Rule(name="back-channel-logout", error_members=error_members)


def routes(services: Services) -> tuple[Route, ...]:
    """Return every page and form below /dashboard."""
    sessions, cookies = _sessions(services)
    guard, shared = SessionGuard(services, sessions, cookies), (services, sessions, cookies)
    sign_in, sign_out = SignInPages(*shared), SignOutPages(*shared)
    org, person, usage = OrganizationPages(*shared), PersonPages(*shared), UsagePages(*shared)
    catalogue = Catalogue(services)
    explorer, completions, reports = ExplorerPages(*shared, catalogue), CompletionPages(*shared), ReportPages(*shared)
    prices = PriceFilePages(*shared, catalogue)
    questions = QuestionPages(*shared, catalogue, reports)
    home = HomePages(*shared, catalogue, questions)
    datasets, exports = DatasetPages(*shared), ExportPages(*shared)
    events, watches, webhooks = EventPages(*shared), WatchPages(*shared, catalogue), WebhookPages(*shared)
    mails = MailPages(*shared)
    matches, uploads = MatchPages(*shared), UploadPages(*shared)
    accounts, running, models = AccountPages(*shared), RunningPages(*shared), ModelPages(*shared)
    searches = "dashboard-explorer"
    return (
        _get("", guard.page(home.overview)),
        _get("/plan", guard.page(home.plan)),
        _post("/plan", guard.form(home.request_plan)),
        _get("/key", guard.page(org.key)),
        _post("/key", guard.form(org.issue_key)),
        _post("/key/rotation", guard.form(org.rotate_key)),
        _post("/key/revocation", guard.form(org.revoke_keys)),
        _get("/members", guard.page(org.members)),
        _post("/members/invitations", guard.form(org.invite)),
        _post("/members/withdrawals", guard.form(org.withdraw_invitation)),
        _post("/members/roles", guard.form(org.change_role)),
        _post("/members/removals", guard.form(org.remove_member)),
        _get("/audit", guard.page(org.audit)),
        _get("/usage", guard.page(usage.usage)),
        _get("/usage.csv", guard.page(usage.sheet)),
        _get("/requests", guard.page(usage.requests)),
        _get("/token", guard.page(person.token)),
        _post("/token", guard.form(person.issue_token, personal=True)),
        _post("/token/revocation", guard.form(person.revoke_token, personal=True)),
        _get("/organizations/new", guard.page(person.new_organization)),
        _post("/organizations", guard.form(person.create_organization, personal=True)),
        _post("/organizations/choice", guard.form(person.choose_organization, personal=True)),
        _get("/invitation", guard.page(person.invitation, person.invited)),
        _post("/invitation/details", guard.open(person.invitation_details)),
        _post("/invitation", guard.form(person.accept_invitation, personal=True)),
        _get("/explorer", guard.page(explorer.explorer), searches),
        _get("/explorer/suggestions", guard.page(explorer.suggestions)),
        _get("/explorer/{iid}", guard.page(explorer.record), searches),
        _get("/explorer/{iid}/history", guard.page(explorer.history), searches),
        _get("/brands", guard.page(explorer.brands), searches),
        _get("/brands/{slug}", guard.page(explorer.brand), searches),
        _get("/categories", guard.page(explorer.categories), searches),
        _get("/categories/{code}", guard.page(explorer.category), searches),
        _get("/brands/{slug}/prices/{kind}", guard.page(prices.brand), searches),
        _get("/categories/{code}/prices/{kind}", guard.page(prices.category), searches),
        _get("/reports", guard.page(reports.new)),
        _get("/reports/preview", guard.page(reports.preview)),
        _post("/reports", guard.form(reports.submit), "dashboard-reports"),
        _get("/questions", guard.page(questions.show)),
        _get("/questions/suggestions", guard.page(questions.suggestions)),
        _post("/questions", guard.form(questions.ask), "dashboard-reports"),
        _post("/questions/{id}/runs", guard.form(questions.run), "dashboard-reports"),
        _post("/questions/{id}/schedule", guard.form(questions.schedule)),
        _post("/questions/{id}/name", guard.form(questions.rename)),
        _post("/questions/{id}/removal", guard.form(questions.delete)),
        _get("/completions/{list}", guard.page(completions.show)),
        _get("/jobs", guard.page(reports.jobs)),
        _get("/jobs/{id}", guard.page(reports.job)),
        _get("/jobs/{id}/state", guard.page(reports.state)),
        _get("/jobs/{id}/rows/{row}", guard.page(reports.row)),
        _get("/jobs/{id}/result", guard.page(reports.result)),
        _get("/jobs/{id}/files/{kind}", guard.page(reports.file)),
        _post("/jobs/{id}/cancel", guard.form(reports.cancel)),
        _get("/datasets", guard.page(datasets.list)),
        _post("/datasets/profile", guard.form(datasets.profile)),
        _get("/connect", guard.page(datasets.connect)),
        _get("/datasets/{name}", guard.page(datasets.show_one)),
        _get("/datasets/{name}/{release}/{file}", guard.page(datasets.file)),
        _get("/exports", guard.page(exports.list)),
        _post("/exports", guard.form(exports.submit), "dashboard-exports"),
        _get("/exports/new", guard.page(exports.new)),
        _get("/exports/preview", guard.page(exports.preview)),
        _get("/exports/{id}", guard.page(exports.show)),
        _get("/exports/{id}/state", guard.page(exports.state)),
        _get("/exports/{id}/files/{file}", guard.page(exports.file)),
        _post("/exports/{id}/end", guard.form(exports.end)),
        _get("/events", guard.page(events.list)),
        _get("/watches", guard.page(watches.list)),
        _post("/watches", guard.form(watches.submit)),
        _get("/watches/new", guard.page(watches.new)),
        _post("/watches/mail", guard.form(mails.choose)),
        _post("/watches/{id}", guard.form(watches.pause)),
        _post("/watches/{id}/removal", guard.form(watches.delete)),
        _get("/webhooks", guard.page(webhooks.list)),
        _post("/webhooks", guard.form(webhooks.create)),
        _get("/webhooks/{id}", guard.page(webhooks.show_one)),
        _post("/webhooks/{id}/rotation", guard.form(webhooks.rotate)),
        _post("/webhooks/{id}/deactivation", guard.form(webhooks.disable)),
        _post("/webhooks/{id}/activation", guard.form(webhooks.enable)),
        _post("/webhooks/{id}/test", guard.form(webhooks.test)),
        _post("/webhooks/{id}/replays", guard.form(webhooks.replay)),
        _post("/webhooks/{id}/removal", guard.form(webhooks.delete)),
        _get("/mails", guard.page(mails.show)),
        _post("/mails", guard.form(mails.save)),
        _get("/unsubscribe", guard.open(mails.ask)),
        _post("/unsubscribe", guard.open(mails.unsubscribe)),
        _get("/outbox", guard.page(mails.outbox)),
        _get("/operator", guard.page(running.overview)),
        _get("/operator/acts", guard.page(running.acts)),
        _get("/operator/acts/recent", guard.page(running.recent)),
        _get("/operator/organizations", guard.page(accounts.organizations)),
        _post("/operator/organizations", guard.form(accounts.create, personal=True)),
        _get("/operator/organizations/{id}", guard.page(accounts.organization)),
        _post("/operator/organizations/{id}", guard.form(accounts.act, personal=True)),
        _get("/operator/requests", guard.page(accounts.requests)),
        _get("/operator/people", guard.page(accounts.people)),
        _get("/operator/plans", guard.page(accounts.plans)),
        _post("/operator/plans", guard.form(accounts.set_plan, personal=True)),
        _get("/operator/loads", guard.page(running.loads)),
        _post("/operator/loads", guard.form(running.undo_load, personal=True)),
        _get("/operator/loads/{id}", guard.page(running.load)),
        _get("/operator/feeds", guard.page(running.feeds)),
        _post("/operator/feeds", guard.form(running.change_feed, personal=True)),
        _get("/operator/jobs", guard.page(running.jobs)),
        _post("/operator/jobs", guard.form(running.change_job, personal=True)),
        _get("/operator/releases", guard.page(running.releases)),
        _post("/operator/releases", guard.form(running.cut_release, personal=True)),
        _get("/operator/models", guard.page(models.list)),
        _post("/operator/models", guard.form(models.act, personal=True)),
        _get("/operator/health", guard.page(running.health)),
        _post("/operator/health", guard.form(running.examine, personal=True)),
        _get("/matches", guard.page(matches.review)),
        _post("/matches/decisions", guard.form(matches.decide, personal=True)),
        _post("/matches/bulk", guard.form(matches.decide_all, personal=True)),
        _get("/data", guard.page(uploads.list)),
        _post("/data", guard.upload(uploads.receive, uploads.permit)),
        _get("/data/{id}", guard.page(uploads.show_one)),
        _post("/data/{id}", guard.form(uploads.act, personal=True)),
        _get("/data/{id}/state", guard.page(uploads.state)),
        _get("/data/{id}/mapping.toml", guard.page(uploads.mapping)),
        _post("/theme", guard.open(choose_theme)),
        _get("/sign-in", guard.open(sign_in.begin)),
        _get("/sign-up", guard.open(sign_in.begin_registration)),
        _get("/sign-in/callback", guard.open(sign_in.finish)),
        _post("/sign-out", guard.form(sign_out.sign_out, personal=True)),
        _get("/signed-out", guard.open(sign_out.signed_out)),
        _get("/sessions", guard.page(sign_out.list)),
        _post("/sessions/end", guard.form(sign_out.end, personal=True)),
        Route("POST", f"{HOME}/back-channel-logout", sign_out.back_channel, _BACK_CHANNEL),
        _get("/{unknown:.*[^/]}", guard.page(unknown_page)),  # last: it matches what no other path does
    )


def report_schedules(services: Services) -> ReportSchedules:
    """Return the work beside requests that runs scheduled reports."""
    return ReportSchedules(services, *_sessions(services))


def _sessions(services: Services) -> tuple[Sessions, Cookies]:
    settings = services.settings
    sessions = Sessions(
        services.resources.state, idle_seconds=settings.session_idle_seconds, seconds_max=settings.session_seconds_max
    )
    return sessions, Cookies(secure=services.origin.startswith("https://"))


def _get(path: str, handler: Handler, name: str = "dashboard") -> Route:
    return Route("GET", HOME + path, handler, Rule(name=name, page=True))


def _post(path: str, handler: Handler, name: str = "dashboard") -> Route:
    return Route("POST", HOME + path, handler, Rule(name=name, page=True))
