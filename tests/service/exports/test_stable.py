"""What an export holds depends on the data alone: not on where rows lie, nor on the time."""

import asyncio
import json
from pathlib import Path

import pytest

from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.exports import made, parameters, read
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows, open_shop

SOY = mint("shop", "1").iid
FIGURES = """
INSERT INTO impacts (item_id, indicator, per_unit, basis, method, source_id, as_of)
SELECT i.id, n.name, length(i.iid || n.name), 'measured', 'for tests', 1, '2026-07-01'
FROM items i, (VALUES ('co2e_kg'), ('water_l'), ('waste_kg')) n(name) ORDER BY md5(i.iid || n.name)"""


@pytest.fixture
def contents() -> Contents:
    return open_shop


def test_the_same_data_has_the_same_digest_wherever_its_rows_lie(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(f"{n},Thing {n},Vita,Drinks,Tea,1,2026-07-0{n % 9 + 1},NORTH,{n},\n" for n in range(4, 60))
    load_rows(settings, tmp_path, rows, name="more.csv")
    execute(settings, FIGURES)
    digests = set()
    # An update writes a row anew at another place: each third one moves behind all others.
    for moved in ("true", "item_id % 3 = 0", "item_id % 3 = 1"):
        execute(settings, f"UPDATE impacts SET method = method WHERE {moved}")
        execute(settings, f"UPDATE items SET name = name WHERE {moved.replace('item_id', 'id')}")
        manifests = [made(settings, parameters("items", "csv")), made(settings, parameters("impacts", "parquet"))]
        digests.add(tuple(file.sha256 for manifest in manifests for file in manifest.files))
    assert len(digests) == 1


async def test_items_name_their_sources_as_the_record_does_and_the_sources_own_ids(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    second = MAPPING.replace('source = "shop"', 'source = "another"').replace("CC0-1.0", "ODbL-1.0")
    second = second.replace('id = "sku"', 'id = "sku"\niid = "name"')
    with pytest.raises(LoadRefused, match="has an IID that belongs to another item"):
        load_rows(settings, tmp_path, f"A-7,{SOY},,,,,2026-07-03,EAST,8,\n", text=second, name="another.csv")
    await edge.resources.version.read()
    wanted = parameters("items", "ndjson", columns=["iid", "sources"])
    manifest = await asyncio.to_thread(made, settings, wanted)
    lines = [json.loads(line) for file in manifest.files for line in read(settings, file).splitlines()]
    by_iid = {line["iid"]: line["sources"] for line in lines}
    for iid, sources in by_iid.items():
        record = (await edge.get(f"/index/lookup/{iid}", address=f"192.0.2.{len(iid) + sum(iid.encode()) % 200}")).json
        shown = [{name: one[name] for name in ("source", "observed_at", "license")} for one in sources]
        assert shown == record["sources"]
    assert {one["source"]: one["id"] for one in by_iid[SOY]} == {"shop": "1"}
