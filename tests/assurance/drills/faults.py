"""What goes wrong in the drill of outages, one thing at a time, and how it is done and undone.

The policy: availability fails open to a bound, entitlement and money fail closed, accepted work stays. So each fault
names the calls that may be answered otherwise than usual, and how; what it does not name must be answered as usual.
"""

import os
import resource
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from deploy.local.service_process import ServiceProcess
from deploy.local.stack import Stack
from shared.db.connect import connect
from shared.redis.connect import connect_store
from tests.assurance.drills import clock_skew, fault_proxy
from tests.assurance.drills.clock_skew_stores import DAY_SECONDS, step_database, step_state_store
from tests.assurance.drills.processes import family_of, limit_files, signal_all

SLOW_MILLISECONDS = 200
_STEP_SECONDS = 3_600
# From noon: to a minute past midnight.
_PAST_MIDNIGHT_SECONDS = DAY_SECONDS // 2 + 60
_SWING_SECONDS = 0.5
_UNAVAILABLE = frozenset({503})
_AWAY_SECONDS_MORE = 1.0
_RESTART_SECONDS = 1.0
_DEADLINE_SECONDS = 5.0

# Whatever needs PostgreSQL may say that it cannot, and nothing else: a good key is never called a bad one.
DATABASE = dict.fromkeys(
    (
        "ready",
        "lookup",
        "lookup, cold",
        "free lookup",
        "anonymous lookup",
        "limited lookup",
        "search",
        "brands",
        "unknown key",
        "cohort",
        "stored report",
        "download",
        "ID token",
        "dashboard",
    ),
    _UNAVAILABLE,
)
# Nothing can be counted: a little is served to each network, paid work continues, signing in fails.
STATE = {
    "free lookup": frozenset({429}),
    "anonymous lookup": frozenset({429}),
    "ID token": _UNAVAILABLE,
    "dashboard": _UNAVAILABLE,
}
# What is reached by a link alone: no process of ours that could be killed.
OBJECTS = "objects"
RESULTS = {"stored report": _UNAVAILABLE, "download": _UNAVAILABLE}
CLOCK = {"ID token": frozenset({401})}
# Reading is as usual; a call that must write says that it cannot.
READ_ONLY = {"cohort": _UNAVAILABLE}
# For the moment between the death of the front and its new start no one answers.
FRONT = dict.fromkeys(("health", *DATABASE), frozenset({0, 502}))
NOTHING: dict[str, frozenset[int]] = {}


@dataclass(frozen=True)
class Fault:
    """What goes wrong with which parts, and which calls may then be answered otherwise than usual."""

    name: str
    mode: str
    parts: tuple[str, ...]
    otherwise: dict[str, frozenset[int]] = field(default_factory=dict)

    @property
    def clock_is_off(self) -> bool:
        """Whether the clocks of the edges and of PostgreSQL differ, so that `/v1/ready` must say so."""
        return self.mode in ("ahead", "behind", "set back") and self.parts != ("state",)

    @property
    def is_felt(self) -> bool:
        """Whether some caller must miss what is gone: a round in which none does has tried nothing."""
        return self.mode in ("hangs", "down", "read-only", "away") and any(
            self.otherwise is policy for policy in (DATABASE, STATE, RESULTS, READ_ONLY)
        )

    @property
    def counting(self) -> str:
        """Whether quotas are exact to the call: `exact`, `partly` while the store answers, or `not at all`.

        `twice`: the store's clock is on two days, each with an allowance of its own, and no more than that.
        """
        if self.mode == "midnight":
            return "twice"
        if self.mode in ("emptied", "beheaded"):
            return "partly"
        if self.otherwise is not STATE:
            return "exact"
        return "partly" if self.mode in ("restarts", "full") else "not at all"


def _each(what: str, part: str, otherwise: dict[str, frozenset[int]]) -> tuple[Fault, ...]:
    return (
        Fault(f"{what} hangs", "hangs", (part,), otherwise),
        Fault(f"{what} is down", "down", (part,), otherwise),
        Fault(f"{what} is slow", "slow", (part,), otherwise),
        Fault(f"{what} restarts", "restarts", (part,), otherwise),
    )


