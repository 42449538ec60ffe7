"""Operators decide in the dashboard which items are one article; other people do not see the queue."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edge.dashboard.matches import compare
from edge.storage.database import Database
from shared.articles import SQL
from shared.settings.settings import Settings
from tests.service.articles.support import SOY, A, B, row, shop
from tests.service.dashboard.browser import Browser
from tests.support.database import execute
from tests.support.servers import Contents

PAGE, DECISIONS = "/dashboard/matches", "/dashboard/matches/decisions"


def two_shops(settings: Settings, folder: Path) -> None:
    """Load two shops with a pair that waits."""
    shop(settings, folder, "shop_a", row("1", SOY, "Soy milk 1L <b>"))
    shop(settings, folder, "shop_b", row("x", SOY, "Soy milk 2L"))


@pytest.fixture
def contents() -> Contents:
    return two_shops


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The operator is Ada."""
    return replace(settings, staff="Ada@example.org, x@example.org")


async def test_the_queue_is_for_operators_alone(browser: Browser) -> None:
    await browser.sign_in("grace")
    assert await browser.ask("GET", PAGE) == 403
    await browser.ask("GET", "/dashboard")
    assert "/dashboard/matches" not in browser.text
    form = browser.form(left=A, right=B, decision="accept")
    assert await browser.ask("POST", DECISIONS, form) == 403
    assert execute(browser.edge.settings, "SELECT count(*) FROM match_reviews") == [(0,)]


async def test_a_bulk_decision_is_for_operators_alone(browser: Browser) -> None:
    await browser.sign_in("grace")
    await browser.ask("GET", "/dashboard")
    form = browser.form(decision="accept")
    assert await browser.ask("POST", f"{PAGE}/bulk", form) == 403
    assert execute(browser.edge.settings, "SELECT count(*) FROM match_reviews") == [(0,)]


async def test_two_records_are_shown_side_by_side_with_what_agrees_and_differs(browser: Browser) -> None:
    await browser.sign_in()
    assert await browser.ask("GET", PAGE) == 200
    assert browser.text.index(A) < browser.text.index(B)
    assert '<span class="own">1L</span>' in browser.text and '<span class="own">2L</span>' in browser.text
    assert '<span class="shared">Soy</span>' in browser.text
    assert "&lt;b&gt;" in browser.text and "<b>" not in browser.text
    assert [key for key in "jkyn" if f'data-key="{key}"' in browser.text] == ["j", "y", "n"]


@pytest.mark.parametrize(("left", "decision", "status"), [(A, "maybe", 400), ("?", "accept", 400), (B, "accept", 404)])
async def test_a_form_that_names_no_pair_is_refused(browser: Browser, left: str, decision: str, status: int) -> None:
    await browser.sign_in()
    await browser.ask("GET", PAGE)
    form = browser.form(left=left, right=B, decision=decision)
    assert await browser.ask("POST", DECISIONS, form) == status
    assert execute(browser.edge.settings, "SELECT count(*) FROM match_reviews") == [(0,)]


