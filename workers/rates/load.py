"""One load of exchange rates: lock, read, insert, commit. It is a numbered event, and can be undone like any other."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from psycopg.types.json import Jsonb

from shared.config import Settings
from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.errors import LoadRefused
from workers.ingest.load import SQL as LOADS
from workers.ingest.load import write_rejects
from workers.provenance import events
from workers.rates.ecb import read

SQL = beside(__file__, "rates.sql")


@dataclass(frozen=True, slots=True)
class Terms:
    """The description of a table of rates: its name, title, license and address."""

    name: str
    title: str = "European Central Bank, euro foreign exchange reference rates"
    license: str = (
        "Reuse with attribution (https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html)"
    )
    url: str | None = "https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The outcome of a load; `state` is `committed`, or `unchanged` where all its rates were in force."""

    load_id: str
    state: str
    rates: int
    changed: int
    rejected: int
    data_version: int | None


def load(settings: Settings, terms: Terms, file: Path) -> Loaded:
    """Load a file of rates under a name. Raises LoadRefused; nothing of the load is kept then but its reason."""
    with connect(settings.database_url, application="load-log", autocommit=True) as log:
        with connect(settings.database_url, application="load") as connection:
            events.lock(connection)
            log.execute(LOADS.fail_stale)
            row = log.execute(LOADS.begin, (terms.name, "exchange rates")).fetchone()
            assert row is not None
            load_id = str(row[0])
            try:
                return _load(connection, log, load_id, terms, file)
            except BaseException as error:
                connection.rollback()
                reason = str(error) if isinstance(error, LoadRefused) else type(error).__name__
                log.execute(LOADS.fail, (load_id, reason, 0, 0))
                raise


def _load(connection: Connection, log: Connection, load_id: str, terms: Terms, file: Path) -> Loaded:
    if connection.execute(SQL.source_of_items, (terms.name,)).fetchone():
        raise LoadRefused(f"{terms.name} is a source of items; give the rates another --name")
    published = read(file)
    digest = hashlib.sha256(published.content).digest()
    log.execute(LOADS.add_file, (load_id, file.name, len(published.content), digest))
    write_rejects(log, load_id, published.rejects)
    columns = [list(column) for column in zip(*((*key, rate) for key, rate in published.rates.items()), strict=True)]
    row = connection.execute(SQL.changed, (terms.name, *columns)).fetchone()
    assert row is not None
    changed, version, state = int(row[0]), None, "unchanged"
    if changed:
        given = {"title": terms.title, "license": terms.license, "url": terms.url}
        usual: dict[str, object] = {"attribution": None, "rank": None, "matching": {}}
        event = events.begin_load(connection, load_id, "rates", terms.name, given | usual)
        connection.execute(SQL.insert, (event.source_id, event.no, *columns))
        version, _ = events.commit_version(connection, load_id, [])
        state = "committed"
    rows, rejected = len(published.rates) + len(published.rejects), len(published.rejects)
    summary = {
        "rates": len(published.rates),
        "changed": changed,
        "rejects": Counter(one.reason for one in published.rejects),
    }
    connection.execute(LOADS.finish, (load_id, state, rows, rejected, Jsonb(summary)))
    connection.commit()
    return Loaded(load_id, state, len(published.rates), changed, rejected, version)
