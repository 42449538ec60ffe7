"""The planted faults. Each would break a promise of money, access, durability or order; what is named for it must fail.

All else of quota, credentials and jobs is mutated by `make mutants`, without a list.
"""

from tests.assurance.sabotage.planted import Change, PlantedFault, decides, returns, skips

_METER = "tests/service/quota/test_meter.py"
_CHARGES = "tests/service/quota/test_charges.py"
_JOBS = "tests/service/jobs/test_jobs.py"
_ORDERS = "tests/service/reports/test_jobs_api.py"
_BUCKET = "tests/service/releases/test_bucket.py"
_TOKENS = "tests/unit/edge/auth/test_id_token.py"
_CREDENTIALS = "tests/unit/edge/auth/test_credentials.py"
_SIGN_IN = "tests/service/dashboard/test_sign_in.py"
_IDEMPOTENCY = "tests/service/org/test_idempotency.py"


def _fault(name: str, place: str, change: Change | tuple[str, str], *tests: str) -> PlantedFault:
    if isinstance(change, tuple):
        return PlantedFault(name, place, replaced=change, tests=tests)
    return PlantedFault(name, place, change, tests=tests)


def _drilled(name: str, place: str, replaced: tuple[str, str], *drill: str) -> PlantedFault:
    return PlantedFault(name, place, replaced=replaced, drill=drill)


_MONEY = (
    _fault(
        "a quota never refuses",
        "edge/quota/take.lua",
        ("used + units > tonumber(ARGV[2])", "used + units > 1000 * tonumber(ARGV[2])"),
        f"{_METER}::test_exactly_the_limit_is_served_in_every_round",
    ),
    _fault(
        "one charge is taken twice",
        "edge/quota/take.lua",
        ("if marker and", "if false and"),
        f"{_METER}::test_the_same_charge_twice_is_taken_once",
    ),
    _fault(
        "a charge that was repeated after midnight is refunded to the new day",
        "edge/quota/take.lua",
        ("math.floor(tonumber(string.match(marker, ' (%d+)') or second) / 86400)", "day"),
        f"{_METER}::test_the_meter_keeps_to_its_model",
    ),
    _fault(
        "a refund lowers the burst of another second",
        "edge/quota/refund_call.lua",
        ("kept[2] == second and burst >= units", "burst >= units"),
        f"{_METER}::test_the_meter_keeps_to_its_model",
    ),
    _fault(
        "an order's refund leaves its charge to be refunded with the call",
        "shared/jobs/refund_order.lua",
        ("redis.call('SET', KEYS[3], '0 ' .. second, 'KEEPTTL')", ""),
        f"{_METER}::test_the_meter_keeps_to_its_model",
    ),
    _fault(
        "an outage of the state store allows a thousand calls",
        "edge.quota.degraded_limiter:_ALLOWED",
        ("1", "1000"),
        f"{_METER}::test_without_the_store_a_little_is_served_and_no_number_is_stated",
    ),
    _fault(
        "a failed call keeps its charge",
        "edge.quota.billing:_is_answer",
        returns("True"),
        f"{_CHARGES}::test_of_all_errors_only_those_that_answer_a_valid_question_are_counted",
    ),
    _fault(
        "the charge of an order is refunded with the call as well",
        "edge.quota.billing:Charge.hand_over",
        ("new", "False"),
        "tests/service/dashboard/test_billing.py::test_a_report_of_the_builder_is_charged_once_and_an_equal_one_costs_nothing",
    ),
    _fault(
        "a call that was cancelled while it was charged keeps its charge",
        "edge.quota.limiter:RateLimiter.consume",
        skips("_refund_then"),
        f"{_CHARGES}::test_a_charge_whose_call_was_cancelled_just_after_its_decision_is_refunded",
    ),
    _fault(
        "an order of a report that came without rows meanwhile keeps its charge",
        "edge/jobs/orders.sql:submit",
        ("is_free AND $13::integer > 0", "is_free AND $13::integer < 0"),
        f"{_ORDERS}::test_a_report_that_has_come_without_rows_since_it_was_priced_is_refunded",
    ),
    _fault(
        "an outage loses when keys were last used",
        "edge.quota.usage:UsageRecorder._flush_counts",
        skips("_requeue"),
        "tests/service/quota/test_usage.py::test_an_outage_keeps_the_counts_and_the_last_use_of_each_key",
    ),
    _fault(
        "a HEAD costs the bytes of the file",
        "edge.bulk.downloads:FileResponder.send",
        ("request.method == hdrs.METH_GET", "True"),
        "tests/service/releases/test_allowance.py::test_whole_files_ranges_and_signed_addresses_are_counted_to_the_byte",
    ),
    _fault(
        "a charge id is believed from everyone",
        "edge.http.context:charge_id_of",
        ("_is_trusted(address, trusted)", "True"),
        "tests/service/hostile/test_counting.py::test_a_charge_id_is_believed_only_from_nginx",
    ),
    _fault(
        "a stored report is kept for every organization at the price of the one that has ordered it",
        "edge.analytics.report_service:_owner",
        ("quote.spec.kind.units_cached", "quote.units"),
        "tests/service/http/test_kept_reports.py"
        "::test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load",
    ),
    _drilled(
        "a drill of outages: a quota never refuses",
        "edge/quota/take.lua",
        ("used + units > tonumber(ARGV[2])", "used + units > 1000 * tonumber(ARGV[2])"),
        *("outages", "--seconds", "3", "--only", "the state store hangs"),
    ),
)

