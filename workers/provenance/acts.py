"""Merges, withdrawals and decisions on pairs that are in effect, computed by replaying what people said. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Act:
    """An operator's act on one item: merged into the survivor, or withdrawn where there is none."""

    no: int
    item_id: int
    survivor_id: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on two items: that they are one article (`same`), or that they are not."""

    no: int
    left_id: int
    right_id: int
    same: bool


@dataclass(slots=True)
class EffectiveActs:
    """The acts in effect. `merged_into`: the item that each was merged into, which may be merged too."""

    effective: list[Act] = field(default_factory=list)
    merged_into: dict[int, int] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)

    def root(self, item_id: int) -> int:
        """Return the item at the end of all merges."""
        while item_id in self.merged_into:
            item_id = self.merged_into[item_id]
        return item_id

    def owner(self, item_id: int) -> int | None:
        """Return the active item whose record an item's observations are part of; None where it was withdrawn."""
        root = self.root(item_id)
        return None if root in self.withdrawn else root


def replay(acts: Iterable[Act], first_claims: Mapping[int, int]) -> EffectiveActs:
    """Return what acts come to; `first_claims` says for each item there is by which event it first was.

    An act holds only where its items were there and active when it was made: after an undone load the acts on its items
    are as if they had been refused, and acts that rest on those too.
    """
    standing = EffectiveActs()
    for act in sorted(acts, key=lambda act: act.no):
        named = [act.item_id] if act.survivor_id is None else [act.item_id, act.survivor_id]
        if len(set(named)) < len(named) or not all(
            _is_active(item_id, act, standing, first_claims) for item_id in named
        ):
            continue
        standing.effective.append(act)
        if act.survivor_id is None:
            standing.withdrawn.add(act.item_id)
        else:
            standing.merged_into[act.item_id] = act.survivor_id
    return standing


def in_effect(decisions: Iterable[Decision], first_claims: Mapping[int, int]) -> list[Decision]:
    """Return the decisions that hold: of each pair the latest, and only where both items existed when it was made."""
    latest: dict[frozenset[int], Decision] = {}
    for decision in sorted(decisions, key=lambda decision: decision.no):
        ends = (decision.left_id, decision.right_id)
        if all(item_id in first_claims and first_claims[item_id] < decision.no for item_id in ends):
            latest[frozenset(ends)] = decision
    return list(latest.values())


def _is_active(item_id: int, act: Act, standing: EffectiveActs, first_claims: Mapping[int, int]) -> bool:
    there = item_id in first_claims and first_claims[item_id] < act.no
    return there and item_id not in standing.merged_into and item_id not in standing.withdrawn
