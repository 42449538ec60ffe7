"""Credentials that stand in the path of an address, for tools that can send no header.

Nothing is stored: one names an API key and is signed. It opens only the routes whose rule takes it, and ends with its
key. Its form is that of the other credentials, so that logs leave it out.
"""

import re

from edge.auth.text_signer import TextSigner
from shared.organizations.credentials import ID_CHARACTERS, PATH_PREFIX

_DOMAIN = b"item-index/path-key/1\0"
# 160 bits, as hexadecimal digits: with other characters a log would end too soon what it leaves out.
_SIGNATURE_CHARACTERS = 40
_FORM = re.compile(rf"{PATH_PREFIX}([0-9A-Za-z]{{{ID_CHARACTERS}}})([0-9a-f]{{{_SIGNATURE_CHARACTERS}}})", re.ASCII)


class PathKeys:
    """Makes credentials with the first of the secrets; accepts those of every one."""

    def __init__(self, *secrets: str) -> None:
        self._signer = TextSigner(_DOMAIN, lambda mac: mac.hex()[:_SIGNATURE_CHARACTERS], *secrets)

    def issue(self, key_id: str) -> str:
        """Make the credential for the API key of this id."""
        return f"{PATH_PREFIX}{key_id}{self._signer.sign(key_id)}"

    def key_id(self, text: str) -> str | None:
        """Return the id of the key that a credential names; None where this service did not make it."""
        form = _FORM.fullmatch(text)
        return form[1] if form is not None and self._signer.has_signed(form[1], form[2]) else None
