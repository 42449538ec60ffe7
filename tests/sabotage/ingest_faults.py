"""Faults in what a load says, refuses and keeps."""

from tests.sabotage.planted import fault

_REFUSED = "tests/service/ingest/test_refused_loads.py"
_FEEDS = "tests/service/ingest/test_feeds.py"

INGEST_FAULTS = (
    fault(
        "items that come later take the places of others",
        "workers/ingest/item_tracker.py",
        "grown[: len(old)] = old",
        "grown[: len(old) // 2] = old[: len(old) // 2]",
        "tests/unit/ingest/test_steps.py::test_items_keep_their_keys_however_many_come_later",
    ),
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
    fault(
        "a model is measured on records that it has seen",
        "workers/articles/matching/training.py",
        "np.flatnonzero(~judged & ~np.isin(right, right[judged]))",
        "np.flatnonzero(~judged)",
        "tests/unit/matching/test_model.py::test_no_pair_trains_a_model_that_judges_a_record_of_it",
    ),
    fault(
        "a few decisions are enough for links without a person",
        "workers/articles/matching/training.py",
        "(right / found >= PRECISION) & (limit >= _LEAST_LIMIT)",
        "(right / found >= PRECISION)",
        "tests/unit/matching/test_model.py::test_a_bound_needs_enough_decisions_that_support_it",
    ),
    fault(
        "the undo of a bulk decision leaves its parts",
        "workers/provenance/undo.sql",
        "WHERE (no = $1 OR part_of = $1) AND undone_at IS NULL;",
        "WHERE no = $1 AND undone_at IS NULL;",
        "tests/service/articles/test_models.py::test_a_bulk_decision_is_one_event_that_one_undo_takes_back",
    ),
    fault(
        "loads go on with the shipped model",
        "workers/articles/links.py",
        "Matcher(models.active(connection), index)",
        "Matcher(models.Model.shipped(), index)",
        "tests/service/articles/test_models.py::test_a_model_that_is_activated_judges_all_pairs_and_undo_gives_the_links_back",
    ),
    fault(
        "a bulk decision in the dashboard takes pairs that were not shown",
        "edge/dashboard/matches.py",
        'if form.get("count") != str(len(waiting)):',
        'if not form.get("count"):',
        "tests/service/dashboard/test_matches.py::test_pairs_are_filtered_sampled_and_decided_in_bulk_and_the_bulk_is_undone",
    ),
    fault(
        "a feed whose bytes are unchanged is loaded again",
        "workers/ingest/feeds.py",
        "None if fetched.sha256 == feed.sha256 else self._load(",
        "self._load(",
        f"{_FEEDS}::test_the_same_bytes_without_an_etag_are_not_loaded_again",
    ),
    fault(
        "a feed is fetched from inside the network",
        "workers/ingest/fetch.py",
        "self.tls, private_allowed=self.private_allowed) as connection",
        "self.tls, private_allowed=True) as connection",
        f"{_FEEDS}::test_a_name_that_resolves_into_a_network_is_not_fetched",
    ),
    fault(
        "a feed that ends early is loaded as far as it came",
        "workers/ingest/fetch.py",
        "        if response.length:\n",
        "        if False:\n",
        f"{_FEEDS}::test_what_cannot_be_fetched_or_loaded_is_an_event_with_its_reason",
    ),
    fault(
        "a file of a directory is refused for an outage",
        "workers/ingest/feeds.py",
        "if isinstance(error.__cause__, psycopg.Error | OSError):",
        "if isinstance(error.__cause__, ValueError):",
        f"{_FEEDS}::test_a_file_is_not_blamed_for_an_outage",
    ),
    fault(
        "an upload is loaded by another mapping than was previewed",
        "edge/dashboard/uploads.sql",
        "AND mapping = $2 RETURNING id",
        "AND $2::text IS NOT NULL RETURNING id",
        "tests/service/dashboard/test_uploads.py::test_what_was_not_previewed_by_this_mapping_is_not_loaded",
    ),
    fault(
        "an upload is stored whatever its size",
        "edge/dashboard/uploads.py",
        "                    if size > self._bytes_max:\n",
        "                    if False:\n",
        "tests/service/dashboard/test_uploads.py::test_a_file_of_any_size_up_to_the_bound_is_stored_and_no_larger_one",
    ),
)
