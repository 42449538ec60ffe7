"""Bars say their figures as their titles do: shares in per cent, with the bounds of their intervals."""

from edge.dashboard.bars import Bar, bar_chart


def test_a_share_and_its_interval_are_per_cent() -> None:
    bars = [Bar("WELLCOME", 0.731, 0.668, 0.786), Bar("AEON", 1.0)]
    texts = [entry["text"] for entry in bar_chart("Cheapest share, %", bars, percent=True)["entries"]]
    assert texts == ["100.0 %", "73.1 % (66.8 to 78.6)"]


def test_another_figure_has_three_digits_where_it_has_an_interval() -> None:
    [entry] = bar_chart("Footprint", [Bar("one", 298.424, 120.5, 700.25)])["entries"]
    assert (entry["text"], entry["whisker"]) == ("298 (120 to 700)", (17.2, 100.0))


def test_the_largest_bar_is_first_and_one_without_a_figure_last() -> None:
    bars = [Bar("a", "1.50"), Bar("b", None), Bar("c", 12), Bar("d", "2")]
    assert [entry["label"] for entry in bar_chart("Prices", bars)["entries"]] == ["c", "d", "a", "b"]
