"""Rows of a caller's table are matched against the index by the job `match-table`, as a load's items would be."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from psycopg.types.json import Jsonb

from shared.articles.table_rows import ItemCandidate, MatchedTable, TableRow
from shared.jobs.contract import MATCH_TABLE
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.service.articles.support import OAT, SOY, TEA, A, B, row, shop
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import undone
from tests.support.workers import run


def two_shops(settings: Settings, folder: Path) -> None:
    shop(settings, folder, "shop_a", row("1", SOY, "Vitasoy soy milk original 1 l") + row("2", OAT, "Oat drink 1 l"))
    shop(
        settings, folder, "shop_b", row("x", SOY, "Vitasoy soya milk original 1L") + row("y", TEA, "Green tea 20 bags")
    )


@pytest.fixture(scope="module")
def contents() -> Contents:
    return two_shops


def matched(settings: Settings, *rows: TableRow, **changed: Any) -> Sequence[Sequence[ItemCandidate]]:
    """Run a job over rows and return the candidates of each."""
    parameters = Jsonb({"rows": msgspec.to_builtins(rows)})
    values = (MATCH_TABLE.name, MATCH_TABLE.queue, None, parameters, "1", 1, 1)
    [(job, *_)] = execute(settings, JOBS.join, *values)
    assert run(settings, job, **changed) == "succeeded"
    [(manifest, total)] = execute(settings, "SELECT result, rows_total FROM jobs WHERE id = $1", job)
    assert total == len(rows)
    reader = DirectoryStore(settings.results_dir).open(manifest["key"])
    body = reader.read(0, manifest["bytes"])
    reader.close()
    return [one.candidates for one in msgspec.json.decode(body, type=MatchedTable).data]


def test_a_gtin_matches_the_article_of_both_shops_once_and_an_unknown_row_has_no_candidate(settings: Settings) -> None:
    by_gtin, unknown = matched(
        settings, TableRow("Vitasoy soy milk 1 l", gtins=(f"0{SOY}",)), TableRow("Stapler for 40 sheets")
    )
    assert [(one.iid, one.brand, one.score) for one in by_gtin if one.match] == [(A, "Vita", 1.0)]
    assert by_gtin[0].match
    assert B not in {one.iid for one in by_gtin}
    assert unknown == []


def test_a_name_alone_has_the_item_among_its_candidates(settings: Settings) -> None:
    [found] = matched(settings, TableRow("Vitasoy soy milk original 1 l"))
    assert found[0].iid == A
    assert 0.35 <= found[0].score <= 1


def test_a_size_or_pack_that_contradicts_the_item_of_a_gtin_is_no_match(settings: Settings) -> None:
    agreeing, pack, size = matched(
        settings,
        TableRow("Vitasoy soy milk", size="1 l", gtins=(f"0{SOY}",)),
        TableRow("Vitasoy soy milk 24 x 1 l", gtins=(f"0{SOY}",)),
        TableRow("Vitasoy soy milk", size="250 ml", gtins=(f"0{SOY}",)),
    )
    assert [one[0].match for one in (agreeing, pack, size)] == [True, False, False]
    assert [one[0].iid for one in (pack, size)] == [A, A]


def test_two_gtins_of_different_items_match_neither(settings: Settings) -> None:
    [found] = matched(settings, TableRow("", gtins=(f"0{SOY}", f"0{TEA}")))
    assert len(found) == 2
    assert not any(one.match for one in found)


def test_the_rows_stay_out_of_the_index_that_loads_compare_with(settings: Settings, tmp_path: Path) -> None:
    settings = replace(settings, match_dir=tmp_path / "match")
    for _ in range(2):
        [found] = matched(settings, TableRow("A stapler", gtins=("05012345678900",)))
        assert found == []
    assert (tmp_path / "match" / "stamp.json").exists(), "kept for the next job"
    summary = shop(settings, tmp_path, "shop_c", row("z", "5012345678900", "A stapler"))
    assert summary.counts["items_merged"] == 0
    [again] = matched(settings, TableRow("A stapler", gtins=("05012345678900",)))
    assert [one.match for one in again] == [True]
    undone(settings)
    assert matched(settings, TableRow("A stapler", gtins=("05012345678900",))) == [[]]


def test_a_withdrawn_item_is_no_candidate(settings: Settings) -> None:
    execute(settings, "UPDATE items SET status = 'withdrawn' WHERE iid = $1", A)
    [found] = matched(settings, TableRow("Vitasoy soy milk 1 l", gtins=(f"0{SOY}",)))
    assert not {one.iid for one in found} & {A, B}
