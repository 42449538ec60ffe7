"""One load of exchange rates: lock, read, insert, commit. It is a numbered event, and can be undone like any other."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from workers.ingest.load.load import SQL as LOADS
from workers.ingest.load.load import record_load
from workers.ingest.load.rejects import RejectLog, reasons
from workers.ingest.rates.rate_file import read_rate_file
from workers.provenance import events

SQL = load_queries(__file__, "rates.sql")


@dataclass(frozen=True, slots=True)
class RateTerms:
    """The description of a table of rates: its name, title, license and address."""

    name: str
    title: str = "European Central Bank, euro foreign exchange reference rates"
    license: str = (
        "Reuse with attribution (https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html)"
    )
    url: str | None = "https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/"


@dataclass(frozen=True, slots=True)
class RateLoad:
    """The outcome of a load; `state` is `committed`, or `unchanged` where all its rates and terms were in force.

    `reasons`: the commonest reasons of rejects, in words.
    """

    load_id: str
    state: str
    rates: int
    changed: int
    rejected: int
    data_version: int | None
    reasons: tuple[str, ...] = ()


def load(settings: Settings, terms: RateTerms, file: Path) -> RateLoad:
    """Load a file of rates under a name. Raises LoadRefused; nothing of the load is kept then but its reason."""
    with connect(settings.database_url, application="load-log", autocommit=True) as log:
        with connect(settings.database_url, application="load") as connection:
            events.lock(connection)
            log.execute(LOADS.fail_stale)
            with record_load(connection, log, terms.name, "exchange rates", settings.rejects_kept_max) as rejects:
                return _load(connection, log, rejects.load_id, terms, file, rejects)


def _load(
    connection: Connection, log: Connection, load_id: str, terms: RateTerms, file: Path, rejects: RejectLog
) -> RateLoad:
    if connection.execute(SQL.source_of_items, (terms.name,)).fetchone():
        raise LoadRefused(f"{terms.name} is a source of items; give the rates another --name")
    published = read_rate_file(file)
    digest = hashlib.sha256(published.content).digest()
    log.execute(LOADS.add_file, (load_id, file.name, len(published.content), digest))
    log.execute(LOADS.forget_tried, (load_id,))
    rejects.add(published.rejects)
    columns = [list(column) for column in zip(*((*key, rate) for key, rate in published.rates.items()), strict=True)]
    described = (terms.title, terms.license, terms.url)
    [(changed, new_terms)] = connection.execute(SQL.changed, (terms.name, *columns, *described)).fetchall()
    version, state = None, "unchanged"
    if changed or new_terms:
        given = {"title": terms.title, "license": terms.license, "url": terms.url}
        usual: dict[str, object] = {"attribution": None, "rank": None, "matching": {}}
        event = events.begin_load(connection, load_id, "rates", terms.name, given | usual)
        connection.execute(SQL.insert, (event.source_id, event.no, *columns))
        version, _ = events.commit_version(connection, load_id, [])
        state = "committed"
    rows, rejected = len(published.rates) + len(published.rejects), len(published.rejects)
    summary = {"rates": len(published.rates), "changed": changed, **rejects.counts()}
    connection.execute(LOADS.finish, (load_id, state, rows, rejected, Jsonb(summary), None))
    connection.commit()
    why = tuple(reasons(rejects.rows, rejects.examples))
    return RateLoad(load_id, state, len(published.rates), changed, rejected, version, why)
