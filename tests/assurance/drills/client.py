"""A client as clients should be: whatever goes wrong on the way, it asks again, until it has an answer that counts."""

import http.client
import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from typing import Any

_PAUSE_SECONDS = 0.3
_TIMEOUT_SECONDS = 10.0


def asked(
    address: str,
    port: int,
    method: str,
    path: str,
    head: Mapping[str, str],
    body: bytes | None = None,
    *,
    seconds: float = _TIMEOUT_SECONDS,
    source: str = "",
) -> tuple[int, Message, bytes]:
    """Ask once, from an address of this machine if one is given; return status, header fields and body.

    Where no whole answer came, which is never right, the status is 0 and the body says why.
    """
    line = http.client.HTTPConnection(address, port, timeout=seconds, source_address=(source, 0) if source else None)
    try:
        line.request(method, path, body, dict(head))
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as error:
        return 0, Message(), repr(error).encode()
    finally:
        line.close()


class Client:
    """Asks through the front with one key. Counts how often it had to ask again."""

    def __init__(self, address: str, port: int, key: str, ends: float) -> None:
        self._address = address
        self._port = port
        self._key = key
        self._ends = ends
        self.again = 0

    def get(self, path: str, **fields: str) -> tuple[int, bytes]:
        """GET until the status is not one that asks to come back; raise TimeoutError when the drill's time is over."""
        while time.monotonic() < self._ends:
            status, body = self.once(path, **fields)
            if status and status not in (401, 429, 500, 502, 503, 504):
                return status, body
            self.again += 1
            time.sleep(_PAUSE_SECONDS)
        raise TimeoutError(path)

    def once(self, path: str, **fields: str) -> tuple[int, bytes]:
        """GET once; the status is 0 where no answer came."""
        head = {"Authorization": f"ApiKey {self._key}", **{name.replace("_", "-"): v for name, v in fields.items()}}
        status, _, body = asked(self._address, self._port, "GET", f"/v1{path}", head)
        return status, body


def ask_all(client: Client, questions: Iterable[tuple[str, str]], threads: int) -> None:
    """Ask all questions, so many at a time."""

    def ask(question: tuple[str, str]) -> None:
        first, last = question
        client.get(f"/index/rollups/sustainability?from={first}&to={last}", Prefer="respond-async")

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, questions))


def decoded(body: bytes) -> Any:
    """Return the JSON of an answer."""
    return json.loads(body)
