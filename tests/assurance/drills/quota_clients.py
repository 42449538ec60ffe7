"""QuotaClients with limits: each asks every edge at once, for the same thing, and counts what it was given."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.assurance.drills.client import asked

_PAUSE_SECONDS = 0.04
ANSWER_SECONDS_MAX = 8.0


@dataclass
class CallCounts:
    """What one account got from one edge. `uncounted` were served while the edge could not ask the state store."""

    counted: int = 0
    uncounted: int = 0
    usual: Counter[int] = field(default_factory=Counter)
    disturbed: Counter[int] = field(default_factory=Counter)
    slowest_seconds: float = 0.0


@dataclass
class Account:
    """Whose calls are counted together, how many of them may be served in a day, and from which address they come.

    `uncounted_max` is what one process of an edge may serve of them without the state store; None: paid work continues.
    """

    name: str
    head: dict[str, str]
    source: str
    limit: int
    uncounted_max: int | None
    tallies: dict[str, CallCounts] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """How many were served by count, over all edges."""
        return sum(tally.counted for tally in self.tallies.values())

    @property
    def uncounted(self) -> int:
        """How many were served without count, over all edges."""
        return sum(tally.uncounted for tally in self.tallies.values())


class QuotaClients:
    """Asks for one item on behalf of all accounts, until stopped. Threads stay on the host where this is started."""

    def __init__(self, edges: dict[str, str], port: int, path: str) -> None:
        self._edges = edges
        self._port = port
        self._path = path
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        self.disturbed: set[str] = set()
        """Edges that are cut off, or not yet well again."""

    def begin(self, account: Account) -> None:
        """Have an account ask every edge, again and again."""
        for edge in self._edges:
            tally = account.tallies[edge] = CallCounts()
            thread = threading.Thread(target=self._ask_on, args=(account, edge, tally), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Have every client end its calls."""
        self._over.set()
        for thread in self._threads:
            thread.join(ANSWER_SECONDS_MAX + 2)

    def _ask_on(self, account: Account, edge: str, tally: CallCounts) -> None:
        while not self._over.wait(_PAUSE_SECONDS):
            disturbed, began = edge in self.disturbed, time.monotonic()
            status, counted = self._ask(account, edge)
            tally.slowest_seconds = max(tally.slowest_seconds, time.monotonic() - began)
            (tally.disturbed if disturbed or edge in self.disturbed else tally.usual)[status] += 1
            if status == 200:
                tally.counted += counted
                tally.uncounted += not counted

    def _ask(self, account: Account, edge: str) -> tuple[int, bool]:
        """Return the status, 0 where no answer came, and whether the answer states what it was counted as."""
        status, fields, _ = asked(
            self._edges[edge],
            self._port,
            "GET",
            self._path,
            account.head,
            seconds=ANSWER_SECONDS_MAX,
            source=account.source,
        )
        return status, "RateLimit" in fields
