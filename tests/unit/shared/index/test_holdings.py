"""Who had a GTIN on a day: numbers that were given anew, given to two at once, taken back, and given back."""

from datetime import date

from shared.index.holdings import StatedIdentifiers, holders, holdings

OLD, NEW = "4006381333931", "9780201379624"
GTIN = f"0{OLD}"


def year(number: int) -> date:
    return date(number, 3, 1)


def stated(
    item_id: int, number: str, first: int, last: int, *, source: int = 1, scheme: str = "ean"
) -> StatedIdentifiers:
    entries = [{"scheme": "source", "value": str(item_id)}, {"scheme": scheme, "value": number}]
    return StatedIdentifiers(item_id, source, entries, year(first), year(first), year(last))


def who(rows: list[StatedIdentifiers], day: date | None, owners: dict[int, str] | None = None) -> set[str]:
    return holders(holdings(GTIN, rows), owners or {1: "one", 2: "two"}, day)


def test_a_number_that_is_given_anew_is_of_the_former_item_until_that_day() -> None:
    rows = [stated(1, OLD, 2020, 2022), stated(2, OLD, 2024, 2025)]
    assert who(rows, date(2020, 2, 29)) == set()
    for day in (year(2020), year(2023), date(2024, 2, 29)):
        assert who(rows, day) == {"one"}, day
    for newer in (year(2024), date(2199, 12, 31), None):
        assert who(rows, newer) == {"two"}, newer


def test_a_number_that_two_items_have_in_the_same_loads_is_of_both() -> None:
    rows = [stated(1, OLD, 2020, 2024), stated(2, OLD, 2022, 2022)]
    assert who(rows, year(2021)) == {"one"}
    assert who(rows, year(2022)) == who(rows, year(2023)) == who(rows, None) == {"one", "two"}


def test_one_day_of_two_sources_is_at_once_and_a_year_later_is_not() -> None:
    assert who([stated(1, OLD, 2020, 2022), stated(2, OLD, 2022, 2023, source=2)], None) == {"one", "two"}
    assert who([stated(1, OLD, 2020, 2022), stated(2, OLD, 2023, 2023, source=2)], None) == {"two"}


def test_another_source_takes_a_number_only_from_an_item_whose_own_source_has_been_silent_for_a_month() -> None:
    def claimed(item_id: int, source: int, first: date, last: date) -> StatedIdentifiers:
        return stated(item_id, OLD, 2020, 2020, source=source)._replace(seen_from=first, first=first, last=last)

    true = claimed(1, 1, date(2024, 1, 1), date(2024, 5, 31))
    for day, expected in ((date(2024, 6, 1), {"one", "two"}), (date(2024, 6, 30), {"one", "two"})):
        assert who([true, claimed(2, 2, day, day)], None) == expected, day
    assert who([true, claimed(2, 2, date(2024, 7, 1), date(2024, 7, 1))], None) == {"two"}
    assert who([true, claimed(2, 1, date(2024, 6, 1), date(2024, 6, 1))], None) == {"two"}, "its source gave it away"
    both = [true, claimed(1, 2, date(2024, 5, 1), date(2024, 5, 1)), claimed(2, 2, date(2024, 6, 1), date(2024, 6, 1))]
    assert who(both, None) == {"one", "two"}, "one of its sources gave it away, the other one did not"


def test_an_item_that_gets_another_number_has_the_former_one_until_then() -> None:
    rows = [stated(1, OLD, 2020, 2022), stated(1, NEW, 2024, 2025)]
    assert who(rows, year(2023)) == {"one"}
    assert who(rows, year(2024)) == who(rows, None) == set()


def test_a_load_that_says_nothing_of_the_number_takes_it_from_nobody() -> None:
    silent = StatedIdentifiers(1, 1, [], year(2024), year(2024), year(2024))
    assert who([stated(1, OLD, 2020, 2022), silent], None) == {"one"}
    assert who([stated(1, OLD, 2020, 2022), silent, stated(2, OLD, 2024, 2024)], None) == {"two"}


def test_a_number_that_comes_back_is_of_the_item_in_both_times() -> None:
    rows = [
        stated(1, OLD, 2020, 2020),
        stated(1, NEW, 2021, 2021),
        stated(1, OLD, 2024, 2024),
        stated(2, OLD, 2022, 2022),
    ]
    found = [who(rows, year(number)) for number in (2020, 2021, 2022, 2023, 2024)]
    assert found == [{"one"}, set(), {"two"}, {"two"}, {"one"}]


def test_items_that_are_one_article_have_the_times_of_both() -> None:
    rows = [stated(1, OLD, 2020, 2020), stated(2, OLD, 2022, 2022), stated(3, OLD, 2021, 2021)]
    assert who(rows, None, {1: "one", 2: "one", 3: "three"}) == {"one", "three"}
    assert who(rows, None, {1: "one", 3: "three"}) == {"three"}, "the items of a withdrawn one have no owner"


def test_every_spelling_of_a_number_is_that_number_and_a_broken_one_is_none() -> None:
    for scheme, text in (("gtin", GTIN), ("ean", "4 006381 333931"), ("gtin", "40-06381-33393-1")):
        assert who([stated(1, text, 2020, 2020, scheme=scheme)], None) == {"one"}, text
    for scheme, text in (("ean", "4006381333932"), ("mpn", OLD), ("style_code", OLD)):
        assert who([stated(1, text, 2020, 2020, scheme=scheme)], None) == set(), text


def test_prices_of_the_days_before_the_first_load_count_as_days_of_the_item() -> None:
    first = stated(1, OLD, 2020, 2020)._replace(seen_from=year(2015))
    again = stated(1, NEW, 2021, 2021)._replace(seen_from=year(2015))
    assert who([first, again], year(2016)) == {"one"}
    assert holders(holdings("09780201379624", [first, again]), {1: "one"}, year(2020)) == set()
