"""Pages of a list: whatever it is sorted by, each name comes once, also if the list changes in between."""

import random
from datetime import date, timedelta

from workers.analytics.reports.pages import Listed, page_of
from workers.analytics.reports.window import last_day_with_enough

SORTS = ("items", "-items", "observations", "-observations", "brand", "-brand")


def brands(chance: random.Random, count: int) -> dict[int, Listed]:
    return {number: Listed(chance.randrange(1, 6), f"brand-{number:03d}") for number in range(count)}


def test_pages_hold_everything_once_in_order() -> None:
    for sort in SORTS:
        chance = random.Random(sort)
        for limit in (1, 3, 50):
            found, seen, after = brands(chance, 20), [], None
            while True:
                page = page_of(found, {"sort": sort, "limit": limit, "after": after})
                assert len(page.ids) <= limit, sort
                assert page.total == 20, sort
                seen += page.ids
                if page.after is None:
                    break
                after = page.after
            name = sort.removeprefix("-")
            keys = {number: one.name if name == "brand" else one.n for number, one in found.items()}
            ordered = sorted(sorted(found), key=keys.__getitem__, reverse=sort.startswith("-"))
            assert seen == ordered, sort


def test_an_addition_or_a_removal_between_two_pages_repeats_nothing() -> None:
    for sort in SORTS:
        chance = random.Random(sort)
        found = brands(chance, 20)
        first = page_of(found, {"sort": sort, "limit": 8})
        for number in first.ids[5:]:
            del found[number]
        found |= {100 + number: Listed(chance.randrange(1, 6), f"brand-{number:03d}x") for number in range(20)}
        rest = page_of(found, {"sort": sort, "limit": 500, "after": first.after})
        assert not set(first.ids) & set(rest.ids), sort
        assert {number for number in range(20) if number in found} <= {*first.ids, *rest.ids}, sort


def test_the_default_window_ends_on_the_last_day_that_has_a_fifth_of_the_median_day() -> None:
    first = date(2026, 7, 1)
    counts = {first + timedelta(days=n): 100 for n in range(9)}
    assert last_day_with_enough(counts) == date(2026, 7, 9)
    assert last_day_with_enough(counts | {date(2026, 8, 1): 20, date(2099, 2, 1): 19}) == date(2026, 8, 1)
    assert last_day_with_enough({date(2099, 2, 1): 1}) == date(2099, 2, 1)
