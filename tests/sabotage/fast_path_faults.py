"""Faults in what is answered from memory: for whom, at which price, and what a refused call may cost."""

from tests.sabotage.planted import fault

_UNREAD = "tests/service/http/test_unread_records.py"

FAST_PATH_FAULTS = (
    fault(
        "cached records are keyed by the number of a data_version alone",
        "shared/redis/keys.py",
        'return f"{data_version}-{blake2b(committed_at.encode(), digest_size=6).hexdigest()}"',
        'return f"{data_version}"',
        f"{_UNREAD}::test_after_a_restore_a_record_of_before_it_is_not_served_under_the_same_number",
    ),
    fault(
        "an entry of the cache store that cannot be read is an error",
        "edge/index/versioned_cache.py",
        "                metrics.cache_unreadable.labels(self._kind.name).inc()\n                done(None)\n                return\n",
        "                raise\n",
        f"{_UNREAD}::test_an_entry_that_cannot_be_read_is_a_miss_is_counted_and_is_replaced",
    ),
    fault(
        "releases of another layout read each other's records",
        "shared/redis/keys.py",
        'return f"r{layout}:{snapshot}:{iid}"',
        'return f"r:{snapshot}:{iid}"',
        "tests/unit/test_edge.py::test_no_key_of_one_layout_is_a_key_of_another",
    ),
    fault(
        "a callback that fails takes the replies of all others with it",
        "edge/storage/redis_client.py",
        "            deliver(waiting.popleft()[1], reply)\n",
        "            waiting.popleft()[1](reply)\n",
        "tests/unit/test_store.py::test_a_callback_that_fails_is_given_its_error_and_costs_no_other_its_reply",
    ),
    fault(
        "the fast path responds twice where it fails after its response",
        "edge/fast_path/protocol.py",
        "        if self._call is not call:  # it has a response: a second one would be taken for that of the next request\n"
        "            return\n",
        "",
        "tests/service/http/test_fast_path.py::"
        "test_where_the_fast_path_fails_the_ordinary_way_responds_once_and_the_call_is_charged_once",
    ),
    fault(
        "a document that could not be made once is never made again",
        "edge/http/representation.py",
        "if self._task is None or (self._task.done() and self._task.exception() is not None):",
        "if self._task is None:",
        "tests/service/http/test_docs.py::test_a_page_that_could_not_be_made_once_is_made_for_the_next_caller",
    ),
    fault(
        "the OpenAPI document describes each refusal as the default answer",
        "edge/docs/document.py",
        "answers[status] = self._problem(status, slugs)",
        'answers["default"] = self._problem(status, slugs)',
        "tests/laws/test_document.py::test_each_refusal_has_its_status_and_its_meaning",
    ),
    fault(
        "the OpenAPI document does not describe the members of a struct",
        "edge/docs/document.py",
        'in made["components"]["schemas"].items():',
        'in [one for one in made["components"]["schemas"].items() if one[0] in declared]:',
        "tests/laws/test_document.py::test_every_member_is_described_and_every_sentence_is_of_one",
    ),
    fault(
        "the fast path counts reads of refused calls",
        "edge/fast_path/service.py",
        "call.source if decision.allowed and not read else None",
        "call.source if not read else None",
        "tests/service/http/test_fast_path.py::test_the_fast_path_counts_the_same_metrics_as_the_ordinary_way",
    ),
    fault(
        "a stored report is kept for every organization at the price of the one that has ordered it",
        "edge/analytics/reports.py",
        "return None if quote.spec.kind.units_cached == _PAID_UNITS else organization_of(request)",
        "return None if quote.units == _PAID_UNITS else organization_of(request)",
        "tests/service/http/test_unread_searches.py::test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load",
    ),
    fault(
        "a refused caller makes the fast path read a record",
        "edge/fast_path/service.py",
        "            if decision.allowed and call.read is not None:\n",
        "            if call.read is not None:\n",
        "tests/service/http/test_unread_records.py::test_a_caller_who_has_used_the_day_up_makes_postgresql_read_nothing",
    ),
    fault(
        "prices that were read before a load are kept after it",
        "edge/http/answer_cache.py",
        "generation != self.generation or ",
        "",
        "tests/service/http/test_unread_records.py::test_prices_that_were_read_before_a_load_ended_are_not_kept_after_it",
    ),
    fault(
        "a refusal is repeated to callers with credentials",
        "nginx.conf",
        '        default off;\n        "GET||@ANONYMOUS_TOKEN@||" refusals;\n',
        "        default refusals;\n",
        "tests/system/nginx/test_requests.py::test_nothing_else_is_repeated",
    ),
    fault(
        "one caller's refusal is repeated to all",
        "nginx.conf",
        "$time_iso8601 $remote_addr ",
        "$time_iso8601 ",
        "tests/system/nginx/test_requests.py::test_no_caller_gets_the_refusal_of_another_address",
    ),
    fault(
        "a refusal is repeated after its second",
        "nginx.conf",
        'proxy_cache_key "$time_iso8601 ',
        'proxy_cache_valid 429 60s;\n            proxy_ignore_headers X-Accel-Expires;\n            proxy_cache_key "',
        "tests/service/quota/test_repeated_refusals.py::test_a_refund_lifts_a_repeated_refusal_within_a_second",
    ),
    fault(
        "a refusal without the store is repeated",
        "edge/fast_path/service.py",
        "decision.verified and decision.plan",
        "decision.plan",
        "tests/service/quota/test_repeated_refusals.py::test_only_a_counted_refusal_by_the_day_of_a_network_is_marked",
    ),
)
