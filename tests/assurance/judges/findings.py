"""What a judge finds, which findings are excepted with a reason, and what is left over."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

EXCEPTIONS = Path(__file__).with_name("exceptions.toml")
JUDGES = (
    "spectral",
    "redocly",
    "openapi-python-client",
    "hey-api",
    "typescript",
    "mlcroissant",
    "mcp-conformance",
    "standardwebhooks",
    "readers",
    "gixy",
    "bandit",
    "checkov",
    "detect-secrets",
)


class JudgeFailed(Exception):
    """A judge ended without a usable report: its findings are unknown, which is not the same as none."""


class NotInstalled(Exception):
    """A judge cannot run here; the message names what is missing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: the judge's own name of the rule, a path below the project, and the judge's words."""

    judge: str
    rule: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Excepted:
    """Findings that are accepted: `rule` and `path` are patterns of fnmatch, case-sensitive."""

    judge: str
    rule: str
    path: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Return whether it explains a finding."""
        same_rule = finding.judge == self.judge and fnmatchcase(finding.rule, self.rule)
        return same_rule and fnmatchcase(finding.path, self.path)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's run; `failure` says why there is no report, `missing` which program is not installed."""

    judge: str
    findings: tuple[Finding, ...] = ()
    unexplained: tuple[Finding, ...] = ()
    unused: tuple[Excepted, ...] = ()
    failure: str = ""
    missing: str = ""

    def passes(self, strict: bool) -> bool:
        """Return whether nothing is left to explain; in a strict run a missing judge does not pass."""
        if self.missing:
            return not strict
        return not (self.unexplained or self.unused or self.failure)


def read_exceptions(text: str) -> tuple[Excepted, ...]:
    """Read the file of exceptions. Raises ValueError where an entry lacks a member, has another one, or repeats."""
    entries = []
    for table in tomllib.loads(text).get("exception", []):
        if set(table) != {"judge", "rule", "path", "reason"} or not all(
            isinstance(value, str) and value.strip() for value in table.values()
        ):
            raise ValueError(f"an exception has judge, rule, path and reason, each a text: {table}")
        if table["judge"] not in JUDGES:
            raise ValueError(f"no judge is named {table['judge']!r}")
        if set(table["rule"]) <= set("*? ") or set(table["path"]) <= set("*?/ "):
            raise ValueError(f"an exception names its rule and its path; this one accepts anything: {table}")
        entries.append(Excepted(**table))
    if len({(entry.judge, entry.rule, entry.path) for entry in entries}) != len(entries):
        raise ValueError("two exceptions accept the same findings")
    return tuple(entries)


def weigh(judge: str, findings: Iterable[Finding], exceptions: Iterable[Excepted]) -> Verdict:
    """Return what no exception explains, and which of the judge's exceptions explain nothing."""
    found = tuple(findings)
    own = [entry for entry in exceptions if entry.judge == judge]
    return Verdict(
        judge=judge,
        findings=found,
        unexplained=tuple(one for one in found if not any(entry.covers(one) for entry in own)),
        unused=tuple(entry for entry in own if not any(entry.covers(one) for one in found)),
    )
