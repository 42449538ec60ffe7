"""Arguments of a tool, held against its schema, with every fault in one problem."""

from collections.abc import Mapping
from typing import Any

from edge.http.parameters import shown_name
from edge.http.problems import Problem, invalid_parameters, missing_parameters
from edge.mcp.tools import Tool


def checked(tool: Tool, given: Any) -> dict[str, Any]:
    """Return arguments whose names and types are those of the tool's schema; the REST call checks the values.

    Raises the problems `invalid-parameter` and `missing-parameter`, in the words of the REST call.
    """
    if not isinstance(given, dict):
        raise invalid_parameters([("arguments", "must be an object")])
    declared = tool.arguments
    known = ", ".join(sorted(declared)) or "none"
    faults = [(shown_name(name), f"is unknown; allowed are: {known}") for name in given if name not in declared]
    checked = {name: _fault(declared[name], value) for name, value in given.items() if name in declared}
    faults += [(name, fault) for name, fault in checked.items() if fault is not None]
    if faults:
        raise invalid_parameters(faults)
    missing = _missing(tool, given)
    if missing is not None:
        raise missing
    return {name: _whole(declared[name], value) for name, value in given.items()}


def named_as_arguments(problem: Problem, arguments: Mapping[str, str]) -> Problem:
    """Return a problem of a REST call that names the tool's `arguments`, which are given by their parameters' names."""
    listed, detail = problem.extra.get("errors"), problem.detail
    if not listed:
        return problem
    for parameter, argument in arguments.items():
        detail = detail.replace(f"`{parameter}`", f"`{argument}`")
    faults = [{**fault, "parameter": arguments.get(fault["parameter"], fault["parameter"])} for fault in listed]
    return Problem(problem.type.slug, detail, extra={**problem.extra, "errors": faults}, fields=problem.fields)


def _whole(schema: Mapping[str, Any], value: Any) -> Any:
    # `5.0` is an integer of JSON Schema; the REST call takes it without the point.
    return int(value) if schema.get("type") == "integer" else value


def _missing(tool: Tool, given: Mapping[str, Any]) -> Problem | None:
    names = [name for name in tool.required if name not in given]
    return missing_parameters([(name, "is needed") for name in names]) if names else None


def _fault(schema: Mapping[str, Any], value: Any) -> str | None:
    """Return what is wrong with a value, None where nothing is."""
    if "enum" in schema:
        return None if value in schema["enum"] else f"must be one of {', '.join(schema['enum'])}"
    match schema["type"]:
        case "string":
            return None if isinstance(value, str) else "must be text"
        case "boolean":
            return None if isinstance(value, bool) else "must be true or false"
        case "integer":
            least, most = schema["minimum"], schema["maximum"]
            whole = (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
            return None if whole and least <= value <= most else f"must be a whole number from {least} to {most}"
        case "number":
            least, most = schema["minimum"], schema["maximum"]
            fits = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
            return None if fits else f"must be a number from {least} to {most}"
        case _:
            return _list_fault(schema, value)


def _list_fault(schema: Mapping[str, Any], value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return "must be a list of texts"
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    return None if least <= len(value) <= most else f"must have {least} to {most} entries"
