"""The report builder's form: its fields, the question that a filled-in form asks, and its faults by field."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Literal
from urllib.parse import urlencode

from marshmallow import ValidationError, fields, validate

from edge.analytics.envelope import Day
from edge.analytics.report_declarations import REPORTS_BY_KIND, Report
from edge.analytics.report_schemas import question_names, question_of
from edge.dashboard.session_guard import PageError
from edge.http.parameters import CurrencyCode, WholeNumber, fields_by_name, in_our_words
from edge.http.problems import Problem
from shared.analytics.results import MEDIA_TYPES


class FormFaults(PageError):
    """The faults of a form by the names of its fields; the empty name holds a fault of no single field."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(400, " ".join(f"{name}: {text}" if name else text for name, text in faults.items()))

    @classmethod
    def of(cls, error: ValidationError, renamed: Mapping[str, str]) -> "FormFaults":
        """Return the faults that a schema found; `renamed` gives the form's own name of a parameter."""
        messages: Any = error.messages
        return cls({renamed.get(name, name): in_our_words(_first(text)) for name, text in messages.items()})

    @classmethod
    def of_failure(cls, error: PageError | Problem, renamed: Mapping[str, str], known: frozenset[str]) -> "FormFaults":
        """Return the faults that a failure names; a fault of a field that the form lacks has no name."""
        if isinstance(error, cls):
            return error
        if isinstance(error, PageError):
            return cls({"": error.text})
        by_slug = {"category-not-found": {"code": error.detail}, "brand-not-found": {"slug": error.detail}}
        listed = {fault["parameter"]: fault["detail"] for fault in error.extra.get("errors") or []}
        faults = listed or by_slug.get(error.type.slug) or {"": error.detail}
        named = {renamed.get(name, name): text for name, text in faults.items()}
        return cls({name if name in known else "": text for name, text in named.items()})


def _first(text: Any) -> str:
    while not isinstance(text, str):
        text = next(iter(text.values())) if isinstance(text, dict) else text[0]
    return text


Control = Literal["text", "date", "number", "choice"]
# Parameters that the form names otherwise: its own `kind` is the report's.
_FIELDS = {"kind": "observed"}
_LABELS = {
    "code": "Category",
    "slug": "Brand",
    "brand": "Brands",
    "category": "Categories",
    "channel": "Channels",
    "granularity": "Periods",
    "group_by": "Grouped by",
    "kind": "Prices of",
}
# Sentences of the form where the API's document speaks of parameters.
_SENTENCES = {
    "kind": "Which prices to include: listings, sales, or both. Default: listings where there are any.",
    "outliers": "Whether to include outliers (implausible prices).",
    "convert": "Convert amounts to this currency (ISO 4217).",
    "rates": "Table of exchange rates for the conversion.",
}
# The list that completes a field: its name below /dashboard/completions.
_COMPLETED = {"brand": "brand", "slug": "brand", "category": "category", "code": "category", "channel": "channel"}
_SEVERAL = "; repeat to select several"
_OWN_FIELDS = frozenset({"kind", "format", "csrf"})


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form, with the sentence under it; `choices` are values with their texts, empty for other controls.

    `completes` names the list that completes the text. `default` is what a choice says that is left empty; one without
    it always has a value. `parameter` is the name that the API has for the field, where the form has another.
    """

    name: str
    label: str
    sentence: str
    control: Control = "text"
    choices: tuple[tuple[str, str], ...] = ()
    completes: str | None = None
    default: str = ""
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A filled-in form: the report, its canonical parameters, its format, and the URL that asks the API the same."""

    report: Report
    parameters: dict[str, Any]
    format: str
    url: str


def fields_of(report: Report) -> tuple[Field, ...]:
    """Return the fields of a report's form in the order of its declaration, the one in the path first."""
    endpoint = report.form
    declared = fields_by_name(endpoint.query())
    if endpoint.path_schema:
        declared |= fields_by_name(endpoint.path_schema())
    names = (*([report.path_parameter] if report.path_parameter else ()), *question_names(endpoint.query))
    return tuple(_field(name, declared[name]) for name in names)


@cache
def defaults_of(report: Report) -> dict[str, Any]:
    """Return the value of each parameter of a report's endpoints that holds where none is given."""
    queries = [fields_by_name(endpoint.query()) for endpoint in report.endpoints]
    return {name: field.load_default for query in queries for name, field in query.items()}


def read_form(form: dict[str, str], base_url: str) -> ReportForm:
    """Return what a filled-in form asks.

    Raises FormFaults with a sentence for each field that is not valid, also where it is no field of the chosen report;
    PageError for an unknown report or format.
    """
    report, format = REPORTS_BY_KIND.get(form.get("kind", "")), form.get("format") or "json"
    if report is None or format not in MEDIA_TYPES:
        raise PageError(400, "Choose a report and a format.")
    listed = fields_of(report)
    foreign = {name for name, value in form.items() if value.strip()} - _OWN_FIELDS - {field.name for field in listed}
    if foreign:
        # Left out in silence, another question would be asked and charged than the one that was typed.
        raise FormFaults({"": f"The {report.title} report has no field {', '.join(sorted(foreign))}."})
    given = _given(form, report)
    try:
        loaded: dict[str, Any] = report.form.query().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, _FIELDS) from None
    parameters, path = question_of(report.form.query, loaded), f"/index{report.base_path}"
    if report.path_parameter:
        value = form.get(report.path_parameter, "").strip()
        parameters = {report.path_parameter: value or None, **parameters}
        path += f"/{value}" if value else ""
    query = urlencode({**given, **({"format": format} if format != "json" else {})}, doseq=True)
    return ReportForm(report, parameters, format, f"{base_url}{path}{'?' + query if query else ''}")


def _given(form: dict[str, str], report: Report) -> dict[str, Any]:
    """Return the parameters that were filled in; several values of a list come with commas."""
    known = fields_by_name(report.form.query())
    given: dict[str, Any] = {}
    for name in question_names(report.form.query):
        values = [part.strip() for part in form.get(_FIELDS.get(name, name), "").split(",") if part.strip()]
        if isinstance(known[name], CurrencyCode):
            values = [value.upper() for value in values]
        if values:
            given[name] = values if isinstance(known[name], fields.List) else values[0]
    return given


def _field(name: str, field: fields.Field[Any]) -> Field:
    several = isinstance(field, fields.List)
    inner = field.inner if isinstance(field, fields.List) else field
    allowed = next((one.choices for one in inner.validators if isinstance(one, validate.OneOf)), ())
    choices = tuple(_choices(tuple(map(str, allowed)), several))
    control: Control = "choice" if choices else "text"
    if isinstance(inner, Day):
        control = "date"
    elif isinstance(inner, WholeNumber):
        control = "number"
    sentence = _SENTENCES.get(name) or str(field.metadata.get("description", "")).removesuffix(_SEVERAL)
    several, default = several and not choices, field.load_default
    return Field(
        _FIELDS.get(name, name),
        _LABELS.get(name) or re.sub("_", " ", name).capitalize(),
        ("Group by one or two of these" if name == "group_by" else sentence)
        + ("; separate several with commas" if several else ""),
        control,
        choices,
        _COMPLETED.get(name),
        "No grouping" if name == "group_by" else f"Default ({default})" if isinstance(default, str) else "Default",
        name,
    )


def _choices(allowed: tuple[str, ...], several: bool) -> list[tuple[str, str]]:
    """Return the choices of a field; a list of them also offers every pair."""
    pairs = [",".join(pair) for pair in combinations(allowed, 2)] if several else []
    return [(value, value.replace(",", " and ")) for value in (*allowed, *pairs)]
