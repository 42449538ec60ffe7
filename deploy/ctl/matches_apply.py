"""`itemindex matches apply`: decisions of the dashboard become events, at once or by a service that waits for them."""

from pathlib import Path

import click

from deploy.ctl.console import console, report, settings, stored
from shared.db.connect import connect
from shared.db.queries import beside
from shared.settings.settings import Settings
from shared.telemetry.http_server import serve_metrics

SQL = beside(__file__, "data.sql")
# An operator decides pair after pair: decisions within this time become one data_version.
_TOGETHER_SECONDS = 3.0
# A notification that was lost delays a decision by this long at most.
_LISTEN_SECONDS = 60.0


@click.command(epilog="Example: itemindex matches apply --watch")
@click.option("--watch", is_flag=True, help="Run until stopped, and apply decisions soon after they are made.")
@stored
def apply(watch: bool, data_dir: Path, as_json: bool) -> None:
    """Make events of what was decided in the dashboard, all in one data_version.

    With --watch it answers health checks at METRICS_LISTEN, and ends with an error when its database is gone: the
    supervisor starts it again.
    """
    chosen = settings(data_dir)
    if not watch:
        count, version = _applied(chosen)
        if count or as_json:
            report("applied {decisions} decisions", as_json=as_json, decisions=count, data_version=version)
        else:
            console.say("no decision waits")
        return
    with connect(chosen.database_url, application="matches", autocommit=True) as listener:
        listener.execute("LISTEN match_reviews")
        serve_metrics(chosen)
        while True:
            count, version = _applied(chosen)
            if count:
                report("applied {decisions} decisions", as_json=as_json, decisions=count, data_version=version)
            list(listener.notifies(timeout=_LISTEN_SECONDS, stop_after=1))
            list(listener.notifies(timeout=_TOGETHER_SECONDS))


def _applied(chosen: Settings) -> tuple[int, int | None]:
    with connect(chosen.database_url, application="matches") as connection:
        if connection.execute(SQL.waiting_review).fetchone() is None:
            return 0, None
        # Imported here: a service for which nothing was decided needs neither numpy nor SciPy nor pyarrow.
        from workers.provenance import item_acts as reviews
        from workers.provenance import reindex

        reindex.lock(connection)
        return reviews.apply(connection)