FAULTS = (
    *_each("PostgreSQL", "postgres", DATABASE),
    Fault("PostgreSQL's disk is full", "full", ("postgres",), DATABASE),
    Fault("PostgreSQL is read-only", "read-only", ("postgres",), READ_ONLY),
    *_each("the state store", "state", STATE),
    Fault("the state store's disk is full", "full", ("state",), STATE),
    Fault("the state store is emptied", "emptied", ("state",), NOTHING),
    *_each("the cache store", "cache", NOTHING),
    *_each("the broker", "broker", NOTHING),
    *_each("the identity provider", "identity", {"dashboard": _UNAVAILABLE}),
    Fault("the store of results is unavailable", "away", (), RESULTS),
    *_each("the object store", OBJECTS, RESULTS),
    Fault("the workers' disk is full", "full", ("worker",), NOTHING),
    Fault("dispatcher and workers are down", "down", ("dispatcher", "worker"), NOTHING),
    Fault("workers stand still", "hangs", ("worker",), NOTHING),
    Fault("one edge is blocked", "hangs", ("edge-a",), NOTHING),
    Fault("nginx's master is killed", "beheaded", ("nginx",), FRONT),
    Fault("one edge is down", "down", ("edge-a",), NOTHING),
    Fault("the other edge restarts", "restarts", ("edge-b",), NOTHING),
    Fault("the edges' clock is an hour ahead", "ahead", (), CLOCK),
    Fault("the edges' clock is an hour behind", "behind", (), CLOCK),
    Fault("the state store's clock is an hour ahead", "ahead", ("state",)),
    Fault("the state store's clock is an hour behind", "behind", ("state",)),
    Fault("the state store's clock crosses midnight and back", "midnight", ("state",)),
    Fault("PostgreSQL's clock is an hour ahead", "ahead", ("postgres",)),
    Fault("PostgreSQL's clock is an hour behind", "behind", ("postgres",)),
    Fault(
        "PostgreSQL's clock is set back while dispatcher and workers stand still", "set back", ("dispatcher", "worker")
    ),
)


def faults_of(*, bucket: bool) -> list[Fault]:
    """Return what can go wrong: results are stored in a directory or in a bucket."""
    other = "away" if bucket else OBJECTS
    return [fault for fault in FAULTS if fault.mode != other and other not in fault.parts]


def chosen(faults: list[Fault], only: tuple[str, ...]) -> list[Fault]:
    """Return the faults that have any of these words in their names; all of them where none is given."""
    return [fault for fault in faults if not only or any(word in fault.name for word in only)]


