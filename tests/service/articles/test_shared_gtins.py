"""A GTIN that a source gives to two products proves nothing of either; one that it gives anew proves it by the day."""

from pathlib import Path

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import OAT, SOY, articles, row, shop
from tests.support.database import execute

# Names that share a word with the other's, and too few for a likeness.
CHERRY, BERRY, OTHERS = "Cherry yogurt", "Strawberry yogurt", "Yogurt"


def iid(source: str, sku: str) -> str:
    return mint(f"shop_{source}", sku).iid


@pytest.mark.parametrize("other_first", [False, True])
def test_a_number_of_two_items_at_once_joins_neither_with_another_source(
    settings: Settings, tmp_path: Path, *, other_first: bool
) -> None:
    if other_first:
        shop(settings, tmp_path, "shop_b", row("x", SOY, OTHERS))
    shop(settings, tmp_path, "shop_a", row("1", SOY, CHERRY) + row("2", SOY, BERRY))
    if not other_first:
        shop(settings, tmp_path, "shop_b", row("x", SOY, OTHERS))
    assert len(set(articles(settings).values())) == 3
    assert execute(settings, "SELECT decision FROM links") == [("review",), ("review",)]


def test_items_that_their_source_declares_one_article_share_its_number(settings: Settings, tmp_path: Path) -> None:
    declared = '[match]\narticle_identifier = "gtin"\n'
    shop(settings, tmp_path, "shop_a", row("1", SOY, CHERRY) + row("2", SOY, BERRY), declared)
    shop(settings, tmp_path, "shop_b", row("x", SOY, OTHERS))
    assert len(set(articles(settings).values())) == 1


def test_a_number_that_is_given_anew_joins_the_item_that_had_it_when_the_other_got_it(
    settings: Settings, tmp_path: Path
) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY, CHERRY, "2023-03-01"))
    shop(settings, tmp_path, "shop_b", row("x", SOY, OTHERS, "2023-06-01"))
    shop(settings, tmp_path, "shop_a", row("2", SOY, BERRY, "2024-03-01"))
    shop(settings, tmp_path, "shop_c", row("y", SOY, BERRY, "2024-06-01"))
    known = articles(settings)
    assert known[iid("b", "x")] == known[iid("a", "1")]
    assert known[iid("c", "y")] == known[iid("a", "2")] != known[iid("a", "1")]


def test_other_numbers_of_the_same_load_join_as_before(settings: Settings, tmp_path: Path) -> None:
    shop(settings, tmp_path, "shop_a", row("1", SOY, CHERRY) + row("2", SOY, BERRY) + row("3", OAT, "Oat drink"))
    shop(settings, tmp_path, "shop_b", row("x", SOY, OTHERS) + row("z", OAT, "Oat drink"))
    known = articles(settings)
    assert known[iid("b", "z")] == known[iid("a", "3")]
    assert len(set(known.values())) == 4
