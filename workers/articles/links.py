"""The links of items whose source says something new of them: found anew, and stored."""

from collections.abc import Collection
from dataclasses import replace

import msgspec

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.processes import without_collector
from workers.articles import models, records
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.records import Linkage, LinkDecision, LinkEvidence, LinkKind, RecordLink
from workers.articles.records import SourceRecord
from workers.articles.shared_gtins import links_by_shared_gtins

SQL = load_queries(__file__, "links.sql")
Pair = tuple[int, int]
TRUST = ("all", "identifiers", "review")
"""The links that a source's mapping may allow without a person: all, those that identifiers prove, none."""


def relink(connection: Connection, index: MatchIndex, changed: Collection[int], no: int) -> set[int]:
    """Find the links of changed, new and vanished items anew; return the items whose articles may change by that.

    `no`: the event that changes them; the links that it replaces are kept for its undoing.
    """
    known = {one.item_id: one for one in records.read(connection, changed)}
    index.remove(str(item_id) for item_id in changed if item_id not in known)
    index.add(one.record for one in known.values())
    declared = declare(connection, changed, known)
    return declared | _relink(connection, index, changed, known, no)


@without_collector()
def rejudge(connection: Connection, index: MatchIndex, no: int) -> set[int]:
    """Find the links of all items anew, as event `no` has chosen another model; return what `relink` does."""
    return _relink(connection, index, [int(record.key) for record in index.records(index.rows())], {}, no)


def _relink(
    connection: Connection, index: MatchIndex, changed: Collection[int], known: dict[int, SourceRecord], no: int
) -> set[int]:
    linkage = Matcher(models.active(connection), index).link(str(item_id) for item_id in changed)
    touched = {int(key) for key in linkage.touched} | set(changed)
    trusted = {pair_of(link): link for link in _apply_trust(connection, linkage, known)}
    held = read(connection, touched)
    gone = held.keys() - trusted.keys()
    new = {pair for pair, link in trusted.items() if held.get(pair) != link}
    replaced = list(gone | new)
    connection.execute(SQL.keep_replaced, (no, [pair[0] for pair in replaced], [pair[1] for pair in replaced]))
    _store(connection, gone, {pair: trusted[pair] for pair in new}, no)
    return {item_id for pair in held.keys() | trusted.keys() for item_id in pair}


def restore(connection: Connection, no: int, vanished: Collection[int]) -> set[int]:
    """Give back the links that an event replaced, and drop those of vanished items; return the items of all these."""
    ends = {item_id for row in connection.execute(SQL.restored_pairs, (no,)) for item_id in row}
    for statement in (SQL.skip_replaced, SQL.clear_restored, SQL.put_restored, SQL.forget_replaced):
        connection.execute(statement, (no,))
    ends |= {item_id for row in connection.execute(SQL.drop_of_items, (list(vanished),)) for item_id in row}
    return ends - set(vanished)


def read(connection: Connection, item_ids: Collection[int]) -> dict[Pair, RecordLink]:
    """Return the links that items have."""
    return {
        (left, right): RecordLink(
            str(left),
            str(right),
            LinkKind(kind),
            score,
            LinkDecision(decision),
            tuple(LinkEvidence(**one) for one in evidence),
        )
        for left, right, kind, score, decision, evidence in connection.execute(SQL.held, (list(item_ids),))
    }


def pair_of(link: RecordLink) -> Pair:
    """Return the items of a link, the lesser id first."""
    left, right = int(link.left), int(link.right)
    return (left, right) if left < right else (right, left)


def _apply_trust(connection: Connection, linkage: Linkage, known: dict[int, SourceRecord]) -> list[RecordLink]:
    """Let a link wait for a person where the mapping of one of its sources wants that.

    Where a GTIN proves nothing because a source gives it to several items, the likeness of the pair decides instead.
    """
    ends = {item_id for link in linkage.links for item_id in pair_of(link)}
    everyone = {**{one.item_id: one for one in records.read(connection, ends - known.keys())}, **known}
    trust = {item_id: one.trust for item_id, one in everyone.items()}
    unproven = links_by_shared_gtins(connection, linkage.links, everyone)
    links = [
        linkage.likenesses.get(link.pair, replace(link, score=0.5, decision=LinkDecision.REVIEW))
        if link.pair in unproven
        else link
        for link in linkage.links
    ]

    def with_trust_applied(link: RecordLink) -> RecordLink:
        left, right = pair_of(link)
        weakest = max((trust.get(end, "all") for end in (left, right)), key=TRUST.index)
        waits = weakest == "review" or (weakest == "identifiers" and link.kind is LinkKind.LIKENESS)
        evidence = link.evidence if int(link.left) == left else tuple(map(_mirror, link.evidence))
        decision = LinkDecision.REVIEW if waits else link.decision
        return replace(link, left=str(left), right=str(right), decision=decision, evidence=evidence)

    return [with_trust_applied(link) for link in links]


def _mirror(one: LinkEvidence) -> LinkEvidence:
    return replace(one, left=one.right, right=one.left)


def _store(connection: Connection, gone: Collection[Pair], new: dict[Pair, RecordLink], no: int) -> None:
    if gone:
        connection.execute(SQL.drop, ([pair[0] for pair in gone], [pair[1] for pair in gone]))
    if new:
        links = [
            {"left_id": pair[0], "right_id": pair[1]}
            | {name: getattr(link, name) for name in ("kind", "score", "decision", "evidence")}
            for pair, link in new.items()
        ]
        connection.execute(SQL.keep, (msgspec.json.encode(links).decode(), no))


def declare(connection: Connection, changed: Collection[int], known: dict[int, SourceRecord]) -> set[int]:
    """Keep which of the items their source declares to be one article; return those for which that changed."""
    before = {row[0]: (row[1], row[2]) for row in connection.execute(SQL.undeclare, (list(changed),))}
    now = {one.item_id: (one.source_id, one.record.article) for one in known.values() if one.record.article}
    if now:
        values = (list(now), [source for source, _ in now.values()], [article for _, article in now.values()])
        connection.execute(SQL.declare, values)
    return {item_id for item_id in {*before, *now} if before.get(item_id) != now.get(item_id)}
