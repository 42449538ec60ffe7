"""The API as a paying customer calls it."""

import http.client
import json
import time
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

_TIMEOUT_SECONDS = 60
_TRIES_MAX = 60


class Reply(NamedTuple):
    """An answer: its status, its fields, and its body, decoded where it is JSON (numbers exactly, as decimals)."""

    status: int
    fields: dict[str, str]
    body: Any


class Client:
    """One connection with one key. It waits for reports, for a burst limit to pass, and while a busy service cannot answer."""

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.key = key
        self._line = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=_TIMEOUT_SECONDS)

    def get(self, path: str, parameters: dict[str, Any] | None = None, **fields: str) -> Reply:
        """Ask for a path below the base URL; a list in `parameters` repeats its name."""
        return self._send("GET", address(path, parameters), None, fields)

    def post(self, path: str, document: Any, **fields: str) -> Reply:
        """Send a JSON document."""
        return self._send("POST", path, json.dumps(document).encode(), {"Content-Type": "application/json", **fields})

    def put(self, path: str, document: Any) -> Reply:
        """Send a JSON document to the path that it is for."""
        return self._send("PUT", path, json.dumps(document).encode(), {"Content-Type": "application/json"})

    def delete(self, path: str) -> Reply:
        """Delete what a path is of."""
        return self._send("DELETE", path, None, {})

    def raw(self, url: str) -> bytes:
        """Download a file of ours by its whole URL; raise OSError where it cannot be had."""
        reply = self._send("GET", url.removeprefix(self.base_url), None, {"Accept-Encoding": "identity"})
        if reply.status != 200 or not isinstance(reply.body, bytes):
            raise OSError(f"{url}: {reply.status} {reply.body!r}")
        return reply.body

    def close(self) -> None:
        """End the connection."""
        self._line.close()

    def _send(self, method: str, path: str, body: bytes | None, fields: dict[str, str]) -> Reply:
        head = {"Authorization": f"ApiKey {self.key}", "Prefer": "wait=30", **fields}
        for _ in range(_TRIES_MAX):
            try:
                self._line.request(method, urlsplit(self.base_url).path + path, body, head)
                response = self._line.getresponse()
            except http.client.RemoteDisconnected:
                # The connection was idle while a long question was recomputed; the next try makes another one.
                self._line.close()
                continue
            found = Reply(response.status, dict(response.getheaders()), response.read())
            waits = found.status in (429, 503) or (found.status == 202 and method == "GET")
            if not waits:
                break
            time.sleep(min(float(found.fields.get("Retry-After", 1)), 2.0))
        return found._replace(body=_decoded(found))


def address(path: str, parameters: dict[str, Any] | None) -> str:
    """Return a path with its query, as it is sent."""
    given = {name: value for name, value in (parameters or {}).items() if value not in (None, [], "")}
    return quote(path, safe="/-._~") + (f"?{urlencode(given, doseq=True)}" if given else "")


def _decoded(reply: Reply) -> Any:
    if "json" not in reply.fields.get("Content-Type", "") or "ndjson" in reply.fields.get("Content-Type", ""):
        return reply.body
    return json.loads(reply.body, parse_float=Decimal)
