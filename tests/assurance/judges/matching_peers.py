"""A peer judges the labelled pairs of a folder: dedupe or Splink, trained on the same pairs as the product.

Run by the Python of the judges' own environment, not by that of the tests: it imports nothing of this project. Arguments:
the peer, the folder, the patterns of the training and of the judged pairs. It prints one line of JSON: precision, recall
and F1 of the judged pairs, at the bound that is best on the training pairs.
"""

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Pair = tuple[str, str]
Scores = Callable[[list[Pair]], list[float]]
_TEXTS = {"name": ("name", "title"), "brand": ("brand", "manufacturer"), "mpn": ("modelno",), "more": ("description",)}
_WORD = re.compile(r"[a-z0-9]+")


def main(peer: str, folder: Path, train: str, judge: str) -> None:
    """Train the peer, and print what it makes of the judged pairs."""
    left, right = (_records(folder / f"{side}.csv") for side in ("left", "right"))
    learned, asked = _pairs(folder, train), _pairs(folder, judge)
    scores = {"dedupe": _dedupe, "splink": _splink}[peer](left, right, learned)
    bound = _best(scores(list(learned)), list(learned.values()))
    called = [score >= bound for score in scores(list(asked))]
    right_ones = sum(same and found for same, found in zip(asked.values(), called, strict=True))
    found, matches = sum(called), sum(asked.values())
    print(
        json.dumps(
            {
                "precision": round(right_ones / max(1, found), 4),
                "recall": round(right_ones / matches, 4),
                "f1": round(2 * right_ones / (found + matches), 4),
            }
        )
    )


def _dedupe(left: dict[str, Record], right: dict[str, Record], learned: dict[Pair, bool]) -> Scores:
    """Train dedupe's classifier: each text as a string and by its words, and what is missing. It finds no candidates."""
    import dedupe

    fields: list[Any] = []
    for name in _given(left, right):
        corpus = [one[name] for one in (*left.values(), *right.values()) if one[name]]
        if name != "more":  # its comparison of strings takes the product of two lengths
            fields.append(dedupe.variables.String(name, has_missing=True))
        fields.append(dedupe.variables.Text(name, corpus=corpus, has_missing=True))
    linker = dedupe.RecordLink(fields, num_cores=1)

    def records(pair: Pair) -> tuple[Record, Record]:
        return left[pair[0]], right[pair[1]]

    linker.classifier.fit(linker.data_model.distances(list(map(records, learned))), list(learned.values()))

    def scores(pairs: list[Pair]) -> list[float]:
        distances = linker.data_model.distances([records(pair) for pair in pairs])
        return [float(one) for one in linker.classifier.predict_proba(distances)[:, -1]]

    return scores


def _splink(left: dict[str, Record], right: dict[str, Record], learned: dict[Pair, bool]) -> Scores:
    """Train Splink: how often different records agree by random pairs, how often one item's by the labelled matches."""
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    given = _given(left, right)
    comparisons: list[Any] = [cl.JaroWinklerAtThresholds("name", [0.95, 0.9, 0.8, 0.7])]
    comparisons += [
        cl.ArrayIntersectAtSizes("words", [10, 8, 6, 5, 4, 3, 2, 1]),
        cl.ArrayIntersectAtSizes("codes", [2, 1]),
    ]
    comparisons += [cl.JaroWinklerAtThresholds(name, [0.95, 0.85]) for name in given if name in ("brand", "mpn")]
    if "more" in given:
        comparisons.append(cl.ArrayIntersectAtSizes("more_words", [20, 10, 5, 2]))
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on("words", arrays_to_explode=["words"])],
    )
    frames = [pd.DataFrame([_worded(key, one) for key, one in side.items()]) for side in (left, right)]
    database = DuckDBAPI()
    sides = zip(("side_a", "side_b"), frames, strict=True)
    linker = Linker([database.register(frame, dataset_display_name=side) for side, frame in sides], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    matches = [pair for pair, same in learned.items() if same]
    ends = {
        "source_dataset_l": "side_a",
        "unique_id_l": [one for one, _ in matches],
        "source_dataset_r": "side_b",
        "unique_id_r": [other for _, other in matches],
    }
    labels = linker.table_management.register_table(pd.DataFrame(ends), "labels")
    linker.training.estimate_m_from_pairwise_labels(labels)
    found = linker.inference.predict(threshold_match_weight=-100).as_pandas_dataframe()
    weights = dict(
        zip(zip(found["unique_id_l"], found["unique_id_r"], strict=True), found["match_weight"], strict=True)
    )
    return lambda pairs: [weights.get(pair, -1e9) for pair in pairs]


def _given(left: dict[str, Record], right: dict[str, Record]) -> list[str]:
    """Return the texts that both files have."""
    return [name for name in _TEXTS if all(any(one[name] for one in side.values()) for side in (left, right))]


def _worded(key: str, record: Record) -> Record:
    words, more = (sorted(set(_WORD.findall((record[name] or "").lower()))) for name in ("name", "more"))
    codes = [word for word in words if len(word) >= 4 and any(mark.isdigit() for mark in word)]
    return {"unique_id": key, **record, "words": words, "codes": codes, "more_words": more}


def _records(path: Path) -> dict[str, Record]:
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["id"]: {
                name: next((row[column].strip().lower() for column in columns if row.get(column)), None) or None
                for name, columns in _TEXTS.items()
            }
            for row in csv.DictReader(file)
        }


def _pairs(folder: Path, pattern: str) -> dict[Pair, bool]:
    pairs: dict[Pair, bool] = {}
    for path in sorted(folder.glob(pattern)):
        with path.open(encoding="utf-8", newline="") as file:
            pairs |= {(row["left_id"], row["right_id"]): row["label"] == "1" for row in csv.DictReader(file)}
    return pairs


def _best(scores: list[float], labels: list[bool]) -> float:
    """Return the bound of the best F1."""
    best, bound, right = 0.0, max(scores), 0
    ranked = sorted(zip(scores, labels, strict=True), reverse=True)
    for at, (score, same) in enumerate(ranked):
        right += same
        f1 = 2 * right / (at + 1 + sum(labels))
        if f1 > best and (at + 1 == len(ranked) or ranked[at + 1][0] < score):
            best, bound = f1, score
    return bound


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
