"""The search of one load gives what the index gives."""

from workers.articles.matching.index import MatchIndex, Nearest
from workers.articles.matching.search import Search
from workers.articles.matching.synthetic import worlds


def _listed(found: Nearest) -> set[tuple[int, int, float]]:
    return set(zip(found.row.tolist(), found.other.tolist(), found.score.tolist(), strict=True))


def test_answers_are_those_of_the_index_whatever_was_asked_before() -> None:
    world = next(worlds(1, seed=3, articles=80))
    index = MatchIndex.build([*world.left, *world.right])
    rows = index.rows()
    search = Search(index)
    assert _listed(search.wide(rows[:30])) == _listed(index.nearest(rows[:30], least_of_best=0.0))
    for asked in (rows[20:50], rows[:10], rows[::-1], rows[:0]):
        assert _listed(search.nearest(asked)) == _listed(index.nearest(asked))
