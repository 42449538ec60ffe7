"""The judge's figure is NDCG@10 as it is defined."""

import csv
import gzip
from pathlib import Path

import pytest

from shared.errors import ConfigurationError
from tests.perf import search_evaluation


def test_ndcg_of_known_orders() -> None:
    grades = {"a": 4, "b": 3, "c": 1}
    assert search_evaluation.ndcg(["a", "b", "c"], grades) == 1.0
    assert search_evaluation.ndcg(["x", "y"], grades) == 0.0
    assert search_evaluation.ndcg(["b", "a"], grades) == pytest.approx((3 + 7 / 1.5849625) / (7 + 3 / 1.5849625))


def test_a_small_file_is_judged_whole(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv.gz"
    rows = [
        ("red shoe", "Red shoes", "", 4),
        ("red shoe", "Red hat", "Goes with a shoe", 2),
        ("hat", "Red hat", "Goes with a shoe", 4),
        ("hat", "Lamp", "", 1),
        ("lmap", "Lamp", "", 4),
        ("table lamp", "Lamp", "", 3),
    ]
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "product_title", "product_description", "median_relevance"])
        writer.writerows(rows)
    verdict = search_evaluation.judge(path)
    assert (verdict.documents, verdict.queries, verdict.judgements) == (3, 4, 6)
    assert verdict.ndcg == 1.0
    assert verdict.sqlite < 1.0


def test_a_file_without_the_columns_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("query,title\n")
    with pytest.raises(ConfigurationError, match="product_title"):
        search_evaluation.read(path)
