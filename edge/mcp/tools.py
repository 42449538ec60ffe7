"""The tools: the description of each for a model, its arguments, and its REST call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from marshmallow import fields, validate

from edge.analytics.envelope import Day
from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND, Report
from edge.http.parameters import Flag, WholeNumber
from edge.http.routing import API_PATH
from edge.mcp import views
from edge.mcp.views import View
from shared.errors import MissingParameter

# A tool answers with JSON, in pages of its own.
LEFT_OUT = frozenset({"format", "sort", "limit", "cursor"})


def report_arguments(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each parameter that some report has, by name.

    Where reports allow different values, all of them are allowed: the REST call refuses what its report does not take.
    """
    declared: dict[str, list[fields.Field[Any]]] = {}
    for report in reports:
        for attribute, parameter in report.form.query().fields.items():
            declared.setdefault(parameter.data_key or attribute, []).append(parameter)
    return {name: _schema(same_name) for name, same_name in declared.items() if name not in LEFT_OUT}


def _schema(same_name: Sequence[fields.Field[Any]]) -> dict[str, Any]:
    first = same_name[0]
    # The text after a semicolon is a default or a detail, and each word is read by a model at each start.
    described = {"description": str(first.metadata["description"]).partition(";")[0]}
    if isinstance(first, fields.List):
        lengths = [
            validator.max
            for field in same_name
            for validator in field.validators
            if isinstance(validator, validate.Length)
        ]
        most = {"maxItems": max(length for length in lengths if length is not None)} if lengths else {}
        inner = [field.inner for field in same_name if isinstance(field, fields.List)]
        return {"type": "array", "items": _sentence_of(inner), **most, **described}
    if isinstance(first, Flag):
        return {"type": "boolean", **described}
    if isinstance(first, WholeNumber):
        ranges = [
            validator for field in same_name for validator in field.validators if isinstance(validator, validate.Range)
        ]
        return {
            "type": "integer",
            "minimum": min(one.min for one in ranges),
            "maximum": max(one.max for one in ranges),
            **described,
        }
    if isinstance(first, fields.Float):
        [bounds] = (validator for validator in first.validators if isinstance(validator, validate.Range))
        return {"type": "number", "minimum": bounds.min, "maximum": bounds.max, **described}
    form = {"format": "date"} if isinstance(first, Day) else {}
    return {**_sentence_of(same_name), **form, **described}


def _sentence_of(same_name: Iterable[fields.Field[Any]]) -> Mapping[str, Any]:
    """Return the schema of a text: its choices, where every report names some."""
    choices = [
        [
            str(choice)
            for validator in field.validators
            if isinstance(validator, validate.OneOf)
            for choice in validator.choices
        ]
        for field in same_name
    ]
    if all(choices):
        return {"enum": list(dict.fromkeys(choice for some in choices for choice in some))}
    return {"type": "string"}


INDEX = f"{API_PATH}/index"
JOB = f"{API_PATH}/jobs/{{id}}"
JOB_RESULT = f"{JOB}/result"
_COMPARED_MAX = 10


