"""What reports offer is what the package computes."""

import numpy as np
import pytest

from shared.price_index import question
from shared.price_index.offered import ALIASES, METHODS, SPLICES, offered_method
from shared.price_index.panel import Panel
from tests.unit.shared.price_index.cases import GAPS, series


@pytest.mark.parametrize("method", METHODS)
def test_every_offered_method_is_computed_and_needs_quantities_as_declared(method: str) -> None:
    named = question.method_named(method)
    assert named.name == method
    assert question.needs_quantities(question.Question(named)) is METHODS[method]
    assert np.isfinite(series(method, GAPS)).all()
    if not METHODS[method]:
        assert np.isfinite(series(method, Panel(GAPS.prices))).all()


def test_offered_splices_are_those_that_are_computed() -> None:
    assert SPLICES == question.SPLICES


@pytest.mark.parametrize(
    ("spelling", "method"),
    [
        ("CCDI", "geks-tornqvist"),
        ("GEKS-Törnqvist", "geks-tornqvist"),
        ("geks-tornqvist(ccdi)", "geks-tornqvist"),
        ("geary_khamis", "geary-khamis"),
        ("wtpd", "tpd"),
        ("best", None),
        ("", None),
    ],
)
def test_usual_spellings_name_one_method(spelling: str, method: str | None) -> None:
    assert offered_method(spelling) == method
    assert set(ALIASES.values()) <= METHODS.keys()
