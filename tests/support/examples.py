"""`python -m tests.support.examples`: asks the demo data each paid question and writes the answers into the document."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from deploy.ctl.demo import load_demo
from deploy.terminal import Terminal
from edge.openapi import document
from edge.reports.declarations import REPORTS
from shared.config import Settings
from shared.db.connect import connect
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.reports import queued
from tests.support.servers import Servers
from tests.support.workers import run

DAYS = "from=2026-07-20&to=2026-07-22"
# These take other parameters than a range of days.
OTHER_PARAMETERS = {"getPriorPrice": "asked_on=2026-07-22"}
QUESTIONS = {
    "getPricing": "/index/pricing/{iid}",
    "getPriorPrice": "/index/pricing/{iid}/reference",
    "getSustainability": "/index/sustainability/{iid}",
    **{one.operation: f"/index{one.example}" for report in REPORTS for one in report.endpoints if one.example},
}
# An item of which everything is known: its weight, and a factor for its category.
CHOSEN = """
SELECT i.iid, b.slug, c.code FROM items i JOIN brands b ON b.id = i.brand_id JOIN categories c ON c.id = i.category_id
JOIN impact_factors f ON f.scope = 'category' AND (c.code = f.code OR starts_with(c.code, f.code || '.'))
WHERE i.attributes ? 'weight_kg' AND b.item_count BETWEEN 3 AND 6 ORDER BY b.slug, i.iid LIMIT 1"""


async def answers(settings: Settings, folder: Path) -> dict[str, Any]:
    """Return the answer of each question."""
    key, found = api_key(settings, "institutional"), {}
    with connect(settings.database_url, application="examples") as connection:
        row = connection.execute(CHOSEN).fetchone()
    assert row is not None
    async with running_edge(settings, folder) as edge:
        for operation, path in QUESTIONS.items():
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
    return found


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
