"""Signatures of texts that the service gives out and takes back, such as in addresses."""

import hashlib
import hmac
from collections.abc import Callable


class TextSigner:
    """Signs texts for one purpose with the first of the secrets; accepts the signatures of every one.

    `domain` is different for each purpose: no signature of one is one of another. `spell` writes a MAC of 32 bytes.
    """

    def __init__(self, domain: bytes, spell: Callable[[bytes], str], *secrets: str) -> None:
        self._domain = domain
        self._spell = spell
        self._secrets = [secret.encode() for secret in secrets]

    def sign(self, text: str) -> str:
        """Return the signature of a text."""
        return self._sign(self._secrets[0], text)

    def has_signed(self, text: str, signature: str) -> bool:
        """Return whether a signature, which must be ASCII, was made here for this text."""
        # All are compared, so that the time taken does not tell which secret is in use.
        same = [hmac.compare_digest(self._sign(secret, text), signature) for secret in self._secrets]
        return any(same)

    def _sign(self, secret: bytes, text: str) -> str:
        return self._spell(hmac.digest(secret, self._domain + text.encode(), hashlib.sha256))