@dataclass(frozen=True, slots=True)
class RestCall:
    """A call of a route of the API: its method and path template, and the parameters of both kinds.

    The values of `query` are text, or lists of text for parameters that may be repeated. `arguments` are the tool's
    arguments by the names of their parameters, where these differ.
    """

    route: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `call` makes the REST call of arguments that fit the schema, `view` what a model sees of its answer.

    `answer` has the schemas of the members of its pages. None is required: a page begins where the last one ended.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    call: Callable[[Mapping[str, Any]], RestCall]
    view: Callable[[Any], View]
    required: tuple[str, ...] = ()
    paged: bool = True
    answer: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def arguments(self) -> Mapping[str, Mapping[str, Any]]:
        """The arguments by name, with the cursor of a paged tool."""
        return {**self.properties, **({"cursor": _text()} if self.paged else {})}

    @property
    def listed(self) -> dict[str, Any]:
        """The entry of `tools/list`."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        if self.required:
            schema["required"] = list(self.required)
        cursor = {"next_cursor": _text()} if self.paged else {}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema,
            "outputSchema": {"type": "object", "properties": {**self.answer, **cursor}},
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }


def _text(description: str = "") -> dict[str, Any]:
    return {"type": "string", **({"description": description} if description else {})}


def _list(description: str = "", **bounds: int) -> dict[str, Any]:
    described = {"description": description} if description else {}
    return {"type": "array", "items": {"type": "string"}, **bounds, **described}


_ROWS = {"type": "array", "items": {"type": "object"}}
_RECORD = {"iid": _text(), "name": _text()}
_IID = {"iid": _text("e.g. IID-99D2F-46WJ3-4S6N3")}
_RANGE = {"from": _text("YYYY-MM-DD"), "to": _text("YYYY-MM-DD, inclusive")}
_CURRENCY = _text("ISO 4217")


def _of_item(route: str) -> Callable[[Mapping[str, Any]], RestCall]:
    """Return how a tool calls a route whose path names one item; its other arguments are the query."""

    def call(arguments: Mapping[str, Any]) -> RestCall:
        query = {name: value for name, value in arguments.items() if name != "iid"}
        return RestCall(f"{INDEX}/{route}/{{iid}}", {"iid": arguments["iid"]}, query)

    return call


def _of_list(route: str, **names: str) -> Callable[[Mapping[str, Any]], RestCall]:
    """Return how a tool calls a route by its query; `names` are the arguments that the route names otherwise."""
    renamed = {parameter: argument for argument, parameter in names.items()}

    def call(arguments: Mapping[str, Any]) -> RestCall:
        return RestCall(route, {}, {names.get(name, name): value for name, value in arguments.items()}, renamed)

    return call


def report_call(arguments: Mapping[str, Any]) -> RestCall:
    """Return the call of a report, or of the result of the job that computes one. Raises MissingParameter."""
    if "job" in arguments:
        query = {name: value for name, value in arguments.items() if name not in ("job", "report")}
        return RestCall(JOB_RESULT, {"id": arguments["job"]}, query)
    if "report" not in arguments:
        raise MissingParameter("report", "is required unless `job` is given")
    query = {name: value for name, value in arguments.items() if name != "report"}
    report = REPORTS_BY_KIND[arguments["report"]]
    endpoint, named = report.form, _NAMED_BY.get(report.path_parameter or "")
    if named is None or endpoint.path_parameter is None:
        return RestCall(f"{INDEX}{endpoint.path}", {}, query)
    chosen = query.get(named, [])
    if len(chosen) != 1:  # the whole list; it has no parameter for several of its rows and refuses them itself
        return RestCall(f"{INDEX}{report.base_path}", {}, query)
    rest = {name: value for name, value in query.items() if name != named}
    return RestCall(f"{INDEX}{endpoint.path}", {endpoint.path_parameter: chosen[0]}, rest)


# The argument that holds the value of a report's path parameter.
_NAMED_BY = {"slug": "brand", "code": "category"}

TOOLS = (
    Tool(
        "find_items",
        "Find items",
        "Search items by words of name, brand, product type or category; typing errors are tolerated. 1 unit.",
        {
            "query": _text(),
            "brand": _text("Slug"),
            "category": _text("Code; includes subcategories"),
            "product_type": _text(),
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        _of_list(f"{INDEX}/search", query="q"),
        views.hits,
        ("query",),
        answer={"items": _ROWS, "total": {"type": "object"}},
    ),
    Tool(
        "get_item",
        "Get an item",
        "The record of one item: identifiers, attributes, channels, price band, footprint, sources. 1 unit.",
        _IID,
        _of_item("lookup"),
        views.record,
        ("iid",),
        answer=_RECORD,
    ),
    Tool(
        "resolve_identifier",
        "Resolve an identifier",
        "The record behind one identifier: gtin, upc, isbn, mpn with brand, sku with source, or url. If several "
        "items have it: `candidates`. 1 unit.",
        {
            "gtin": _text("8 to 14 digits"),
            "upc": _text(),
            "isbn": _text(),
            "mpn": _text("Part number"),
            "brand": _text(),
            "sku": _text(),
            "source": _text(),
            "url": _text(),
        },
        _of_list(f"{INDEX}/resolve"),
        views.record,
        answer={**_RECORD, "candidates": _ROWS},
    ),
    Tool(
        "price_history",
        "Price history",
        "Prices of one item: statistics of 7, 30, 90 and 365 days, then day by day. Brand plan; 2 units.",
        {**_IID, **_RANGE, "channel": _list(), "currency": _CURRENCY, "kind": {"enum": ["listing", "sale"]}},
        _of_item("pricing"),
        views.prices,
        ("iid",),
        answer={"statistics": _ROWS, "days": _ROWS},
    ),
    Tool(
        "compare_items",
        "Compare items",
        "Price band and footprint of several items side by side. Brand plan; 1 unit.",
        {"iids": _list(minItems=2, maxItems=_COMPARED_MAX)},
        _of_list(f"{INDEX}/lookup", iids="iid"),
        views.comparison,
        ("iids",),
        answer={"items": _ROWS},
    ),
    Tool(
        "sustainability",
        "Footprint of an item",
        "CO2e, water and waste of one item per unit and of all units sold, with 95 % intervals and method. Brand plan; "
        "2 units.",
        {**_IID, **_RANGE, "channel": _list()},
        _of_item("sustainability"),
        views.footprint,
        ("iid",),
        answer={"indicators": _ROWS},
    ),
    Tool(
        "market_report",
        "Market report",
        "A report about brands or categories. A slow report becomes a job: call again "
        "with `job` alone. Brand plan; sustainability-rollup needs Institutional.",
        {
            "report": {"enum": [report.kind.name for report in REPORTS]},
            "job": _text("Use alone"),
            **report_arguments(REPORTS),
        },
        report_call,
        views.report,
        answer={"rows": _ROWS, "job": _text(), "cost_units": {"type": "integer"}},
    ),
    Tool(
        "how_am_i_counted",
        "My limits",
        "The account that calls are counted for, its plan and remaining limits. Free.",
        {},
        _of_list(f"{API_PATH}/quota"),
        views.quota,
        paged=False,
        answer={"counted_as": _text(), "plan": _text(), "limits": _ROWS},
    ),
)
TOOLS_BY_NAME = {tool.name: tool for tool in TOOLS}
LISTED = {"tools": [tool.listed for tool in TOOLS]}
