"""A call to /org that its caller may repeat under an Idempotency-Key."""

import hashlib

import msgspec
from aiohttp import web

from edge.http.idempotency_key import idempotency_key_of
from edge.http.parameters import BODY
from edge.organizations.answers import answer_of
from edge.organizations.callers import person_of
from edge.organizations.idempotency import Act, IdempotentActs, IdempotentRequest
from edge.organizations.service import Actor, OrganizationService


async def run_once(
    idempotent: IdempotentActs,
    acts: OrganizationService,
    request: web.Request,
    act: Act,
    actor: Actor | None = None,
) -> web.StreamResponse:
    """Run the act; under an Idempotency-Key one time for all its repetitions by this person."""
    key = idempotency_key_of(request)
    if key is None:
        return answer_of(await act(acts))
    requested = {
        "call": f"{request.method} {request.path}",
        "organization": actor.membership.organization_id if actor else None,
        "body": request.get(BODY, {}),
    }
    digest = hashlib.sha256(msgspec.json.encode(requested, order="sorted")).digest()
    asked_once = IdempotentRequest(person_of(request).id, key, digest)
    return answer_of(await idempotent.run(asked_once, lambda transaction: act(idempotent.organizations(transaction))))
