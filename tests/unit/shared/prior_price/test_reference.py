"""The prior price of a reduction: hand-made cases, and a twin that follows the rule by brute force."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared import prior_price
from shared.errors import InvalidFile
from shared.prior_price import Moment, Options, Reason, Status, percent, reference
from tests.support.prior_price_twin import disagreements
from tests.unit.shared.prior_price.offers import FIRST, judged, listed, series


def test_the_lowest_price_of_the_thirty_days_before_the_reduction_counts() -> None:
    for runs, expected in (
        ([(40, "10.00"), (3, "8.00")], ("10.00", "20.00", None)),
        ([(30, "10.00"), (3, "8.00")], ("10.00", "20.00", None)),
        ([(29, "10.00"), (3, "8.00")], (None, None, Reason.FEWER_DAYS)),
        ([(1, "7.00"), (29, "10.00"), (3, "8.00")], ("7.00", None, Reason.NOT_BELOW)),
        ([(1, "7.00"), (30, "10.00"), (3, "8.00")], ("10.00", "20.00", None)),
        ([(40, "10.00"), (5, "13.00"), (1, "9.00")], ("10.00", "10.00", None)),
        ([(40, "10.00"), (90, "8.00")], ("10.00", "20.00", None)),
        ([(40, "10.00"), (3, "8.00"), (1, "8.50")], (None, None, Reason.NO_REDUCTION)),
        ([(20, "10.00"), (1, None), (20, "10.00"), (1, "8.00")], (None, None, Reason.MISSING_DAYS)),
        ([(20, "10.00"), (1, None), (30, "10.00"), (1, "8.00")], ("10.00", "20.00", None)),
        ([(1, "6.00"), (29, "10.00"), (9, "closed"), (1, "8.00")], ("6.00", None, Reason.NOT_BELOW)),
        ([(40, "10.00"), (3, "closed")], (None, None, Reason.NO_REDUCTION)),
        ([(40, "10.00")], (None, None, Reason.NO_REDUCTION)),
    ):
        assert judged(reference(series(*runs))) == expected, runs


STEPS = [(40, "20.00"), (7, "16.00"), (7, "12.00"), (2, "10.00")]


def test_a_progressive_reduction_depends_on_the_option_of_the_market() -> None:
    for options, expected in (
        (Options(progressive=True), ("20.00", "50.00", None)),
        (Options(progressive=False), ("12.00", "16.67", None)),
        (Options(progressive=True, progressive_days=14), ("20.00", "50.00", None)),
        (Options(progressive=True, progressive_days=13), ("12.00", "16.67", None)),
        (Options(), ("12.00", "16.67", Reason.PROGRESSIVE)),
    ):
        assert judged(reference(series(*STEPS), options=options)) == expected, options


def test_a_rise_between_two_steps_ends_the_progressive_reduction() -> None:
    runs = [(40, "20.00"), (10, "16.00"), (3, "20.00"), (4, "12.00")]
    assert judged(reference(series(*runs), options=Options(progressive=True))) == ("16.00", "25.00", None)


def test_a_gap_between_two_steps_leaves_the_progressive_reduction_unknown() -> None:
    runs = [(40, "20.00"), (5, "16.00"), (1, None), (5, "16.00"), (4, "12.00")]
    found = reference(series(*runs), options=Options(progressive=True))
    assert (found.prior_price, found.at_most, found.reason) == (None, Decimal("20.00"), Reason.MISSING_DAYS)


def test_a_new_arrival_has_a_prior_price_only_where_the_market_allows_the_shorter_period() -> None:
    moments = series((7, "79.00"), (5, "89.00"), (2, "59.00"))
    allowed = Options(new_arrivals=True, first_offered=FIRST)
    assert judged(reference(moments, options=allowed)) == ("79.00", "25.32", None)
    assert reference(moments, options=Options(first_offered=FIRST)).reason == Reason.NEW_ARRIVAL
    assert reference(moments).reason == Reason.FEWER_DAYS


def test_hours_of_the_first_day_before_the_reduction_belong_to_the_window() -> None:
    moments = series((40, "10.00"))
    day = FIRST + timedelta(days=40)
    moments += [Moment(day, "00:00", Decimal("7.00")), Moment(day, "09:00", Decimal("10.00"))]
    moments += [Moment(day, "12:00", Decimal("8.00"))]
    found = reference(moments)
    assert (found.reduction_began_at, found.prior_price, found.lowest_on) == ("12:00", Decimal("7.00"), (day,))


def test_a_list_price_that_appears_beside_an_old_price_announces_no_reduction_of_it() -> None:
    found = reference(listed((40, "8.00", "8.00"), (3, "8.00", "10.00")))
    assert found.reduction_began_on == FIRST + timedelta(days=40)
    assert judged(found) == ("8.00", None, Reason.NOT_BELOW)


def test_a_fall_that_the_seller_does_not_announce_is_no_reduction_where_list_prices_are_known() -> None:
    assert reference(listed((40, "10.00", "10.00"), (3, "8.00", "8.00"))).reason == Reason.NO_REDUCTION


def test_the_evidence_holds_each_day_of_the_window_with_its_lowest_price() -> None:
    found = reference(series((40, "10.00"), (3, "8.00")))
    days = [FIRST + timedelta(days=place) for place in range(10, 40)]
    assert [(one.day, one.price) for one in found.evidence] == [(day, Decimal("10.00")) for day in days]


def test_a_day_without_observation_is_not_judged() -> None:
    moments = series((40, "10.00"), (3, "8.00"))
    unobserved = reference(moments, FIRST + timedelta(days=60))
    assert (unobserved.price, unobserved.reason, unobserved.known) == (None, Reason.MISSING_DAYS, False)
    assert reference(moments, FIRST + timedelta(days=41)).applicable


def test_that_no_reduction_runs_is_known_after_a_rise_or_a_whole_window_alone() -> None:
    for runs, expected in (
        ([(1, "10.00")], Reason.FEWER_DAYS),
        ([(30, "10.00")], Reason.FEWER_DAYS),
        ([(31, "10.00")], Reason.NO_REDUCTION),
        ([(20, "10.00"), (1, None), (20, "10.00")], Reason.MISSING_DAYS),
        ([(20, "10.00"), (1, None), (31, "10.00")], Reason.NO_REDUCTION),
        ([(2, "9.00"), (1, "10.00")], Reason.NO_REDUCTION),
        ([(2, "9.00"), (1, None), (1, "10.00")], Reason.MISSING_DAYS),
        ([(1, "10.00"), (5, "closed"), (29, "10.00")], Reason.FEWER_DAYS),
        ([(1, "10.00"), (5, "closed"), (30, "10.00")], Reason.NO_REDUCTION),
    ):
        found = reference(series(*runs))
        assert (found.reason, found.known) == (expected, expected == Reason.NO_REDUCTION), runs
    arrival = Options(new_arrivals=True, first_offered=FIRST)
    assert reference(series((3, "10.00")), options=arrival).reason == Reason.NO_REDUCTION
    assert reference(listed((1, "10.00", "10.00"))).reason == Reason.NO_REDUCTION


def test_days_of_a_progressive_rule_that_does_not_apply_are_refused() -> None:
    for progressive in (None, False):
        with pytest.raises(ValueError, match="progressive"):
            Options(progressive, 14)


def test_percentages_are_rounded_half_up() -> None:
    assert percent(Decimal(800), Decimal(799)) == Decimal("0.13")


def test_a_brute_force_twin_agrees_on_random_series() -> None:
    assert disagreements(4_000, seed=1) == []


def test_rows_of_a_file_are_moments_and_channels_stay_apart() -> None:
    columns = {
        "day": ["2026-01-01", "2026-01-02"],
        "price": ["8.00", ""],
        "channel": ["shop", "online"],
        "list_price": ["10.00", ""],
    }
    found = prior_price.channels_of(columns)
    assert found["shop"] == [Moment(FIRST, price=Decimal("8.00"), list_price=Decimal("10.00"))]
    assert found["online"][0].status == Status.UNOBSERVED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Date,price,regular_price\n2026-01-01,NaN,1\n", "row 1"),
        ("day,price\n2026-01-01,1\n2026-13-01,1\n", "row 2"),
        ("day,price,time\n2026-01-01,1,24:00\n", "row 1"),
        ("day,price,status\n2026-01-01,,offered\n", "row 1"),
        ("day,price\n2026-01-01,-1\n", "row 1"),
        ("day,cost\n2026-01-01,1\n", "no column `price`$"),
        ("day,price,price\n2026-01-01,1,2\n", "more than one column `price`"),
        ("day,price\n2026-W01-1,1\n", "row 1: a day is written YYYY-MM-DD"),
        ("day,price\n,1\n", "row 1: a day is written YYYY-MM-DD"),
        ("day,price\n2026-01-01,1E-400\n", "row 1: a price is a plain decimal number"),
        ("day,price\n2026-01-01,1_000\n", "row 1: a price is a plain decimal number"),
        ("day,price\n2026-01-01,٣\n", "row 1: a price is a plain decimal number"),
        ("day,price,status\n2026-01-01,1,maybe\n", "one of: offered, not offered, no observation"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_row(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=says):
        CliRunner().invoke(cli, ["calc", "prior-price", str(path)], catch_exceptions=False)


def test_a_reduction_on_the_calendars_first_days_has_fewer_days_than_thirty() -> None:
    first = [Moment(date(1, 1, 1), price=Decimal(3)), Moment(date(1, 1, 2), price=Decimal(2))]
    judged = reference(first)
    assert (judged.reason, judged.at_most) == (Reason.FEWER_DAYS, Decimal(3))
