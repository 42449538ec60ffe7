"""`itemindex items`: acts on single items."""

from pathlib import Path

import click
from psycopg.types.json import Jsonb

from deploy.ctl.console import console, data_dir_option, settings
from shared.db.connect import connect
from shared.db.queries import beside
from shared.errors import ItemIndexError
from shared.ids import canonical_iid
from shared.jobs.contract import SEARCH_INDEX
from shared.jobs.contract import SQL as JOBS
from workers.ingest.load import SQL as LOAD

SQL = beside(__file__, "items.sql")


@click.group()
def items() -> None:
    """Withdraw and merge items. Each act commits a new data_version."""


@items.command(epilog="Example: itemindex items withdraw IID-99D2F-46WJ3-4S6N3")
@click.argument("iid")
@data_dir_option
def withdraw(iid: str, data_dir: Path) -> None:
    """Withdraw an item: its IID is answered 410 from now on."""
    _act(data_dir, SQL.withdraw, [iid], "there is no such item, or it is withdrawn already")


@items.command(epilog="Example: itemindex items merge IID-99D2F-46WJ3-4S6N3 IID-18J26-EG5QH-CGFEK")
@click.argument("iid")
@click.argument("survivor")
@data_dir_option
def merge(iid: str, survivor: str, data_dir: Path) -> None:
    """Merge an item into another: its IID redirects to the SURVIVOR from now on."""
    _act(data_dir, SQL.merge, [iid, survivor], "both must be active items, and nothing may redirect to the first")


def _act(data_dir: Path, query: str, iids: list[str], otherwise: str) -> None:
    canonical = [canonical_iid(text) for text in iids]
    if None in canonical:
        raise ItemIndexError("an IID is `IID-` and groups of letters and digits")
    with connect(settings(data_dir).database_url, application="items") as connection:
        connection.execute(LOAD.lock.encode())
        version = connection.execute(LOAD.next_version.encode()).fetchone()
        assert version is not None
        found = connection.execute(query.encode(), (*canonical, version[0])).fetchone()
        if found is None:
            raise ItemIndexError(otherwise)
        connection.execute(SQL.count_brand.encode(), found)
        connection.execute(LOAD.new_version.encode(), (None, []))
        kind = SEARCH_INDEX
        values = (kind.name, kind.queue, None, Jsonb({}), str(version[0]), version[0], kind.attempts_max)
        connection.execute(JOBS.join.encode(), values)
    console.print(f"done, data_version {version[0]}")
