"""Faults in what is answered from memory: for whom, at which price, and what a refused call may cost."""

from tests.sabotage.planted import fault

FAST_PATH_FAULTS = (
    fault(
        "the fast path counts reads of refused calls",
        "edge/fast_path/service.py",
        "call.source if decision.allowed and not read else None",
        "call.source if not read else None",
        "tests/service/http/test_fast_path.py::test_the_fast_path_counts_the_same_metrics_as_the_ordinary_way",
    ),
    fault(
        "a stored report is kept for every organization at the price of the one that has ordered it",
        "edge/reports/service.py",
        "return None if quote.spec.kind.units_cached == _PAID_UNITS else organization_of(request)",
        "return None if quote.units == _PAID_UNITS else organization_of(request)",
        "tests/service/http/test_kept_reports.py::test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load",
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
)
