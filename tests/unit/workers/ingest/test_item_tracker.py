"""A batch's items come some thousand at a time, and are those of the whole batch, newest rows last."""

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.index.iid import item_key, mint
from tests.assurance.perf.generate import MAPPING as MARKET_MAPPING
from workers.ingest.files.read_file import read as batches
from workers.ingest.item_tracker import ItemTracker
from workers.ingest.load.linking import Linking
from workers.ingest.mapping import Mapping
from workers.ingest.mapping import read as read_mapping
from workers.ingest.transform import Transformer

PATH = Path("prices.csv")


def _mapping(folder: Path) -> Mapping:
    (folder / "mapping.toml").write_text(MARKET_MAPPING)
    return read_mapping(folder / "mapping.toml")


def _file(folder: Path, names: list[str]) -> Path:
    path = folder / PATH
    rows = [f"A{n},{name},Acme,Food,Milk,Milk,North,1.50,2026-07-01\n" for n, name in enumerate(names)]
    path.write_text("id,name,brand,group,type,product_type,channel,price,day\n" + "".join(rows))
    return path


def test_parts_are_the_items_of_the_batch_in_their_order(tmp_path: Path) -> None:
    mapping = _mapping(tmp_path)
    [batch] = batches(_file(tmp_path, [f"Milk {n}" for n in range(5_000)]), mapping, batch_rows=10_000)
    whole = Transformer(mapping, {}).shape(batch, PATH)
    observed, items = Transformer(mapping, {}).begin(batch, PATH)
    parts = list(items)
    assert [len(part.items) for part in parts] == [2_048, 2_048, 904]
    assert [item for part in parts for item in part.items] == whole.items
    assert (observed.rows, len(observed.items), len(whole.items)) == (5_000, 0, 5_000)


def test_parts_may_be_taken_when_the_next_batch_has_begun(tmp_path: Path) -> None:
    mapping, taken = _mapping(tmp_path), []
    transformer, items = Transformer(mapping, {}), iter(())
    for names in (["Milk", "Oats"], ["Milk", "Rolled oats"]):
        [batch] = batches(_file(tmp_path, names), mapping, batch_rows=10)
        _, begun = transformer.begin(batch, PATH)
        taken += [item.name for part in items for item in part.items]
        items = begun
    taken += [item.name for part in items for item in part.items]
    assert taken == ["Milk", "Oats", "Rolled oats"]


@pytest.mark.parametrize("sizes", [(40, 30, 70), (64, 1, 64), (1, 200)])
def test_items_keep_their_keys_however_many_come_later(sizes: tuple[int, ...]) -> None:
    tracker = ItemTracker("shop", room=64)
    ids = [f"A{n}" for n in range(sum(sizes))]
    ends = np.cumsum(sizes)
    for end, size in zip(ends, sizes, strict=True):
        numbers = tracker.number(ids[end - size : end])
        tracker.extend_spans(numbers, numbers, numbers)
    keys, first, last = tracker.spans()
    assert keys.tolist() == [item_key(mint("shop", source_id).iid) for source_id in ids]
    assert first.tolist() == last.tolist() == list(range(len(ids)))


def test_the_collector_works_again_after_a_linking_that_failed() -> None:
    nothing: Any = None
    with pytest.raises(AttributeError):
        Linking().link(nothing, nothing, {})
    assert gc.isenabled()
