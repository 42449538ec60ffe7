"""Which items the rows of a caller's table may be: judged beside the kept index, as the records of a load are."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.articles.table_rows import CANDIDATES_MAX, ItemCandidate, RowCandidates, TableRow
from shared.db.connect import Connection
from shared.db.queries import load_queries
from workers.articles.matching.clusters import ClusterMember, cluster
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import LinkDecision, MatchRecord, RecordLink

SQL = load_queries(__file__, "tables.sql")
# No mapping may name its source so, and no item has a key of this form.
_SOURCE, _KEY = "the table", "row "


@dataclass(frozen=True, slots=True)
class _Article:
    """The item that answers for an article, and the keys of all of its records."""

    iid: str
    name: str
    brand: str | None
    category: list[str]
    members: tuple[str, ...]


def match_rows(
    connection: Connection, index: MatchIndex, model: Model, rows: Sequence[TableRow]
) -> list[RowCandidates]:
    """Return the candidates of each row. The rows are added to the index, which is of no use to others any more.

    The rows of one table count as those of one source, so they compete for an item. `match` is true of one item at
    most: that of which the rules of clustering would make one article with the row, without a person.
    """
    keys = [f"{_KEY}{number}" for number in range(len(rows))]
    index.add(map(_as_record, keys, rows))
    links: dict[str, list[tuple[str, RecordLink]]] = defaultdict(list)
    for link in Matcher(model, index).link(keys).links:
        row, item = sorted(link.pair, key=lambda key: not key.startswith(_KEY))
        if row.startswith(_KEY):
            links[row].append((item, link))
    articles = _articles(connection, {item for found in links.values() for item, _ in found})
    return [RowCandidates(_candidates(index, key, links[key], articles)) for key in keys]


def _as_record(key: str, row: TableRow) -> MatchRecord:
    size = (("size", row.size),) if row.size else ()
    return MatchRecord(
        key, _SOURCE, row.name, row.brand, row.mpn, gtins=row.gtins, attributes=size, one_per_source=True
    )


def _articles(connection: Connection, items: set[str]) -> Mapping[str, _Article]:
    """Return the article of each item; withdrawn ones have none."""
    articles: dict[str, _Article] = {}
    for iid, name, brand, category, members in connection.execute(SQL.articles, (list(map(int, items)),)):
        article = _Article(iid, name, brand, category, tuple(map(str, members)))
        articles |= dict.fromkeys(article.members, article)
    return articles


def _candidates(
    index: MatchIndex, row: str, links: Sequence[tuple[str, RecordLink]], articles: Mapping[str, _Article]
) -> list[ItemCandidate]:
    of_article: dict[str, list[RecordLink]] = defaultdict(list)
    by_iid: dict[str, _Article] = {}
    for item, link in links:
        if (article := articles.get(item)) is not None:
            of_article[article.iid].append(link)
            by_iid[article.iid] = article
    joined = [iid for iid, found in of_article.items() if _is_joined(index, row, by_iid[iid].members, found)]
    candidates = [
        ItemCandidate(
            iid,
            by_iid[iid].name,
            by_iid[iid].brand,
            by_iid[iid].category,
            max(link.score for link in found),
            match=joined == [iid],
        )
        for iid, found in of_article.items()
    ]
    return sorted(candidates, key=lambda one: (not one.match, -one.score, one.iid))[:CANDIDATES_MAX]


def _is_joined(index: MatchIndex, row: str, members: Sequence[str], links: Sequence[RecordLink]) -> bool:
    """Say whether clustering makes one article of a row and the members of an existing one."""
    if not any(link.decision is LinkDecision.LINK for link in links):
        return False
    here = sorted(index.rows_of(members).items(), key=lambda entry: entry[1])
    known = {key: ClusterMember(index.record(at).source) for key, at in here}
    merged = [(key, next(iter(known))) for key in known]
    made = cluster({**known, row: ClusterMember(_SOURCE)}, links, merged=merged)
    return any(row in group for group in made.groups)
