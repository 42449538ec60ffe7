"""One GET of a feed: conditional, bounded in bytes and time, never inside the network, each redirect judged anew."""

import hashlib
import http.client
import ssl
import time
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from shared.errors import ItemIndexError
from shared.events.webhook_addresses import url_fault
from shared.printable import file_name
from workers.events.bounded_connection import Refused, open_connection, seconds_left, system_trust
from workers.events.poster import send_request

_HOPS_MAX = 5
_BLOCK_BYTES = 1 << 20
_REDIRECTS = (301, 302, 303, 307, 308)
_FIELD_CHARACTERS_MAX = 1_000
# Sent packed although no packing was asked for: the readers unpack by the beginning of a file, whatever its name.
_PACKINGS = {"", "identity", "gzip", "x-gzip", "zstd"}


class FetchFailed(ItemIndexError):
    """A feed could not be fetched; the text says why, without its address."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched, with what makes the next request conditional."""

    path: Path
    sha256: bytes
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches files of the public internet; with `private_allowed` also of a network's own hosts."""

    private_allowed: bool
    bytes_max: int
    seconds_max: float
    tls: ssl.SSLContext = field(default_factory=system_trust)

    def fetch(
        self, url: str, folder: Path, name: str | None = None, *, etag: str | None, last_modified: str | None
    ) -> Fetched | None:
        """Store what an address has in a folder; None where it is unchanged. Raises FetchFailed."""
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        fields = {key: value for key, value in conditions.items() if value}
        deadline = time.monotonic() + self.seconds_max
        for _ in range(_HOPS_MAX + 1):
            if fault := url_fault(url, private_allowed=self.private_allowed, plain_allowed=True):
                raise FetchFailed(f"the address {fault}")
            try:
                outcome = self._request_once(urlsplit(url), folder, name, fields, deadline)
            except Refused:
                raise FetchFailed(
                    "the address is inside a network; set FEED_PRIVATE_ADDRESSES where that is intended"
                ) from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise FetchFailed(self._reason(error, deadline)) from None
            if not isinstance(outcome, str):
                return outcome
            target = urljoin(url, outcome)
            if url.startswith("https:") and not target.startswith("https:"):
                raise FetchFailed("the address redirects from https to another scheme, which is not followed")
            url = target
        raise FetchFailed(f"the address redirects more than {_HOPS_MAX} times")

    def _request_once(
        self, parts: SplitResult, folder: Path, name: str | None, fields: dict[str, str], deadline: float
    ) -> Fetched | str | None:
        """Send one request; return the file, None where it is unchanged, or where a redirect leads."""
        with open_connection(parts, deadline, self.tls, private_allowed=self.private_allowed) as connection:
            own = {"User-Agent": "ItemIndex-Feeds/1", "Accept-Encoding": "identity"}
            response = send_request(connection, parts, "GET", {**own, **fields})
            if response.status == 304 and fields:
                return None
            if response.status in _REDIRECTS:
                return response.headers.get("Location") or ""
            if response.status != 200:
                raise FetchFailed(f"the server answered {response.status}, not 200")
            if (packing := response.headers.get("Content-Encoding", "").lower()) not in _PACKINGS:
                raise FetchFailed(f"the server sends the file packed as {packing[:40]!r}, which was not asked for")
            path = folder / (file_name(name or "") or _name_of(parts, response.headers))
            digest = self._store(response, path)
            seconds_left(deadline)  # a connection that is shut at the deadline looks like the end of the file
            etag, modified = (_condition_of(response.headers, name) for name in ("ETag", "Last-Modified"))
            return Fetched(path, digest, etag, modified)

    def _store(self, response: http.client.HTTPResponse, path: Path) -> bytes:
        digest, size = hashlib.sha256(), 0
        with path.open("xb") as file:
            while block := response.read(_BLOCK_BYTES):
                size += len(block)
                if size > self.bytes_max:
                    raise FetchFailed(f"the file has more than {self.bytes_max:,} bytes (FEED_BYTES_MAX)")
                digest.update(block)
                file.write(block)
        if response.length:
            raise FetchFailed(f"the connection ended {response.length:,} bytes before the end of the file")
        return digest.digest()

    def _reason(self, error: Exception, deadline: float) -> str:
        if isinstance(error, TimeoutError) or time.monotonic() >= deadline:
            return f"the file was not complete after {self.seconds_max:g} seconds (FEED_SECONDS_MAX)"
        if isinstance(error, ssl.SSLError):
            return "the connection by TLS failed; look at the server's certificate"
        if isinstance(error, OSError) and error.strerror:
            return f"the server cannot be reached: {error.strerror}"
        return "the server's answer cannot be read as HTTP"


def _name_of(parts: SplitResult, headers: Message) -> str:
    """Return the name under which the file is loaded: what the server calls it, else the end of the address's path."""
    return file_name(headers.get_filename() or "") or file_name(unquote(parts.path)) or "feed"


def _condition_of(headers: Message, name: str) -> str | None:
    value = headers.get(name)
    return value if value and len(value) <= _FIELD_CHARACTERS_MAX and value.isprintable() and value.isascii() else None