_ACCESS = (
    _fault(
        "a plan opens what a higher one pays for",
        "edge.auth.middleware:Authentication._check_plan",
        returns("None"),
        "tests/service/exports/test_api.py::test_only_institutional_plans_and_keys",
    ),
    _fault(
        "each member may do everything",
        "shared.organizations.roles:may",
        returns("True"),
        "tests/unit/shared/organizations/test_accounts.py::test_each_role_has_its_rights_and_no_other",
    ),
    _fault(
        "an admin makes owners",
        "shared.organizations.roles:right_for",
        returns("'manage-members'"),
        "tests/unit/shared/organizations/test_accounts.py::test_only_owners_touch_owners",
    ),
    _fault(
        "forms are taken without their CSRF token",
        "edge.dashboard.session_guard:SessionGuard._admit",
        ("not own", "not token"),
        "tests/service/dashboard/test_sessions.py::test_a_form_from_elsewhere_does_nothing",
    ),
    _fault(
        "a sign-in may end in another browser",
        "edge.dashboard.sign_in:SignInPages.finish",
        decides("compare_digest", outcome=False),
        f"{_SIGN_IN}::test_a_state_works_once_and_only_in_the_browser_that_began",
    ),
    _fault(
        "signing in leads to any address",
        "edge.dashboard.sign_in:destination_of",
        ("_DESTINATION.fullmatch(text)", "True"),
        f"{_SIGN_IN}::test_signing_in_never_redirects_to_another_site",
    ),
    _fault(
        "an ID token for another client is believed",
        "edge.auth.id_token:is_addressed_to",
        returns("True"),
        f"{_TOKENS}::test_a_wrong_claim_is_refused",
    ),
    _fault(
        "signatures of ID tokens are not checked",
        "edge.auth.id_token:_is_signed_by",
        returns("True"),
        f"{_TOKENS}::test_any_changed_byte_is_refused",
    ),
    _fault(
        "cursors are not signed",
        "edge.http.cursors:CursorSigner.open",
        decides("compare_digest", outcome=False),
        "tests/unit/edge/http/test_lists.py::test_a_cursor_opens_only_with_its_query",
    ),
    _fault(
        "signed addresses open any file",
        "edge.bulk.signed_urls:SignedUrls.holds",
        returns("True"),
        "tests/service/releases/test_downloads.py::test_a_signed_address_that_was_changed_opens_nothing",
    ),
    _fault(
        "any signature opens the bucket",
        "edge.bulk.data_credentials:DataCredentialService.verify",
        decides("compare_digest", outcome=False),
        f"{_BUCKET}::test_unsigned_changed_and_foreign_requests_are_refused",
    ),
    _fault(
        "credentials of the bucket outlive their key",
        "edge.bulk.s3:S3._admit",
        ("principal is None", "False"),
        f"{_BUCKET}::test_credentials_end_with_their_key",
    ),
    _fault(
        "a revoked key stays in the memory of an edge",
        "edge.auth.credentials:CredentialStore.take_notice",
        skips("_changed"),
        f"{_CREDENTIALS}::test_a_notice_ends_what_it_names_and_nothing_else",
    ),
    _fault(
        "a key whose notice was lost works on",
        "edge.auth.credentials:CredentialStore._holds",
        ("self._confirmed > read >= self._unbroken_from", "self._confirmed > read"),
        f"{_CREDENTIALS}::test_after_a_gap_nothing_that_was_read_before_it_is_confirmed",
    ),
    _fault(
        "an end that is cut off the audit chain with its head is not seen",
        "shared/organizations/organizations.sql",
        ("h FULL JOIN ends e", "h LEFT JOIN ends e"),
        "tests/service/db/test_audit_log.py::test_a_forged_removed_moved_or_reordered_entry_is_detected",
    ),
    _fault(
        "a host of a webhook is resolved twice",
        "workers.events.bounded_connection:_address_of",
        ("addresses[0]", "host"),
        "tests/unit/workers/events/test_webhooks.py::test_a_resolver_that_changes_its_answer_changes_nothing",
    ),
    _fault(
        "a feed is fetched from inside the network",
        "workers.ingest.feeds.fetcher:Fetcher._request_once",
        ("self.private_allowed", "True"),
        "tests/service/ingest/test_feeds.py::test_a_name_that_resolves_into_a_network_is_not_fetched",
    ),
    _fault(
        "pages show names as markup",
        "edge.http.html:Templates.__init__",
        ("select_autoescape(disabled_extensions=('md',), default=True)", "False"),
        "tests/service/dashboard/test_sessions.py::test_a_name_is_text_on_every_page",
    ),
    _fault(
        "an Idempotency-Key means any organization",
        "edge.storage.idempotency:digest_of",
        ("organization", "None"),
        f"{_IDEMPOTENCY}::test_the_same_call_about_another_organization_is_another_request",
    ),
)

