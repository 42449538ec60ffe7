"""Faults in what operators rely on: certificates, several hosts, backups, a pooler."""

from tests.sabotage.planted import fault

_TLS = "tests/system/test_tls.py"
_BACKUP = "tests/system/test_backup.py"

OPERATOR_FAULTS = (
    fault(
        "nginx is started with an expired certificate",
        "deploy/local/certificate_checks.py",
        "if leaf.not_valid_after_utc <= utc_now():",
        "if False:",
        f"{_TLS}::test_a_certificate_that_cannot_serve_is_refused_with_a_sentence",
    ),
    fault(
        "plain HTTP is redirected to whatever host the caller names",
        "deploy/local/tls.py",
        "            return 421;\n",
        "            return 308 https://$http_host$request_uri;\n",
        f"{_TLS}::test_plain_http_redirects_to_the_service_and_nowhere_else",
    ),
    fault(
        "a host with a disk of its own starts",
        "shared/objects/shared_directories.py",
        "if row is not None and row[0] != place.identity:",
        "if row is None:",
        "tests/service/test_start.py::test_a_second_host_with_a_disk_of_its_own_is_refused_with_what_to_set",
    ),
    fault(
        "a restore goes to the end of the log whatever moment is named",
        "deploy/local/restore.py",
        'return chosen if to is None else {**chosen, "recovery_target_time": to.isoformat()}',
        "return chosen",
        f"{_BACKUP}::test_a_deleted_database_comes_back_to_any_moment_that_was_received",
    ),
    fault(
        "a restore overwrites what is there",
        "deploy/local/restore.py",
        "if target.exists() and any(target.iterdir()):",
        "if False:",
        f"{_BACKUP}::test_what_cannot_be_backed_up_or_restored_is_a_sentence_and_nothing_is_lost",
    ),
    fault(
        "behind a pooler statements are remembered by name",
        "edge/storage/database.py",
        "statement_cache_size=0 if self._pooled else 100,",
        "statement_cache_size=100,",
        "tests/service/db/test_pooler.py::test_a_statement_is_prepared_and_run_on_one_connection_of_the_server",
    ),
)
