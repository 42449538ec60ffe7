"""Unit prices in exports equal what DuckDB makes of the prices and of the sizes that it reads in names."""

import io
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest

from shared.bulk.manifest import StoredExportManifest
from shared.settings.settings import Settings
from tests.service.exports.test_files import small_market
from tests.service.reports.test_unit_prices import _SIZES as SIZES
from tests.support.database import execute
from tests.support.exports import made, parameters, read
from tests.support.releases import cut
from tests.support.servers import begins_with
from tests.support.shop import load_rows

# Rounded half to even, of prices in cents.
EXPECTED = f"""
WITH sizes AS ({SIZES}), ours AS (SELECT o.*, n.id FROM observations o JOIN named n USING (iid)),
exact AS (SELECT ours.*, unit, price_minor::HUGEINT * 10000 * 1000 AS dividend, thousandths::HUGEINT AS divisor
          FROM ours LEFT JOIN sizes ON sizes.item_id = ours.id),
expected AS (SELECT exact.*, dividend // divisor + CAST(2 * (dividend % divisor) > divisor OR
                 (2 * (dividend % divisor) = divisor AND (dividend // divisor) % 2 = 1) AS HUGEINT) AS millionths FROM exact)
SELECT unit_price_per, count(*),
       count(*) FILTER (WHERE unit_price_per IS NOT DISTINCT FROM unit
                        AND (unit_price * 1000000)::HUGEINT IS NOT DISTINCT FROM millionths)
FROM expected GROUP BY ALL ORDER BY ALL"""


def judged(settings: Settings, manifest: StoredExportManifest) -> list[tuple[str | None, int, int]]:
    """Return for each unit how many rows there are, and how many of them DuckDB agrees with."""
    tables = [pyarrow.parquet.read_table(io.BytesIO(read(settings, file))) for file in manifest.files]
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("observations", pyarrow.concat_tables(tables))
        engine.execute("CREATE TABLE named (id BIGINT, iid VARCHAR, name VARCHAR)")
        engine.executemany("INSERT INTO named VALUES (?, ?, ?)", execute(settings, "SELECT id, iid, name FROM items"))
        return engine.sql(EXPECTED).fetchall()


@begins_with(small_market)
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
@pytest.mark.parametrize("narrowed", [{}, {"category": ["food"]}], ids=["all", "of a category"])
def test_every_unit_price_is_the_one_of_another_engine(
    settings: Settings, kept: bool, narrowed: dict[str, list[str]]
) -> None:
    if not kept:
        execute(settings, "DELETE FROM stated_contents")
    found = judged(settings, made(settings, parameters(**narrowed)))
    assert {unit for unit, _, _ in found} == {"kg", "l", "piece", None}
    assert [rows for _, rows, _ in found] == [agreed for _, _, agreed in found]


@begins_with(small_market)
def test_a_release_has_the_same_unit_prices(settings: Settings) -> None:
    cut(settings)
    found = judged(settings, made(settings, parameters()))
    assert sum(rows for unit, rows, _ in found if unit) > 100
    assert [rows for _, rows, _ in found] == [agreed for _, _, agreed in found]


def test_an_amount_beyond_64_bits_is_exact(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "a,Saffron 1g,B,Food,Tea,1,2026-07-01,NORTH,900000000000.01,\n")
    [file] = made(settings, parameters(format="csv", columns=["price", "unit_price", "unit_price_per"])).files
    assert read(settings, file).decode().split() == [
        "price,unit_price,unit_price_per",
        "900000000000.01,900000000000010.000000,kg",
    ]
