"""Validation of logout tokens, with which the provider reports that a person has signed out there. Pure.

Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 to 2.6.
"""

from dataclasses import dataclass

from edge.auth.id_token import LEEWAY_SECONDS, InvalidToken, is_addressed_to, moment_of

TYPES = ("JWT", "LOGOUT+JWT")
LOGOUT_LIFETIME_SECONDS_MAX = 3_600
_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_TEXT_MAX = 255


@dataclass(frozen=True, slots=True)
class LogoutNotice:
    """The sessions to end: those of a subject, one of the provider (`sid`), or one of a subject."""

    id: str
    subject: str | None
    provider_session: str | None


def check_logout_claims(claims: dict[str, object], *, issuer: str, client_id: str, now: float) -> LogoutNotice:
    """Return the content of a logout token. Raises InvalidToken if a claim is missing or wrong."""
    events = claims.get("events")
    if claims.get("iss") != issuer or not is_addressed_to(claims, client_id) or "nonce" in claims:
        raise InvalidToken
    if not isinstance(events, dict) or not isinstance(events.get(_EVENT), dict):
        raise InvalidToken
    expires, issued = moment_of(claims, "exp"), moment_of(claims, "iat")
    if not issued - LEEWAY_SECONDS <= now <= expires + LEEWAY_SECONDS or expires - issued > LOGOUT_LIFETIME_SECONDS_MAX:
        raise InvalidToken
    notice = LogoutNotice(_text(claims, "jti") or "", _text(claims, "sub"), _text(claims, "sid"))
    if not notice.id or (notice.subject is None and notice.provider_session is None):
        raise InvalidToken
    return notice


def _text(claims: dict[str, object], name: str) -> str | None:
    value = claims.get(name)
    if value is not None and (not isinstance(value, str) or not 1 <= len(value) <= _TEXT_MAX):
        raise InvalidToken
    return value
