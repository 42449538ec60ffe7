"""Acts on items: whose an item is after merges and withdrawals, in whatever order they came."""

from hypothesis import given
from hypothesis import strategies as st

from workers.provenance.acts import Act, EffectiveActs, replay

THERE = {1: 0, 2: 0, 3: 0, 4: 0}


def owners(standing: EffectiveActs) -> dict[int, int | None]:
    """Return every merged or withdrawn item with its owner."""
    return {item_id: standing.owner(item_id) for item_id in {*standing.merged_into, *standing.withdrawn}}


def test_a_merged_item_belongs_to_the_end_of_its_chain() -> None:
    standing = replay([Act(1, 1, 2), Act(2, 2, 3)], THERE)
    assert owners(standing) == {1: 3, 2: 3}
    assert (standing.root(1), standing.root(2)) == (3, 3)


def test_an_item_merged_into_a_withdrawn_one_has_no_owner_and_still_redirects() -> None:
    standing = replay([Act(1, 1, 2), Act(2, 2)], THERE)
    assert owners(standing) == {1: None, 2: None}
    assert (standing.root(1), standing.withdrawn) == (2, {2})


def test_an_act_on_an_item_that_came_later_holds_nothing() -> None:
    standing = replay([Act(5, 1, 2)], {1: 0, 2: 6})
    assert (owners(standing), standing.effective) == ({}, [])


def test_an_act_that_rests_on_one_without_effect_is_judged_anew() -> None:
    # Without item 2 the merge 1 into 2 was refused; then 1 was active, and its withdrawal holds.
    assert owners(replay([Act(5, 1, 2), Act(6, 1)], {1: 0})) == {1: None}
    assert owners(replay([Act(5, 1, 2), Act(6, 1)], THERE)) == {1: 2}


def test_two_items_cannot_be_merged_into_each_other() -> None:
    assert owners(replay([Act(1, 1, 2), Act(2, 2, 1), Act(3, 1, 1)], THERE)) == {1: 2}


ACTS = st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(1, 4)), max_size=12)


@given(ACTS)
def test_every_owner_is_active_and_every_chain_ends(listed: list[tuple[int, int | None]]) -> None:
    standing = replay([Act(no, *act) for no, act in enumerate(listed, 1)], THERE)
    assert all(owner is None or owner not in owners(standing) for owner in owners(standing).values())
    assert {act.item_id for act in standing.effective} == owners(standing).keys()
