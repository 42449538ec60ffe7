"""The planted faults. Each would break a promise; the named tests, or the drill, must fail with it."""

from tests.sabotage.account_faults import ACCOUNT_FAULTS
from tests.sabotage.event_faults import EVENT_FAULTS
from tests.sabotage.fast_path_faults import FAST_PATH_FAULTS
from tests.sabotage.form_faults import FORM_FAULTS
from tests.sabotage.guess_faults import GUESS_FAULTS
from tests.sabotage.ingest_faults import INGEST_FAULTS
from tests.sabotage.operator_faults import OPERATOR_FAULTS
from tests.sabotage.page_faults import PAGE_FAULTS
from tests.sabotage.planted import drilled, fault
from tests.sabotage.price_faults import PRICE_FAULTS
from tests.sabotage.reading_faults import READING_FAULTS
from tests.sabotage.search_faults import SEARCH_FAULTS

_JOBS = ("jobs", "--jobs", "30", "--kills", "4", "--seed", "7", "--minutes", "4")
_QUOTA = ("outages", "--seconds", "3", "--only", "the state store hangs")
_FENCE = (
    "SET state = 'succeeded', result = $3, progress_fraction = 1, progress_stage = 'done', lease_until = NULL,\n    "
)
_SESSIONS = "tests/service/dashboard/test_sign_in.py"
_BILLING = "tests/service/quota/test_usage.py"

