"""Where an answer leads, as OpenAPI links: which of its members is a parameter of which other operation.

Read by people, by client generators, and by tests that walk from answer to answer.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec.aiohttp_apispec import AiohttpApiSpec, get_path_keys
from apispec import APISpec

from edge.docs.published import published
from edge.http.faults import CATALOGUE
from edge.http.problems import CONTENT_TYPE
from edge.http.routing import Price, Route, Rule
from shared.settings.settings import Settings

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


def links_of(operation: str, status: str, tags: Sequence[str] = ()) -> dict[str, Any]:
    """Return the links of an operation's answer; empty where it leads nowhere. Every report's 202 leads to its job."""
    accepted = status == "202" and "reports" in tags
    leads = _ACCEPTED if accepted else _LEADS.get((operation, status), [])
    return {name: {"operationId": name, "parameters": {parameter: value}} for name, parameter, value in leads}


# The OpenAPI 3.1 document, made from the routes, their rules and the schemas that aiohttp-apispec's decorators name.
# aiohttp-apispec writes Swagger 2.0; this subclass gives its collected declarations the form of OpenAPI 3.1.


DESCRIPTION = """What a thing is, what it sells for, what it costs the planet.

Free calls take a public token in `X-Service-Public-Token`: the anonymous one, or one of your own from a free sign-up.
Errors are problem documents (RFC 9457). `RateLimit` and `RateLimit-Policy` state the limits; 304, redirects, refusals
and our own faults are not counted. Every response includes `X-Request-Id`. `x-units` is what a call is charged; a call
without it costs nothing. `POST /mcp` (Model Context Protocol) lists its tools itself."""
_TAGS = {
    "index": "Free look-ups: an item by its IID or another identifier, search, brands, categories, channels.",
    "reports": "Paid analytics: prices, price indices, insights, footprints. A call returns a stored result at once; "
    "else it waits for a job (`Prefer: wait=0` to `wait=30`, 10 s by default) before it returns 202. Equal requests "
    "share one job.",
    "datasets": "Whole datasets as releases of Parquet files.",
    "exports": "Files with a choice of rows and columns, made to order.",
    "events": "Events, in the order in which they happened.",
    "webhooks": "Events sent to addresses of your own.",
    "watches": "Conditions on prices that each load of data evaluates.",
    "delta-sharing": "The same datasets by the Delta Sharing protocol.",
    "jobs": "Ordered work: state, events, result.",
    "account": "The caller's account: plan, limits, remaining calls.",
    "organization": "An organization's people, keys, usage and audit log, for its members.",
    "service": "The service itself: health, documents, problems.",
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
            "description": "ID token (OpenID Connect), checked as RFC8725 advises: algorithm, issuer, audience",
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
_PROBLEM = {
    "type": "object",
    "description": "A problem document (RFC 9457). A slug may add members.",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri",
            "description": "`{problem_base_url}/{slug}`: the page with its meaning and remedy",
        },
        "title": {"type": "string", "description": "Reason phrase of the status"},
        "status": {"type": "integer", "minimum": 300, "maximum": 599},
        "detail": {
            "type": "string",
            "description": "Cause of this occurrence",
        },
        "instance": {"type": "string", "format": "uri", "description": "Request, as a URN"},
        "errors": {
            "type": "array",
            "description": "All faults of parameters",
            "items": {"$ref": "#/components/schemas/ParameterFault"},
        },
    },
}
_PARAMETER_FAULT = {
    "type": "object",
    "description": "A refused parameter.",
    "required": ["parameter", "detail"],
    "properties": {
        "parameter": {"type": "string", "description": "Its name"},
        "detail": {"type": "string", "description": "What is allowed"},
        "value": {"type": "string", "description": "What came, shortened"},
    },
}
_A_PROBLEM = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_FIELDS = {
    "RateLimit": {
        "description": "Remaining calls of each limit, and the seconds until it is reset",
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {"description": "Every limit that applies", "schema": {"type": "string"}},
}
# Real answers over the demo data, by operation; `python -m tests.support.examples` writes them.
EXAMPLES: dict[str, Any] = msgspec.json.decode(Path(__file__).with_name("examples.json").read_bytes())
_RETRY_AFTER = {
    "description": "Seconds until the same call is accepted again",
    "schema": {"type": "integer", "minimum": 1},
}
_REQUEST_ID = {"description": "The request's id: yours where it was well-formed", "schema": {"type": "string"}}


class _Spec31(AiohttpApiSpec):  # type: ignore[misc]  # the package has no types
    """Writes each declared operation as OpenAPI 3.1."""

    def __init__(self, rules: dict[tuple[str, str], Rule], **info: Any) -> None:
        super().__init__(url=None, title=info["title"], version=info["version"])
        self.spec = APISpec(plugins=(self.plugin,), openapi_version="3.1.0", **info)
        self._rules = rules

    def _update_paths(self, data: dict[str, Any], method: str, url_path: str) -> None:
        rule = self._rules.get((method, url_path))
        if rule is None:  # HEAD, which every GET has, and other spellings of a path
            return
        operation: dict[str, Any] = {k: data[k] for k in ("operationId", "summary", "description", "tags") if k in data}
        price = rule.published_price
        operation["x-units"] = _units(price)
        if rule.accepts:
            operation["description"] = f"{operation.get('description', '')} {price.sentence}".strip()
        operation["parameters"] = self._parameters(data, url_path)
        for schema in data["schemas"]:
            if schema["location"] == "json":
                needed = any(field.required for field in schema["schema"].fields.values())
                content = {"application/json": {"schema": schema["schema"]}}
                operation["requestBody"] = {"required": needed, "content": content}
        operation["responses"] = self._responses(data, rule)
        operation["security"] = [{_SCHEMES[kind][0]: []} for kind in sorted(rule.accepts, reverse=True)]
        if rule.key_as_bearer:
            operation["security"].append({_KEY_AS_BEARER[0]: []})
        self.spec.path(path=url_path, operations={method: operation})

    def _parameters(self, data: dict[str, Any], path: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = [
            declared for declared in data.get("parameters", ()) if declared["in"] == "header"
        ]
        for schema in data["schemas"]:
            if schema["location"] == "json":
                continue
            location = _LOCATIONS[schema["location"]]
            listed += self.plugin.converter.schema2parameters(schema["schema"], location=location)
        declared = {parameter["name"] for parameter in listed if parameter["in"] == "path"}
        for name in get_path_keys(path):
            if name not in declared:
                listed.append({"in": "path", "name": name, "required": True, "schema": {"type": "string"}})
        return listed

    def _responses(self, data: dict[str, Any], rule: Rule) -> dict[str, Any]:
        fields = {"X-Request-Id": _REQUEST_ID, **(_FIELDS if rule.is_charged or rule.per_person else {})}
        kinds = data.get("produces") or ["application/json"]
        answers: dict[str, Any] = {} if data["responses"] else {"200": {"description": "OK", "headers": fields}}
        if not data["responses"]:
            answers["200"]["content"] = {kind: {} for kind in kinds}
        for code, declared in data["responses"].items():
            answers[code] = {"description": declared.get("description") or "OK", "headers": fields}
            if code.startswith("3") and code != "304":
                answers[code]["content"] = _A_PROBLEM
            elif "schema" in declared:
                answers[code]["content"] = _contents(declared["schema"], kinds if code == "200" else kinds[:1])
            elif code == "200":
                answers[code]["content"] = {kind: {} for kind in kinds}
            if code == "200" and data.get("operationId") in EXAMPLES:
                answers[code]["content"]["application/json"]["example"] = EXAMPLES[data["operationId"]]
            links = links_of(data.get("operationId", ""), code, data.get("tags", ()))
            if links:
                answers[code]["links"] = links
        for status, description in _problems(rule, data).items():
            headers = {**fields, "Retry-After": _RETRY_AFTER} if status == "429" else fields
            if status in answers:
                answers[status]["content"] = {**answers[status].get("content", {}), **_A_PROBLEM}
            else:
                answers[status] = {"description": description, "headers": headers, "content": _A_PROBLEM}
        return answers


class Document:
    """The document of an application, made when it is first asked for: a start need not wait for it.

    Making it takes some tenths of a second, so an event loop asks for it in a thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._made: dict[str, Any] | None = None
        self._published: dict[str, Any] | None = None

    def describe(self, app: web.Application, routes: tuple[Route, ...]) -> None:
        """Have it describe an application by its routes."""
        self._app, self._routes = app, routes

    def as_dict(self) -> dict[str, Any]:
        """Return the document as it is published: what operations share is said once, and answers may grow."""
        with self._lock:
            if self._published is None:
                self._published = published(self._described())
            return self._published

    def with_examples(self) -> dict[str, Any]:
        """Return the published document with whole answers as examples."""
        with self._lock:
            return published(self._described(), examples=True)

    def exact(self) -> dict[str, Any]:
        """Return the document of exactly this version: an answer has no other members than it names. For tests."""
        with self._lock:
            return self._described()

    def _described(self) -> dict[str, Any]:
        if self._made is None:
            self._made = self._make(self._app, self._routes)
        return self._made

    def _make(self, app: web.Application, routes: tuple[Route, ...]) -> dict[str, Any]:
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
        described.spec.components.schema("ParameterFault", _PARAMETER_FAULT)
        described.spec.components.schema("Problem", _PROBLEM)
        for name, scheme in (*_SCHEMES.values(), _KEY_AS_BEARER):
            described.spec.components.security_scheme(name, scheme)
        for route in app.router.routes():  # the package's own loop also stores the result under a deprecated string key
            described._register_route(route, route.method.lower(), route.handler)
        made: dict[str, Any] = described.spec.to_dict()
        for key, name in described.plugin.converter.refs.items():
            made["components"]["schemas"][name].setdefault("description", _promise(key[0]))
        return made


def _units(price: Price) -> dict[str, Any]:
    """Return a price for programs; `per` is 1 and `stored` is `units` where they are absent."""
    units: dict[str, Any] = {"units": price.units, "of": price.counted}
    if price.per != 1:
        units["per"] = price.per
    if price.stored not in (None, price.units):
        units["stored"] = price.stored
    return units


def _promise(schema: type) -> str:
    """Return the first sentence of a schema's docstring."""
    return (schema.__doc__ or "").strip().partition("\n")[0]


def _contents(schema: Any, kinds: list[str]) -> dict[str, Any]:
    """Describe each kind of content: JSON by its schema, the others as the files that they are."""
    return {kind: {"schema": schema} if kind == "application/json" else {} for kind in kinds}


def _problems(rule: Rule, data: dict[str, Any]) -> dict[str, str]:
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
    return {str(CATALOGUE[slug].status): CATALOGUE[slug].meaning for slug in slugs}
