"""What makes a run of the judges fail, and what an exception may say."""

import pytest

from tests.judges.findings import EXCEPTIONS, JUDGES, Excepted, Finding, Verdict, read_exceptions, weigh
from tests.judges.tools import ALL

ENTRY = '[[exception]]\njudge = "bandit"\nrule = "B104"\npath = "edge/a.py"\nreason = "It is compared, not bound."\n'
FOUND = Finding("bandit", "B104", "edge/a.py", "line 1")


def test_the_file_of_exceptions_is_well_formed_and_names_judges_that_run() -> None:
    assert read_exceptions(EXCEPTIONS.read_text())
    assert tuple(ALL) == JUDGES


@pytest.mark.parametrize(
    "text",
    [
        ENTRY.replace("It is compared, not bound.", " "),
        ENTRY.replace('reason = "It is compared, not bound."\n', ""),
        ENTRY + 'until = "2027-01-01"\n',
        ENTRY.replace('"bandit"', '"pylint"'),
        ENTRY.replace('"B104"', '"*"'),
        ENTRY.replace('"edge/a.py"', '"*/*"'),
        ENTRY.replace('"B104"', "104"),
        ENTRY + ENTRY,
    ],
    ids=["no words", "no reason", "unknown member", "unknown judge", "any rule", "any path", "no text", "twice"],
)
def test_an_exception_without_judge_rule_path_and_reason_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"exception|no judge"):
        read_exceptions(text)


def test_a_finding_without_an_exception_fails_the_run() -> None:
    assert weigh("bandit", [FOUND], read_exceptions(ENTRY)).passes(strict=True)
    for other in (
        Finding("bandit", "B105", "edge/a.py", "line 1"),
        Finding("bandit", "B104", "edge/b.py", "line 1"),
        Finding("bandit", "b104", "edge/a.py", "line 1"),
    ):
        verdict = weigh("bandit", [FOUND, other], read_exceptions(ENTRY))
        assert verdict.unexplained == (other,)
        assert not verdict.passes(strict=False)


def test_another_judges_exception_explains_nothing() -> None:
    same = Excepted("gixy", "B104", "edge/a.py", "a reason")
    verdict = weigh("bandit", [FOUND], [same])
    assert verdict.unexplained == (FOUND,)
    assert verdict.unused == ()


def test_an_exception_that_no_finding_needs_fails_the_run() -> None:
    verdict = weigh("bandit", [], read_exceptions(ENTRY))
    assert verdict.unused == read_exceptions(ENTRY)
    assert not verdict.passes(strict=False)


def test_a_judge_that_is_not_installed_fails_only_a_strict_run_and_one_without_a_report_every_run() -> None:
    absent, broken = Verdict("spectral", missing="node is missing"), Verdict("spectral", failure="there is no report")
    assert (absent.passes(strict=False), absent.passes(strict=True)) == (True, False)
    assert (broken.passes(strict=False), broken.passes(strict=True)) == (False, False)
