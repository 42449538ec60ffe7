"""From links to articles: which records form one article, whatever the order in which they came."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workers.articles.matching.records import LinkDecision, LinkKind, RecordLink

Pair = tuple[str, str]
CHAINED_MAX = 50
"""An article whose records are not all linked with each other has no more records than this."""
_STRENGTH = {LinkKind.IDENTIFIER: 0, LinkKind.LIKENESS: 1}


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """The properties of a record that clustering needs: its source and the article that the source itself declares.

    `age` orders records from the oldest on. `one_per_source` is that of `MatchRecord`.
    """

    source: str
    article: str = ""
    separate: bool = False
    age: tuple[Any, ...] = ()
    one_per_source: bool | None = None


@dataclass(frozen=True, slots=True)
class Clustering:
    """`groups`: the articles of two or more records, each sorted by key. `refused`: links that were not followed."""

    groups: tuple[tuple[str, ...], ...]
    refused: tuple[RecordLink, ...]


def cluster(
    members: Mapping[str, ClusterMember],
    links: Iterable[RecordLink],
    *,
    merged: Collection[Pair] = (),
    accepted: Collection[Pair] = (),
    rejected: Collection[Pair] = (),
) -> Clustering:
    """Join records along links, the strongest first and of equal ones the oldest, as long as no rule is broken.

    So a record that comes later takes no link of others away. Links that wait for a person are not followed. `merged`
    are pairs that an operator merged, which no rule forbids; `accepted` and `rejected` are pairs that a person decided.
    Two groups are joined only if no source that lists each product once would have two records (unless it declares
    them one article), and no pair between them was rejected or has an identifier but contradicts it. A likeness joins
    them only if every other pair between the groups is linked too: a chain through a weak link joins nothing. A chain
    of identifiers, whose members are not all linked with each other, ends at `CHAINED_MAX` records. The result depends
    on the arguments' content alone, not on their order.
    """
    state = _JoinedGroups(members, {_in_order(pair) for pair in rejected})
    state.declare()
    for left, right in merged:
        state.merge(left, right)
    for left, right in sorted(_in_order(pair) for pair in accepted):
        if left in members and right in members:
            state.join(left, right, trusted=True)
    known = [link for link in links if link.left in members and link.right in members]
    ready = [link for link in known if link.decision is LinkDecision.LINK]

    def rank(link: RecordLink) -> tuple[Any, ...]:
        older, younger = sorted((members[link.left].age, members[link.right].age))
        return _STRENGTH[link.kind], -link.score, younger, older, link.left, link.right

    ready.sort(key=rank)
    state.linked = {_in_order(link.pair) for link in ready}
    state.opposed = {_in_order(link.pair) for link in known if _contradicts(link)}
    refused = [
        link for link in ready if not state.join(link.left, link.right, trusted=link.kind is not LinkKind.LIKENESS)
    ]
    return Clustering(state.groups(), tuple(refused))


class _JoinedGroups:
    def __init__(self, members: Mapping[str, ClusterMember], rejected: set[Pair]) -> None:
        self._members, self._rejected = members, rejected
        self._group: dict[str, list[str]] = {}
        self.linked: set[Pair] = set()
        self.opposed: set[Pair] = set()

    def declare(self) -> None:
        """Join what each source declares to be one article."""
        first: dict[tuple[str, str], str] = {}
        for key in sorted(self._members):
            member = self._members[key]
            if member.article and not member.separate:
                self.merge(first.setdefault((member.source, member.article), key), key)

    def join(self, left: str, right: str, *, trusted: bool) -> bool:
        """Join the groups of two records if no rule forbids it; return whether they are in one group afterwards."""
        ours, theirs = self._of(left), self._of(right)
        if ours is theirs:
            return True
        trusted = trusted and len(ours) + len(theirs) <= CHAINED_MAX
        for one in ours:
            for other in theirs:
                if not self._may(one, other) or not (trusted or self._is_supported(one, other)):
                    return False
                if _in_order((one, other)) in self.opposed:
                    return False
        self.merge(left, right)
        return True

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return every group of two or more records."""
        distinct = {id(group): group for group in self._group.values() if len(group) > 1}
        return tuple(sorted(tuple(sorted(group)) for group in distinct.values()))

    def _of(self, key: str) -> list[str]:
        return self._group.setdefault(key, [key])

    def merge(self, left: str, right: str) -> None:
        """Join the groups of two records, whatever the rules say."""
        ours, theirs = self._of(left), self._of(right)
        if ours is theirs:
            return
        ours.extend(theirs)
        for key in theirs:
            self._group[key] = ours

    def _may(self, one: str, other: str) -> bool:
        first, second = self._members[one], self._members[other]
        if first.separate or second.separate or _in_order((one, other)) in self._rejected:
            return False
        once = first.source == second.source and first.one_per_source is True
        return not once or self._are_declared_one(first, second)

    def _is_supported(self, one: str, other: str) -> bool:
        known = _in_order((one, other)) in self.linked
        return known or self._are_declared_one(self._members[one], self._members[other])

    @staticmethod
    def _are_declared_one(first: ClusterMember, second: ClusterMember) -> bool:
        return first.source == second.source and first.article == second.article != ""


def _contradicts(link: RecordLink) -> bool:
    """Say whether records have one identifier and contradict it; names without a common word may be translations."""
    waits = link.kind is LinkKind.IDENTIFIER and link.decision is LinkDecision.REVIEW
    return waits and any(not one.agrees and one.field != "name" for one in link.evidence)


def _in_order(pair: Pair) -> Pair:
    return pair if pair[0] <= pair[1] else (pair[1], pair[0])
