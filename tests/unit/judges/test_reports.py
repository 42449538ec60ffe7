"""The judges' reports: what is read from them, and that an empty or partial one is never taken for a clean one."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.judges import reports
from tests.judges.findings import Finding, JudgeFailed

NODE_LOCK = Path(reports.__file__).parent / "node" / "package-lock.json"


def test_a_secret_is_named_by_a_fingerprint_and_never_shown() -> None:
    digest = "0a" * 20
    one = {"type": "Secret Keyword", "hashed_secret": digest, "line_number": 3}
    assert reports.detect_secrets({"results": {"edge/a.py": [one]}}) == [
        Finding("detect-secrets", "Secret Keyword 0a0a0a0a", "edge/a.py", "line 3")
    ]


def test_a_rendered_configuration_is_reported_as_nginx_conf_and_its_includes_as_themselves(tmp_path: Path) -> None:
    rendered, guards = tmp_path / "plain.conf", reports.PROJECT / "deploy/nginx/guards.conf"
    found = [{"plugin": "p", "file": str(file), "reason": "", "summary": "s"} for file in (rendered, guards)]
    assert [one.path for one in reports.gixy(found, rendered)] == ["nginx.conf", "deploy/nginx/guards.conf"]


@pytest.mark.parametrize("loc", [0, 10])
def test_bandit_that_read_nothing_or_could_not_read_all_has_failed(loc: int) -> None:
    report: dict[str, Any] = {"errors": [], "metrics": {"_totals": {"loc": 10}}, "results": []}
    assert reports.bandit(report) == []
    broken = {**report, "metrics": {"_totals": {"loc": loc}}, "errors": ["edge/a.py"] if loc else []}
    with pytest.raises(JudgeFailed):
        reports.bandit(broken)


def test_checkov_that_saw_no_manifest_or_could_not_parse_one_has_failed() -> None:
    def part(kind: str, unread: int) -> dict[str, Any]:
        return {"check_type": kind, "summary": {"parsing_errors": unread}, "results": {"failed_checks": []}}

    assert reports.checkov([part("kubernetes", 0), part("dockerfile", 0)]) == []
    for broken in ([], [part("dockerfile", 0)], [part("kubernetes", 1), part("dockerfile", 0)]):
        with pytest.raises(JudgeFailed):
            reports.checkov(broken)


def test_spectral_that_did_not_recognize_the_document_has_failed() -> None:
    with pytest.raises(JudgeFailed):
        reports.spectral([{"code": "unrecognized-format", "path": [], "message": "unknown"}], "openapi.json")


def test_redoclys_problems_are_read_and_a_report_that_lists_fewer_has_failed() -> None:
    one = {"ruleId": "no-x", "message": "words", "location": [{"pointer": "#/paths/~1a"}]}
    report = {"totals": {"errors": 1, "warnings": 0}, "problems": [one]}
    assert reports.redocly(report, "openapi.json") == [Finding("redocly", "no-x", "openapi.json#/paths/~1a", "words")]
    with pytest.raises(JudgeFailed):
        reports.redocly({**report, "totals": {"errors": 1, "warnings": 1}}, "openapi.json")


def test_errors_of_type_checkers_are_read_and_a_run_that_checked_nothing_has_failed() -> None:
    words = 'a/b.py:73: error: Wrong type "T"  [assignment]\nFound 1 error in 1 file (checked 350 source files)\n'
    assert reports.mypy(words, "g") == [Finding("g", "assignment", "a/b.py", 'line 73: Wrong type "T"')]
    assert reports.mypy("Success: no issues found in 315 source files\n", "g") == []
    for nothing in ("", "Success: no issues found in 0 source files\n", "mypy: can't read file\n"):
        with pytest.raises(JudgeFailed):
            reports.mypy(nothing, "g")
    assert reports.tsc("caller.ts(15,70): error TS2322: Not so.\n", "t") == [
        Finding("t", "TS2322", "caller.ts", "line 15: Not so.")
    ]
    with pytest.raises(JudgeFailed):
        reports.tsc("error TS18003: No inputs were found.\n", "t")


def test_the_packages_of_npm_are_pinned_by_hash_and_name_no_registry() -> None:
    packages = json.loads(NODE_LOCK.read_text())["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert fetched["node_modules/@stoplight/spectral-cli"]["version"] == "6.16.3"
    assert [name for name, package in fetched.items() if not package["integrity"].startswith("sha512-")] == []
    assert [name for name, package in fetched.items() if "resolved" in package] == []


def test_a_notice_that_is_judged_wrongly_is_a_finding_and_one_without_a_verdict_a_failure() -> None:
    verdicts = {"one": True, "rotation": False, "old": False, "forged": True}
    assert reports.standardwebhooks(verdicts, {"one", "rotation"}, {"old", "forged"}) == [
        Finding("standardwebhooks", "refused", "webhooks#rotation", "the package refused a notice that it must not"),
        Finding("standardwebhooks", "accepted", "webhooks#forged", "the package accepted a notice that it must not"),
    ]
    with pytest.raises(JudgeFailed):
        reports.standardwebhooks({"one": True}, {"one"}, {"old"})


def test_the_conformance_suites_failures_are_read_and_a_scenario_without_a_check_has_failed() -> None:
    passed = {"id": "a", "status": "SUCCESS", "description": "words"}
    failed = {"id": "b", "status": "FAILURE", "description": "words", "errorMessage": "not so"}
    checks = [passed, failed, {**passed, "id": "c", "status": "SKIPPED"}, {**passed, "id": "d", "status": "WARNING"}]
    assert reports.conformance(checks, "2026-07-28/ping") == [
        Finding("mcp-conformance", "b", "mcp#2026-07-28/ping", "not so"),
        Finding("mcp-conformance", "d", "mcp#2026-07-28/ping", "words"),
    ]
    for nothing in ([], [{**passed, "status": "SKIPPED"}]):
        with pytest.raises(JudgeFailed):
            reports.conformance(nothing, "2026-07-28/ping")


def test_what_mlcroissant_lists_is_found_and_a_run_without_an_end_has_failed() -> None:
    assert reports.croissant("I1125 17:03:28.1 1 validate.py:53] Done.\n", "items") == []
    words = (
        "E1125 17:03:28.1 1 validate.py:55] Found the following 1 error(s) during the validation:\n"
        "  -  [Metadata(A) > FileObject(a)] no digest.\n"
        "Found the following 1 warning(s) during the validation:\n"
        '  -  [Metadata(A)] Property "license" is recommended.\n'
    )
    assert [(one.path, one.text) for one in reports.croissant(words, "items")] == [
        ("items#Metadata(A) > FileObject(a)", "no digest."),
        ("items#Metadata(A)", 'Property "license" is recommended.'),
    ]
    with pytest.raises(JudgeFailed, match="no module"):
        reports.croissant("no module", "items")
