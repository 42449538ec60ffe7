"""`python -m tests.support.examples`: asks the demo data each paid question and writes the answers into the document."""

import asyncio
import csv
import json
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from deploy.ctl.demo import load_demo
from deploy.terminal import Terminal
from edge.analytics.reports.declared import REPORTS
from edge.docs import document
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.reports import queued
from tests.support.servers import Servers
from tests.support.workers import run
from workers.ingest.load.load import load
from workers.ingest.mapping import read

DAYS = "from=2026-07-20&to=2026-07-22"
# These take other parameters than a range of days.
OTHER_PARAMETERS = {"getPriorPrice": "asked_on=2026-07-22", "getAggregateIndex": "from=2022-05-01&to=2022-05-31"}
WEIGHTS = "/weights/example?price_reference=2020-01-01"
# The demo's only category with years of prices, below one of the caller's own.
WEIGHTED = b"code,parent,weight\nfood,all,100\nall,,\n"
QUESTIONS = {
    "getPricing": "/index/pricing/{iid}",
    "getPriorPrice": "/index/pricing/{iid}/reference",
    "getSustainability": "/index/sustainability/{iid}",
    **{one.operation: f"/index{one.example}" for report in REPORTS for one in report.endpoints if one.example},
}
# The demo has no list prices, so that nothing in it is an announced reduction: this question is asked of one shop more.
OF_THE_SHOP = "getReductions"
SHOP = """
source = "example_shop"
title = "Invented prices of a shop that crosses out list prices"
license = "CC0-1.0"
[item]
id = "sku"
name = "name"
category = ["level_1", "level_2", "level_3"]
[observation]
day = "day"
channel = { constant = "EXAMPLE_SHOP" }
price = "price"
list_price = "list"
currency = { constant = "HKD" }
"""
# An item of which everything is known: its weight, and a factor for its category.
CHOSEN = """
SELECT i.iid, b.slug, c.code, c.path FROM items i JOIN brands b ON b.id = i.brand_id JOIN categories c ON c.id = i.category_id
JOIN impact_factors f ON f.scope = 'category' AND (c.code = f.code OR starts_with(c.code, f.code || '.'))
WHERE i.attributes ? 'weight_kg' AND b.item_count BETWEEN 3 AND 6 ORDER BY b.slug, i.iid LIMIT 1"""


async def answers(settings: Settings, folder: Path) -> dict[str, Any]:
    """Return the answer of each question."""
    key, found = api_key(settings, "institutional"), {}
    with connect(settings.database_url, application="examples") as connection:
        row = connection.execute(CHOSEN).fetchone()
    assert row is not None
    async with running_edge(settings, folder) as edge:
        await edge.ask("PUT", WEIGHTS, key=key, head={"Content-Type": "text/csv"}, body=WEIGHTED)
        for operation, path in sorted(QUESTIONS.items(), key=lambda one: one[0] == OF_THE_SHOP):
            if operation == OF_THE_SHOP:
                await asyncio.to_thread(_load_shop, settings, folder, row[3])
            named = path.format(iid=row[0], brand=row[1], category=row[2])
            query = OTHER_PARAMETERS.get(operation, DAYS)
            separator = "&" if "?" in named else "?"
            asked = asyncio.create_task(edge.get(f"{named}{separator}{query}", key=key))
            while not asked.done():
                for job in await asyncio.to_thread(queued, settings):
                    await asyncio.to_thread(run, settings, job)
                await asyncio.sleep(0.02)
            answer = await asked
            assert answer.status == 200, answer.body
            found[operation] = answer.json
    return {operation: found[operation] for operation in QUESTIONS}


def _load_shop(settings: Settings, folder: Path, category: list[str]) -> None:
    """Load a month of three items of a category: the prices of two fall, the other's was as low three weeks before."""
    mapping, file = folder / "example_shop.toml", folder / "example_shop.csv"
    mapping.write_text(SHOP)
    with file.open("w", newline="") as text:
        write = csv.writer(text).writerow
        write(["sku", "name", "level_1", "level_2", "level_3", "day", "price", "list"])
        for number in range(33):
            day = date(2026, 6, 20) + timedelta(days=number)
            reduced = day >= date(2026, 7, 21)
            for sku, name in (("1", "Example one"), ("3", "Example three")):
                write([sku, name, *category, day, "9.90" if reduced else "12.00", "12.00" if reduced else ""])
            low = reduced or number == 10
            write(["2", "Example two", *category, day, "9.90" if low else "12.00", "12.00" if reduced else ""])
    load(settings, read(mapping), [file])


def main() -> None:
    """Write the examples beside the module that shows them."""
    with tempfile.TemporaryDirectory(prefix="ii-") as name, Servers.running(Path(name)) as servers:
        with servers.fresh(Path(name)) as settings:
            load_demo(settings, Terminal(quiet=True))
            found = asyncio.run(answers(settings, Path(name)))
    text = json.dumps(found, ensure_ascii=False, indent=1)
    Path(document.__file__).with_name("examples.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
