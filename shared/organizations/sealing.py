"""Short texts encrypted for the time between one request and the next. AES-256-GCM (NIST SP 800-38D)."""

import hashlib
import hmac
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


def sealing_key(secret: str, purpose: str, *parts: str) -> bytes:
    """Derive the key for one purpose: 32 bytes, different for each list of parts."""
    text = "\0".join((purpose, *parts))
    return hmac.digest(secret.encode(), text.encode(errors="surrogatepass"), hashlib.sha256)


def seal(key: bytes, plain: bytes) -> bytes:
    """Return the nonce and the ciphertext. Sealing the same text twice gives different bytes."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, None)


def unseal(key: bytes, sealed: bytes) -> bytes | None:
    """Return the text, or None where another key sealed it or a byte of it was changed."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
    except (InvalidTag, ValueError):
        return None
