"""The composition root: the resources of one process, and on them every service of the edge, each built here, once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from edge.analytics.price_history import PriceHistory
from edge.analytics.reports import ReportService
from edge.analytics.sustainability import Sustainability
from edge.auth.credentials import CredentialStore
from edge.auth.oidc_provider import OidcProvider
from edge.auth.users import UserService
from edge.bulk.data_credentials import DataCredentialService
from edge.bulk.downloads import DownloadAllowance, FileResponder
from edge.bulk.export_service import ExportRepository, ExportSerializer, ExportService
from edge.bulk.iceberg import IcebergMetadata
from edge.bulk.release_repository import ReleaseRepository, UrlSigner
from edge.events.feed import EventFeed
from edge.events.watch_service import WatchService
from edge.events.webhook_service import WebhookService
from edge.http.answer_cache import AnswerCache
from edge.http.lists import CursorSigner, Paginator
from edge.http.request_context import AccessLog
from edge.http.routing import API_PATH
from edge.http.signed_urls import SignedUrls
from edge.index.identifiers import ResolutionCache, ResolutionReader
from edge.index.lookup import RecordCache, RecordLoader
from edge.jobs.service import JobOrders, JobSerializer, JobWaiters
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import OrganizationService
from edge.quota.billing import Billing
from edge.quota.limiter import DegradedLimiter, RateLimiter
from edge.quota.middleware import PersonLimits
from edge.quota.usage import RequestLog, UsageRecorder
from edge.search.answers import SearchAnswers
from edge.search.engine import ItemSearch, SearchEngine
from edge.startup import NEEDED
from edge.storage.data_version import DataVersionWatcher
from edge.storage.database import Database
from edge.storage.idempotency import IdempotentActs
from edge.storage.monitor import CertificateMonitor, PgListener, RunMarker, RuntimeMonitor
from edge.storage.redis_client import RedisClient, SingleNodeClient
from edge.storage.redis_cluster import ClusterClient
from shared.objects.directory import ResultStore
from shared.objects.open import open_object_store
from shared.redis.urls import is_cluster
from shared.search import remote
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log, Stream
from shared.telemetry.spans import Spans

# Connections, caches and background tasks of one process: built once, opened and closed in order.


# Shorter than the workers' timeout, because a caller waits for the download.
_RESULTS_SECONDS = 2.0
# An identifier takes a few hundred bytes and its record a few thousand.
_RECORD_BYTES_PER_IDENTIFIER_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The resources that are opened and closed with the process; edge/composition.py builds the services on it."""

    settings: Settings
    log: Log
    access_log: AccessLog
    answers: AnswerCache
    database: Database
    state: RedisClient
    cache: RedisClient
    listener: PgListener
    version: DataVersionWatcher
    credentials: CredentialStore
    users: UserService
    limiter: RateLimiter
    usage: UsageRecorder
    request_log: RequestLog
    records: RecordCache
    resolutions: ResolutionCache
    search: SearchEngine
    job_waiters: JobWaiters
    results: ResultStore
    spans: Spans
    monitor: RuntimeMonitor
    certificate: CertificateMonitor
    plan_notices: PlanNotices


def build(settings: Settings, stream: Stream | None = None) -> Resources:
    """Build all resources; nothing is opened yet. Log lines go to the stream, without one to standard error.

    Raises ConfigurationError if a required setting is missing.
    """
    settings.require(*NEEDED)
    log = Log("edge", stream=stream, level=settings.log_level)
    database = _database(settings)
    state, cache = _stores(settings, log)
    version = DataVersionWatcher(database, log)
    answers = AnswerCache(settings.answer_cache_bytes_max)
    version.on_change(answers.clear)
    credentials = CredentialStore(database, log, anonymous_token=settings.anonymous_token, peppers=settings.peppers)
    search = _search(settings, log, answers)
    job_waiters = JobWaiters()
    provider = OidcProvider(settings, log) if settings.oidc_issuer else None
    users = UserService(provider, database, settings)

    def accounts_changed(name: str) -> None:
        credentials.changed(name)
        users.invalidate()

    signals = {"data_version": version.refresh, "search_index": search.refresh, "releases": answers.clear}
    payloads = {"jobs_changed": job_waiters.wake, "accounts": accounts_changed}
    listener = PgListener(settings.edge_database_url, signals, payloads, credentials.confirm, log)
    request_log = RequestLog(cache, settings.request_log_calls)
    return Resources(
        settings=settings,
        log=log,
        access_log=AccessLog(settings.access_log),
        answers=answers,
        database=database,
        state=state,
        cache=cache,
        listener=listener,
        version=version,
        credentials=credentials,
        users=users,
        usage=UsageRecorder(database, request_log, log, settings.usage_flush_seconds),
        request_log=request_log,
        limiter=RateLimiter(state, DegradedLimiter(closed=settings.quota_fail_mode == "closed")),
        records=_records(settings, cache, version, database),
        resolutions=_resolutions(settings, cache, version, database),
        search=search,
        job_waiters=job_waiters,
        results=open_object_store(settings, _RESULTS_SECONDS),
        spans=Spans(settings, "edge"),
        plan_notices=PlanNotices(database, settings, log),
        monitor=RuntimeMonitor({"state": state, "cache": cache}, database, listener, RunMarker(state, log), log),
        certificate=CertificateMonitor(settings.base_url, log),
    )


