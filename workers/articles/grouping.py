"""From links, merges and decisions to articles: which item of each is the survivor. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from workers.articles.matching.clusters import Member, cluster
from workers.articles.matching.records import Link
from workers.provenance.acts import Decision, EffectiveActs


@dataclass(frozen=True, slots=True)
class Item:
    """The properties that decide which item survives: its source, since when it is known, what its source declares."""

    item_id: int
    source: str
    first_day: date
    separate: bool = False
    article: str = ""

    @property
    def age(self) -> tuple[date, str, int]:
        """Return what orders items from the oldest on, the same in any order of loads."""
        return self.first_day, self.source, self.item_id


@dataclass(frozen=True, slots=True)
class Membership:
    """Where an item belongs. `survivor_id`: the item whose IID answers for a merged one; `owner_id`: the active item
    whose record shows it, None where it or its survivor was withdrawn."""

    item_id: int
    status: str
    survivor_id: int | None
    owner_id: int | None


@dataclass(frozen=True, slots=True)
class Articles:
    """The article of every item that was asked for, and the links that were not followed."""

    memberships: tuple[Membership, ...]
    refused: tuple[Link, ...]


def group(
    items: Mapping[int, Item], links: Iterable[Link], standing: EffectiveActs, decisions: Collection[Decision]
) -> Articles:
    """Return the articles that items form. `items` must have all that are connected with any of them.

    The oldest item that no operator merged into another is the survivor. An article of which an item was withdrawn is
    withdrawn as a whole: whichever source brings it again, it stays so.
    """
    members = {str(one.item_id): Member(one.source, one.article, one.separate, one.age) for one in items.values()}
    merged = [(str(left), str(right)) for left, right in standing.merged_into.items() if left in items]
    accepted, rejected = (
        [(str(one.left_id), str(one.right_id)) for one in decisions if one.same is same] for same in (True, False)
    )
    made = cluster(members, links, merged=merged, accepted=accepted, rejected=rejected)
    joined = [[items[int(key)] for key in keys] for keys in made.groups]
    alone = items.keys() - {one.item_id for together in joined for one in together}
    memberships = [one for together in joined for one in _memberships(together, standing)]
    memberships += [one for item_id in alone for one in _memberships([items[item_id]], standing)]
    return Articles(tuple(memberships), made.refused)


def _memberships(together: list[Item], standing: EffectiveActs) -> Iterable[Membership]:
    roots = sorted((one for one in together if one.item_id not in standing.merged_into), key=lambda one: one.age)
    withdrawn = [one.item_id for one in roots if one.item_id in standing.withdrawn]
    survivor = withdrawn[0] if withdrawn else roots[0].item_id
    owner = None if withdrawn else survivor
    for one in together:
        if one.item_id in withdrawn:
            yield Membership(one.item_id, "withdrawn", None, None)
        elif one.item_id == survivor:
            yield Membership(one.item_id, "active", None, survivor)
        else:
            root = standing.root(one.item_id)
            yield Membership(one.item_id, "merged", root if root in withdrawn else survivor, owner)
