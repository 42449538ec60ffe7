"""A route carries its rule as data. `Route` is the only way to register a handler, so each handler has a rule."""

import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from aiohttp import hdrs, web
from aiohttp_apispec import docs, request_schema, response_schema
from marshmallow import Schema
from msgspec import Struct

from edge.http.parameters import Parameters
from shared.organizations.accounts import CredentialKind

if TYPE_CHECKING:  # it imports what imports this module
    from edge.http.problems import Problem

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Declared = TypeVar("Declared")

API_PATH = "/v1"
CONTINUE = "100-continue"
JSON = ("application/json",)
OPEN: frozenset[CredentialKind] = frozenset()
ANY: frozenset[CredentialKind] = frozenset({"public-token", "api-key", "bearer"})
KEY: frozenset[CredentialKind] = frozenset({"api-key"})
BEARER: frozenset[CredentialKind] = frozenset({"bearer"})
# nginx.conf has the same bounds, and refuses a longer body before any of it reaches an edge.
BODY_BYTES_MAX = 64 * 1024
LISTS_BODY_BYTES_MAX = 256 * 1024
KEY_OR_BEARER: frozenset[CredentialKind] = frozenset({"api-key", "bearer"})

# aiohttp's default pattern excludes braces: an IID with one would be no route instead of an invalid IID.
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class RulePrice:
    """The published charge of a call: `units` for each `per` of `counted` or part of `per`.

    `stored` are the units where the answer has been computed before, None where that makes no difference.
    """

    units: int
    per: int = 1
    counted: str = "call"
    stored: int | None = None

    @property
    def sentence(self) -> str:
        """The price in words."""
        if not self.units:
            return "Costs nothing."
        noun = "unit" if self.units == 1 else "units"
        each = f" for each {self.per} {self.counted} or part of {self.per}" if self.per > 1 else ""
        stored = f", {self.stored} if the answer is stored" if self.stored not in (None, self.units) else ""
        return f"Costs {self.units} {noun}{each}{stored}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The callers of a route and the cost of a call.

    `accepts` is empty for routes that need no credential. The middleware charges `units` before the handler; where a
    handler must first look up what a call costs, the rule has a `price` instead, and the handler charges.
    `rank_min` is the lowest rank of plan that may call; `any_origin` lets browsers of every origin read the answer;
    `problems` are the slugs that this route may answer beyond those that every route of its kind may; a `page` reads
    its own query and form and fails as a page; `per_person` calls count against the limits of the person who signs in;
    with `key_as_bearer` an API key may come as a bearer token, for clients of a protocol that knows nothing else;
    with `key_in_path` the credential is the segment `address` of the path, and no header is read;
    `fails_as` writes a problem in the form of another protocol, whose clients read no problem document;
    `error_members` are what another protocol adds to a problem document, for its clients;
    `offers` are the media types of which `Accept` must take one, empty where the handler decides or always answers;
    a body of more than `body_bytes_max` is refused while it is received.
    """

    name: str
    accepts: frozenset[CredentialKind] = OPEN
    units: int = 0
    rank_min: int = 0
    any_origin: bool = False
    problems: tuple[str, ...] = ()
    page: bool = False
    offers: tuple[str, ...] = ()
    key_as_bearer: bool = False
    key_in_path: bool = False
    per_person: bool = False
    price: RulePrice | None = None
    body_bytes_max: int = BODY_BYTES_MAX
    fails_as: Callable[["Problem", web.Request], web.Response] | None = None
    error_members: Callable[["Problem", web.Request], Mapping[str, object]] | None = None

    @property
    def is_charged(self) -> bool:
        """Whether calls may cost units."""
        return bool(self.units) or self.price is not None

    @property
    def published_price(self) -> RulePrice:
        """The price that the documents name."""
        return self.price or RulePrice(self.units)


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the map in edge/app.py. One that is not `documented` is a page, or another spelling of a path."""

    method: str
    path: str
    handler: Handler
    rule: Rule
    documented: bool = True


