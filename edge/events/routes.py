"""The routes of events, watches and webhooks."""

from typing import TYPE_CHECKING

from edge.events.feed import EventFeedHandlers
from edge.events.watches import Watches
from edge.events.webhooks import Webhooks
from edge.http.routing import API_PATH as PREFIX
from edge.http.routing import KEY, Route, Rule
from edge.storage import idempotency as idempotency_key
from shared.organizations.accounts import BRAND

if TYPE_CHECKING:
    from edge.composition import Services


def event_routes(services: "Services") -> tuple[Route, ...]:
    """Return the routes of the feed of events, of watches and of webhooks."""
    events = EventFeedHandlers(services.events)
    feed = Rule(name="events", accepts=KEY, problems=("events-expired",))
    return (
        Route("GET", f"{PREFIX}/events", events.list, feed),
        *_watch_routes(Watches(services.watches, services.idempotent_acts, services.events, services.lists)),
        *_webhook_routes(Webhooks(services.webhooks, services.idempotent_acts, services.data_version)),
    )


def _watch_routes(watches: Watches) -> tuple[Route, ...]:
    at = f"{PREFIX}/watches"
    watch = f"{at}/{{id}}"
    return (
        Route("POST", at, watches.create, _act("watch-create", "missing-parameter", "state-conflict")),
        Route("GET", at, watches.list, _organizations("watches")),
        Route("GET", f"{at}/events", watches.events, _organizations("watch-events", "events-expired")),
        Route("GET", watch, watches.show, _organizations("watch", "watch-not-found")),
        Route("PATCH", watch, watches.change, _organizations("watch-change", "missing-parameter", "watch-not-found")),
        Route("DELETE", watch, watches.delete, _act("watch-delete", "watch-not-found")),
    )


def _act(name: str, *problems: str) -> Rule:
    return _organizations(name, *problems, *idempotency_key.PROBLEMS)


def _organizations(name: str, *problems: str) -> Rule:
    return Rule(name=name, accepts=KEY, rank_min=BRAND, problems=problems)


def _webhook_routes(webhooks: Webhooks) -> tuple[Route, ...]:
    at = f"{PREFIX}/webhooks"
    webhook = f"{at}/{{id}}"
    missing = "webhook-not-found"
    return (
        Route("POST", at, webhooks.create, _act("webhook-create", "missing-parameter", "state-conflict")),
        Route("GET", at, webhooks.list, _organizations("webhooks")),
        Route("GET", webhook, webhooks.show, _organizations("webhook", missing)),
        Route("DELETE", webhook, webhooks.delete, _act("webhook-delete", missing)),
        Route("POST", f"{webhook}/rotations", webhooks.rotate, _act("webhook-rotation", missing)),
        Route("POST", f"{webhook}/deactivations", webhooks.disable, _act("webhook-deactivation", missing)),
        Route("POST", f"{webhook}/activations", webhooks.enable, _act("webhook-activation", missing)),
        Route("POST", f"{webhook}/replays", webhooks.replay, _act("webhook-replay", "missing-parameter", missing)),
        Route("GET", f"{webhook}/attempts", webhooks.attempts, _organizations("webhook-attempts", missing)),
    )
