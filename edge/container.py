"""The composition root: every service of the edge is built here, once, on the resources of the process."""

from dataclasses import dataclass

from edge.analytics.price_history import PriceHistory
from edge.analytics.sustainability import Sustainability
from edge.downloads.allowance import DownloadAllowance
from edge.downloads.files import FileResponder
from edge.events.feed import EventFeed
from edge.exports.repository import ExportRepository
from edge.exports.serializers import ExportSerializer
from edge.exports.service import ExportService
from edge.http.cursors import CursorSigner
from edge.http.lists import Paginator
from edge.http.routing import API_PATH
from edge.http.signed_urls import SignedUrls
from edge.jobs.serializers import JobSerializer
from edge.jobs.service import JobOrders
from edge.organizations.service import OrganizationService
from edge.quota.billing import Billing
from edge.quota.people import PersonLimits
from edge.releases.repository import ReleaseRepository
from edge.releases.serializers import UrlSigner
from edge.reports.service import ReportService
from edge.resources import Resources
from edge.search.answers import SearchAnswers
from edge.search.identifiers import ItemSearch
from edge.storage.idempotency import IdempotentActs
from edge.watches.repeatable import RepeatableActs
from edge.watches.service import WatchService
from edge.webhooks.service import WebhookService
from shared.config import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that handlers of the API and of the dashboard share."""

    resources: Resources
    origin: str
    cursors: CursorSigner
    lists: Paginator
    billing: Billing
    person_limits: PersonLimits
    organizations: OrganizationService
    idempotent_acts: IdempotentActs
    search: ItemSearch
    search_answers: SearchAnswers
    price_history: PriceHistory
    sustainability: Sustainability
    orders: JobOrders
    job_serializer: JobSerializer
    reports: ReportService
    downloads: FileResponder
    signed_urls: SignedUrls
    releases: ReleaseRepository
    release_urls: UrlSigner
    exports: ExportService
    export_repository: ExportRepository
    export_serializer: ExportSerializer
    events: EventFeed
    watches: WatchService
    webhooks: WebhookService
    repeatable_acts: RepeatableActs

    @property
    def settings(self) -> Settings:
        """The settings of the process."""
        return self.resources.settings

    def data_version(self) -> int:
        """Return the data_version that this process serves."""
        return self.resources.version.current


def build_services(resources: Resources) -> Services:
    """Build every service once."""
    settings, database, version = resources.settings, resources.database, resources.version
    cursors = CursorSigner(settings.signing_secret, settings.signing_secret_previous)
    billing = Billing(resources.limiter)
    orders = JobOrders(database, resources.job_waiters, settings.jobs_waiting_max, resources.log)
    jobs = JobSerializer(settings.base_url, settings.problem_base_url)
    downloads = FileResponder(
        resources.results, settings.x_accel_location, DownloadAllowance(resources.limiter, settings)
    )
    search = ItemSearch(resources.search, resources.resolutions, version)
    urls = SignedUrls(*settings.signing_secrets)
    idempotent = IdempotentActs(database, settings)
    return Services(
        resources=resources,
        origin=settings.base_url.removesuffix(API_PATH),
        cursors=cursors,
        lists=Paginator(cursors, lambda: version.current),
        billing=billing,
        person_limits=PersonLimits(resources.limiter, settings),
        organizations=OrganizationService(database, settings),
        idempotent_acts=idempotent,
        search=search,
        search_answers=SearchAnswers(search, cursors, settings.base_url),
        price_history=PriceHistory(database, settings.base_url),
        sustainability=Sustainability(database, settings.base_url, billing),
        orders=orders,
        job_serializer=jobs,
        reports=ReportService(database, version, orders, jobs, resources.results, cursors),
        downloads=downloads,
        signed_urls=urls,
        releases=ReleaseRepository(database),
        release_urls=UrlSigner(urls, settings.base_url, settings.signed_url_seconds),
        exports=ExportService(database, version, settings.jobs_waiting_max),
        export_repository=ExportRepository(database, orders, downloads),
        export_serializer=ExportSerializer(settings.base_url, jobs, urls, settings.signed_url_seconds),
        events=EventFeed(database, lambda: version.current),
        watches=WatchService(database),
        webhooks=WebhookService(database, settings),
        repeatable_acts=RepeatableActs(database, idempotent),
    )
