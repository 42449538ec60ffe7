"""The tools: the description of each for a model, its arguments, and its REST call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict

from marshmallow import fields, validate

from edge.analytics.reports.declaration import Report
from edge.analytics.reports.declared import REPORTS, REPORTS_BY_KIND
from edge.http.parameters import Day, Flag, WholeNumber
from edge.http.routing import API_PATH
from edge.mcp import views
from edge.mcp.views import AnswerBody, View
from shared.errors import MissingParameter
from shared.json_types import JsonValue

# A tool answers with JSON, in pages of its own.
LEFT_OUT = frozenset({"format", "sort", "limit", "cursor"})
# A model reads each word of the list of tools at each start. Of these the name and the choices say what they are.
SELF_EXPLAINING = frozenset(
    {
        *(
            "channel",
            "convert",
            "currency",
            "granularity",
            "group_by",
            "kind",
            "match",
            "measure",
            "offers",
            "outliers",
        ),
        "weights",
    }
)
# Of a longer list a model uses few: the refusal of another one names them.
CHOICES_LISTED_MAX = 6
INDEX = f"{API_PATH}/index"
JOB = f"{API_PATH}/jobs/{{id}}"
JOB_RESULT = f"{JOB}/result"
_COMPARED_MAX = 10
_BOUNDS = frozenset({"minimum", "maximum", "minItems", "maxItems"})
# The argument that holds the value of a report's path parameter.
_NAMED_BY = {"slug": "brand", "code": "category"}

Arguments: TypeAlias = Mapping[str, JsonValue]
AnyField: TypeAlias = fields.Field[Any]  # type: ignore[explicit-any]  # of whatever type its values are


class ArgumentSchema(TypedDict, total=False):
    """The JSON schema of one argument, or of a member of an answer."""

    type: str
    enum: list[str]
    minimum: float
    maximum: float
    items: "ArgumentSchema"
    minItems: int
    maxItems: int
    format: str
    description: str


_ROWS: ArgumentSchema = {"type": "array", "items": {"type": "object"}}


def report_arguments(reports: Iterable[Report]) -> dict[str, ArgumentSchema]:
    """Return the JSON schema of each parameter that some report has, by name.

    Where reports allow different values, all of them are allowed: the REST call refuses what its report does not take.
    """
    declared: dict[str, list[AnyField]] = {}
    for report in reports:
        for attribute, parameter in report.form.query().fields.items():
            declared.setdefault(parameter.data_key or attribute, []).append(parameter)
    return {name: _schema(name, same_name) for name, same_name in declared.items() if name not in LEFT_OUT}


def _schema(name: str, same_name: Sequence[AnyField]) -> ArgumentSchema:
    schema = _form(same_name)
    if name not in SELF_EXPLAINING:
        # The text after a semicolon is a default or a detail.
        schema["description"] = str(same_name[0].metadata["description"]).partition(";")[0]
    return schema


def _form(same_name: Sequence[AnyField]) -> ArgumentSchema:
    first = same_name[0]
    if isinstance(first, fields.List):
        lengths = [
            validator.max
            for field in same_name
            for validator in field.validators
            if isinstance(validator, validate.Length)
        ]
        inner = [field.inner for field in same_name if isinstance(field, fields.List)]
        several: ArgumentSchema = {"type": "array", "items": _text_form(inner)}
        if lengths:
            several["maxItems"] = max(length for length in lengths if length is not None)
        return several
    if isinstance(first, Flag):
        return {"type": "boolean"}
    if isinstance(first, WholeNumber):
        ranges = [
            validator for field in same_name for validator in field.validators if isinstance(validator, validate.Range)
        ]
        return {
            "type": "integer",
            "minimum": min(span.min for span in ranges),
            "maximum": max(span.max for span in ranges),
        }
    if isinstance(first, fields.Float):
        [bounds] = (validator for validator in first.validators if isinstance(validator, validate.Range))
        return {"type": "number", "minimum": bounds.min, "maximum": bounds.max}
    text = _text_form(same_name)
    if isinstance(first, Day):
        text["format"] = "date"
    return text


def _text_form(same_name: Iterable[AnyField]) -> ArgumentSchema:
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
    listed = list(dict.fromkeys(choice for some in choices for choice in some))
    return {"enum": listed} if all(choices) else {"type": "string"}


@dataclass(frozen=True, slots=True)
class RestCall:
    """A call of a route of the API: its method and path template, and the parameters of both kinds.

    The values of `query` are text, or lists of text for parameters that may be repeated. `arguments` are the tool's
    arguments by the names of their parameters, where these differ.
    """

    route: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, JsonValue] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `call` makes the REST call of arguments that fit the schema, `view` what a model sees of its answer.

    `answer` has the schemas of the members of its pages. None is required: a page begins where the last one ended.
    `unlisted` are arguments whose many choices the list of tools leaves out: the refusal of another one names them.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, ArgumentSchema]
    call: Callable[[Arguments], RestCall]
    view: Callable[[AnswerBody], View]
    required: tuple[str, ...] = ()
    paged: bool = True
    answer: Mapping[str, ArgumentSchema] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()

    @property
    def arguments(self) -> Mapping[str, ArgumentSchema]:
        """The arguments by name, with the cursor of a paged tool."""
        return {**self.properties, **({"cursor": _text()} if self.paged else {})}

    @property
    def declaration(self) -> dict[str, object]:
        """The entry of `tools/list`. Bounds and long choices are left to the refusal of what they do not allow."""
        listed = {name: self._list_entry(name, schema) for name, schema in self.arguments.items()}
        schema: dict[str, object] = {"type": "object", "properties": listed, "additionalProperties": False}
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

    def _list_entry(self, name: str, schema: ArgumentSchema) -> dict[str, object]:
        kept = {key: value for key, value in schema.items() if key not in _BOUNDS}
        if name in self.unlisted:
            return {"type": "string"} | {key: value for key, value in kept.items() if key != "enum"}
        return kept


def _text(description: str = "") -> ArgumentSchema:
    return {"type": "string", "description": description} if description else {"type": "string"}


def _list() -> ArgumentSchema:
    return {"type": "array", "items": {"type": "string"}}


_RECORD: dict[str, ArgumentSchema] = {"iid": _text(), "name": _text()}
_IID: dict[str, ArgumentSchema] = {"iid": _text("e.g. IID-99D2F-46WJ3-4S6N3")}
_RANGE: dict[str, ArgumentSchema] = {"from": _text("YYYY-MM-DD"), "to": _text("YYYY-MM-DD, inclusive")}
_CURRENCY = _text("ISO 4217")


def _of_item(route: str) -> Callable[[Arguments], RestCall]:
    """Return how a tool calls a route whose path names one item; its other arguments are the query."""

    def call(arguments: Arguments) -> RestCall:
        query = {name: value for name, value in arguments.items() if name != "iid"}
        return RestCall(f"{INDEX}/{route}/{{iid}}", {"iid": str(arguments["iid"])}, query)

    return call


def _of_list(route: str, **names: str) -> Callable[[Arguments], RestCall]:
    """Return how a tool calls a route by its query; `names` are the arguments that the route names otherwise."""
    renamed = {parameter: argument for argument, parameter in names.items()}

    def call(arguments: Arguments) -> RestCall:
        return RestCall(route, {}, {names.get(name, name): value for name, value in arguments.items()}, renamed)

    return call


def _search_call(arguments: Arguments) -> RestCall:
    """Return the call of a search, or of the suggestions for what its query begins."""
    given = {name: value for name, value in arguments.items() if name != "suggest"}
    return _of_list(f"{INDEX}/{'suggest' if arguments.get('suggest') else 'search'}", query="q")(given)


def report_call(arguments: Arguments) -> RestCall:
    """Return the call of a report, or of the result of the job that computes one. Raises MissingParameter."""
    if "job" in arguments:
        query = {name: value for name, value in arguments.items() if name not in ("job", "report")}
        return RestCall(JOB_RESULT, {"id": str(arguments["job"])}, query)
    if "report" not in arguments:
        raise MissingParameter("report", "is required unless `job` is given")
    query = {name: value for name, value in arguments.items() if name != "report"}
    report = REPORTS_BY_KIND[str(arguments["report"])]
    endpoint, named = report.form, _NAMED_BY.get(report.path_parameter or "")
    if named is None or endpoint.path_parameter is None:
        return RestCall(f"{INDEX}{endpoint.path}", {}, query)
    chosen = query.get(named, [])
    # The whole list has no parameter for several of its rows, and refuses them itself.
    if not isinstance(chosen, list) or len(chosen) != 1:
        return RestCall(f"{INDEX}{report.base_path}", {}, query)
    rest = {name: value for name, value in query.items() if name != named}
    return RestCall(f"{INDEX}{endpoint.path}", {endpoint.path_parameter: str(chosen[0])}, rest)


_REPORT_ARGUMENTS = report_arguments(REPORTS)
TOOLS = (
    Tool(
        "find_items",
        "Find items",
        "Search names, brands, types, categories. 1 unit. suggest: completions",
        {
            "query": _text(),
            "suggest": {"type": "boolean"},
            "brand": _text("Slug"),
            "category": _text("Code; includes subcategories"),
            "product_type": _text(),
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        _search_call,
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
        "Price band and footprint of items side by side. Brand plan; 1 unit.",
        {"iids": {**_list(), "minItems": 2, "maxItems": _COMPARED_MAX}},
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
        "A report. A slow one becomes a job: call again "
        "with `job` alone. Brand plan; footprints of several items need Institutional.",
        {
            "report": {"enum": [report.kind.name for report in REPORTS]},
            "job": _text(),
            **_REPORT_ARGUMENTS,
        },
        report_call,
        views.report,
        answer={"rows": _ROWS, "job": _text(), "cost_units": {"type": "integer"}},
        unlisted=frozenset(
            name for name, schema in _REPORT_ARGUMENTS.items() if len(schema.get("enum", ())) > CHOICES_LISTED_MAX
        ),
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
LISTED = {"tools": [tool.declaration for tool in TOOLS]}
