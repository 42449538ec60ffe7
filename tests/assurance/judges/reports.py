"""The judges' own reports, read: each function turns one judge's JSON into findings.

A report that shows that the judge read nothing, or could not read something, raises JudgeFailed.
"""

import re
from pathlib import Path
from typing import Any

from tests.assurance.judges.findings import Finding, JudgeFailed

PROJECT = Path(__file__).parents[3]
# Enough to tell one value of a file from another, too little to guess it from.
_FINGERPRINT_CHARACTERS = 8


def spectral(report: list[dict[str, Any]], document: str) -> list[Finding]:
    """Read Spectral's report about a document; the path is where in the document, joined by slashes."""
    if any(one["code"] in ("unrecognized-format", "parser") for one in report):
        raise JudgeFailed("Spectral could not read the document")
    return [
        Finding("spectral", one["code"], f"{document}#{'/'.join(map(str, one['path']))}", one["message"])
        for one in report
    ]


def redocly(report: dict[str, Any], document: str) -> list[Finding]:
    """Read Redocly's report about a document; the path is where in the document, as a JSON pointer."""
    if report["totals"]["errors"] + report["totals"]["warnings"] != len(report["problems"]):
        raise JudgeFailed("Redocly did not list all that it found")
    return [
        Finding("redocly", one["ruleId"], f"{document}{one['location'][0]['pointer']}", one["message"])
        for one in report["problems"]
    ]


def croissant(words: str, dataset: str) -> list[Finding]:
    """Read what mlcroissant logs of a description. Raises JudgeFailed where it did not come to an end."""
    listed = re.findall(r"^  -  (?:\[(.*?)\] )?(.*)$", words, re.MULTILINE)
    if not listed and "Done." not in words:
        raise JudgeFailed(f"mlcroissant did not end: {words[-500:]}")
    return [Finding("mlcroissant", "croissant-1.1", f"{dataset}#{where}", text) for where, text in listed]


def conformance(checks: list[dict[str, Any]], scenario: str) -> list[Finding]:
    """Read what the conformance suite of MCP checked in one scenario. Raises JudgeFailed where it checked nothing."""
    if not any(check["status"] == "SUCCESS" for check in checks):
        raise JudgeFailed(f"the conformance suite checked nothing in {scenario}")
    failed = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    return [
        Finding("mcp-conformance", check["id"], f"mcp#{scenario}", check.get("errorMessage") or check["description"])
        for check in failed
    ]


def standardwebhooks(verdicts: dict[str, bool], accepted: set[str], refused: set[str]) -> list[Finding]:
    """Read which notices were accepted. Raises JudgeFailed where a notice has no verdict."""
    if verdicts.keys() != accepted | refused:
        raise JudgeFailed("the package of Standard Webhooks did not judge every notice")
    wrong = {name: was_accepted for name, was_accepted in verdicts.items() if was_accepted != (name in accepted)}
    return [
        Finding("standardwebhooks", rule, f"webhooks#{name}", f"the package {rule} a notice that it must not")
        for name, was_accepted in wrong.items()
        for rule in ["accepted" if was_accepted else "refused"]
    ]


def mypy(words: str, judge: str) -> list[Finding]:
    """Read mypy's errors; the rule is their code. Raises JudgeFailed where it checked nothing."""
    if not re.search(r"checked [1-9][0-9]* source files|no issues found in [1-9][0-9]* source files", words):
        raise JudgeFailed(f"mypy checked nothing: {words[-300:]}")
    found = re.findall(r"^([^:\n]+):([0-9]+): error: (.*?)  \[([a-z-]+)\]$", words, re.MULTILINE)
    return [Finding(judge, code, path, f"line {line}: {text}") for path, line, text, code in found]


def tsc(words: str, judge: str) -> list[Finding]:
    """Read tsc's errors; the rule is their number."""
    found = re.findall(r"^([^(\n]+)\(([0-9]+),[0-9]+\): error (TS[0-9]+): (.*)$", words, re.MULTILINE)
    if words.count("error TS") != len(found):
        raise JudgeFailed(f"tsc could not run: {words[-300:]}")
    return [Finding(judge, number, path, f"line {line}: {text}") for path, line, number, text in found]


def gixy(report: list[dict[str, Any]], rendered: Path) -> list[Finding]:
    """Read gixy's report about a rendered configuration, which stands for nginx.conf."""
    return [
        Finding(
            "gixy",
            one["plugin"],
            "nginx.conf" if Path(one["file"]) == rendered else below_project(one["file"]),
            one["reason"] or one["summary"],
        )
        for one in report
    ]


def bandit(report: dict[str, Any]) -> list[Finding]:
    """Read bandit's findings of medium severity and more; ruff's rules S are its lower ones too, line by line."""
    if report["errors"] or not report["metrics"]["_totals"]["loc"]:
        raise JudgeFailed(f"bandit could not read all files: {report['errors']}")
    return [
        Finding("bandit", one["test_id"], one["filename"], f"line {one['line_number']}: {one['issue_text']}")
        for one in report["results"]
        if one["issue_severity"] != "LOW"
    ]


def checkov(report: list[dict[str, Any]]) -> list[Finding]:
    """Read checkov's failed checks, of one report for each kind of file."""
    kinds = {part["check_type"] for part in report}
    unread = [part["check_type"] for part in report if part["summary"]["parsing_errors"]]
    if kinds != {"kubernetes", "dockerfile"} or unread:
        raise JudgeFailed(f"checkov read {sorted(kinds)} and could not parse files of {unread}")
    return [
        Finding(
            "checkov", one["check_id"], below_project(one["file_abs_path"]), f"{one['check_name']}: {one['resource']}"
        )
        for part in report
        for one in part["results"]["failed_checks"]
    ]


def detect_secrets(report: dict[str, Any]) -> list[Finding]:
    """Read detect-secrets' report; the rule is the kind of secret with a fingerprint of its value, never the value."""
    return [
        Finding(
            "detect-secrets",
            f"{one['type']} {one['hashed_secret'][:_FINGERPRINT_CHARACTERS]}",
            path,
            f"line {one['line_number']}",
        )
        for path, found in report["results"].items()
        for one in found
    ]


def below_project(path: str) -> str:
    """Return a path relative to the project."""
    return Path(path).resolve().relative_to(PROJECT).as_posix()