def _search(settings: Settings, log: Log, answers: AnswerCache) -> SearchEngine:
    if not settings.search_in_store:
        return SearchEngine(settings.search_dir, log, answers.clear)
    fetch = partial(remote.fetch, open_object_store(settings), settings.search_dir)
    return SearchEngine(settings.search_dir, log, answers.clear, fetch=fetch)


def _records(settings: Settings, cache: RedisClient, version: DataVersionWatcher, database: Database) -> RecordCache:
    return RecordCache(
        cache,
        version,
        RecordLoader(database, settings.base_url),
        bytes_max=settings.record_cache_bytes_max,
        ttl_seconds=settings.record_ttl_seconds,
    )


def _resolutions(
    settings: Settings, cache: RedisClient, version: DataVersionWatcher, database: Database
) -> ResolutionCache:
    return ResolutionCache(
        cache,
        version,
        ResolutionReader(database),
        bytes_max=settings.record_cache_bytes_max // _RECORD_BYTES_PER_IDENTIFIER_BYTE,
        ttl_seconds=settings.record_ttl_seconds,
    )


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
        _store(
            "state",
            settings.state_url,
            settings.state_timeout_seconds,
            log,
            settings.state_failover_seconds,
            acked=True,
        ),
        _store("cache", settings.cache_url, settings.cache_timeout_seconds, log, 0.0, acked=False),
    )


def _store(name: str, url: str, deadline_seconds: float, log: Log, hold_seconds: float, *, acked: bool) -> RedisClient:
    if not is_cluster(url):
        return SingleNodeClient(url, name=name, deadline_seconds=deadline_seconds, log=log)
    return ClusterClient(
        url, name=name, deadline_seconds=deadline_seconds, hold_seconds=hold_seconds, acked=acked, log=log
    )


@asynccontextmanager
async def opened(resources: Resources) -> AsyncIterator[Resources]:
    """Open the resources, and close them again in the opposite order. No store has to be available for that."""
    await resources.database.open()
    await resources.state.start()
    await resources.cache.start()
    await resources.version.read()
    resources.version.start()
    resources.search.refresh()
    resources.listener.start()
    resources.usage.start()
    resources.monitor.start()
    resources.certificate.start()
    resources.plan_notices.start()
    running = metrics.processes.labels("edge", resources.settings.revision)
    running.set(1)
    if resources.users.provider is not None:
        await resources.users.provider.open()
    resources.log.info("started", revision=resources.settings.revision)
    try:
        yield resources
    finally:
        running.set(0)
        await resources.plan_notices.stop()
        await resources.certificate.stop()
        await resources.monitor.stop()
        if resources.users.provider is not None:
            await resources.users.provider.close()
        await resources.usage.stop()
        await resources.listener.stop()
        await resources.version.stop()
        await resources.cache.close()
        await resources.state.close()
        await resources.database.close()
        resources.search.close()
        resources.access_log.close()
        resources.spans.close()
        resources.log.info("stopped")


# The composition root: every service of the edge is built here, once, on the resources of the process.


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
    data_credentials: DataCredentialService
    iceberg: IcebergMetadata
    releases: ReleaseRepository
    release_urls: UrlSigner
    exports: ExportService
    export_repository: ExportRepository
    export_serializer: ExportSerializer
    events: EventFeed
    watches: WatchService
    webhooks: WebhookService

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
    releases = ReleaseRepository(database)
    urls = SignedUrls(*settings.signing_secrets)
    return Services(
        resources=resources,
        origin=settings.base_url.removesuffix(API_PATH),
        cursors=cursors,
        lists=Paginator(cursors, lambda: version.current),
        billing=billing,
        person_limits=PersonLimits(resources.limiter, settings),
        organizations=OrganizationService(database, settings),
        idempotent_acts=IdempotentActs(database, settings),
        search=search,
        search_answers=SearchAnswers(search, cursors, settings.base_url),
        price_history=PriceHistory(database, settings.base_url),
        sustainability=Sustainability(database, settings.base_url),
        orders=orders,
        job_serializer=jobs,
        reports=ReportService(database, version, orders, jobs, resources.results, cursors),
        downloads=downloads,
        signed_urls=urls,
        data_credentials=DataCredentialService(*settings.signing_secrets),
        releases=releases,
        iceberg=IcebergMetadata(releases),
        release_urls=UrlSigner(urls, settings.base_url, settings.signed_url_seconds),
        exports=ExportService(database, version, settings.jobs_waiting_max),
        export_repository=ExportRepository(database, orders, downloads),
        export_serializer=ExportSerializer(settings.base_url, jobs, urls, settings.signed_url_seconds),
        events=EventFeed(database, lambda: version.current),
        watches=WatchService(database),
        webhooks=WebhookService(database, settings),
    )
