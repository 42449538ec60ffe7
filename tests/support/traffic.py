"""Callers of every kind who go on while something is done to the service, and note whatever was not right."""

import base64
import hashlib
import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

# Some twenty calls of each kind while an edge is replaced, and some jobs: more would only be work for the machine.
_PAUSE_SECONDS = 0.1
_ORDER_PAUSE_SECONDS = 1.0
_DEADLINE_SECONDS = 20.0
_READ_BYTES = 64 * 1024
_FIRST_DAY = date(2026, 1, 1)


class Traffic:
    """Calls until it is stopped. `failures` is what was not right; `answers` counts what was, by kind of call."""

    def __init__(self, port: int, key: str, iids: list[str], brand: str) -> None:
        self._port = port
        self._key = {"Authorization": f"ApiKey {key}"}
        self._iids = iids
        self._brand = brand
        self._days = count()
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._threads: list[threading.Thread] = []
        self.answers: Counter[str] = Counter()
        self.failures: list[str] = []
        self.jobs: list[str] = []
        self.revisions: Counter[str] = Counter()

    def start(self) -> None:
        """Let every kind of caller begin."""
        kinds: list[tuple[Callable[[], None], float]] = [
            (self._look_up, _PAUSE_SECONDS),
            (self._search, _PAUSE_SECONDS),
            (self._many, _PAUSE_SECONDS),
            (self._order, _ORDER_PAUSE_SECONDS),
            (self._post, _ORDER_PAUSE_SECONDS),
            (self._follow, 0.0),
            (self._health, _PAUSE_SECONDS),
        ]
        for ask, pause in kinds:
            self._threads.append(threading.Thread(target=self._go_on, args=(ask, pause), daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let every caller finish what it has begun."""
        self._end.set()
        for thread in self._threads:
            thread.join(60)
            if thread.is_alive():
                self.failures.append("a caller hangs")

    def download(self, path: str, seconds: float) -> threading.Thread:
        """Begin to read a file slowly, so that it takes about so long, and check every byte of it at the end."""
        thread = threading.Thread(target=self._guarded, args=(lambda: self._download(path, seconds),), daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def call(self, method: str, path: str, body: bytes | None = None, **head: str) -> tuple[int, Any]:
        """Ask once on a connection of its own; return status and document."""
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_DEADLINE_SECONDS)
        try:
            fields = {**self._key, **{name.replace("_", "-"): value for name, value in head.items()}}
            line.request(method, f"/v1{path}", body, fields)
            answer = line.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            line.close()

    def _go_on(self, ask: Callable[[], None], pause: float) -> None:
        while not self._end.wait(pause):
            self._guarded(ask)

    def _guarded(self, ask: Callable[[], None]) -> None:
        try:
            ask()
        except Exception as error:  # noqa: BLE001 - whatever a caller meets is what the test wants to know
            self.failures.append(f"{getattr(ask, '__name__', 'download')}: {error!r}")

    def _right(self, kind: str, status: int, *allowed: int, document: object = None) -> None:
        if status in allowed:
            with self._lock:
                self.answers[kind] += 1
        else:
            self.failures.append(f"{kind}: {status} {document or ''}")

    def _look_up(self) -> None:
        """Twenty on one connection, as a client with keep-alive does."""
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_DEADLINE_SECONDS)
        for n in range(20):
            line.request("GET", f"/v1/index/lookup/{self._iids[n % len(self._iids)]}", headers=self._key)
            answer = line.getresponse()
            answer.read()
            self._right("lookup", answer.status, 200)
            time.sleep(_PAUSE_SECONDS)
        line.close()

    def _search(self) -> None:
        self._right("search", self.call("GET", "/index/search?q=milk")[0], 200)

    def _many(self) -> None:
        asked = "&".join(f"iid={iid}" for iid in self._iids)
        self._right("batch", self.call("GET", f"/index/lookup?{asked}")[0], 200)

    def _health(self) -> None:
        status, document = self.call("GET", "/health")
        self._right("health", status, 200)
        self.revisions[document["revision"]] += 1

    def _order(self) -> None:
        number = next(self._days)
        first, last = _FIRST_DAY + timedelta(days=number % 180), _FIRST_DAY + timedelta(days=365 + number // 180)
        path = f"/index/cohorts?brand={self._brand}&from={first}&to={last}"
        status, document = self.call("GET", path, Prefer="respond-async")
        self._right("order", status, 200, 202, document=document)
        if status == 202:
            self.jobs.append(document["id"])

    def _post(self) -> None:
        """nginx never repeats a POST: the edge that gets it must answer it."""
        body = b'{"dataset": "brands", "format": "csv"}'
        head = {"Content_Type": "application/json", "Idempotency_Key": uuid4().hex}
        status, document = self.call("POST", "/index/exports", body, **head)
        self._right("post", status, 202, document=document)
        if status == 202:
            self.jobs.append(document["id"])

    def _follow(self) -> None:
        """Follow the newest job to its end; a stream that ends earlier continues at its position, at another edge."""
        if not self.jobs:
            time.sleep(_PAUSE_SECONDS)
            return
        path, seen, last = f"/v1/jobs/{self.jobs[-1]}/events", b"", ""
        for _ in range(20):
            line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_DEADLINE_SECONDS)
            line.request("GET", path, headers={**self._key, **({"Last-Event-ID": last} if last else {})})
            answer = line.getresponse()
            if answer.status == 204:  # it had ended with the last event that was seen
                break
            seen += answer.read()
            line.close()
            ids = [text[3:].strip() for text in seen.decode().splitlines() if text.startswith("id:")]
            last = ids[-1] if ids else last
            if b"event: done" in seen:
                break
            time.sleep(_PAUSE_SECONDS)
        self._right("follow", 200 if b"event: done" in seen else 0, 200)
        self._end.wait(_ORDER_PAUSE_SECONDS)

    def _download(self, path: str, seconds: float) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_DEADLINE_SECONDS)
        line.sock = socket.socket()  # with little room: the kernel would take much of it, and the edge were done early
        line.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _READ_BYTES)
        line.sock.settimeout(_DEADLINE_SECONDS)
        line.sock.connect(("127.0.0.1", self._port))
        line.request("GET", path, headers=self._key)
        answer = line.getresponse()
        length, total, digest = int(answer.headers["Content-Length"]), 0, hashlib.sha256()
        pause = seconds * _READ_BYTES / length
        while chunk := answer.read(_READ_BYTES):
            total += len(chunk)
            digest.update(chunk)
            time.sleep(pause)
        line.close()
        reported = base64.b64decode(answer.headers["Repr-Digest"].removeprefix("sha-256=:").removesuffix(":"))
        self._right("download", 200 if (total, digest.digest()) == (length, reported) else 0, 200)
