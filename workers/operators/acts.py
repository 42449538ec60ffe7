"""Acts that operators order in the dashboard: each is done once, by the function of the command of its name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect, unavailable
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, StoreUnavailable
from shared.settings.settings import Settings
from shared.telemetry.log import Log, trace_of
from workers.ingest.feeds.registry import set_feed_state
from workers.operators.jobs import cancel_job, retry_job
from workers.operators.organizations import change_organization, create_organization, set_plan, set_role

SQL = load_queries(__file__, "acts.sql")


@dataclass(frozen=True, slots=True)
class OperatorAct:
    """An act as it was ordered: its name, what it is about, who ordered it, and what else the form said."""

    id: int
    act: str
    subject: str
    person: str
    arguments: dict[str, Any]


Perform = Callable[[Connection, OperatorAct], object]
"""Does an act in the caller's transaction and returns what its page shows of it. Raises ItemIndexError to refuse it."""


class OperatorActs:
    """Does the acts of some names that wait, one after another, in their order.

    `lock` is taken before each of them is claimed; it may commit.
    """

    def __init__(
        self,
        settings: Settings,
        log: Log,
        performs: Mapping[str, Perform],
        lock: Callable[[Connection], None] | None = None,
    ) -> None:
        self._settings = settings
        self._log = log
        self._performs = performs
        self._names = list(performs)
        self._lock = lock

    def waiting(self, connection: Connection) -> bool:
        """Return whether any of them waits."""
        return connection.execute(SQL.waiting, (self._names,)).fetchone() == (True,)

    def serve(self) -> None:
        """Do all that wait. An outage is raised, and the act stays waiting."""
        with connect(self._settings.database_url, application="operators") as connection:
            while self.waiting(connection):
                if self._lock is not None:
                    self._lock(connection)
                row = connection.execute(SQL.claim, (self._names,)).fetchone()
                if row is not None:
                    self._do(connection, OperatorAct(*row))
                connection.commit()

    def _do(self, connection: Connection, act: OperatorAct) -> None:
        state, detail, outcome = "done", None, None
        try:
            with connection.transaction():
                outcome = self._performs[act.act](connection, act)
        except StoreUnavailable:
            raise
        except ItemIndexError as error:
            state, detail = "refused", str(error)
        except Exception as error:
            if isinstance(error, psycopg.Error) and unavailable(error):
                raise
            self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
            state, detail = "refused", f"an unexpected error ({type(error).__name__}); the log says where"
        connection.execute(SQL.finish, (act.id, state, detail, None if outcome is None else Jsonb(outcome)))
        self._log.info("operator-act", act=act.act, state=state, operator=act.person)


def account_acts(settings: Settings, log: Log, examine: Callable[[], list[dict[str, Any]]]) -> OperatorActs:
    """Return the acts that take no longer than a moment. `examine` returns what `itemindex doctor` finds."""
    performs: dict[str, Perform] = {
        "organization.create": lambda c, a: create_organization(c, a.subject, a.arguments["plan"]),
        "organization.plan": lambda c, a: _change(c, a, plan=a.arguments["plan"]),
        "organization.suspend": lambda c, a: _change(c, a, state="suspended"),
        "organization.activate": lambda c, a: _change(c, a, state="active"),
        "plan.approve": lambda c, a: _change(c, a, request="approve"),
        "plan.decline": lambda c, a: _change(c, a, request="decline"),
        "plan.set": lambda c, a: set_plan(c, a.subject, a.arguments),
        "member.role": lambda c, a: set_role(c, a.subject, a.arguments["person"], a.arguments["role"]),
        "job.cancel": lambda c, a: cancel_job(c, a.subject),
        "job.retry": lambda c, a: retry_job(c, a.subject),
        "feed.pause": lambda c, a: set_feed_state(c, a.subject, "paused"),
        "feed.resume": lambda c, a: set_feed_state(c, a.subject, "active"),
        "feed.remove": lambda c, a: set_feed_state(c, a.subject, "removed"),
        "release.cut": _cut,
        "service.examine": lambda c, a: examine(),
    }
    return OperatorActs(settings, log, performs)


def load_acts(settings: Settings, log: Log) -> OperatorActs:
    """Return the acts on loads and models, which take as long as a load does and wait for one that runs."""

    def undo_load(connection: Connection, act: OperatorAct) -> dict[str, Any]:
        from workers.provenance.undo import undo

        reason = act.arguments.get("reason") or "undone in the dashboard"
        return {"data_version": undo(connection, act.subject, act.person, reason, settings.match_dir)}

    def train_model(connection: Connection, act: OperatorAct) -> dict[str, Any]:
        from workers.articles import models  # needs numpy, SciPy and pyarrow, which waiting must not
        from workers.provenance import standing

        decisions = standing.read_acts(connection).decisions
        decided = {models.pair_of(one.left_id, one.right_id): one.same for one in decisions}
        return {"digest": models.train(connection, decided, settings.match_dir, act.person).digest}

    def use_model(connection: Connection, act: OperatorAct) -> dict[str, Any]:
        from workers.articles import models
        from workers.provenance import item_acts

        number, version = item_acts.use_model(
            connection,
            models.find(connection, act.subject),
            act.person,
            act.arguments.get("reason"),
            settings.match_dir,
            merges_allowed=act.arguments.get("merges_allowed") is True,
        )
        return {"event": number, "data_version": version}

    performs: dict[str, Perform] = {"load.undo": undo_load, "model.train": train_model, "model.use": use_model}
    return OperatorActs(settings, log, performs, _lock_index)


def _change(
    connection: Connection,
    act: OperatorAct,
    *,
    plan: str | None = None,
    state: str | None = None,
    request: str | None = None,
) -> None:
    change_organization(connection, act.subject, plan=plan, state=state, request=request)


def _cut(connection: Connection, _act: OperatorAct) -> dict[str, Any]:
    from workers.bulk.releases import order_newest  # needs pyarrow, which waiting must not

    return {"job": order_newest(connection)}


def _lock_index(connection: Connection) -> None:
    from workers.provenance import standing

    standing.lock(connection)
