"""On whose behalf a request to /org is made."""

from typing import Any

from aiohttp import web

from edge.http.context import CONTEXT
from edge.http.parameters import QUERY
from edge.http.problems import Problem
from edge.organizations.service import Actor
from shared.accounts import Person


def person_of(request: web.Request) -> Person:
    """Return the person whose ID token the request carries."""
    person = request[CONTEXT].person
    assert person is not None
    return person


def actor_of(request: web.Request) -> Actor:
    """Return the acting member with the organization. Another is as absent as one that does not exist."""
    person = person_of(request)
    chosen = request[QUERY].get("organization")
    membership = person.membership(str(chosen) if chosen else None)
    if membership is None:
        raise Problem(
            "not-found", "You are in no such organization; create one with POST /org, or ask for an invitation."
        )
    return Actor(person, membership)


def bound_to(actor: Actor) -> dict[str, Any]:
    """Return what each list of an organization is narrowed to."""
    return {"organization": actor.membership.organization_id}
