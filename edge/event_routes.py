"""The routes of events and watches."""

from edge.container import Services
from edge.events.handlers import Events
from edge.http.routing import API_PATH as PREFIX
from edge.http.routing import KEY, Route, Rule
from edge.watches.handlers import Watches
from shared.plans import BRAND


def event_routes(services: Services) -> tuple[Route, ...]:
    """Return the routes of the feed of events, and of watches."""
    events = Events(services.events)
    feed = Rule(name="events", accepts=KEY, problems=("events-expired",))
    return (
        Route("GET", f"{PREFIX}/events", events.list, feed),
        *_watch_routes(Watches(services.watches, services.events, services.lists)),
    )


def _watch_routes(watches: Watches) -> tuple[Route, ...]:
    at = f"{PREFIX}/watches"
    one = f"{at}/{{id}}"
    return (
        Route("POST", at, watches.create, _watch("watch-create", "missing-parameter", "state-conflict")),
        Route("GET", at, watches.list, _watch("watches")),
        Route("GET", f"{at}/events", watches.events, _watch("watch-events", "events-expired")),
        Route("GET", one, watches.show, _watch("watch", "watch-not-found")),
        Route("PATCH", one, watches.change, _watch("watch-change", "missing-parameter", "watch-not-found")),
        Route("DELETE", one, watches.delete, _watch("watch-delete", "watch-not-found")),
    )


def _watch(name: str, *problems: str) -> Rule:
    return Rule(name=name, accepts=KEY, rank_min=BRAND, problems=problems)