class Trouble:
    """Makes a fault happen on a stack, and ends it. `noon` is how far ahead the state store's clock usually is."""

    def __init__(self, stack: Stack, noon: int) -> None:
        self._stack = stack
        self._noon = noon
        self._paths = stack.paths
        self._results = stack.settings.results_dir

    def begin(self, fault: Fault, seconds: float) -> Callable[[], None]:
        """Make it happen; return what ends it. Dead parts stay dead for about so many seconds."""
        match fault.mode:
            case "hangs" | "down" | "restarts" if OBJECTS in fault.parts:
                return self._turn_link(fault.mode)
            case "hangs":
                children = self._children(fault)
                signal_all(children, signal.SIGSTOP)
                return lambda: signal_all(children, signal.SIGCONT)
            case "down" | "restarts":
                children = self._children(fault)
                for child in children:
                    if fault.mode == "down":
                        child.hold(seconds + _AWAY_SECONDS_MORE)
                signal_all(children, signal.SIGKILL)
                return lambda: None  # the stack revives them
            case "beheaded":
                for child in self._children(fault):
                    assert child.process is not None
                    os.kill(child.process.pid, signal.SIGKILL)  # its workers live on, and hold the port
                return lambda: None
            case "emptied":
                with connect_store(self._stack.settings.state_url, deadline_seconds=_DEADLINE_SECONDS) as store:
                    store.flushall()
                step_state_store(self._stack.settings, self._noon)  # a flush does not set a clock
                return lambda: None
            case "read-only":
                self._make_read_only(True)
                return lambda: self._make_read_only(False)
            case "slow":
                fault_proxy.turn(self._paths, fault.parts[0], SLOW_MILLISECONDS)
                return lambda: fault_proxy.turn(self._paths, fault.parts[0], 0)
            case "full":
                return self._fill(self._children(fault))
            case "away":
                return self._take_results_away()
            case "ahead" | "behind":
                return self._step(fault.parts, _STEP_SECONDS if fault.mode == "ahead" else -_STEP_SECONDS)
            case "set back":
                return self._set_back(self._children(fault))
            case "midnight":
                return self._swing()
        raise ValueError(fault.mode)

    def _step(self, parts: tuple[str, ...], seconds: int) -> Callable[[], None]:
        """Step the clock of a store, or that of the edges where none is named."""
        settings, noon = self._stack.settings, self._noon
        if "postgres" in parts:
            step_database(settings, seconds)
            return lambda: step_database(settings, 0)
        if "state" in parts:
            step_state_store(settings, noon + seconds)
            return lambda: step_state_store(settings, noon)
        clock_skew.file_of(self._paths).write_text(str(seconds))
        return lambda: clock_skew.file_of(self._paths).unlink()

    def _set_back(self, children: list[ServiceProcess]) -> Callable[[], None]:
        """Let what is ordered bear the time of a clock that is ahead, and nothing of it be begun before that ends."""
        signal_all(children, signal.SIGSTOP)
        correct = self._step(("postgres",), _STEP_SECONDS)

        def end() -> None:
            correct()
            signal_all(children, signal.SIGCONT)

        return end

    def _swing(self) -> Callable[[], None]:
        """Let the state store's clock cross midnight and go back to noon until it is ended; it ends at noon."""
        over = threading.Event()

        def swing() -> None:
            while not over.is_set():
                go_back = self._step(("state",), _PAST_MIDNIGHT_SECONDS)
                over.wait(_SWING_SECONDS)
                go_back()
                over.wait(_SWING_SECONDS)

        swinging = threading.Thread(target=swing, name="clock", daemon=True)
        swinging.start()

        def end() -> None:
            over.set()
            swinging.join()

        return end

    def _make_read_only(self, read_only: bool) -> None:
        """Let the server accept no changes, as a demoted primary does; sessions that are open are concerned as well."""
        value = "on" if read_only else "off"
        with connect(self._stack.settings.database_url, application="drill", autocommit=True) as connection:
            connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
            connection.execute("SELECT pg_reload_conf()")

    def _children(self, fault: Fault) -> list[ServiceProcess]:
        named = [child for child in self._stack.children if child.program.name.startswith(fault.parts)]
        return [child for child in named if child.process is not None]

    def _turn_link(self, mode: str) -> Callable[[], None]:
        def pass_again() -> None:
            fault_proxy.turn(self._paths, OBJECTS, "pass")

        fault_proxy.turn(self._paths, OBJECTS, "stall" if mode == "hangs" else "cut")
        if mode == "restarts":
            threading.Timer(_RESTART_SECONDS, pass_again).start()
        return pass_again

    def _take_results_away(self) -> Callable[[], None]:
        # As when a volume is not mounted: another file is where the directory was, so that no process makes a new one.
        aside = self._results.with_name("results-aside")
        self._results.rename(aside)
        self._results.touch()

        def bring_back() -> None:
            self._results.unlink()
            aside.rename(self._results)

        return bring_back

    def _fill(self, children: list[ServiceProcess]) -> Callable[[], None]:
        """Let no file of these processes grow by a byte, their logs included: a full disk that needs no root.

        The kernel says EFBIG where a full disk says ENOSPC; everything else is the same.
        """
        families = [pid for child in children for pid in family_of(child)]
        for pid in families:
            limit_files(pid, 0)

        def free() -> None:
            for pid in {*families, *(pid for child in children for pid in family_of(child))}:
                limit_files(pid, resource.RLIM_INFINITY)

        return free
