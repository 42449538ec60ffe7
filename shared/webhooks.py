"""How a notice to another system is signed: Standard Webhooks 1.0, symmetric signatures. Pure."""

import base64
import hashlib
import hmac


def signed_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a notice. `timestamp` is in seconds since 1970; receivers refuse an old one."""
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    signature = base64.b64encode(hmac.digest(secret.encode(), signed, hashlib.sha256)).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{signature}",
    }
