"""A small shop: a mapping and rows of known values, loaded through the real path."""

from pathlib import Path

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.database import execute
from workers.ingest.batches import DEFAULT_BUFFERS, LoadBuffers
from workers.ingest.load.load import load
from workers.ingest.load.summary import Summary
from workers.ingest.mapping import Mapping, read
from workers.provenance import standing
from workers.provenance.undo import undo
from workers.search.job import make_index

MAPPING = """
source = "shop"
title = "A shop for tests"
license = "CC0-1.0"
[item]
id = "sku"
name = "name"
brand = "brand"
category = ["group", "kind"]
product_type = "kind"
[item.identifiers]
sku = "sku"
[item.attributes]
weight_kg = "weight"
[observation]
day = "day"
channel = "store"
price = { column = "price", strip = "$", thousands = "," }
list_price = "list"
currency = { constant = "HKD" }
"""
MEASURED = """
source = "lab"
title = "L"
license = "CC0-1.0"
[item]
id = "id"
name = { constant = "Thing" }
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "measured"
method = "m"
"""
"""Items of a laboratory with a footprint and no price: `id,co2`."""
PRICED = """
source = "shop"
title = "S"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
[observation]
day = "day"
channel = "shop"
price = "price"
currency = "cur"
"""
"""Items of a shop with a price, each in a column of its own: `id,name,day,shop,price,cur`."""
HEADER = "sku,name,brand,group,kind,weight,day,store,price,list\n"
ROWS = (
    "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,11.50,12\n"
    "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,SOUTH,9.00,\n"
    "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-01,NORTH,25,\n"
    "3,豆奶 Soy drink,Vita,Drinks,Soy milk,,2026-07-01,SOUTH,8.5,\n"
)


def mapping(folder: Path, text: str = MAPPING) -> Mapping:
    """Write and read the shop's mapping."""
    path = folder / "shop.toml"
    path.write_text(text)
    return read(path)


def load_rows(
    settings: Settings,
    folder: Path,
    rows: str = ROWS,
    *,
    text: str = MAPPING,
    name: str = "shop.csv",
    header: str = HEADER,
    merges_allowed: bool = False,
    buffers: LoadBuffers = DEFAULT_BUFFERS,
) -> Summary:
    """Load rows of the shop."""
    path = folder / name
    path.write_text(header + rows)
    return load(settings, mapping(folder, text), [path], merges_allowed=merges_allowed, buffers=buffers)


def open_shop(
    settings: Settings, folder: Path, rows: str = ROWS, *, text: str = MAPPING, header: str = HEADER
) -> Summary:
    """Load rows of the shop and build its search index."""
    summary = load_rows(settings, folder, rows, text=text, header=header)
    make_index(settings.worker_database_url, settings.search_dir)
    return summary


def undone(settings: Settings, named: str = "") -> int:
    """Undo an event, the newest where none is named, and return the new data_version."""
    [(newest,)] = execute(settings, "SELECT max(no) FROM events WHERE undone_at IS NULL")
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        return undo(connection, named or str(newest), "tests", None)