FAULTS = (
    # Jobs.
    fault(
        "a job that has ended is claimed again",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND state = 'queued'\nRETURNING id::text, kind",
        "WHERE id = $1\nRETURNING id::text, kind",
        "tests/service/jobs/test_jobs.py::test_three_messages_at_once_run_the_job_once",
    ),
    fault(
        "a report is published without the attempt fence",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND attempt = $2 AND state = 'running'\nRETURNING id;\n\n-- name: fail",
        "WHERE id = $1 AND $2 > 0\nRETURNING id;\n\n-- name: fail",
        "tests/service/reports/test_jobs_api.py::test_a_stale_attempt_publishes_nothing",
    ),
    fault(
        "the sweeper deletes nothing",
        "workers/dispatcher.py",
        "unnamed = [attempt for attempt in batch if attempt not in named]",
        "unnamed = [attempt for attempt in batch if attempt not in named][:0]",
        "tests/service/exports/test_api.py::test_ending_one_that_is_done_deletes_its_files",
    ),
    fault(
        "a day's counter is forgotten before the day can no longer come back",
        "edge/quota/take.lua",
        "redis.call('EXPIRE', key, 93600)",
        "redis.call('EXPIRE', key, 39600)",
        "tests/service/quota/test_meter.py::test_a_clock_that_crosses_midnight_and_goes_back_gives_one_further_allowance",
    ),
    fault(
        "a message that was sent by a clock that was ahead is not sent again",
        "workers/dispatcher.sql",
        "relayed_at = CASE WHEN relayed_at IS NOT NULL THEN least(relayed_at, statement_timestamp()) END,",
        "relayed_at = relayed_at,",
        "tests/service/jobs/test_jobs.py::test_a_message_that_was_lost_while_the_clock_was_ahead_is_sent_again",
    ),
    fault(
        "an error that is no outage ends the renewing of a lease",
        "workers/jobs/leases.py",
        "            except Exception as error:  # noqa: BLE001 - an error that ended this thread",
        "            except psycopg.OperationalError as error:  # noqa: BLE001 - an error that ended this thread",
        "tests/service/jobs/test_jobs.py::test_however_the_renewing_of_a_lease_ends_its_job_notices",
    ),
    fault(
        "an unclaimed job is sent again without a look at its queue",
        "workers/dispatcher.py",
        "(new + again[:lost])[:room]",
        "(new + again)[:room]",
        "tests/service/jobs/test_jobs.py::test_while_workers_are_stopped_each_job_has_one_message",
    ),
    fault(
        "a queue of the broker has no bound",
        "workers/dispatcher.py",
        "room = max(0, self._messages_max - held)",
        "room = len(due)",
        "tests/service/jobs/test_jobs.py::test_a_queue_holds_no_more_messages_than_its_bound_whoever_orders_and_cancels",
    ),
    fault(
        "a thread that repeats its work ends with the first error",
        "shared/telemetry/log.py",
        "except Exception as error:",
        "except ArithmeticError as error:",
        "tests/unit/test_processes.py::test_a_heartbeat_that_could_not_be_written_once_is_written_again",
    ),
    fault(
        "leases never lapse",
        "workers/dispatcher.sql",
        "WHERE state = 'running' AND lease_until < statement_timestamp()",
        "WHERE state = 'running' AND lease_until < statement_timestamp() - interval '1 day'",
        "tests/service/jobs/test_jobs.py::test_a_job_whose_worker_died_is_taken_up_and_given_up_after_three",
    ),
    fault(
        "the beat of a stale attempt keeps the lease",
        "workers/jobs/leases.sql",
        "rows_done = $6, rows_total = $7\nWHERE id = $1 AND attempt = $2 AND state = 'running'",
        "rows_done = $6, rows_total = $7\nWHERE id = $1 AND $2 > 0 AND state = 'running'",
        "tests/service/jobs/test_jobs.py::test_the_beat_of_a_stale_attempt_keeps_no_lease",
    ),
    fault(
        "an outage of PostgreSQL costs a job its attempt",
        "workers/worker.py",
        'if unavailable(error):\n        return "database"',
        "if unavailable(error):\n        return None",
        "tests/service/db/test_outages.py::test_an_outage_of_postgresql_costs_a_job_no_attempt",
    ),
    fault(
        "a failed attempt leaves no trace",
        "workers/worker.py",
        "            _log_failure(log, error)\n",
        "",
        "tests/service/test_telemetry.py::test_a_failed_attempt_logs_where_it_failed_with_its_job_and_its_trace",
    ),
    fault(
        "LOG_LEVEL is ignored by workers",
        "workers/jobs/context.py",
        "Log(part, level=settings.log_level)",
        "Log(part)",
        "tests/service/test_telemetry.py::test_log_level_decides_which_lines_a_worker_writes",
    ),
    # Money.
    fault(
        "a quota never refuses",
        "edge/quota/take.lua",
        "if used + units > tonumber(ARGV[2]) then",
        "if used + units > 1000 * tonumber(ARGV[2]) then",
        "tests/service/quota/test_meter.py::test_exactly_the_limit_is_served_in_every_round",
    ),
    fault(
        "one charge is taken twice",
        "edge/quota/take.lua",
        "if marker then",
        "if false then",
        "tests/service/quota/test_meter.py::test_the_same_charge_twice_is_taken_once",
    ),
    fault(
        "a debt is paid back twice",
        "shared/jobs/refund.lua",
        "if gave then",
        "if false then",
        "tests/service/reports/test_jobs_api.py::test_a_failed_job_says_why_and_costs_nothing_however_often_it_is_settled",
        "tests/service/reports/test_jobs_api.py::test_an_order_whose_caller_got_no_answer_is_refunded_once",
    ),
    fault(
        "the charge of an order is refunded with the call as well",
        "edge/quota/billing.py",
        "self._disposition, self._context.units = Disposition.TRANSFERRED, 0",
        "self._context.units = 0",
        f"{_BILLING}::test_an_order_of_unknown_fate_is_refunded_once_even_if_it_is_refunded_again_later",
    ),
    fault(
        "a failed call keeps its charge",
        "edge/quota/billing.py",
        "            await self._finish(counts=_is_answer(error))\n",
        "",
        f"{_BILLING}::test_of_all_errors_only_those_that_answer_a_valid_question_are_counted",
        "tests/service/dashboard/test_billing.py::test_records_and_searches_are_counted_as_the_api_counts_them",
    ),
    fault(
        "an outage of the state store allows a thousand calls",
        "edge/quota/limiter.py",
        '_ALLOWED = {"anonymous": 1}',
        '_ALLOWED = {"anonymous": 1_000}',
        "tests/service/quota/test_meter.py::test_without_the_store_a_little_is_served_and_no_number_is_stated",
    ),
    fault(
        "a charge id is believed from everyone",
        "edge/http/context.py",
        "if address is None or _is_trusted(address, trusted) else None",
        "if True else None",
        "tests/service/hostile/test_accounts.py::test_a_charge_id_is_believed_only_from_nginx",
    ),
    fault(
        "a call is counted twice in the statistics",
        "edge/quota/usage.py",
        "                counts = {}  # kept now",
        "                # kept now",
        "tests/service/quota/test_usage.py::test_an_outage_behind_the_statistics_counts_no_call_twice",
    ),
    fault(
        "a refund lowers the burst of another second",
        "edge/quota/refund.lua",
        "if kept[2] == second and burst >= units then",
        "if burst >= units then",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "an order's refund leaves its charge to be refunded with the call",
        "shared/jobs/refund.lua",
        "    redis.call('SET', KEYS[3], '0 ' .. second, 'KEEPTTL')\n",
        "",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "a charge that was repeated after midnight is refunded to the new day",
        "edge/quota/take.lua",
        "math.floor(tonumber(string.match(marker, ' (%d+)') or second) / 86400)",
        "day",
        "tests/service/quota/test_meter.py::test_the_meter_keeps_to_its_model",
    ),
    fault(
        "an edge that stops while an order is placed refunds it twice",
        "edge/quota/billing.py",
        "except BaseException:  # a stopping",
        "except StoreUnavailable:  # a stopping",
        f"{_BILLING}::test_an_order_of_unknown_fate_is_refunded_once_even_if_it_is_refunded_again_later",
    ),
    fault(
        "a call that was cancelled while it was charged keeps its charge",
        "edge/quota/limiter.py",
        "            if not future.cancelled():  # it was decided just before\n"
        "                self._refund_then(future.result(), lambda reply: None)\n",
        "",
        f"{_BILLING}::test_a_charge_whose_call_was_cancelled_just_after_its_decision_is_refunded",
    ),
    fault(
        "an outage loses when keys were last used",
        "edge/quota/usage.py",
        "self._keys = keys | self._keys",
        "self._keys = self._keys",
        "tests/service/quota/test_usage.py::test_an_outage_keeps_the_counts_and_the_last_use_of_each_key",
    ),
    fault(
        "an organization with many calls takes the places of all others",
        "edge/quota/usage.py",
        "            self._halve()\n",
        "            break\n",
        "tests/service/quota/test_usage.py::test_one_organizations_many_calls_cost_another_none_of_its_own",
    ),
    fault(
        "access lines are written by the event loop",
        "edge/http/request_context.py",
        "            self._writer.write(bytes(self._buffer))\n",
        "            self._writer.write(bytes(self._buffer))\n            self._writer.drain()\n",
        "tests/unit/test_edge.py::test_a_pipe_that_nobody_reads_stops_no_loop_and_each_line_is_written_or_counted",
    ),
    fault(
        "the broker shares a database with the quotas",
        "shared/redis/urls.py",
        'database = 0 if (parts.path.strip("/") or named) == "1" else 1',
        "database = 1",
        "tests/unit/test_values.py::test_the_broker_gets_another_database_of_the_same_server",
    ),
    fault(
        "a setting refuses the value that its sentence states",
        "shared/settings/checks.py",
        '    "REQUEST_LOG_CALLS",\n',
        "",
        "tests/unit/test_values.py::test_each_special_value_that_a_sentence_states_is_accepted",
    ),
    fault(
        "a HEAD costs the bytes of the file",
        "edge/bulk/downloads.py",
        "if organization is not None and request.method == hdrs.METH_GET:",
        "if organization is not None:",
        "tests/service/releases/test_allowance.py::test_whole_files_ranges_and_signed_addresses_are_counted_to_the_byte",
    ),
    fault(
        "any signature opens the bucket",
        "edge/bulk/data_credentials.py",
        "if not hmac.compare_digest(expected, signature):",
        "if False:",
        "tests/service/releases/test_bucket.py::test_unsigned_changed_and_foreign_requests_are_refused",
    ),
    fault(
        "credentials of the bucket never expire",
        "edge/bulk/data_credentials.py",
        "if int(form[1]) <= self._clock().timestamp():",
        "if False:",
        "tests/service/releases/test_bucket.py::test_credentials_last_an_hour_and_clocks_may_differ_by_a_quarter",
    ),
    fault(
        "credentials of the bucket outlive their key",
        "edge/bulk/s3.py",
        "if principal is None:",
        "if False:",
        "tests/service/releases/test_bucket.py::test_credentials_end_with_their_key",
    ),
    fault(
        "the id of a key opens what the key opens",
        "edge/auth/credentials.py",
        "self._by_key_id = CredentialCache()",
        "self._by_key_id = self._cache",
        "tests/service/releases/test_bucket.py::test_the_id_of_a_key_is_no_credential",
    ),
    fault(
        "bytes of the bucket are not counted",
        "edge/bulk/s3.py",
        "respond(request, file, organization_of(request), more)",
        "respond(request, file, None, more)",
        "tests/service/releases/test_bucket.py::test_bytes_are_counted_as_those_of_other_downloads",
    ),
    fault(
        "nginx drops headers that a client of S3 has signed",
        "nginx.conf",
        "proxy_pass_request_headers on;",
        "proxy_pass_request_headers off;",
        "tests/system/releases/test_releases.py::test_a_client_of_s3_reads_the_releases_through_nginx",
    ),
    fault(
        "a file that was replaced stays in the DuckLake catalogue",
        "workers/bulk/catalogue.py",
        "yield *held.pop(sha256), version",
        "yield *held.pop(sha256), None",
        "tests/service/releases/test_catalogues.py::test_each_kept_version_is_a_snapshot_with_the_files_of_its_manifest",
    ),
    fault(
        "the DuckLake catalogue names releases that have expired",
        "workers/bulk/releases.py",
        "        if base_url:\n",
        "        if False:\n",
        "tests/service/releases/test_catalogues.py::test_the_catalogue_follows_what_is_kept",
    ),
    fault(
        "an idempotency key is taken for any body",
        "edge/storage/idempotency.py",
        'if not known["same"]:',
        "if False:",
        "tests/service/exports/test_api.py::test_the_same_key_and_body_are_one_export_paid_once",
    ),
    *(*ACCOUNT_FAULTS, *EVENT_FAULTS, *FAST_PATH_FAULTS, *FORM_FAULTS),
    *(*GUESS_FAULTS, *INGEST_FAULTS, *PAGE_FAULTS, *PRICE_FAULTS, *READING_FAULTS),
    *SEARCH_FAULTS,
    *OPERATOR_FAULTS,
    # Text of others.
    fault(
        "pages show names as markup",
        "edge/http/html.py",
        "autoescape=True,",
        "autoescape=False,",
        f"{_SESSIONS}::test_a_name_is_text_on_every_page",
    ),
    fault(
        "a table on the terminal reads cells as markup",
        "deploy/terminal.py",
        "Text(printable(cell)) if isinstance(cell, str) else cell",
        "cell",
        "tests/unit/test_cli.py::test_no_text_breaks_a_table_or_a_template",
    ),
    fault(
        "escape sequences reach the log",
        "shared/printable.py",
        'if not encoded.isascii() or b"\\x7f" in encoded:',
        "if False:",
        "tests/unit/test_cli.py::test_a_log_escapes_what_a_terminal_acts_on",
    ),
    # Outages.
    fault(
        "a store is waited for without end",
        "edge/storage/redis_client.py",
        "        if left <= 0:\n            self.abort()\n",
        "        if left <= 0:\n            return\n",
        "tests/unit/test_store.py::test_a_store_that_never_answers_is_given_up",
    ),
    fault(
        "a read-only PostgreSQL is an error of ours",
        "shared/db/connect.py",
        '_STATES = ("25006", ',
        "_STATES = (",
        "tests/service/db/test_outages.py::test_each_outage_of_postgresql_is_one_error_of_ours",
    ),
    fault(
        "a deadlock is an error of the caller",
        "shared/db/connect.py",
        '_CLASSES = ("08", "28", "40", "53"',
        '_CLASSES = ("08", "28", "53"',
        "tests/service/db/test_outages.py::test_a_statement_that_was_rolled_back_for_another_is_sent_once_more",
    ),
    fault(
        "an object missing once expires its result",
        "workers/dispatcher.sql",
        "AND missing_since <= statement_timestamp() - make_interval(secs => $2)",
        "AND $2 >= 0",
        "tests/service/exports/test_missing.py::test_an_object_that_is_put_back_is_served_again",
    ),
    fault(
        "a result that is too short is begun to be sent",
        "edge/http/stream.py",
        "if reader.size != length:",
        "if False:",
        "tests/service/reports/test_answer.py::test_a_result_that_is_cut_off_is_not_taken_for_whole",
    ),
    # Answers.
    fault(
        "a download continues in another file",
        "edge/http/stream.py",
        "or (if_range is not None and if_range.strip() != etag)",
        "",
        "tests/service/reports/test_answer.py::test_if_range_continues_only_with_the_very_same_result",
    ),
    fault(
        "a day is compared as text",
        "edge/bulk/delta_sharing_predicates.py",
        'if type == "date" and literal == "text" and _DAY.fullmatch(text):',
        'if type == "date" and literal == "text":\n        return text\n    if False:',
        "tests/unit/test_bulk.py::test_no_hint_in_sql_leaves_out_a_file_with_a_matching_row",
    ),
    # What the drills notice.
    drilled(
        "a drill of jobs: published without the attempt fence",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND attempt = $2 AND state = 'running'\nRETURNING id;\n\n-- name: fail",
        "WHERE id = $1 AND $2 > 0\nRETURNING id;\n\n-- name: fail",
        *_JOBS,
    ),
    drilled(
        "a drill of jobs: jobs that have ended are claimed again",
        "workers/jobs/leases.sql",
        "WHERE id = $1 AND state = 'queued'\nRETURNING id::text, kind",
        "WHERE id = $1\nRETURNING id::text, kind",
        *_JOBS,
    ),
    drilled(
        "a drill of jobs: the sweeper deletes nothing",
        "workers/dispatcher.py",
        "unnamed = [attempt for attempt in batch if attempt not in named]",
        "unnamed = [attempt for attempt in batch if attempt not in named][:0]",
        *_JOBS,
    ),
    drilled(
        "a drill of outages: a quota never refuses",
        "edge/quota/take.lua",
        "if used + units > tonumber(ARGV[2]) then",
        "if used + units > 1000 * tonumber(ARGV[2]) then",
        *_QUOTA,
    ),
    drilled(
        "a drill of outages: what a clock that was ahead put off stays so",
        "workers/dispatcher.py",
        "                self.settle_clock(connection)\n",
        "",
        "outages",
        "--seconds",
        "3",
        "--only",
        "PostgreSQL's clock is set back",
    ),
    drilled(
        "a drill of outages: an emptied state store is not counted",
        "edge/storage/monitor.py",
        "self._losses.inc()",
        "self._losses.inc(0)",
        "outages",
        "--seconds",
        "3",
        "--only",
        "the state store is emptied",
    ),
    drilled(
        "a drill of outages: an outage allows a thousand calls",
        "edge/quota/limiter.py",
        '_ALLOWED = {"anonymous": 1}',
        '_ALLOWED = {"anonymous": 1_000}',
        *_QUOTA,
    ),
)
