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


def test_a_rendered_configuration_stands_for_nginx_conf_and_its_includes_for_themselves(tmp_path: Path) -> None:
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


def test_the_packages_of_npm_are_pinned_by_hash_and_name_no_registry() -> None:
    packages = json.loads(NODE_LOCK.read_text())["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert fetched["node_modules/@stoplight/spectral-cli"]["version"] == "6.16.3"
    assert [name for name, package in fetched.items() if not package["integrity"].startswith("sha512-")] == []
    assert [name for name, package in fetched.items() if "resolved" in package] == []
