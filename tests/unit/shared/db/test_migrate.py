"""Names of migrations and their phases."""

from pathlib import Path

import pytest

from shared.db.migrate import available


@pytest.mark.parametrize("names", [("0001_a.sql", "0001_b.sql"), ("1_a.sql",)])
def test_migrations_with_a_twin_or_another_spelling_are_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_text("-- phase: expand\nSELECT 1")
    with pytest.raises(ValueError):
        available(tmp_path)


def test_a_migration_says_its_phase(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("SELECT 1")
    with pytest.raises(ValueError, match="phase"):
        available(tmp_path)
