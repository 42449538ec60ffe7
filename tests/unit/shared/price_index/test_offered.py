"""What reports offer is what the package computes."""

import numpy as np

from shared.price_index import question
from shared.price_index.offered import ALIASES, METHODS, offered_method
from shared.price_index.panel import Panel
from tests.unit.shared.price_index.cases import GAPS, series


def test_every_offered_method_is_computed_and_needs_quantities_as_declared() -> None:
    for method in METHODS:
        named = question.method_named(method)
        assert named.name == method, method
        assert question.needs_quantities(question.IndexQuestion(named)) is METHODS[method], method
        assert np.isfinite(series(method, GAPS)).all(), method
        if not METHODS[method]:
            assert np.isfinite(series(method, Panel(GAPS.prices))).all(), method


def test_usual_spellings_name_one_method() -> None:
    for spelling, method in (
        ("CCDI", "geks-tornqvist"),
        ("GEKS-Törnqvist", "geks-tornqvist"),
        ("geks-tornqvist(ccdi)", "geks-tornqvist"),
        ("geary_khamis", "geary-khamis"),
        ("wtpd", "tpd"),
        ("best", None),
        ("", None),
    ):
        assert offered_method(spelling) == method, spelling
    assert set(ALIASES.values()) <= METHODS.keys()
