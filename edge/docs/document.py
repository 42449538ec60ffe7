"""The OpenAPI 3.1 document, made from the routes, their rules and the schemas that aiohttp-apispec's decorators name.

aiohttp-apispec writes Swagger 2.0; the subclass here gives its collected declarations the form of OpenAPI 3.1.
"""

import re
import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec.aiohttp_apispec import AiohttpApiSpec, get_path_keys
from apispec import APISpec
from marshmallow import Schema
from msgspec import Struct

from edge.http.catalogue import CATALOGUE
from edge.http.lists import PageTotalSchema
from edge.http.parameters import Parameters
from edge.http.problems import CONTENT_TYPE, ProblemDocument
from edge.http.routing import Route, Rule, RulePrice
from shared.settings.settings import Settings

Node = dict[str, Any]
# Where an answer leads, as OpenAPI links, which people, generators and tests follow from answer to answer.
_FIRST = "$response.body#/data/0"
_ITEM = ("lookupItem", "getPricing", "getSustainability")
_JOB = ("getJob", "getJobEvents", "getJobResult", "cancelJob")
_ACCEPTED = [(job, "id", "$response.body#/id") for job in _JOB]
# (operation, status) → the operations that its answer leads to, the parameter of each, and where its value is.
_LEADS: dict[tuple[str, str], list[tuple[str, str, str]]] = {
    ("searchItems", "200"): [(item, "iid", f"{_FIRST}/iid") for item in _ITEM],
    ("lookupItem", "200"): [
        ("getPricing", "iid", "$response.body#/iid"),
        ("getSustainability", "iid", "$response.body#/iid"),
        ("getCategoryInsights", "code", "$response.body#/category/code"),
        ("getBrandInsights", "slug", "$response.body#/brand/slug"),
    ],
    ("listBrands", "200"): [("getBrandInsights", "slug", f"{_FIRST}/slug"), ("getCohorts", "brand", f"{_FIRST}/slug")],
    ("listJobs", "200"): [(job, "id", f"{_FIRST}/id") for job in _JOB],
    ("createOrganization", "201"): [
        (operation, "organization", "$response.body#/id")
        for operation in ("getOrganization", "issueKey", "invite", "listMembers", "getAudit", "getUsage")
    ],
    ("listMembers", "200"): [("changeRole", "person", f"{_FIRST}/id"), ("removeMember", "person", f"{_FIRST}/id")],
    ("invite", "201"): [("withdrawInvitation", "invitation", "$response.body#/id")],
    ("listInvitations", "200"): [("withdrawInvitation", "invitation", f"{_FIRST}/id")],
    ("listProblems", "200"): [("getProblem", "slug", f"{_FIRST}/slug")],
}

