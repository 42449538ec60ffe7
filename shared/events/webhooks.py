"""How a notice to another system is signed and sent again: Standard Webhooks 1.0, symmetric signatures. Pure."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence

from shared.organizations.sealing import seal, sealing_key, unseal

SECRET_PREFIX = "whsec_"  # noqa: S105 - the form of secrets, and none itself
_SECRET_BYTES = 32
RETRY_SECONDS = (5, 30, 120, 600, 1_800, 3_600, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""How long after each failure in a row an event is sent again; after one more failure its webhook is disabled."""
ROTATION_SECONDS = 86_400
"""How long both secrets sign after a rotation."""
ENDPOINTS_MAX = 20
"""How many webhooks an organization may have."""
REPLAYED_MAX = 10_000
"""How many events one replay may send again."""


def new_secret() -> str:
    """Return a secret as receivers keep it: `whsec_` and 32 random bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """Return the bytes that a secret of `new_secret` signs with."""
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX))


def signature_headers(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a notice with a signature by each key: during a rotation there are two.

    `timestamp` is in seconds since 1970; receivers refuse an old one.
    """
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    signatures = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


_PURPOSE = "webhook"


def seal_secret(signing_secret: str, endpoint: str, secret: str) -> bytes:
    """Return a webhook's secret, encrypted. `endpoint` is the webhook's id."""
    return seal(sealing_key(signing_secret, _PURPOSE, endpoint), secret.encode())


def open_secret(signing_secrets: Iterable[str], endpoint: str, sealed: bytes) -> str | None:
    """Return the secret of `seal_secret`, None where no signing secret opens it."""
    keys = (sealing_key(secret, _PURPOSE, endpoint) for secret in signing_secrets)
    opened = (plain for key in keys if (plain := unseal(key, sealed)) is not None)
    return next((plain.decode() for plain in opened), None)
