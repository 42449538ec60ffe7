"""A small market for reports: generated sales, offers in two currencies, and prices beyond 32 bits."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from shared.db.connect import Connection
from shared.money import to_amount
from shared.settings.settings import Settings
from tests.assurance.perf.generate import MAPPING as GENERATED
from tests.assurance.perf.generate import write
from tests.assurance.truth.index import Index
from tests.support.servers import Servers
from tests.support.shop import HEADER, MAPPING, load_rows
from workers.ingest.load.load import load
from workers.ingest.mapping import read

# One process loads the market for all these tests, instead of each that has some of them.
ON_THE_MARKET = pytest.mark.xdist_group("market")

OFFERS = MAPPING.replace('currency = { constant = "HKD" }', 'currency = "currency"')
SALES = OFFERS.replace(
    'currency = "currency"', 'currency = "currency"\nkind = "sale"\nidentity = "event"\nunits = "units"'
)
COLUMNS = HEADER.replace("\n", ",currency,units\n")
_RAW = """
SELECT i.iid, o.day, h.code, CASE o.kind WHEN 'l' THEN 'listing' ELSE 'sale' END, o.currency, o.price_minor, o.list_minor,
       o.units, b.slug, c.code
FROM observations o JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id"""
KINDS = (("Food", "Tea"), ("Food", "Rice"), ("Drinks", "Cola"), ("Drinks", "Cola"), ("", ""), ("Food", ""))


def market(
    settings: Settings, folder: Path, *, items: int = 400, observations: int = 8_000, offers: int = 3_000
) -> None:
    """Load the market."""
    path = folder / "market.parquet"
    write(path, items=items, observations=observations, seed=3)
    path.with_suffix(".toml").write_text(GENERATED)
    load(settings, read(path.with_suffix(".toml")), [path])
    load_rows(settings, folder, _offers(offers, seed=5), text=OFFERS, name="offers.csv", header=COLUMNS)
    # Some of the items that are offered are sold too: what counts items must know them again.
    load_rows(settings, folder, _offers(offers // 3, seed=6), text=SALES, name="sales.csv", header=COLUMNS)


@contextmanager
def opened(servers: Servers, folder: Path) -> Iterator[Settings]:
    """Make a database with the market in it."""
    with servers.fresh(folder, market) as settings:
        yield settings


def index_of(connection: Connection) -> Index:
    """Give the judge of `make truth` the raw rows of a database, instead of source files."""
    rows = connection.execute(_RAW).fetchall()
    index = Index()
    columns = list(map(list, zip(*rows, strict=True)))
    for place in (5, 6):
        columns[place] = [
            None if minor is None else to_amount(minor, currency)
            for minor, currency in zip(columns[place], columns[4], strict=True)
        ]
    index.db.register("arrived", pa.table(columns, names=[f"c{n}" for n in range(len(columns))]))
    index.db.execute(
        "CREATE TABLE observations (iid VARCHAR, day DATE, channel VARCHAR, kind VARCHAR, currency VARCHAR, "
        "price DECIMAL(38, 4), list_price DECIMAL(38, 4), units BIGINT, brand VARCHAR, category VARCHAR)"
    )
    index.db.execute("INSERT INTO observations SELECT * FROM arrived")
    return index


def known(connection: Connection) -> tuple[list[str], list[str]]:
    brands = [row[0] for row in connection.execute("SELECT slug FROM brands ORDER BY item_count DESC, slug")]
    return brands, [row[0] for row in connection.execute("SELECT code FROM categories ORDER BY code")]


def _offers(count: int, seed: int) -> str:
    chance, rows = random.Random(seed), []
    for n in range(count):
        item = n % 90
        group, kind = KINDS[item % len(KINDS)]
        brand = ("Alco", "Vita", "Beal", "")[item % 4]
        day = f"2026-{chance.randint(3, 6):02d}-{chance.randint(1, 28):02d}"
        price = chance.choice((f"{chance.randint(1, 400)}.5", "7", "7", "7", f"{chance.randint(1, 9)}000000000001.01"))
        currency = chance.choice(("USD", "HKD", "HKD", "JPY")) if item % 3 else "HKD"
        price = str(int(float(price))) if currency == "JPY" else price
        store = chance.choice(("NORTH", "ONLINE", "KIOSK"))
        listed = chance.choice(("", "7", "250", "401")) if item % 5 else ""
        rows.append(
            f"o{item},Offer {item},{brand},{group},{kind},1,{day},{store},{price},{listed},{currency},{chance.randint(1, 4)}\n"
        )
    return "".join(rows)
