"""Validation of ID tokens: form, header, signature, claims. Pure; the cryptography is PyJWT's.

Sources: OpenID Connect Core 1.0, section 3.1.3.7; RFC 7519; RFC 8725 (best current practices). A JWT library alone is
not a policy: the types of claims, duplicate members, `typ`, `crit` and the longest lifetime are checked here.
"""

import base64
import binascii
import json
import re
from dataclasses import dataclass
from typing import NamedTuple

import jwt
from jwt.algorithms import get_default_algorithms

from shared.errors import ItemIndexError
from shared.printable import base64url

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
TOKEN_BYTES_MAX = 8_192
LEEWAY_SECONDS = 60
LIFETIME_SECONDS_MAX = 86_400
_KEY_TYPES = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
_CURVES = {"ES256": {"P-256"}, "EdDSA": {"Ed25519", "Ed448"}}
_RSA_BITS_MIN = 2048
_SAME_KID_MAX = 8
_OTHER_TOKENS = frozenset({"events", "scope", "scp", "client_id"})
_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)
_METHODS = get_default_algorithms()


class InvalidToken(ItemIndexError):
    """The text is not a valid ID token. The reason is not revealed: it would be an oracle."""


class ExpiredToken(InvalidToken):
    """The token was valid and has expired."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The person that a token names. Issuer and subject identify; the rest may change."""

    issuer: str
    subject: str
    email: str | None
    name: str
    email_verified: bool = False
    """Whether the provider states that the address was verified; without a statement it was not."""
    provider_session: str | None = None
    """The provider's session (`sid`) in which the token was made, where it names one."""


class Unverified(NamedTuple):
    """A well-formed token that is not verified yet."""

    algorithm: str
    kid: str | None
    signed: bytes
    signature: bytes
    claims: dict[str, object]


class VerificationKey(NamedTuple):
    """One key of the provider's set that can verify ID tokens."""

    kid: str | None
    algorithms: frozenset[str]
    key: object


def usable_keys(document: object) -> list[VerificationKey]:
    """Return the keys of a JWKS that we can use; others (unknown types, weak, for encryption) are skipped."""
    listed = document.get("keys") if isinstance(document, dict) else None
    keys = [_usable(entry) for entry in listed] if isinstance(listed, list) else []
    return [key for key in keys if key is not None]


def parse(text: str, types: tuple[str, ...] = ("JWT",)) -> Unverified:
    """Take a token apart. Raises InvalidToken for anything but a compact JWS of an allowed type and algorithm."""
    if len(text) > TOKEN_BYTES_MAX or not _FORM.fullmatch(text):
        raise InvalidToken
    head, payload, signature = text.split(".")
    header, claims = _object(head), _object(payload)
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if algorithm not in ALGORITHMS or "crit" in header or not isinstance(kind, str) or kind.upper() not in types:
        raise InvalidToken
    if kid is not None and (not isinstance(kid, str) or not 1 <= len(kid) <= 200):
        raise InvalidToken
    return Unverified(algorithm, kid, f"{head}.{payload}".encode(), _decode(signature), claims)


def select(token: Unverified, keys: list[VerificationKey]) -> list[VerificationKey]:
    """Return the keys that may have signed a token: those of its kid, of which a provider may publish several.

    A token that names no key fits only where there is exactly one key for its algorithm.
    """
    fitting = [key for key in keys if token.algorithm in key.algorithms]
    if token.kid is not None:
        return [key for key in fitting if key.kid == token.kid][:_SAME_KID_MAX]
    return fitting if len(fitting) == 1 else []


def verify(token: Unverified, keys: list[VerificationKey]) -> None:
    """Raise InvalidToken unless one of the keys made this signature."""
    if not any(_is_signed_by(token, key) for key in keys):
        raise InvalidToken


