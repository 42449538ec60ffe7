"""Every setting of every part, declared once, with a sentence. The environment is read here and nowhere else."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self, TypeVar

from shared.errors import ConfigurationError
from shared.redis.urls import broker_beside, is_cluster
from shared.settings.checks import SettingValue, faults, secret_file_faults

Read = TypeVar("Read")
Default = TypeVar("Default")

_FILES = ("METRICS_DIR", "HEARTBEAT_FILE", "RELEASE_SIGNING_KEY_FILE")
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def convert(name: str, text: str, default: object) -> str | bool | float | Path:
    """Return the text in the type of the setting's default. Raises ConfigurationError that names the variable."""
    if isinstance(default, bool):
        if text.lower() not in _BOOLEANS:
            raise ConfigurationError(f"{name} must be true or false")
        return _BOOLEANS[text.lower()]
    try:
        if isinstance(default, int | float):
            return type(default)(text)
    except ValueError:
        whole = "a whole number" if isinstance(default, int) else "a number"
        raise ConfigurationError(f"{name} must be {whole}") from None
    return Path(text) if isinstance(default, Path) or name in _FILES else text


def _setting(sentence: str, default: Default, *, secret: bool = False, may_be_empty: bool = False) -> Default:
    """Declare a setting. An empty variable is one that is not set, unless the setting `may_be_empty`."""
    metadata = {"sentence": sentence, "secret": secret, "may_be_empty": may_be_empty}
    # Without repr: settings end up in traces, and secrets must not.
    return field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one process. The name of an environment variable is the field's name in upper case."""

    database_url: str = _setting(
        "PostgreSQL as the owner of the schema: migrations and the command line.", "", secret=True
    )
    edge_database_url: str = _setting("PostgreSQL as the edge's role; empty: DATABASE_URL.", "", secret=True)
    edge_pooler_url: str = _setting(
        "PgBouncer in transaction mode, as the edge's role, for everything except notifications; empty: "
        "EDGE_DATABASE_URL.",
        "",
        secret=True,
    )
    worker_database_url: str = _setting("PostgreSQL as the workers' role; empty: DATABASE_URL.", "", secret=True)
    replica_database_url: str = _setting(
        "Streaming replica of PostgreSQL from which reports read; empty: the primary.", "", secret=True
    )
    replica_wait_seconds: float = _setting(
        "How long a report waits for the replica to reach the order's data_version before it reads from the primary.",
        2.0,
    )
    state_url: str = _setting(
        "Valkey or Redis for quotas and sessions; must persist and must not evict. For a cluster: "
        "redis+cluster://host:port,host:port (rediss+cluster:// with TLS) with some of its nodes.",
        "",
        secret=True,
    )
    cache_url: str = _setting(
        "Valkey or Redis for records; may lose everything at any time. For a cluster, as in STATE_URL.", "", secret=True
    )
    broker_url: str = _setting(
        "Celery's broker; empty: database 1 of STATE_URL's server, or 0 where STATE_URL itself names 1; a cluster has "
        "no second database.",
        "",
        secret=True,
    )

    base_url: str = _setting("Public address of the API, with its version segment.", "http://127.0.0.1:8080/v1")
    problem_base_url: str = _setting(
        "Base address of the pages that explain the problems; empty: BASE_URL + /errors.", ""
    )
    security_contact: str = _setting(
        "Contact for vulnerability reports, as a URI (mailto: or https:), published in security.txt; empty: none.", ""
    )
    revision: str = _setting("Identifier of the running code, shown by /health as `api-<id>`.", "dev")

    anonymous_token: str = _setting(
        "The public token printed in the docs.",
        "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK",
    )
    token_pepper: str = _setting(
        "Key of the keyed hash under which credentials are stored; 32 characters or more.", "", secret=True
    )
    token_pepper_previous: str = _setting(
        "The other pepper during a rotation: credentials hashed with it are accepted, and rehashed when they are used.",
        "",
        secret=True,
    )
    signing_secret_previous: str = _setting(
        "The other signing key during a rotation: its signatures are accepted.", "", secret=True
    )
    signing_secret: str = _setting("Key that signs list cursors and file URLs; 32 characters or more.", "", secret=True)

    oidc_issuer: str = _setting("OpenID Connect provider for sign-in; empty: sign-in is off.", "")
    oidc_client_id: str = _setting("Client ID at the provider; the audience of its ID tokens.", "item-index")
    oidc_email_verified: str = _setting(
        "Which addresses match invitations: `claim`, those in ID tokens with `email_verified`; `always`, all,"
        " for a provider that verifies every address without stating it.",
        "claim",
    )
    oidc_sign_up: str = _setting(
        "Where people register: `prompt`, at the provider by `prompt=create`; an address of the provider that takes the"
        " place of its authorization endpoint, with the same parameters; `none`, nobody can; empty: `prompt` where the"
        " provider states that it knows it, else its sign-in.",
        "",
    )
    staff: str = _setting(
        "Addresses, comma-separated, of the operators, who run the service in the dashboard; "
        "only verified addresses count.",
        "",
    )
    oidc_timeout_seconds: float = _setting("How long the edge waits for the identity provider.", 2.0)
    oidc_client_secret: str = _setting(
        "Client secret at the provider; empty: a public client with PKCE.", "", secret=True
    )
    session_idle_seconds: int = _setting("How long a dashboard session lasts without activity.", 7_200)
    session_seconds_max: int = _setting("Maximum length of a dashboard session.", 43_200)
    organizations_per_person_max: int = _setting(
        "How many organizations a person may create or own; an operator may create more.", 5
    )
    person_calls_per_day: int = _setting(
        "Calls to /org and dashboard forms that one person may send per UTC day.", 5_000
    )
    person_calls_per_second: int = _setting("The same per second.", 20)
    public_pages_a_day: int = _setting(
        "Pages of the index that one network address may open per UTC day without signing in, beside the front page; "
        "0: there are no public pages.",
        30,
    )
    public_pages_indexed: bool = _setting("Whether search engines may list the public pages.", False)
    sign_ins_per_day: int = _setting("Sign-ins that one network address may begin per UTC day.", 1_000)
    sign_ins_per_second: int = _setting("The same per second.", 10)
    plan_approval: str = _setting(
        "How an organization gets a requested plan: `none`, self-service plans are assigned immediately; "
        "`manual`, an operator approves each request; `webhook`, like manual, and PLAN_APPROVAL_URL is "
        "notified of each request.",
        "manual",
    )
    plan_approval_url: str = _setting("Where `webhook` posts each plan request, as signed JSON.", "")
    plan_approval_secret: str = _setting(
        "Key that signs these notifications (Standard Webhooks, HMAC-SHA-256); 32 characters or more.", "", secret=True
    )
    webhook_private_addresses: bool = _setting(
        "Whether webhooks may be sent to private and loopback addresses and over plain HTTP: for tests only.", False
    )
    smtp_url: str = _setting(
        "Mail server, for the workers: smtp://user:password@host:587 (STARTTLS) or smtps://host:465; "
        "`outbox:`, mails are kept in PostgreSQL for the operators' page; empty: mails wait.",
        "",
        secret=True,
    )
    mail_from: str = _setting("Sender address of mails; empty: the dashboard offers none.", "")
    usage_flush_seconds: float = _setting("How often an edge writes its usage statistics.", 5.0)
    usage_retention_days: int = _setting("How long usage statistics are kept.", 800)
    operator_acts_retention_days: int = _setting(
        "How long the list of what operators did in the dashboard is kept; 90 at least.", 400
    )
    request_log_calls: int = _setting(
        "How many recent calls the dashboard lists per organization, without addresses and parameters; 0: none.",
        1_000,
    )

    mcp_origins: str = _setting(
        "Origins, comma-separated, whose pages may call /mcp in addition to the service's own; programs other"
        " than browsers send no origin.",
        "",
    )
    trusted_proxies: str = _setting(
        "Networks (CIDR, comma-separated) of the proxies in front, which state the caller's address: to nginx in"
        " X-Forwarded-For, to an edge over TCP in X-Real-IP; over a unix socket that is always trusted.",
        "",
    )
    record_cache_bytes_max: int = _setting("Memory for records in each edge process.", 64 * 1024 * 1024)
    answer_cache_bytes_max: int = _setting(
        "Memory for responses to repeated requests in each edge process.", 16 * 1024 * 1024
    )
    record_ttl_seconds: int = _setting("How long the cache store keeps a record.", 86_400)
    state_timeout_seconds: float = _setting(
        "How long the edge waits for the state store before it continues without it.", 0.1
    )
    state_failover_seconds: float = _setting(
        "How long a call waits for a cluster's failover or a migrating slot before QUOTA_FAIL_MODE applies.", 5.0
    )
    quota_fail_mode: str = _setting(
        "What happens to calls that cannot be counted: `bounded`, each process serves a few and paid work "
        "continues; `closed`, 503; empty: closed on a cluster, otherwise bounded.",
        "",
    )
    cache_timeout_seconds: float = _setting(
        "How long the edge waits for the cache store before it asks PostgreSQL.", 0.05
    )
    database_timeout_seconds: float = _setting("How long the edge waits for PostgreSQL.", 1.0)
    database_pool_max: int = _setting("Maximum number of PostgreSQL connections of each edge process.", 8)
    drain_seconds: float = _setting("How long a stopping edge keeps answering requests that still arrive.", 2.0)

    search_dir: Path = _setting(
        "Directory of the search index: segments, and a manifest for each data_version.", Path("var/search")
    )
    search_in_store: bool = _setting(
        "Whether edges get the search index from the object store, for hosts that do not share SEARCH_DIR.",
        False,
    )
    match_dir: Path = _setting(
        "Directory of the index with which loads compare new items; a cache, rebuilt if lost.",
        Path("var/match"),
    )
    results_dir: Path = _setting("Directory of job results and exports.", Path("var/results"))
    s3_bucket: str = _setting("S3 bucket of results, exports and releases; empty: they are stored in RESULTS_DIR.", "")
    s3_endpoint: str = _setting("Address of the S3 service; empty: AWS.", "")
    s3_region: str = _setting("Region of the bucket.", "us-east-1")
    s3_access_key_id: str = _setting("Access key of the bucket; empty: the credentials of the host.", "", secret=True)
    s3_secret_access_key: str = _setting("Secret of that access key.", "", secret=True)
    x_accel_location: str = _setting(
        "Location of nginx, such as /_stored/, that sends files of RESULTS_DIR itself; empty: the edge sends them.", ""
    )
    release_interval_hours: float = _setting(
        "Interval between releases, if the data changed; 0: only when ordered.", 24.0
    )
    release_daily_retention_days: int = _setting("How long a release is kept.", 8)
    release_weekly_retention_days: int = _setting("How long the first release of a calendar week is kept.", 92)
    release_signing_key_file: Path | None = _setting(
        "PEM file of the Ed25519 key with which workers sign release manifests; empty: releases are not signed.",
        None,
    )
    download_bytes_per_day: int = _setting(
        "Bytes of release and export files that one organization may download per UTC day.", 1_000_000_000_000
    )
    stored_export_bytes_max: int = _setting(
        "Bytes of exports that one organization may have stored at a time, unless its plan has a limit of its own.",
        1_000_000_000_000,
    )
    signed_url_seconds: int = _setting("How long a signed URL of a file is valid.", 3_600)
    ingest_batch_rows: int = _setting("Rows that a load holds in memory at once.", 65_536)
    rejects_kept_max: int = _setting(
        "Rejects of one load that are stored with line and value; the counts include all.", 10_000
    )
    rejects_retention_days: int = _setting("How long the rejects of a load are kept.", 30)
    loads_retention_days: int = _setting(
        "How long loads without changes are listed, and the file names and digests of other loads are kept.", 90
    )
    ingest_unpacked_bytes_max: int = _setting("Maximum unpacked size of a load's file, in bytes.", 1 << 36)
    feeds_dir: Path = _setting(
        "Directory of the files of feeds while they are loaded, and of the last four uploads until they are.",
        Path("var/feeds"),
    )
    upload_bytes_max: int = _setting("Maximum size, in bytes, of a file uploaded in the dashboard.", 1 << 30)
    feed_bytes_max: int = _setting("Maximum size, in bytes, of a feed's file.", 1 << 32)
    feed_seconds_max: float = _setting("How long one fetch of a feed may take.", 900.0)
    feed_private_addresses: bool = _setting(
        "Whether feeds may be fetched from private and loopback addresses, such as a shop system in your own network.",
        False,
    )

    backup_database_url: str = _setting(
        "PostgreSQL as a login with REPLICATION, for `itemindex backup`.", "", secret=True
    )
    backup_dir: Path = _setting(
        "Directory of PostgreSQL backups, preferably on another machine's disk.", Path("var/backup")
    )
    backup_bucket: str = _setting("S3 bucket for a copy of BACKUP_DIR, with the other S3 settings; empty: no copy.", "")
    backup_interval_hours: float = _setting("Interval between base backups.", 24.0)
    backup_retention_days: float = _setting("How far back PostgreSQL can be restored.", 14.0)
    backup_check_hours: float = _setting("How often the newest backup is restored as a test.", 168.0)

    result_missing_seconds: int = _setting(
        "How long a missing result is searched for before it counts as lost and is refunded.", 900
    )
    jobs_waiting_max: int = _setting("Jobs that may wait in all queues before new orders are refused (503).", 10_000)
    lease_ttl_seconds: int = _setting("How long a job stays with a worker that does not renew its lease.", 10)

    log_level: str = _setting("Lowest severity of log events that are written: debug, info, warning, error.", "info")
    access_log: str = _setting(
        "File of the edge's access log; `-`: standard output; empty: none.", "-", may_be_empty=True
    )
    metrics_dir: Path | None = _setting(
        "Directory in which the processes of one host combine their metrics; empty: each has its own.", None
    )
    metrics_listen: str = _setting(
        "Address (host:port) where a part serves its metrics and health; empty: nowhere.", ""
    )
    heartbeat_file: Path | None = _setting(
        "File that a part touches while it makes progress, for a supervisor; empty: none.", None
    )
    otel_exporter_otlp_endpoint: str = _setting(
        "OpenTelemetry collector to which spans are sent by OTLP over HTTP, such as http://collector:4318; "
        "empty: none.",
        "",
    )
    otel_exporter_otlp_headers: str = _setting(
        "Headers for the collector, as name=value, comma-separated.", "", secret=True
    )
    otel_traces_sampler_arg: float = _setting("Share of traces starting here that are sampled, 0 to 1.", 0.1)

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str] | None = None,
        *,
        needed: Collection[str] = (),
        secret_files: Collection[str] = (),
    ) -> Self:
        """Read the settings; raise ConfigurationError with a line for each that cannot or must not be used.

        `needed` are the settings without which this process cannot work, `secret_files` those whose file it reads.
        """
        given = os.environ if environment is None else environment
        values: dict[str, SettingValue] = {}
        problems: list[str] = []
        for item in fields(cls):
            text = given.get(item.name.upper(), "")
            if text or (item.metadata["may_be_empty"] and item.name.upper() in given):
                try:
                    values[item.name] = convert(item.name.upper(), text, item.default)
                except ConfigurationError as unreadable:
                    problems.append(str(unreadable))
        settings = cls(**values)  # type: ignore[arg-type]  # each value has the type of its field's default
        problems += faults({item.name.upper(): getattr(settings, item.name) for item in fields(cls)})
        for name in secret_files:
            if (path := getattr(settings, name)) is not None:
                problems += secret_file_faults(name.upper(), path)
        try:
            derived = settings._with_derived()
        except ValueError:
            derived = settings  # by an address that is one of the faults
        if missing := derived._missing(needed):
            problems.append(missing)
        if problems:
            raise ConfigurationError("\n".join(problems))
        return derived

    def _with_derived(self) -> Self:
        return replace(
            self,
            edge_database_url=self.edge_database_url or self.database_url,
            worker_database_url=self.worker_database_url or self.database_url,
            broker_url=self.broker_url or broker_beside(self.state_url),
            quota_fail_mode=self.quota_fail_mode or ("closed" if is_cluster(self.state_url) else "bounded"),
            base_url=self.base_url.rstrip("/"),
            problem_base_url=self.problem_base_url or f"{self.base_url.rstrip('/')}/errors",
        )

    @property
    def peppers(self) -> tuple[str, ...]:
        """The peppers that stored hashes may have, the one to store under first."""
        return tuple(filter(None, (self.token_pepper, self.token_pepper_previous)))

    @property
    def signing_secrets(self) -> tuple[str, ...]:
        """The secrets that signatures may be made with, the one to sign with first."""
        return tuple(filter(None, (self.signing_secret, self.signing_secret_previous)))

    @property
    def staff_addresses(self) -> frozenset[str]:
        """The addresses of the operators, in small letters."""
        return frozenset(address.strip().lower() for address in self.staff.split(",") if address.strip())

    def require(self, *names: str) -> None:
        """Raise ConfigurationError unless each of these settings has a value."""
        if missing := self._missing(names):
            raise ConfigurationError(missing)

    def _missing(self, names: Collection[str]) -> str | None:
        """Return a sentence that names which of these settings have no value; None where all have one."""
        missing = [name.upper() for name in names if not getattr(self, name)]
        if not missing:
            return None
        return f"{', '.join(missing)} must be set; `itemindex up` sets them for the embedded stack"

    def environment(self) -> dict[str, str]:
        """Return the settings as environment variables, so that a child process reads the same."""
        given = ((f, getattr(self, f.name)) for f in fields(self))
        return {
            f.name.upper(): str(value) for f, value in given if value not in ("", None) or f.metadata["may_be_empty"]
        }


def settings_or_exit(read: Callable[[], Read] = Settings.from_environment) -> Read:  # type: ignore[assignment]
    """Read or use settings in a part that another program imports; end the process with one line for each fault."""
    try:
        return read()
    except ConfigurationError as error:
        raise SystemExit("\n".join(f"itemindex: {line}" for line in str(error).splitlines())) from None
