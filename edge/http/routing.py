"""A route carries its rule as data. `Route` is the only way to register a handler, so none can be without a rule."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from aiohttp import web

from shared.accounts import CredentialKind

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

OPEN: frozenset[CredentialKind] = frozenset()
ANY: frozenset[CredentialKind] = frozenset({"public-token", "api-key", "bearer"})
KEY: frozenset[CredentialKind] = frozenset({"api-key"})
BEARER: frozenset[CredentialKind] = frozenset({"bearer"})
KEY_OR_BEARER: frozenset[CredentialKind] = frozenset({"api-key", "bearer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Who may come in and what it costs.

    `accepts` is empty for routes that ask for no credential; `units` is what one call is charged (0: nothing),
    or a function of the validated request, which may have to look something up; `rank_min` is the least rank of plan
    that may call; `any_origin` lets browsers of every origin read the answer; `problems` are the slugs that this route
    may answer beyond those that every route of its kind may; a `page` reads its own query and form and fails as a page;
    with `key_as_bearer` an API key may come as a bearer token, for clients of a protocol that knows nothing else.
    """

    name: str
    accepts: frozenset[CredentialKind] = OPEN
    units: int | Callable[[web.Request], int | Awaitable[int]] = 0
    rank_min: int = 0
    any_origin: bool = False
    problems: tuple[str, ...] = ()
    page: bool = False
    key_as_bearer: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the map in edge/app.py."""

    method: str
    path: str
    handler: Handler
    rule: Rule


RULE: web.AppKey[dict[Handler, Rule]] = web.AppKey("rule", dict)
NO_ROUTE = Rule(name="none", any_origin=True)


def register(app: web.Application, routes: Iterable[Route]) -> None:
    """Add the routes; GET also answers HEAD. Raises RuntimeError where a handler has two rules."""
    rules: dict[Handler, Rule] = {}
    for route in routes:
        if rules.setdefault(route.handler, route.rule) != route.rule:
            raise RuntimeError(f"{route.path}: one handler, two rules")
        app.router.add_route(route.method, route.path, route.handler)
        if route.method == "GET":
            app.router.add_route("HEAD", route.path, route.handler)
    app[RULE] = rules


def rule_of(request: web.Request) -> Rule:
    """Return the rule of the matched route, or that of no route (404, 405)."""
    return request.app[RULE].get(request.match_info.handler, NO_ROUTE)
