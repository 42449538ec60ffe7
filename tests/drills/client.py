"""A client as clients should be: whatever goes wrong on the way, it asks again, until it has an answer that counts."""

import http.client
import json
import threading
import time
from collections.abc import Iterable
from typing import Any

_PAUSE_SECONDS = 0.3
_TIMEOUT_SECONDS = 10.0


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
        line = http.client.HTTPConnection(self._address, self._port, timeout=_TIMEOUT_SECONDS)
        try:
            head = {"Authorization": f"ApiKey {self._key}", **{name.replace("_", "-"): v for name, v in fields.items()}}
            line.request("GET", f"/v1{path}", headers=head)
            response = line.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            line.close()


def ask_all(client: Client, questions: Iterable[tuple[str, str]], threads: int) -> dict[int, int]:
    """Ask all questions, some at a time; return how often each status came."""
    waiting = iter(list(questions))
    lock, statuses = threading.Lock(), dict[int, int]()

    def work() -> None:
        while True:
            with lock:
                question = next(waiting, None)
            if question is None:
                return
            path = f"/index/rollups/sustainability?from={question[0]}&to={question[1]}"
            status, _ = client.get(path, Prefer="respond-async")
            with lock:
                statuses[status] = statuses.get(status, 0) + 1

    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return statuses


def decoded(body: bytes) -> Any:
    """Return the JSON of an answer."""
    return json.loads(body)