async def test_a_decision_is_noted_for_the_person_and_the_next_pair_is_shown(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", PAGE)
    form = browser.form(left=A, right=B, decision="accept", skip="0")
    assert await browser.ask("POST", DECISIONS, form) == 303
    assert execute(browser.edge.settings, "SELECT decision, person, applied_at FROM match_reviews") == [
        ("accept", "Ada", None)
    ]
    await browser.ask("GET", PAGE)
    assert "No pairs to review" in browser.text and "not applied yet" in browser.text
    assert await browser.ask("POST", DECISIONS, {**form, **browser.form(), "decision": "undo"}) == 303
    await browser.ask("GET", PAGE)
    assert re.search(r'data-key="y"', browser.text)


async def test_decisions_whose_form_is_sent_twice_are_noted_once(browser: Browser) -> None:
    async def twice(path: str, page: str = PAGE, **fields: str) -> int:
        await browser.ask("GET", page)
        form = browser.form(**fields)
        twins = [replace(browser, cookies=dict(browser.cookies)) for _ in range(3)]
        assert set(await asyncio.gather(*(twin.ask("POST", path, form) for twin in twins))) == {303}
        [[noted]] = execute(browser.edge.settings, "SELECT count(*) FROM match_reviews")
        return int(noted)

    await browser.sign_in()
    assert await twice(DECISIONS, left=A, right=B, decision="accept") == 1
    assert await twice(DECISIONS, left=A, right=B, decision="undo") == 2
    bulk = {"decision": "reject", "source": "shop_a"}
    assert await twice(f"{PAGE}/bulk", f"{PAGE}?source=shop_a", **bulk) == 3
    [[batch]] = execute(browser.edge.settings, "SELECT batch_id::text FROM match_reviews WHERE batch_id IS NOT NULL")
    assert await twice(f"{PAGE}/bulk", batch=batch) == 4


async def test_pairs_that_came_in_the_place_of_those_that_the_page_counted_are_not_decided(
    browser: Browser, tmp_path: Path
) -> None:
    await browser.sign_in()
    await browser.ask("GET", f"{PAGE}?source=shop_a")
    bulk = browser.form(decision="accept", source="shop_a")
    assert 'data-figure="count">1<' in browser.text
    form = {**browser.form(), "once": "1" * 22, "left": A, "right": B, "decision": "reject"}
    assert await browser.ask("POST", DECISIONS, form) == 303
    rows = row("z", SOY, "Soy milk 3L")
    await asyncio.to_thread(shop, browser.edge.settings, tmp_path, "shop_c", rows)
    assert await browser.ask("POST", f"{PAGE}/bulk", bulk) == 409
    await browser.ask("GET", f"{PAGE}?source=shop_a")
    assert 'data-figure="count">1<' in browser.text


async def test_a_pair_whose_item_is_removed_meanwhile_is_not_an_error_of_the_page(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.sign_in()
    fetch = Database.fetch

    async def without_one(self: Database, statement: Any, *values: Any, **given: Any) -> Any:
        rows = await fetch(self, statement, *values, **given)
        return rows[:1] if statement is SQL.sides else rows

    monkeypatch.setattr(Database, "fetch", without_one)
    assert await browser.ask("GET", PAGE) == 404
    assert "has been removed" in browser.text


async def test_pairs_are_filtered_sampled_and_decided_in_bulk_and_the_bulk_is_undone(browser: Browser) -> None:
    await browser.sign_in()
    assert await browser.ask("GET", f"{PAGE}?source=shop_c") == 200
    assert "No pairs to review" in browser.text
    assert await browser.ask("GET", f"{PAGE}?min_score=high") == 400
    assert await browser.ask("GET", f"{PAGE}?source=shop_a&evidence=identifier") == 200
    assert 'data-figure="count">1<' in browser.text
    [sample] = re.findall(r"sample=([0-9a-f-]{36})", browser.text)
    await browser.ask("GET", f"{PAGE}?source=shop_a&sample={sample}")
    assert "0 of 50 decided in the random sample" in browser.text
    form = browser.form(left=A, right=B, decision="accept", source="shop_a", sample=sample)
    assert await browser.ask("POST", DECISIONS, form) == 303
    await browser.ask("GET", f"{PAGE}?source=shop_a&sample={sample}")
    assert "1 accepted, 100.0 % (95 % Wilson interval 20.7 to 100.0 %)" in browser.text
    assert await browser.ask("POST", DECISIONS, {**form, **browser.form(), "decision": "undo"}) == 303
    await browser.ask("GET", f"{PAGE}?source=shop_a")
    bulk = browser.form(decision="reject", source="shop_a")
    assert await browser.ask("POST", f"{PAGE}/bulk", {**bulk, "pairs": "0" * 32}) == 409
    await browser.ask("GET", f"{PAGE}?source=shop_a")
    assert await browser.ask("POST", f"{PAGE}/bulk", {**bulk, **browser.form()}) == 303
    settings = browser.edge.settings
    [(batch, filters)] = execute(settings, "SELECT batch_id::text, batch FROM match_reviews WHERE batch_id IS NOT NULL")
    assert filters == {"source": "shop_a"}
    await browser.ask("GET", PAGE)
    assert "1 pair in bulk" in browser.text
    assert await browser.ask("POST", f"{PAGE}/bulk", browser.form(batch=batch)) == 303
    assert execute(settings, "SELECT decision FROM match_reviews WHERE batch_id::text = $1 ORDER BY id", batch) == [
        ("reject",),
        ("undo",),
    ]


def test_a_comparison_distinguishes_words_and_fields() -> None:
    left = {
        "name": "Café 1L",
        "brand": "Vita",
        "category": "",
        "identifiers": [{"scheme": "gtin", "value": "1"}],
        "attributes": {"size": 2},
    }
    right = {"name": "cafe 2L", "brand": "VITA", "category": "Drinks", "identifiers": [], "attributes": {"size": 2}}
    lines = {line.field: line for line in compare(left, right)}
    assert {name: line.state for name, line in lines.items()} == {
        "name": "differ",
        "brand": "agree",
        "category": "alone",
        "gtin": "alone",
        "size": "agree",
    }
    assert [(word.text, word.shared) for word in lines["name"].left] == [("Café", True), ("1L", False)]


def test_an_attribute_that_is_called_like_a_field_has_a_line_of_its_own() -> None:
    left = {"name": "Pen", "brand": None, "category": None, "identifiers": [{"scheme": "mpn", "value": "A1"}]}
    lines = compare({**left, "attributes": {"name": "felt", "mpn": "B2"}}, {**left, "attributes": {}})
    assert [(line.field, line.left[0].text, line.state) for line in lines if line.left] == [
        ("name", "Pen", "agree"),
        ("mpn", "A1", "agree"),
        ("mpn", "B2", "alone"),
        ("name", "felt", "alone"),
    ]