_DURABILITY = (
    _fault(
        "leases never lapse",
        "workers/dispatcher/dispatch.sql:requeue_expired",
        ("lease_until < statement_timestamp()", "lease_until < statement_timestamp() - interval '1 day'"),
        f"{_JOBS}::test_a_job_whose_worker_died_is_taken_up_and_given_up_after_three",
    ),
    _fault(
        "a row that cannot be handled ends the sweep",
        "workers.jobs.failed_rows:FailedRows.handle",
        decides("_is_outage", outcome=True),
        "tests/service/jobs/test_poisoned_rows.py"
        "::test_more_unreadable_results_than_are_looked_at_at_once_keep_no_other_from_its_turn",
    ),
    _fault(
        "an error that is no outage ends the renewing of a lease",
        "workers.jobs.leases:Lease._renew_until_over",
        ("Exception", "ConnectionError"),
        f"{_JOBS}::test_however_the_renewing_of_a_lease_ends_its_job_notices",
    ),
    _fault(
        "a dry run commits",
        "workers.ingest.load.load:_Load._finish",
        ("self.connection.rollback", "self.connection.commit"),
        "tests/service/ingest/test_refused_loads.py::test_a_dry_run_is_refused_as_the_load_would_be_and_leaves_nothing",
    ),
    _fault(
        "a restore overwrites what is there",
        "deploy.local.restore:refuse_in_use",
        returns("None"),
        "tests/system/test_backup.py::test_what_cannot_be_backed_up_or_restored_is_a_sentence_and_nothing_is_lost",
    ),
    _drilled(
        "a drill of webhooks: an event that was not accepted is passed over",
        "workers/events/webhooks.sql:failed",
        (
            "lease_until = NULL,",
            "lease_until = NULL, position = (SELECT max(number) FROM event_log),",
        ),
        *("webhooks", "--events", "200", "--receivers", "10", "--kills", "4", "--rate", "20", "--minutes", "5"),
    ),
)

_ORDER = (
    _fault(
        "a job that has ended is claimed again",
        "workers/jobs/leases.sql:claim",
        ("AND state = 'queued'", ""),
        f"{_JOBS}::test_three_messages_at_once_run_the_job_once",
    ),
    _fault(
        "a report is published without the attempt fence",
        "workers/jobs/leases.sql:publish",
        ("attempt = $2 AND state = 'running'", "$2 > 0"),
        f"{_ORDERS}::test_a_stale_attempt_publishes_nothing",
    ),
    _fault(
        "the beat of a stale attempt keeps the lease",
        "workers/jobs/leases.sql:renew",
        ("attempt = $2", "$2 > 0"),
        f"{_JOBS}::test_the_beat_of_a_stale_attempt_keeps_no_lease",
    ),
    _fault(
        "an export publishes parts of two versions",
        "workers/bulk/exports.sql:files",
        (
            "id = ANY($1::uuid[]) AND state = 'succeeded'",
            "kind = 'export-part' AND state IN ('succeeded', 'expired') AND result IS NOT NULL AND $1 IS NOT NULL",
        ),
        "tests/service/exports/test_faults.py::test_after_a_load_between_two_workers_nothing_old_is_beside_the_new",
    ),
    _fault(
        "prices that were read before a load are kept after it",
        "edge.http.answer_cache:AnswerCache.keep",
        ("generation != self.generation", "False"),
        "tests/service/http/test_unread_records.py::test_prices_that_were_read_before_a_load_ended_are_not_kept_after_it",
    ),
    _fault(
        "two requests under one Idempotency-Key run at once",
        "edge/storage/idempotency.sql:try_lock",
        ("pg_try_advisory_xact_lock(hashtextextended($1, 7166005)) AS got", "$1::text IS NOT NULL AS got"),
        f"{_IDEMPOTENCY}::test_while_a_request_is_under_way_its_repetition_is_refused_at_once",
    ),
    _fault(
        "a watch reports one fall again and again",
        "workers/events/watches.sql:priced",
        ("coalesce(s.armed, true)", "true"),
        "tests/service/events/test_watches.py::test_below_an_amount_fires_once_and_again_after_the_price_was_clearly_above",
    ),
    _fault(
        "two records of a source that lists each product once become one article",
        "workers.articles.matching.clusters:_JoinedGroups._may",
        ("first.one_per_source is True", "False"),
        "tests/unit/workers/articles/matching/test_clusters.py"
        "::test_an_article_has_at_most_one_record_of_a_source_that_lists_each_product_once",
    ),
    _drilled(
        "a drill of jobs: published without the attempt fence",
        "workers/jobs/leases.sql:publish",
        ("attempt = $2 AND state = 'running'", "$2 > 0"),
        *("jobs", "--jobs", "30", "--kills", "4", "--seed", "7", "--minutes", "4"),
    ),
)

FAULTS = (*_MONEY, *_ACCESS, *_DURABILITY, *_ORDER)
