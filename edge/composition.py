"""The composition root: the resources of one process, and on them every service of the edge, each built here, once."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from edge.analytics.price_history import PriceHistory
from edge.analytics.report_service import ReportService
from edge.analytics.sustainability import SustainabilityReads
from edge.analytics.weights import WeightService
from edge.auth.credentials import CredentialStore
from edge.auth.oidc_provider import OidcProvider
from edge.auth.path_keys import PathKeys
from edge.auth.users import UserService
from edge.bulk.data_credentials import DataCredentialService
from edge.bulk.download_allowance import DownloadAllowance
from edge.bulk.downloads import FileResponder
from edge.bulk.export_serializer import ExportSerializer
from edge.bulk.export_service import ExportService
from edge.bulk.iceberg_metadata import IcebergMetadata
from edge.bulk.release_documents import UrlSigner
from edge.bulk.release_repository import ReleaseRepository
from edge.bulk.signed_urls import LinkChecker, SignedUrls
from edge.events.feed import EventFeed
from edge.events.member_mails import MemberMailService
from edge.events.watches import WatchService
from edge.events.webhooks import WebhookService
from edge.http.access_log import AccessLog
from edge.http.answer_cache import AnswerCache
from edge.http.cursors import CursorSigner
from edge.http.lists import Paginator
from edge.http.routing import API_PATH
from edge.index.identifiers import ResolutionCache, ResolutionReader
from edge.index.record import RecordCache, RecordLoader
from edge.jobs.orders import JobOrders
from edge.jobs.serializer import JobSerializer
from edge.jobs.waiters import JobWaiters
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import OrganizationService
from edge.quota.billing import Billing
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import RateLimiter
from edge.quota.open_downloads import OpenDownloads
from edge.quota.person_limits import PersonLimits
from edge.quota.request_log import RequestLog
from edge.quota.stored_exports import StoredExports
from edge.quota.suggestions import SuggestionBilling
from edge.quota.usage import UsageRecorder
from edge.reconcile.items import ItemMatching
from edge.rules import SUGGESTIONS_PER_UNIT
from edge.search.answers import SearchAnswers
from edge.search.engine import SearchEngine
from edge.search.item_search import ItemSearch
from edge.startup import NEEDED
from edge.storage.certificate_monitor import CertificateMonitor
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database
from edge.storage.idempotency import IdempotentActs
from edge.storage.notices import PgListener
from edge.storage.redis_client import RedisClient, SingleNodeClient
from edge.storage.redis_cluster import ClusterClient
from edge.storage.runtime_monitor import RunMarker, RuntimeMonitor
from shared.objects.open import open_object_store
from shared.redis.urls import is_cluster
from shared.search import remote
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import LineStream, Log
from shared.telemetry.spans import Spans

# Shorter than the workers' timeout, because a caller waits for the download.
_RESULTS_SECONDS = 2.0
# An identifier takes a few hundred bytes and its record a few thousand.
_RECORD_BYTES_PER_IDENTIFIER_BYTE = 8


class Resources:
    """The resources of one process, which are opened and closed with it; nothing is opened yet when they are built.

    Log lines go to the stream, without one to standard error. Raises ConfigurationError if a required setting is
    missing.
    """

    def __init__(self, settings: Settings, stream: LineStream | None = None) -> None:
        settings.require(*NEEDED)
        self.settings = settings
        self.log = log = Log("edge", stream=stream, level=settings.log_level)
        self.access_log = AccessLog(settings.access_log)
        self.database = database = _database(settings)
        self.state, self.cache = state, cache = _stores(settings, log)
        self.version = version = DataVersionWatcher(database, log)
        self.answers = answers = AnswerCache(settings.answer_cache_bytes_max)
        version.on_change(answers.clear)
        self.credentials = credentials = CredentialStore(
            database, log, anonymous_token=settings.anonymous_token, peppers=settings.peppers
        )
        self.search = search = _search(settings, log, answers)
        self.job_waiters = job_waiters = JobWaiters()
        self.users = users = UserService(
            OidcProvider(settings, log) if settings.oidc_issuer else None, database, settings
        )

        def accounts_changed(name: str) -> None:
            credentials.take_notice(name)
            users.invalidate()

        signals = {"data_version": version.refresh, "search_index": search.refresh, "releases": answers.clear}
        payloads = {"jobs_changed": job_waiters.wake, "accounts": accounts_changed}
        self.listener = PgListener(settings.edge_database_url, signals, payloads, credentials.confirm, log)
        self.request_log = RequestLog(cache, settings.request_log_calls)
        self.usage = UsageRecorder(database, self.request_log, log, settings.usage_flush_seconds)
        self.limiter = RateLimiter(state, DegradedLimiter(closed=settings.quota_fail_mode == "closed"))
        self.records = RecordCache(
            cache,
            version,
            RecordLoader(database, settings.base_url),
            bytes_max=settings.record_cache_bytes_max,
            ttl_seconds=settings.record_ttl_seconds,
        )
        self.resolutions = ResolutionCache(
            cache,
            version,
            ResolutionReader(database),
            bytes_max=settings.record_cache_bytes_max // _RECORD_BYTES_PER_IDENTIFIER_BYTE,
            ttl_seconds=settings.record_ttl_seconds,
        )
        self.results = open_object_store(settings, _RESULTS_SECONDS)
        # Patient: a part of an upload is 16 MiB, which a bucket may take longer to accept than a download may wait.
        self.uploads = open_object_store(settings)
        self.spans = Spans(settings, "edge")
        self.plan_notices = PlanNotices(database, settings, log)
        stores = {"state": state, "cache": cache}
        self.monitor = RuntimeMonitor(stores, database, self.listener, RunMarker(state, log), log)
        self.certificate = CertificateMonitor(settings.base_url, log)


def _search(settings: Settings, log: Log, answers: AnswerCache) -> SearchEngine:
    if not settings.search_in_store:
        return SearchEngine(settings.search_dir, log, answers.clear)
    fetch = partial(remote.fetch, open_object_store(settings), settings.search_dir)
    return SearchEngine(settings.search_dir, log, answers.clear, fetch=fetch)


def _database(settings: Settings) -> Database:
    return Database(
        settings.edge_pooler_url or settings.edge_database_url,
        pooled=bool(settings.edge_pooler_url),
        connections_max=settings.database_pool_max,
        deadline_seconds=settings.database_timeout_seconds,
    )


def _stores(settings: Settings, log: Log) -> tuple[RedisClient, RedisClient]:
    # Quotas wait for a failover and stay exact through it; a record can be read from PostgreSQL instead.
    return (
        _store("state", settings.state_url, settings.state_timeout_seconds, settings.state_failover_seconds, log),
        _store("cache", settings.cache_url, settings.cache_timeout_seconds, None, log),
    )


def _store(name: str, url: str, deadline_seconds: float, failover_seconds: float | None, log: Log) -> RedisClient:
    if not is_cluster(url):
        return SingleNodeClient(url, name=name, deadline_seconds=deadline_seconds, log=log)
    exact = failover_seconds is not None
    return ClusterClient(
        url, name=name, deadline_seconds=deadline_seconds, hold_seconds=failover_seconds or 0.0, acked=exact, log=log
    )


@asynccontextmanager
async def open_resources(resources: Resources) -> AsyncIterator[Resources]:
    """Open the resources, and close them again in the opposite order. No store has to be available for that."""
    async with AsyncExitStack() as stack:
        for close in (resources.spans.close, resources.access_log.close, resources.search.close):
            stack.callback(close)
        await resources.database.open()
        stack.push_async_callback(resources.database.close)
        for store in (resources.state, resources.cache):
            await store.start()
            stack.push_async_callback(store.close)
        await resources.version.read()
        resources.search.refresh()
        if resources.users.provider is not None:
            await resources.users.provider.open()
            stack.push_async_callback(resources.users.provider.close)
        for part in (
            resources.version,
            resources.listener,
            resources.usage,
            resources.monitor,
            resources.certificate,
            resources.plan_notices,
        ):
            part.start()
            stack.push_async_callback(part.stop)
        running = metrics.processes.labels("edge", resources.settings.revision)
        running.set(1)
        stack.callback(running.set, 0)
        resources.log.info("started", revision=resources.settings.revision)
        yield resources
    resources.log.info("stopped")


class Services:
    """The services that handlers of the API and of the dashboard share, each built once."""

    def __init__(self, resources: Resources) -> None:
        settings, database, version = resources.settings, resources.database, resources.version
        self.resources, self.settings = resources, settings
        self.origin = settings.base_url.removesuffix(API_PATH)
        self.cursors = cursors = CursorSigner(*settings.signing_secrets)
        self.lists = Paginator(cursors, self.data_version)
        self.billing = Billing(resources.limiter)
        self.person_limits = PersonLimits(resources.limiter, settings)
        self.suggestion_billing = SuggestionBilling(resources.limiter, self.billing, SUGGESTIONS_PER_UNIT)
        self.organizations = OrganizationService(database, settings)
        self.idempotent_acts = IdempotentActs(database, settings)
        self.search = ItemSearch(resources.search, resources.resolutions, version)
        self.search_answers = SearchAnswers(self.search, resources.records.find_many, cursors, settings.base_url)
        self.price_history = PriceHistory(database, settings.base_url)
        self.sustainability = SustainabilityReads(database, settings.base_url)
        self.orders = orders = JobOrders(database, resources.job_waiters, settings.jobs_waiting_max, resources.log)
        self.job_serializer = jobs = JobSerializer(settings.base_url, settings.problem_base_url)
        self.open_downloads = under_way = OpenDownloads()
        self.weights = WeightService(database)
        self.reports = ReportService(
            database, version, orders, jobs, resources.results, cursors, under_way, self.weights
        )
        allowance = DownloadAllowance(resources.limiter, settings)
        self.downloads = FileResponder(resources.results, settings.x_accel_location, allowance, under_way)
        urls = SignedUrls(*settings.signing_secrets)
        self.links = LinkChecker(urls, database)
        self.data_credentials = DataCredentialService(*settings.signing_secrets)
        self.path_keys = PathKeys(*settings.signing_secrets)
        self.item_matching = ItemMatching(version, orders, jobs, resources.results)
        self.releases = ReleaseRepository(database)
        self.iceberg = IcebergMetadata(self.releases)
        self.release_urls = UrlSigner(urls, settings.base_url, settings.signed_url_seconds)
        self.stored_exports = StoredExports(database, settings.stored_export_bytes_max)
        self.exports = ExportService(database, version, orders, self.downloads, self.stored_exports)
        self.export_serializer = ExportSerializer(settings.base_url, jobs, urls, settings.signed_url_seconds)
        self.events = EventFeed(database, self.data_version)
        self.watches = WatchService(database)
        self.webhooks = WebhookService(database, settings)
        self.mails = MemberMailService(database, settings)

    def data_version(self) -> int:
        """Return the data_version that this process serves."""
        return self.resources.version.current
