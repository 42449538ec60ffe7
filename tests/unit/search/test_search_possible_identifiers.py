"""However an index came about, it says exactly which identifiers its items may have: a set of their hashes is the judge."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Document
from shared.search.segment import Segment
from tests.unit.search import test_search_segments as loads
from tests.unit.search.test_search_segments import SAMPLE, STEPS, Catalogue
from workers.search import merge
from workers.search.build import build

EVERY = {identifier for document in SAMPLE for identifier in document.identifiers}
NEAR = {(scheme, f"{value[:-1]}{(ord(value[-1]) + 1) % 10}") for scheme, value in EVERY} - EVERY
small_bounds = loads.small_bounds


def hashes(documents: list[Document]) -> set[int]:
    return {layout.identifier_hash(*identifier) for document in documents for identifier in document.identifiers}


def says_exactly(index: SearchIndex, documents: list[Document]) -> None:
    those = hashes(documents)
    for identifier in EVERY | NEAR:
        assert index.may_have(*identifier) == (layout.identifier_hash(*identifier) in those), identifier


@given(steps=STEPS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_identifier_of_an_item_is_possible_and_no_former_one(
    monkeypatch: pytest.MonkeyPatch, steps: list[Callable[[Catalogue], None]]
) -> None:
    # A merge sorts so many entries at a time, of some millions else.
    monkeypatch.setattr(merge, "CHUNK_POSTINGS", 100)
    with TemporaryDirectory() as directory:
        catalogue = Catalogue(Path(directory))
        for step in [*steps, Catalogue.merge]:
            step(catalogue)
            says_exactly(catalogue.opened(), list(catalogue.items.values()))


def test_an_identifier_of_several_items_is_possible_while_one_of_them_is_left(tmp_path: Path) -> None:
    shared = [Document(document.item, identifiers=[("gtin", "04006381333931")]) for document in SAMPLE[:100]]
    catalogue = Catalogue(tmp_path)
    catalogue.withdraw(set(range(loads.ITEMS)))
    segments = loads.update(catalogue.manifest, shared, [one.item.iid for one in shared], tmp_path / "followed")
    catalogue.manifest = loads.publish(tmp_path / "followed", 9, "", segments)
    catalogue.withdraw(set(range(99)))
    assert catalogue.opened().may_have("gtin", "04006381333931")
    catalogue.withdraw({99})
    assert not catalogue.opened().may_have("gtin", "04006381333931")


def test_a_segment_of_a_former_release_is_opened_without_identifiers(tmp_path: Path) -> None:
    manifest = build(SAMPLE[:10], tmp_path, 1)
    folder = tmp_path / layout.SEGMENTS / manifest.segments[0].id
    description = (folder / layout.SEGMENT).read_text()
    (folder / layout.SEGMENT).write_text(description.replace(f'"{layout.IDENTIFIERS}"', '"of_later_releases"'))
    assert len(Segment(folder).identifiers) == 0
    assert manifest.identifiers is None
