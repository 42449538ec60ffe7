"""The report builder's form: its fields, and the question that a filled-in form asks."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from marshmallow import Schema, ValidationError, fields, validate

from edge.dashboard.session_guard import PageError, first_fault
from edge.reports.declarations import REPORTS, REPORTS_BY_KIND
from edge.reports.report import Report
from edge.reports.schemas import question_names, question_of
from shared.results.layout import MEDIA_TYPES

# Parameters that the form names otherwise: its own `kind` is the report's.
_FIELDS = {"kind": "observed"}
# The parameters that reports.html lays out by hand; a report's other parameters follow them.
_LAID_OUT = frozenset(
    "brand category code slug channel currency from to granularity group_by kind basis".split(),
)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form: `choices` is empty for free text."""

    name: str
    label: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A filled-in form: the report, its canonical parameters, its format, and the URL that asks the API the same."""

    report: Report
    parameters: dict[str, Any]
    format: str
    url: str


def more_fields() -> tuple[Field, ...]:
    """Return the fields of the parameters that some report has and the page does not lay out itself."""
    found: dict[str, Field] = {}
    for report in REPORTS:
        endpoint = report.form
        declared = _by_name(endpoint.query()) | (_by_name(endpoint.path_schema()) if endpoint.path_schema else {})
        for name in (*question_names(endpoint.query), *([report.path_parameter] if report.path_parameter else ())):
            if name not in _LAID_OUT:
                found.setdefault(name, _field(name, declared[name]))
    return tuple(found.values())


def read_form(form: dict[str, str], base_url: str) -> ReportForm:
    """Return what a filled-in form asks. Raises PageError for a report, format or parameter that is not valid."""
    report, format = REPORTS_BY_KIND.get(form.get("kind", "")), form.get("format") or "json"
    if report is None or format not in MEDIA_TYPES:
        raise PageError(400, "Choose a report and a format.")
    given = _given(form, report)
    try:
        loaded: dict[str, Any] = report.form.query().load(given)
    except ValidationError as error:
        raise PageError(400, first_fault(error)) from None
    parameters, path = question_of(report.form.query, loaded), f"/index{report.base_path}"
    if report.path_parameter:
        value = form.get(report.path_parameter, "").strip()
        parameters = {report.path_parameter: value or None, **parameters}
        path += f"/{value}" if value else ""
    query = urlencode({**given, **({"format": format} if format != "json" else {})}, doseq=True)
    return ReportForm(report, parameters, format, f"{base_url}{path}{'?' + query if query else ''}")


def _given(form: dict[str, str], report: Report) -> dict[str, Any]:
    """Return the parameters that were filled in; several values of a list come with commas."""
    known = _by_name(report.form.query())
    given: dict[str, Any] = {}
    for name in question_names(report.form.query):
        values = [part.strip() for part in form.get(_FIELDS.get(name, name), "").split(",") if part.strip()]
        if values:
            given[name] = values if isinstance(known[name], fields.List) else values[0]
    return given


def _by_name(schema: Schema) -> dict[str, fields.Field[Any]]:
    """Return a schema's fields by the names that callers use."""
    return {field.data_key or name: field for name, field in schema.fields.items()}


def _field(name: str, field: fields.Field[Any]) -> Field:
    inner = field.inner if isinstance(field, fields.List) else field
    choices = next((one.choices for one in inner.validators if isinstance(one, validate.OneOf)), ())
    return Field(name, name.replace("_", " ").capitalize(), tuple(map(str, choices)))
