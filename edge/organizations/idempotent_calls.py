"""A call to /org that its caller may repeat under an Idempotency-Key."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from edge.http.idempotency_key import digest_of, idempotency_key_of
from edge.http.outcome import Outcome, response_of
from edge.organizations.callers import person_of
from edge.organizations.service import Actor, OrganizationService
from edge.storage.database import Scope
from edge.storage.idempotency import IdempotentActs, IdempotentRequest

Act = Callable[[OrganizationService], Awaitable[Outcome]]


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
        return response_of(await act(acts))
    digest = digest_of(request, actor.membership.organization_id if actor else None)
    asked_once = IdempotentRequest(Scope(person=person_of(request).id), key, digest)
    run = idempotent.run(asked_once, lambda transaction: act(OrganizationService(transaction, idempotent.settings)))
    return response_of(await run)
