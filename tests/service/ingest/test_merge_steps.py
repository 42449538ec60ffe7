"""The merge is a chain: no step reads what none has written before, none writes what nobody reads, none hides a table."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shared.settings.settings import Settings
from tests.service.articles.support import OAT, SOY, row, shop
from tests.support.shop import MEASURED, ROWS, load_rows
from workers.ingest.load import merge as merging
from workers.ingest.load.merge import STAGED, Merge, MergeStep, steps

MADE = {"new_items", "merged", "seeds", "affected", "refreshing", "regrouped", "changed_observations"}
"""The temporary tables that steps leave for other steps; those of one function alone are its own affair."""
TABLES = re.compile(rf"\b(?:{'|'.join(sorted(MADE | set(STAGED)))})\b")
UNSEEN = {
    "read_groups": {"affected", "merged"},  # by libpq's own COPY
    "evaluate_watches": {"changed_observations"},  # where somebody watches an item
}
TEXTS = re.compile(r"'[^']*'|--[^\n]*")


@pytest.mark.parametrize("linked", [False, True])
def test_what_a_step_reads_was_written_before_and_what_it_writes_is_read(linked: bool) -> None:
    chain = steps(linked=linked)
    written = set(STAGED)
    for one in chain:
        assert set(one.reads) <= written, one.run.__name__
        written |= set(one.writes)
    assert written >= MADE
    for n, one in enumerate(chain):
        for name in set(one.writes):
            later = [other for other in chain[n + 1 :] if name in other.reads]
            assert later, f"nobody reads {name} of {one.run.__name__}"
    assert set(STAGED) <= {name for one in chain for name in one.reads}


def test_the_steps_are_the_same_whether_or_not_there_is_something_to_link() -> None:
    alone, linked = (steps(linked=linked) for linked in (False, True))
    assert {one.run for one in linked} - {one.run for one in alone} == {merging.link.run}
    assert len({one.run for one in alone}) == len(alone)


class Trace:
    """Which tables the statements of each step name, and which of these they change."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.named: dict[str, set[str]] = {}
        self._step = ""

        def traced(method: Any) -> Any:
            def call(cursor: Any, query: Any, *values: Any, **options: Any) -> Any:
                text = query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else ""
                if self._step:
                    self.named[self._step] |= set(TABLES.findall(TEXTS.sub("", text)))
                return method(cursor, query, *values, **options)

            return call

        def chain(*, linked: bool) -> Iterator[MergeStep]:
            for one in steps(linked=linked):
                yield one._replace(run=self._named(one))

        for name in ("execute", "copy"):
            monkeypatch.setattr(psycopg.Cursor, name, traced(getattr(psycopg.Cursor, name)))
        monkeypatch.setattr(merging, "steps", chain)

    def _named(self, one: MergeStep) -> Any:
        def run(merge: Merge) -> None:
            self._step = one.run.__name__
            self.named.setdefault(self._step, set())
            try:
                one.run(merge)
            finally:
                self._step = ""

        return run


def test_a_step_touches_no_table_that_it_does_not_state(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(monkeypatch)
    load_rows(settings, tmp_path, ROWS)
    load_rows(settings, tmp_path, ROWS.replace("10.90", "10.50").replace("Maison", "Casa"), name="again.csv")
    load_rows(settings, tmp_path, "a,1.5\n", text=MEASURED, header="id,co2\n", name="lab.csv")
    shop(settings, tmp_path, "shop_a", row("1", SOY) + row("2", OAT))
    shop(settings, tmp_path, "shop_b", row("x", SOY))
    stated = {one.run.__name__: set(one.reads) | set(one.writes) for one in steps(linked=True)}
    assert trace.named.keys() == stated.keys()
    for name, tables in trace.named.items():
        assert tables <= stated[name], name
    fields = {"groups", "ancestors", "watched", "rollups", "seen_brands"}
    unused = {name: stated[name] - trace.named[name] - fields for name in stated}
    assert {name: tables for name, tables in unused.items() if tables} == UNSEEN
