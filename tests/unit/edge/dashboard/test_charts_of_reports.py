"""What each report's pictures show: figures in their units, and no picture of nothing."""

from typing import Any

import pytest

from edge.analytics.period_words import Periods
from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.analytics.wording import RowContext
from edge.dashboard.charts import Plot, bars, plots
from edge.dashboard.tables import heading
from workers.analytics.reports import aggregate_index, footprint_comparison, price_position, promotions, seasons

UNITS = {
    "promotions": promotions.UNITS,
    "price-position": price_position.UNITS,
    "footprint-comparison": footprint_comparison.UNITS,
    "seasons": seasons.UNITS,
    "aggregate-index": aggregate_index.UNITS,
}
MONTHS = ("2026-05-01", "2026-06-01", "2026-07-01")


def drawn(kind: str, rows: list[dict[str, Any]]) -> tuple[list[Plot], list[Plot]]:
    """Return the plots and the bars of a report's rows."""
    reading = RowContext(Periods.of({"granularity": "month"}, {}), UNITS[kind])
    picture = REPORTS_BY_KIND[kind].picture
    return plots(picture, rows, reading), bars(picture, rows, reading)


def offers(period: str, channel: str, share: float, number: int) -> dict[str, Any]:
    figures = {"share_on_offer": share, "depth_mean": 0.2 if number else None, "offers": number}
    return {"period": period, "channel": channel, "currency": "HKD", **figures}


def test_promotions_are_drawn_over_time_and_counts_have_no_currency() -> None:
    rows = [offers(month, channel, 0.1 * n, n) for n, month in enumerate(MONTHS) for channel in ("NORTH", "SOUTH")]
    lines, _ = drawn("promotions", rows)
    assert [(plot["title"].partition(" per ")[0], plot["unit"]) for plot in lines] == [
        ("Share on offer, %", "%"),
        ("Depth of offers, %", "%"),
        ("Offers", "offers"),
    ]
    assert not any("HKD" in plot["title"] for plot in lines)


def test_only_large_shares_are_on_a_scale_that_ends_at_100_per_cent() -> None:
    for highest, scale in ((0.2, None), (0.6, "share")):
        rows = [offers(month, "NORTH", share, 1) for month, share in zip(MONTHS, (0.0, 0.1, highest), strict=True)]
        plot = drawn("promotions", rows)[0][0]
        assert (plot["title"].partition(" per ")[0], plot.get("scale")) == ("Share on offer, %", scale)


@pytest.mark.parametrize("months", [MONTHS, MONTHS[:1]])
def test_of_zeros_alone_there_is_no_picture(months: tuple[str, ...]) -> None:
    assert drawn("promotions", [offers(month, channel, 0.0, 0) for month in months for channel in ("N", "S")]) == (
        [],
        [],
    )


def test_gaps_of_one_period_are_bars_in_order_on_a_scale_of_their_own() -> None:
    rows = [
        {
            **{"period": MONTHS[0], "channel": channel, "currency": "HKD", "gap": gap - 0.02, "share_cheapest": 0.5},
            **{"gap_to_cheapest": gap, "gap_to_cheapest_low": gap - 0.01, "gap_to_cheapest_high": gap + 0.01},
        }
        for channel, gap in (("NORTH", 0.02), ("SOUTH", 0.05))
    ]
    _, (shares, gaps) = drawn("price-position", rows)
    assert [entry["part"] for entry in shares["entries"]] == [50.0, 50.0], "a share is one of the whole"
    assert [(entry["label"], entry["part"], entry["text"]) for entry in gaps["entries"]] == [
        ("SOUTH", 83.3, "5 % (4 to 6)"),
        ("NORTH", 33.3, "2 % (1 to 3)"),
    ]


def test_footprints_are_in_the_unit_of_their_indicator() -> None:
    def row(month: str, category: str, scale: float, change: float) -> dict[str, Any]:
        figures = {f"footprint{bound}": part * scale for bound, part in (("", 3), ("_low", 2), ("_high", 5))}
        parts = {"change": change, "volume": change, "mix": 0.0, "intensity": 0.0}
        named = {"period": month, "category": category, "indicator": "water_l"}
        return {**named, **figures, "footprint_central": 3 * scale, "per_unit": scale, **parts}

    rows = [row(month, "tea", n, float(n > 1)) for n, month in enumerate(MONTHS, 1)]
    lines, _ = drawn("footprint-comparison", rows)
    assert [plot["unit"] for plot in lines] == ["l", "l a unit", "l", "l"], "mix and intensity do not change anything"
    assert lines[0]["band"] == ["Footprint, low", "Footprint, high"]
    _, (whole, per_unit) = drawn(
        "footprint-comparison", [row(MONTHS[0], name, n, 0) for n, name in ((1, "a"), (2.3456, "b"))]
    )
    assert whole["title"] == "Footprint, l, 2026-05-01"
    assert per_unit["title"] == "Per unit, l a unit, 2026-05-01"
    assert [(entry["label"], entry["text"]) for entry in per_unit["entries"]] == [("b", "2.35"), ("a", "1")]


def test_changes_of_a_season_are_per_cent_and_no_amounts() -> None:
    rows = [
        {"period": month, "currency": "NZD", "index": 100.0 + n, "adjusted_index": 100.0, "change": 0.01 * n}
        for n, month in enumerate(MONTHS)
    ]
    lines, _ = drawn("seasons", rows)
    (change,) = [plot for plot in lines if plot["title"].startswith("Change")]
    assert (change["unit"], change["series"][0]["values"]) == ("%", [0, 1, 2])
    assert "NZD" not in change["title"]


def test_an_aggregate_is_100_in_its_price_reference_period() -> None:
    assert heading("index", UNITS["aggregate-index"]) == "Price index (price reference period = 100)"
