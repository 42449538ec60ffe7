"""The reports, each declared by the module of this package that its kind names."""

from importlib import import_module

from edge.analytics.reports.declaration import Report
from shared.jobs.contract import REPORT_KINDS

REPORTS: tuple[Report, ...] = tuple(
    import_module(f"edge.analytics.reports.{kind.module}").REPORT for kind in REPORT_KINDS
)
REPORTS_BY_KIND: dict[str, Report] = {report.kind.name: report for report in REPORTS}
