"""Where the client calls and with which credential: from its arguments, the environment, or the keyring."""

import os
import re
from dataclasses import dataclass

import httpx

from itemindex_client.errors import InvalidSetting, KeyNeeded

VERSION = "1.0.0"
URL = "http://127.0.0.1:8080/v1"
# Printed in the documentation of every installation; it is no secret.
ANONYMOUS_TOKEN = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK"  # noqa: S105
_KEYRING_SERVICE = "itemindex"
# What httpx calls itself where its caller gave no name.
_NAMELESS = "python-httpx/"
# The address of a server alone: the API that this client speaks is below /v1.
_SERVER = re.compile(r"https?://[^/?#]+")


@dataclass(frozen=True)
class Credentials:
    """The address of the API, an API key or none, and a public token for the free calls."""

    url: str
    key: str | None
    token: str

    def headers(self, *, key_needed: bool) -> dict[str, str]:
        """Return the header that authenticates a call. Raises KeyNeeded for a paid call without a key."""
        if self.key:
            return {"Authorization": f"ApiKey {self.key}"}
        if key_needed:
            raise KeyNeeded("this call needs an API key: set ITEMINDEX_KEY, or pass key=… to the client")
        return {"X-Service-Public-Token": self.token}

    def are_for(self, url: str) -> bool:
        """Return whether an address is the API's own: another server must not see the key."""
        own, other = httpx.URL(self.url), httpx.URL(url)
        return (own.scheme, own.host, own.port) == (other.scheme, other.host, other.port)

    def __repr__(self) -> str:
        return f"Credentials(url={self.url!r}, key={'set' if self.key else None})"


def user_agent(http: httpx.Client | httpx.AsyncClient) -> dict[str, str]:
    """Return the header that names this client, unless the client of httpx has a name of its own."""
    named = http.headers.get("User-Agent", _NAMELESS)
    return {"User-Agent": f"itemindex-client/{VERSION}"} if named.startswith(_NAMELESS) else {}


def credentials(url: str | None, key: str | None, token: str | None) -> Credentials:
    """Return the arguments, else ITEMINDEX_URL, ITEMINDEX_KEY and ITEMINDEX_TOKEN, else the key of the keyring.

    Raises InvalidSetting for what can be no address, key or token.
    """
    address = (url or os.environ.get("ITEMINDEX_URL") or URL).rstrip("/")
    address += "/v1" if _SERVER.fullmatch(address) else ""
    made = Credentials(
        url=address,
        key=key or os.environ.get("ITEMINDEX_KEY") or _from_keyring(address),
        token=token or os.environ.get("ITEMINDEX_TOKEN") or ANONYMOUS_TOKEN,
    )
    _check(made)
    return made


def _check(credentials: Credentials) -> None:
    try:
        usable = httpx.URL(credentials.url).scheme in ("http", "https")
    except httpx.InvalidURL:
        usable = False
    if not usable:
        raise InvalidSetting(
            f"{credentials.url!r} is not the address of an API: it must begin with http:// or https://"
        )
    for name, text in (("key", credentials.key or ""), ("token", credentials.token)):
        if not (text.isascii() and text.isprintable()):
            raise InvalidSetting(f"the {name} has characters that no {name} has")


def _from_keyring(url: str) -> str | None:
    """Return the key that the keyring holds under the address, where the package `keyring` is installed."""
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        key: str | None = keyring.get_password(_KEYRING_SERVICE, url)
    except keyring.errors.KeyringError:  # the package is installed, and this machine has no store of secrets
        return None
    return key
