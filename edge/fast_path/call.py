"""A recognized request with its caller and its answer: what is charged, sent and counted."""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from edge.fast_path.plain_request import PlainRequest
from edge.http.answer_cache import StoredAnswer
from shared.errors import StoreUnavailable
from shared.organizations.accounts import Principal, account_of

Done = Callable[[StoredAnswer | StoreUnavailable | None], None]
Read = Callable[["PlainCall", Done], None]
"""Reads the content of a call's answer, and calls `Done` with the answer.

It gets StoreUnavailable where the store that alone knows it does not answer, and None where there is no answer to the
question: the ordinary way says why.
"""


class Caller(msgspec.Struct, frozen=True, eq=False):
    """A principal at one network, and what is the same in all its calls. A document's has no principal and no account.

    `members` of an access line identify the caller; they are JSON.
    """

    principal: Principal | None
    network: str
    account: str | None
    members: bytes


class PlainCall(msgspec.Struct, frozen=True, eq=False):
    """A request that the fast path answers as soon as it is charged.

    `read` reads the answer where memory does not have it.
    """

    request: PlainRequest
    caller: Caller
    answer: StoredAnswer
    unchanged: bool
    request_id: bytes
    started: float
    read: Read | None


@lru_cache(maxsize=8192)
def caller_of(principal: Principal | None, network: str) -> Caller:
    """Return the caller of a request; the same object while the principal is the same."""
    account = organization = key = None
    if principal is not None:
        account, organization = account_of(principal, network), principal.organization_id
        key = principal.credential_id
    members = {"network": network, "account": account, "organization": organization, "key": key}
    return Caller(principal, network, account, msgspec.json.encode(members)[1:-1])
