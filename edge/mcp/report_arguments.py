"""The arguments of the tool of reports, made from the query parameters that the reports declare."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marshmallow import fields, validate

from edge.analytics.envelope import Day
from edge.http.parameters import Flag, WholeNumber
from edge.reports.report import Report

# A tool answers with JSON, in pages of its own.
LEFT_OUT = frozenset({"format", "sort", "limit", "cursor"})


def report_arguments(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter that some report has, by name.

    Where reports allow different values, all of them are allowed: the REST call refuses what its report does not take.
    """
    declared: dict[str, list[fields.Field[Any]]] = {}
    for report in reports:
        for attribute, field in report.form.query().fields.items():
            declared.setdefault(field.data_key or attribute, []).append(field)
    return {name: _schema(same_name) for name, same_name in declared.items() if name not in LEFT_OUT}


def _schema(same_name: Sequence[fields.Field[Any]]) -> dict[str, Any]:
    first = same_name[0]
    # The text after a semicolon is a default or a detail, and each word is read by a model at each start.
    described = {"description": str(first.metadata["description"]).partition(";")[0]}
    if isinstance(first, fields.List):
        lengths = [one.max for field in same_name for one in field.validators if isinstance(one, validate.Length)]
        most = {"maxItems": max(length for length in lengths if length is not None)} if lengths else {}
        inner = [field.inner for field in same_name if isinstance(field, fields.List)]
        return {"type": "array", "items": _text(inner), **most, **described}
    if isinstance(first, Flag):
        return {"type": "boolean", **described}
    if isinstance(first, WholeNumber):
        ranges = [one for field in same_name for one in field.validators if isinstance(one, validate.Range)]
        return {
            "type": "integer",
            "minimum": min(one.min for one in ranges),
            "maximum": max(one.max for one in ranges),
            **described,
        }
    if isinstance(first, fields.Float):
        [bounds] = (one for one in first.validators if isinstance(one, validate.Range))
        return {"type": "number", "minimum": bounds.min, "maximum": bounds.max, **described}
    form = {"format": "date"} if isinstance(first, Day) else {}
    return {**_text(same_name), **form, **described}


def _text(same_name: Iterable[fields.Field[Any]]) -> Mapping[str, Any]:
    """Return the schema of a text: its choices, where every report names some."""
    choices = [
        [str(choice) for one in field.validators if isinstance(one, validate.OneOf) for choice in one.choices]
        for field in same_name
    ]
    if all(choices):
        return {"enum": list(dict.fromkeys(choice for some in choices for choice in some))}
    return {"type": "string"}
