"""Exchange rates of the European Central Bank: its files, and a load of them, which can be undone like any other."""

import csv
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from psycopg.types.json import Jsonb

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from shared.money import CODES
from shared.settings.settings import Settings
from workers.ingest import calendar_days
from workers.ingest.accounting import RejectLog, reasons
from workers.ingest.batches import Reject
from workers.ingest.load import SQL as LOADS
from workers.ingest.load import recorded
from workers.provenance import events

# The reference rates of the European Central Bank: eurofxref-hist.csv, eurofxref.csv, and the XML of both.


BYTES_MAX = 64 << 20
_RATE = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)
_NONE = ("", "N/A")
_DAY_FORMATS = ("%Y-%-m-%-d", "%d %B %Y")


class Cell(NamedTuple):
    """One rate as a file writes it, with its line."""

    line: int
    day: str
    currency: str
    text: str


class RateFile(NamedTuple):
    """A file's rates (units of a currency for one euro, by currency and day), rows that cannot be used, and bytes."""

    rates: dict[tuple[str, date], Decimal]
    rejects: list[Reject]
    content: bytes


def read(path: Path) -> RateFile:
    """Read a file in any of ECB's forms. Raises LoadRefused for one that is in none of them.

    The file is opened once: it may be a pipe, or be written again meanwhile.
    """
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise LoadRefused(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > BYTES_MAX:
        raise LoadRefused(f"{path}: larger than {BYTES_MAX >> 20} MiB")
    cells = _xml(content, path) if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") else _csv(content, path)
    published = RateFile({}, [], content)
    for cell in cells:
        _take(published, cell, path.name)
    if not published.rates:
        raise LoadRefused(f"{path}: holds no rate in a form of the European Central Bank")
    return published


def _take(published: RateFile, cell: Cell, file: str) -> None:
    day, text = calendar_days.parsed(cell.day.strip(), _DAY_FORMATS), cell.text.strip()
    if text in _NONE:
        return
    key = (cell.currency, date.min if day is None else calendar_days.shown(day))
    if cell.currency not in CODES:
        reason = "is no currency (ISO 4217)"
    elif day is None:
        reason = "is no day"
    elif not _RATE.fullmatch(text) or not Decimal(text):
        reason = "is not a rate: no plain number above zero"
    elif published.rates.setdefault(key, Decimal(text)) != Decimal(text):
        reason = "has another rate of the same day in this file"
    else:
        return
    raw = f"{cell.day},{cell.currency},{text}"
    published.rejects.append(Reject(file, cell.line, reason, raw, cell.currency, text))


def _csv(content: bytes, path: Path) -> Iterator[Cell]:
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = [name.strip() for name in next(lines, [])]
        if header[:1] != ["Date"]:
            raise LoadRefused(f"{path}: the first column is not Date, as in eurofxref-hist.csv")
        for row in lines:
            for currency, text in zip(header[1:], row[1:], strict=False):
                if currency:  # ECB ends every line with a comma
                    yield Cell(lines.line_num, row[0], currency, text)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LoadRefused(f"{path}: is no CSV in UTF-8: {error}") from None


def _xml(content: bytes, path: Path) -> list[Cell]:
    cells: list[Cell] = []
    day = ""
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal day
        day = attributes.get("time", day)
        if "currency" in attributes and "rate" in attributes:
            cells.append(Cell(parser.CurrentLineNumber, day, attributes["currency"], attributes["rate"]))

    def refuse(*declared: object) -> None:
        raise LoadRefused(f"{path}: declares a document type, which files of the ECB do not")

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise LoadRefused(f"{path}: is no XML: {error}") from None
    return cells


# One load of exchange rates: lock, read, insert, commit. It is a numbered event, and can be undone like any other.


SQL = load_queries(__file__, "rates.sql")


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


def load(settings: Settings, terms: Terms, file: Path) -> Loaded:
    """Load a file of rates under a name. Raises LoadRefused; nothing of the load is kept then but its reason."""
    with connect(settings.database_url, application="load-log", autocommit=True) as log:
        with connect(settings.database_url, application="load") as connection:
            events.lock(connection)
            log.execute(LOADS.fail_stale)
            with recorded(connection, log, terms.name, "exchange rates", settings.rejects_kept_max) as rejects:
                return _load(connection, log, rejects.load_id, terms, file, rejects)


def _load(
    connection: Connection, log: Connection, load_id: str, terms: Terms, file: Path, rejects: RejectLog
) -> Loaded:
    if connection.execute(SQL.source_of_items, (terms.name,)).fetchone():
        raise LoadRefused(f"{terms.name} is a source of items; give the rates another --name")
    published = read(file)
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
    return Loaded(load_id, state, len(published.rates), changed, rejected, version, why)