def check_claims(claims: dict[str, object], *, issuer: str, client_id: str, now: float) -> Identity:
    """Return the person that a token names. Raises ExpiredToken after its time, InvalidToken for a wrong claim."""
    if claims.get("iss") != issuer or not is_addressed_to(claims, client_id) or not _is_id_token(claims):
        raise InvalidToken
    expires, issued = moment_of(claims, "exp"), moment_of(claims, "iat")
    not_before = moment_of(claims, "nbf") if "nbf" in claims else issued
    if expires - issued > LIFETIME_SECONDS_MAX or max(issued, not_before) > now + LEEWAY_SECONDS:
        raise InvalidToken
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isprintable():
        raise InvalidToken
    if expires <= now - LEEWAY_SECONDS:
        raise ExpiredToken
    email = claims.get("email")
    believed = _is_text(email) and 3 <= len(str(email)) <= 254 and claims.get("email_verified", True) is True
    verified = believed and claims.get("email_verified") is True
    name = next((claims[k] for k in ("name", "preferred_username", "email") if _is_text(claims.get(k))), subject)
    sid = claims.get("sid")
    session = sid if isinstance(sid, str) and 1 <= len(sid) <= 255 else None
    return Identity(issuer, subject, str(email) if believed else None, str(name).strip()[:200], verified, session)


def _is_signed_by(token: Unverified, key: VerificationKey) -> bool:
    try:
        return bool(_METHODS[token.algorithm].verify(token.signed, key.key, token.signature))
    except Exception:  # noqa: BLE001 - whatever a library says of a forged signature, it is not valid
        return False


def _is_id_token(claims: dict[str, object]) -> bool:
    """Distinguish ID tokens from what the same provider signs for other purposes with the same key and audience.

    Logout tokens and other security events have `events` (OpenID Connect Back-Channel Logout, RFC 8417); access tokens
    have a scope or a client (RFC 9068); some providers name the kind in `typ` or `token_use`.
    """
    kind, nonce = claims.get("typ", "ID"), claims.get("nonce", "-")
    return (
        not _OTHER_TOKENS & claims.keys()
        and claims.get("token_use", "id") == "id"
        and isinstance(kind, str)
        and kind.upper() == "ID"
        and isinstance(nonce, str)
        and bool(nonce)
    )


def is_addressed_to(claims: dict[str, object], client_id: str) -> bool:
    """Return whether a token was made for this service."""
    audience, party = claims.get("aud"), claims.get("azp")
    if isinstance(audience, list):
        # With several audiences the token says which of them it was made for.
        return client_id in audience and (party == client_id if len(audience) > 1 else party in (None, client_id))
    return bool(audience == client_id and party in (None, client_id))


def moment_of(claims: dict[str, object], name: str) -> float:
    """Return a claim in seconds since 1970. Raises InvalidToken where it is missing or no number."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise InvalidToken
    return float(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _object(segment: str) -> dict[str, object]:
    try:
        value = json.loads(_decode(segment), object_pairs_hook=_without_twins, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InvalidToken from None
    if not isinstance(value, dict):
        raise InvalidToken
    return value


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a member comes twice")
    return made


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _decode(segment: str) -> bytes:
    try:
        raw = base64.b64decode(segment + "=" * (-len(segment) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidToken from None
    if base64url(raw) != segment:  # one spelling for one token
        raise InvalidToken
    return raw


def _usable(entry: object) -> VerificationKey | None:
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig" or "d" in entry:
        return None
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    kid, named = entry.get("kid"), entry.get("alg")
    if not all(value is None or isinstance(value, str) for value in (kid, named, entry.get("kty"), entry.get("crv"))):
        return None
    fitting = [
        a
        for a in ALGORITHMS
        if _KEY_TYPES[a] == entry.get("kty")
        and named in (None, a)
        and entry.get("crv") in _CURVES.get(a, {entry.get("crv")})
    ]
    if not fitting:
        return None
    try:
        key = jwt.PyJWK(entry, algorithm=fitting[0]).key
    except Exception:  # noqa: BLE001 - one odd key must not make the whole set unusable
        return None
    if entry["kty"] == "RSA" and key.key_size < _RSA_BITS_MIN:
        return None
    return VerificationKey(kid, frozenset(fitting), key)
