"""Faults in what a load says, refuses and keeps."""

from tests.sabotage.planted import fault

_REFUSED = "tests/service/ingest/test_refused_loads.py"

INGEST_FAULTS = (
    fault(
        "a load of which no row can be used ends with success",
        "workers/ingest/accounting.py",
        '    return rows > 0 and counts.get("rows_used", 0) > 0 and not fields_rejected\n',
        "    return True\n",
        f"{_REFUSED}::test_a_load_of_which_every_row_is_rejected_fails_and_says_why",
    ),
    fault(
        "a dry run commits",
        "workers/ingest/load.py",
        "        if self._dry_run:\n            self._connection.rollback()\n",
        "        if self._dry_run:\n            self._connection.commit()\n",
        f"{_REFUSED}::test_a_dry_run_is_refused_as_the_load_would_be_and_leaves_nothing",
    ),
    fault(
        "what a load takes apart is not reported",
        "workers/provenance/standing.py",
        "if owner is not None and now.get(item_id, item_id) != now.get(owner, owner)",
        "if owner is not None and now.get(item_id, item_id) == item_id == owner",
        f"{_REFUSED}::test_what_a_load_takes_apart_is_said_and_is_an_event",
    ),
    fault(
        "rejects of one load are kept without a bound",
        "workers/ingest/reject_log.py",
        "        kept = min(len(rejects), self._rows_left)\n",
        "        kept = len(rejects)\n",
        f"{_REFUSED}::test_rejects_are_kept_up_to_a_bound_and_counted_beyond_it",
    ),
    fault(
        "each try of a load keeps its rejects",
        "workers/ingest/load.sql",
        "l.id <> n.id AND l.state IN ('failed', 'unchanged')",
        "l.id <> n.id AND l.state = 'unchanged'",
        f"{_REFUSED}::test_a_load_that_is_tried_again_does_not_keep_its_rejects_twice",
    ),
    fault(
        "old rejects are never deleted",
        "workers/dispatcher.sql",
        "DELETE FROM rejects r USING loads l WHERE l.id = r.load_id AND l.started_at < statement_timestamp()",
        "DELETE FROM rejects r USING loads l WHERE l.id = r.load_id AND l.started_at < statement_timestamp() - interval '1 year'",
        f"{_REFUSED}::test_rejects_loads_and_files_end_with_their_time_and_what_can_be_undone_stays",
    ),
    fault(
        "decisions are exported without the prefix against formulae",
        "deploy/ctl/matches.py",
        "bytes(csv_rows(batch, list(_EXPORTED)))",
        """bytes(csv_rows(batch, list(_EXPORTED))).replace(b"'", b"")""",
        "tests/service/articles/test_decisions.py::test_a_name_that_a_spreadsheet_would_compute_is_exported_as_text",
    ),
)
