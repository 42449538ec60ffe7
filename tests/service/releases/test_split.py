"""Where tables are split: by content, so that what changes in one place leaves the files elsewhere as they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest

from shared.bulk.schema import DATASETS, arrow_schema, key_of
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from tests.assurance.perf.generate import MAPPING, write
from tests.support.servers import Contents
from tests.support.shop import load_rows
from workers.bulk.build_release import Files, write_files
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.release_file import ReleaseWriter, ends_of_files
from workers.ingest.load.load import load
from workers.ingest.mapping import read
from workers.jobs.services import SplitRows

SMALL = SplitRows(release_observations=100, release_table=60)


def cut(settings: Settings, split_rows: SplitRows) -> tuple[Files, ReleaseWriter]:
    writer = ReleaseWriter(open_object_store(settings), split_rows)
    with Snapshot(settings.worker_database_url, application="tests") as snapshot:
        return write_files(snapshot, writer, lambda *_: None, set()), writer


def rows(settings: Settings, files: Files, dataset: str) -> pa.Table:
    paths = [str(settings.results_dir / key_of(part.sha256)) for part in files[dataset]]
    return pyarrow.dataset.dataset(paths, schema=arrow_schema(DATASETS[dataset])).to_table()


def market(settings: Settings, folder: Path) -> None:
    path = folder / "market.parquet"
    write(path, items=300, observations=2_500, seed=3)
    path.with_suffix(".toml").write_text(MAPPING)
    load(settings, read(path.with_suffix(".toml")), [path])


@pytest.fixture
def contents() -> Contents:
    return market


def test_ends_are_where_keys_begin_and_are_stable() -> None:
    dice = np.random.default_rng(1)
    hashes, lengths = dice.integers(0, 2**63, 5_000).astype("u8"), dice.integers(1, 9, 5_000)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    total = int(lengths.sum())
    ends = ends_of_files(hashes, starts, total, 1_000)
    assert ends[-1] == total and set(ends[:-1]) <= set(starts.tolist())
    assert all(500 <= b - a <= 4_000 for a, b in zip([0, *ends], ends[:-1], strict=False))
    assert ends_of_files(hashes, starts, total, 1_000, more=True) == ends[:-1]
    # One key less: the ends before it are the same, and those after it come back to the same keys.
    fewer = ends_of_files(hashes[1:], starts[1:] - lengths[0], total - int(lengths[0]), 1_000)
    assert len({end + int(lengths[0]) for end in fewer} & set(ends)) > len(ends) // 2


def test_small_slices_and_parts_hold_the_same_rows(settings: Settings) -> None:
    """A month that is too large to be held at once is read in ranges; nothing is lost or twice at their rims."""
    whole, _ = cut(settings, SplitRows())
    split, _ = cut(settings, replace(SMALL, release_slice=250))
    assert len(split["observations"]) > 3 * len(whole["observations"]) and len(split["items"]) > 5
    for dataset in DATASETS:
        if whole[dataset]:
            assert rows(settings, split, dataset).to_pylist() == rows(settings, whole, dataset).to_pylist(), dataset
        names = [part.name for part in split[dataset]]
        assert names == sorted(set(names))
        keys = [key for part in split[dataset] for key in (part.min_key, part.max_key)]
        assert keys == sorted(keys), dataset


def test_a_change_in_one_place_leaves_other_files_alone(settings: Settings, tmp_path: Path) -> None:
    before, first = cut(settings, SMALL)
    again, second = cut(settings, SMALL)
    assert again == before and second.written_bytes == 0 and second.shared_bytes == first.written_bytes
    load_rows(settings, tmp_path, "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-06-03,NORTH,10.90,12\n")
    after, third = cut(settings, SMALL)
    for dataset, most in (("items", 3), ("observations", 3)):
        new = {part.sha256 for part in after[dataset]} - {part.sha256 for part in before[dataset]}
        assert 0 < len(new) <= most, (dataset, len(new), len(after[dataset]))
    assert third.written_bytes < first.written_bytes / 5
