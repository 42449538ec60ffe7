"""What a report found, as its page shows it above the rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from edge.analytics.findings import Rows
from edge.analytics.reports.declaration import Report
from edge.analytics.wording import RowContext


class ReportSummary(NamedTuple):
    """The figure, its sentence, and what to change for a better answer, with the form that is filled in so."""

    figure: str
    sentence: str
    advice: str = ""
    link: str = ""


def summary_of(report: Report, parameters: Mapping[str, Any], rows: Rows, reading: RowContext) -> ReportSummary:
    """Return the summary of a report's rows."""
    finding = (report.finding if rows else report.absence)(parameters, rows, reading)
    link = _form(report.kind.name, finding.retry) if finding.retry is not None else ""
    return ReportSummary(finding.figure, finding.sentence, finding.advice, link)


def _form(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the address of the report's form with these parameters filled in."""
    given = {
        "observed" if name == "kind" else name: ",".join(value) if isinstance(value, list) else value
        for name, value in parameters.items()
        if value not in (None, [], "") and name not in ("after", "limit", "sort")
    }
    return f"/dashboard/reports?{urlencode({'kind': kind, **given})}"
