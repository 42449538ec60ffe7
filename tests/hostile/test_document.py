"""The service holds to its own document, whatever is sent: a bounded run; `make hostile` runs longer."""

from pathlib import Path

import pytest

from tests.hostile.run import one_round
from tests.hostile.target import target


@pytest.mark.timeout(900)
def test_nothing_is_found_in_a_round(tmp_path: Path) -> None:
    with target(tmp_path) as running:
        made = one_round(
            running.base_url, running.environment(), seed=1, examples=3, phases="examples,fuzzing,stateful"
        )
    assert made.clean, made.report
    assert made.cases > 300