DESCRIPTION = """What a thing is, what it sells for, what it costs the planet.

Free calls accept a public token in `X-Service-Public-Token`: the anonymous token, or your own after a free sign-up.
Errors are problem documents (RFC 9457). `RateLimit` and `RateLimit-Policy` state the limits. 200, 202, 206, 300, and
404 for a well-formed IID or identifier are counted; 304, redirects, other refusals and our own errors are not. Every
response includes `X-Request-Id`. `x-units` is the price of a call in units.
`POST /mcp` (Model Context Protocol) is not described here: it lists its own tools."""
_TAGS = {
    "index": "For every plan, also without sign-up: look up items by IID or another identifier, search, list brands, "
    "categories and channels. Each 200, 300, and 404 for an IID or identifier counts towards the daily limit.",
    "reports": "Paid analytics: prices, price indices, insights, footprints. A call returns a stored result "
    "immediately; otherwise it waits for the job (`Prefer: wait=0` to `wait=30`, 10 s by default) before it returns "
    "202. Equal requests share one job.",
    "datasets": "Whole datasets as releases of Parquet files.",
    "exports": "A selection of rows and columns as files.",
    "events": "Changes in your organization and in the index, in order.",
    "webhooks": "Events sent to your own URLs.",
    "watches": "Price conditions that are checked on every data load.",
    "weights": "Your own weights of categories and items, for aggregates of price indices.",
    "iceberg": "The same datasets as tables of an Iceberg catalogue.",
    "delta-sharing": "The same datasets through the Delta Sharing protocol.",
    "reconciliation": "Rows of a table matched with items, brands and categories, for OpenRefine and others that speak "
    "the Reconciliation Service API 0.2.",
    "jobs": "State, progress and result of reports and exports.",
    "account": "The caller's account: plan, limits, remaining calls.",
    "organization": "An organization's people, keys, usage and audit log, for its members.",
    "service": "The service itself: health, documentation, problem types.",
}
_LOCATIONS = {"querystring": "query", "match_info": "path"}
_SCHEMES = {
    "public-token": ("PublicToken", {"type": "apiKey", "in": "header", "name": "X-Service-Public-Token"}),
    "api-key": (
        "ApiKey",
        {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`ApiKey iixk_live_…`"},
    ),
    "bearer": (
        "IdToken",
        {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "ID token (OpenID Connect), checked as recommended by RFC 8725: algorithm, issuer, audience",
        },
    ),
}
# Delta Sharing's clients know one scheme only.
_KEY_AS_BEARER = ("ApiKeyAsBearer", {"type": "http", "scheme": "bearer", "bearerFormat": "iixk_live_…"})
_ALWAYS = (
    "invalid-request",
    "invalid-parameter",
    "method-not-allowed",
    "uri-too-long",
    "headers-too-large",
    "unsupported-media-type",
    "expectation-failed",
    "internal-error",
    "service-unavailable",
)
_GUARDED = ("missing-credentials", "credential-not-accepted")
_A_PROBLEM = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_HEADERS = {
    "X-Request-Id": {
        "description": "ID of the request: yours, if it was well-formed",
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": "Remaining units of each limit, and the seconds until it resets",
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {"description": "Every limit that applies", "schema": {"type": "string"}},
    "Retry-After": {
        "description": "Seconds until the same call is accepted again",
        "schema": {"type": "integer", "minimum": 1},
    },
}
_LIMIT_HEADERS = ("RateLimit", "RateLimit-Policy")
# The headers that a call takes where it has an answer of this status.
_REQUEST_HEADERS = {
    "206": ("Range", "Range of bytes to return (RFC 9110), such as `bytes=0-1048575`"),
    "304": ("If-None-Match", "The ETag of the caller's copy; 304 if it is still current"),
    "202": ("Prefer", "How long to wait before responding with 202, such as `wait=10`"),
}
_WORD = re.compile(r"[A-Za-z0-9]+")


def links_of(operation: str, status: str, tags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the links of an operation's answer; empty where it leads nowhere. Every report's 202 leads to its job."""
    accepted = status == "202" and "reports" in tags
    leads = _ACCEPTED if accepted else _LEADS.get((operation, status), [])
    return {name: {"operationId": name, "parameters": {parameter: value}} for name, parameter, value in leads}


# Real answers over the demo data, by operation; `python -m tests.support.examples` writes them.
EXAMPLES: dict[str, Any] = msgspec.json.decode(Path(__file__).with_name("examples.json").read_bytes())
# `Schema.member` goes before `member`, and that before `format.…`; `parameter.name` is of parameters.
SENTENCES: dict[str, str] = tomllib.loads(Path(__file__).with_name("members.toml").read_text(encoding="utf-8"))


class _Spec31(AiohttpApiSpec):  # type: ignore[misc]  # the package has no types
    """Writes each declared operation as OpenAPI 3.1."""

    def __init__(self, rules: dict[tuple[str, str], Rule], **info: Any) -> None:
        super().__init__(url=None, title=info["title"], version=info["version"])
        self.spec = APISpec(plugins=(self.plugin,), openapi_version="3.1.0", **info)
        self._rules = rules
        components = self.spec.components
        components.schema("Problem", schema=ProblemDocument)
        components.schema("PageTotal", schema=PageTotalSchema)
        for name, scheme in (*_SCHEMES.values(), _KEY_AS_BEARER):
            components.security_scheme(name, scheme)
        for name, header in _HEADERS.items():
            components.header(name, header)
        for name, sentence in _REQUEST_HEADERS.values():
            components.parameter(name, "header", {"name": name, "description": sentence, "schema": {"type": "string"}})

    def document(self) -> Node:
        """Return the document of the operations that were registered, with a description of each schema and member."""
        made: Node = self.spec.to_dict()
        declared = {name: key[0] for key, name in self.plugin.converter.refs.items()}
        for name, schema in made["components"]["schemas"].items():
            _complete(name, schema, declared.get(name, Struct))
        return made

    def _update_paths(self, data: dict[str, Any], method: str, url_path: str) -> None:
        rule = self._rules.get((method, url_path))
        if rule is None:  # HEAD, which every GET has, and other spellings of a path
            return
        operation: Node = {k: data[k] for k in ("operationId", "summary", "description", "tags") if k in data}
        price = rule.published_price
        operation["x-units"] = _units(price)
        if rule.accepts:
            operation["description"] = f"{operation.get('description', '')} {price.sentence}".strip()
        responses = self._responses(data, rule)
        operation["parameters"] = self._parameters(data, url_path, responses)
        for schema in data["schemas"]:
            if schema["location"] == "json":
                needed = any(field.required for field in schema["schema"].fields.values())
                others = getattr(schema["schema"], "other_forms", {})
                content = {"application/json": {"schema": schema["schema"]}}
                content |= {name: {"schema": _schema_of_form(name, schema["schema"])} for name in others}
                sentence = f"At most {rule.body_bytes_max // 1024} kB."
                operation["requestBody"] = {"description": sentence, "required": needed, "content": content}
        operation["responses"] = responses
        operation["security"] = [{_SCHEMES[kind][0]: []} for kind in sorted(rule.accepts, reverse=True)]
        if rule.key_as_bearer:
            operation["security"].append({_KEY_AS_BEARER[0]: []})
        self.spec.path(path=url_path, operations={method: operation})

    def _parameters(self, data: dict[str, Any], path: str, responses: Node) -> list[Node | str]:
        listed: list[Node] = [dict(declared) for declared in data.get("parameters", ()) if declared["in"] == "header"]
        for schema in data["schemas"]:
            if schema["location"] != "json":
                location = _LOCATIONS[schema["location"]]
                declared = self.plugin.converter.schema2parameters(schema["schema"], location=location)
                listed += map(_without_null, declared)
        names = {parameter["name"] for parameter in listed}
        for name in get_path_keys(path):
            if name not in names:
                listed.append({"in": "path", "name": name, "required": True, "schema": {"type": "string"}})
        for parameter in listed:
            if not parameter.get("description"):
                parameter["description"] = SENTENCES[f"parameter.{parameter['name']}"]
        added = [name for status, (name, _) in _REQUEST_HEADERS.items() if status in responses and name not in names]
        return [*listed, *added]

    def _responses(self, data: dict[str, Any], rule: Rule) -> Node:
        limited = rule.is_charged or rule.per_person
        headers = {name: name for name in ("X-Request-Id", *(_LIMIT_HEADERS if limited else ()))}
        kinds = data.get("produces") or ["application/json"]
        answers: Node = {}
        for code, declared in (data["responses"] or {"200": {}}).items():
            answers[code] = {"description": declared.get("description") or "OK", "headers": headers}
            if code.startswith("3") and code != "304":
                answers[code]["content"] = _A_PROBLEM
            elif "schema" in declared or code == "200":
                schema = self._answer(declared.get("schema"))
                answers[code]["content"] = _contents(schema, kinds if code == "200" else kinds[:1])
            if code == "200" and data.get("operationId") in EXAMPLES:
                answers[code]["content"]["application/json"]["example"] = EXAMPLES[data["operationId"]]
            links = links_of(data.get("operationId", ""), code, data.get("tags", ()))
            if links:
                answers[code]["links"] = links
        # A part of a JSON document is no document, and where one may come its type must not be left out.
        if "206" in answers and not any(kind.endswith("json") for kind in kinds):
            answers["206"]["content"] = _contents(None, kinds)
        for status, slugs in _problems(rule, data).items():
            if status in answers:
                answers[status]["content"] = {**answers[status].get("content", {}), **_A_PROBLEM}
            else:
                answers[status] = self._problem(status, slugs)
        return answers

    def _answer(self, declared: Any) -> Any:
        """Return the schema of an answer; for a struct a reference to the one that msgspec makes of it."""
        if not isinstance(declared, type):
            return declared
        [reference], described = msgspec.json.schema_components([declared], ref_template="#/components/schemas/{name}")
        for name, schema in described.items():
            if name not in self.spec.components.schemas:
                self.spec.components.schema(name, schema)
        return reference

    def _problem(self, status: str, slugs: list[str]) -> str:
        """Return the name of the component that describes the problems of a status."""
        name = "Or".join("".join(word.capitalize() for word in _WORD.findall(slug)) for slug in slugs)
        if name not in self.spec.components.responses:
            meaning = " ".join(CATALOGUE[slug].meaning for slug in slugs)
            headers = {one: one for one in (_HEADERS if status == "429" else ("X-Request-Id",))}
            described = {"description": meaning, "headers": headers, "content": _A_PROBLEM}
            self.spec.components.response(name, described)
        return name


class OpenApiDocument:
    """The document of an application, made when it is first asked for: a start need not wait for it.

    Making it takes up to a tenth of a second, so an event loop asks for it in a thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._made: Node | None = None

    def describe(self, app: web.Application, routes: tuple[Route, ...]) -> None:
        """Have it describe an application by its routes."""
        self._app, self._routes = app, routes

    def as_dict(self) -> Node:
        with self._lock:
            if self._made is None:
                self._made = self._make(self._app, self._routes)
            return self._made

    def _make(self, app: web.Application, routes: tuple[Route, ...]) -> Node:
        rules = {(route.method.lower(), route.path): route.rule for route in routes if route.documented}
        described = _Spec31(
            rules,
            title="Item Index",
            version="1.0.0",
            info={
                "description": DESCRIPTION,
                "license": {"name": "Data: see each record's sources", "identifier": "NOASSERTION"},
            },
            servers=[{"url": self._settings.base_url.removesuffix("/v1")}],
            tags=[{"name": name, "description": sentence} for name, sentence in _TAGS.items()],
        )
        for route in app.router.routes():  # the package's own loop also stores the result under a deprecated string key
            described._register_route(route, route.method.lower(), route.handler)
        return described.document()


def _units(price: RulePrice) -> Node:
    """Return a price for programs; `per` is 1 and `stored` is `units` where they are absent."""
    units: Node = {"units": price.units, "of": price.counted}
    if price.per != 1:
        units["per"] = price.per
    if price.stored not in (None, price.units):
        units["stored"] = price.stored
    return units


def _complete(name: str, described: Node, declared: type) -> None:
    """Describe a schema by its docstring, and each member that does not describe itself by its sentence.

    An answer may have members that the document does not name, as the compatibility policy says; a request may not.
    """
    described.setdefault("description", (declared.__doc__ or "").strip().partition("\n")[0])
    if not issubclass(declared, Parameters) and described.get("additionalProperties") is False:
        del described["additionalProperties"]
    names = [name, *(base.__name__ for base in declared.__mro__)]
    for member, node in described["properties"].items():
        parts = (node, node.get("items", {}), *node.get("anyOf", ()))
        if "description" not in node and not any("$ref" in part for part in parts):  # else it describes itself
            keys = [
                *(f"{owner}.{member}" for owner in names),
                member,
                *(f"format.{part.get('format')}" for part in parts),
            ]
            node["description"] = next((SENTENCES[key] for key in keys if key in SENTENCES), "")


def _without_null(parameter: Node) -> Node:
    """Return a parameter of a query, which may be absent and is never null."""
    schema = parameter["schema"]
    if isinstance(schema.get("type"), list):
        [schema["type"]] = [kind for kind in schema["type"] if kind != "null"]
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    if schema.get("default", "") is None:
        del schema["default"]
    return parameter


def _contents(schema: Any, kinds: list[str]) -> Node:
    """Describe each kind of content: JSON by its schema, the others as the files that they are."""
    instead = getattr(schema, "instead", None)
    described = {"oneOf": [schema, instead]} if instead else schema
    return {kind: _content(described, kind) for kind in kinds}


def _content(schema: Any, kind: str) -> Node:
    if kind == "application/json":
        return {"schema": schema} if schema else {}
    if kind.endswith(("json", "yaml")):
        return {}
    return {"schema": {"type": "string"} if kind.startswith("text/") else {"type": "string", "format": "binary"}}


def _problems(rule: Rule, data: dict[str, Any]) -> dict[str, list[str]]:
    """Return the slugs of the problems that a call can meet, by their status."""
    slugs = list(_ALWAYS)
    if rule.accepts:
        slugs += _GUARDED
    if rule.is_charged or "api-key" in rule.accepts:  # calls with a key that cost no unit have a burst of their own
        slugs.append("rate-limited")
    if rule.offers:
        slugs.append("not-acceptable")
    if rule.rank_min:
        slugs.append("insufficient-plan")
    if rule.name == "lookup":
        slugs += ["iid-not-found", "iid-withdrawn"]
    if any(schema["location"] == "json" for schema in data["schemas"]):
        slugs.append("content-too-large")
    slugs += rule.problems
    if rule.name == "errors":
        slugs.append("not-found")
    by_status: dict[str, list[str]] = {}
    for slug in dict.fromkeys(slugs):
        by_status.setdefault(str(CATALOGUE[slug].status), []).append(slug)
    return by_status


def _schema_of_form(media_type: str, schema: Schema) -> Node:
    """Return the schema of a body that is no JSON: the fields of an HTML form, whose values are texts, or bytes.

    What is `binary` is sent by generated clients as the caller gives it.
    """
    if media_type == "application/x-www-form-urlencoded":
        texts = {name: {"type": "string"} for name in schema.fields}
        return {"type": "object", "properties": texts, "additionalProperties": False}
    return {"type": "string", "format": "binary"}