def operation(
    tag: str,
    id: str,
    *reads: type[Parameters],
    answers: Mapping[int, tuple[type[Schema] | type[Struct], str] | str] | None = None,
    summary: str = "",
    description: str = "",
    parameters: Sequence[Mapping[str, object]] = (),
    produces: Sequence[str] = JSON,
) -> Callable[[Declared], Declared]:
    """Declare a handler's operation: what it reads, each schema from its `location`, and its answers by their status.

    The middleware validates what is read. Summary and description in the OpenAPI document are the handler's docstring,
    unless they are given here.
    """

    def declare(handler: Declared) -> Declared:
        headline, _, text = inspect.cleandoc(handler.__doc__ or "").partition("\n\n")
        others: dict[str, dict[str, str]] = {}
        for status, answer in (answers or {}).items():
            if isinstance(answer, str):
                others[str(status)] = {"description": answer}
            else:
                handler = response_schema(_instantiate(answer[0]), status, description=answer[1])(handler)
        for schema in reversed(reads):
            handler = request_schema(_instantiate(schema), schema.location)(handler)
        words = {"summary": summary or headline.removesuffix("."), "description": description or " ".join(text.split())}
        sentences = {name: text for name, text in words.items() if text}
        declared: Declared = docs(
            operationId=id, tags=[tag], produces=[*produces], parameters=parameters, responses=others, **sentences
        )(handler)
        return declared

    return declare


@cache
def _instantiate(schema: type[Schema] | type[Struct]) -> Schema | Callable[[], type[Struct]]:
    """Return the one instance of a schema: making it takes longer than all else of a route. A struct is its own."""
    if issubclass(schema, Schema):
        return schema()
    struct = schema
    return lambda: struct


RULE: web.AppKey[dict[Handler, Rule]] = web.AppKey("rule", dict)
UNROUTED: web.AppKey[Mapping[str, Rule]] = web.AppKey("unrouted", Mapping)
NO_ROUTE = Rule(name="none", any_origin=True)
PRE_FLIGHT = Rule(name="pre-flight")  # its middleware sends the CORS headers itself


async def send_continue(request: web.Request) -> None:
    """Send 100 Continue. The negotiation middleware refuses every other expectation with a problem document."""
    if request.headers.get(hdrs.EXPECT, "").lower() == CONTINUE:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def register(app: web.Application, routes: Iterable[Route], unrouted: Mapping[str, Rule] | None = None) -> None:
    """Add the routes; GET also answers HEAD. Raises RuntimeError where a handler has two rules.

    `unrouted` are the rules of requests that no route answers, by the path below which they are.
    """
    rules: dict[Handler, Rule] = {}
    routes = tuple(routes)
    literals = _literals({route.path for route in routes})
    for route in routes:
        if rules.setdefault(route.handler, route.rule) != route.rule:
            raise RuntimeError(f"{route.path}: one handler, two rules")
        path = _PARAMETER.sub(partial(_parameter, path=route.path, literals=literals), route.path)
        app.router.add_route(route.method, path, route.handler, expect_handler=send_continue)
        if route.method == "GET":
            app.router.add_route("HEAD", path, route.handler, expect_handler=send_continue)
    app[RULE], app[UNROUTED] = rules, unrouted or {}


def _literals(paths: Set[str]) -> Mapping[tuple[str, str], Set[str]]:
    """Return the literal segments of all paths, each below what stands before it and after it in its path."""
    literals: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        for segment in re.finditer(r"[^/{}]+", path):
            literals[path[: segment.start()], path[segment.end() :]].add(segment[0])
    return literals


def _parameter(match: re.Match[str], path: str, literals: Mapping[tuple[str, str], Set[str]]) -> str:
    """Return a parameter's pattern without the literal names that stand in its place on other paths.

    Else `PATCH /watches/events` would be the change of a watch with the id `events`, and no 405.
    """
    names = literals.get((path[: match.start()], path[match.end() :]), ())
    others = f"(?!(?:{'|'.join(map(re.escape, sorted(names)))})(?:/|$))" if names else ""
    return f"{{{match[1]}:{others}[^/]+}}"


def rule_of(request: web.Request) -> Rule:
    """Return the rule of the matched route, or of none (404, 405); OPTIONS has the same rule on every path."""
    if request.method == hdrs.METH_OPTIONS:
        return PRE_FLIGHT
    rule = request.app[RULE].get(request.match_info.handler)
    if rule is not None:
        return rule
    below = (rule for path, rule in request.app[UNROUTED].items() if f"{request.path}/".startswith(f"{path}/"))
    return next(below, NO_ROUTE)
