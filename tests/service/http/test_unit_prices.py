"""GET /index/pricing: prices per kilogram, litre and piece of what the name says that an article holds."""

import pytest

from shared.settings.settings import Settings
from tests.service.http.test_light_reads import SOY
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import load_rows


@pytest.fixture
def contents() -> Contents:
    return load_rows


async def test_a_pricing_history_states_prices_per_litre_of_what_its_name_says(edge: Edge, settings: Settings) -> None:
    meta = (await edge.get(f"/index/pricing/{SOY}", key=api_key(settings))).json["meta"]
    assert {(row["per"], row["content"], row["read_in"]) for row in meta["unit_prices"]} == {("l", "1", "name")}
    for row, statistic in zip(meta["unit_prices"], meta["statistics"], strict=True):
        assert (row["days"], row["currency"], row["kind"]) == (
            statistic["days"],
            statistic["currency"],
            statistic["kind"],
        )
        for name in ("low", "median", "high"):
            assert float(row[name]) == float(statistic[name])
    assert "unit_prices.low" in meta["rounding"]
