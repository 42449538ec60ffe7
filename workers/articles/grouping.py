"""From links, merges and decisions to articles: which item of each is the survivor. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from workers.articles.matching.clusters import ClusterMember, cluster
from workers.articles.matching.records import RecordLink
from workers.provenance.acts import Decision, EffectiveActs


@dataclass(frozen=True, slots=True)
class ArticleMembership:
    """Where an item belongs. `survivor_id`: the item whose IID answers for a merged one; `owner_id`: the active item
    whose record shows it, None where it or its survivor was withdrawn."""

    item_id: int
    status: str
    survivor_id: int | None
    owner_id: int | None


@dataclass(frozen=True, slots=True)
class Articles:
    """The article of every item that was asked for, and the links that were not followed."""

    memberships: tuple[ArticleMembership, ...]
    refused: tuple[RecordLink, ...]


def group(
    members: Mapping[int, ClusterMember],
    links: Iterable[RecordLink],
    standing: EffectiveActs,
    decisions: Collection[Decision],
) -> Articles:
    """Return the articles that items form. `members` must have all that are connected with any of them.

    The oldest item that no operator merged into another is the survivor. An article of which an item was withdrawn is
    withdrawn as a whole: whichever source brings it again, it stays so.
    """
    merged = [(str(left), str(right)) for left, right in standing.merged_into.items() if left in members]
    accepted, rejected = (
        [(str(one.left_id), str(one.right_id)) for one in decisions if one.same is same] for same in (True, False)
    )
    named = {str(item_id): member for item_id, member in members.items()}
    made = cluster(named, links, merged=merged, accepted=accepted, rejected=rejected)
    joined = [list(map(int, keys)) for keys in made.groups]
    alone = members.keys() - {item_id for together in joined for item_id in together}
    articles = [*joined, *([item_id] for item_id in alone)]
    return Articles(tuple(one for ids in articles for one in _memberships(ids, members, standing)), made.refused)


def _memberships(
    together: list[int], members: Mapping[int, ClusterMember], standing: EffectiveActs
) -> Iterable[ArticleMembership]:
    roots = sorted(set(together) - standing.merged_into.keys(), key=lambda item_id: members[item_id].age)
    withdrawn = [item_id for item_id in roots if item_id in standing.withdrawn]
    survivor = withdrawn[0] if withdrawn else roots[0]
    owner = None if withdrawn else survivor
    for item_id in together:
        if item_id in withdrawn:
            yield ArticleMembership(item_id, "withdrawn", None, None)
        elif item_id == survivor:
            yield ArticleMembership(item_id, "active", None, survivor)
        else:
            root = standing.root(item_id)
            yield ArticleMembership(item_id, "merged", root if root in withdrawn else survivor, owner)
