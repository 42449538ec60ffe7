"""Dashboard sessions as the state store keeps them."""

import msgspec

SESSION_ID_CHARACTERS = 16
"""A session is named by the beginning of its cookie's digest: enough to distinguish a person's sessions."""


class Session(msgspec.Struct, frozen=True):
    """A session. `csrf` is in every form; `organization` is the one chosen, None for the first joined.

    `sealed_id_token` is the ID token of the sign-in, encrypted with the cookie: the provider wants it at sign-out.
    """

    person_id: str
    csrf: str
    born: float
    organization: str | None = None
    sealed_id_token: bytes = b""


class SessionBeginning(msgspec.Struct, frozen=True):
    """How a session began: when (seconds since 1970), from where, with what; and the provider's session, if named."""

    born: float
    network: str
    agent: str
    provider_session: str | None = None


class ListedSession(msgspec.Struct, frozen=True):
    """A session as its person and operators see it."""

    id: str
    digest: str
    beginning: SessionBeginning
    idle_seconds: int
