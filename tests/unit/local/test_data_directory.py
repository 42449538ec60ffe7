"""What the embedded stack makes once is complete or not there, whenever its first start was killed."""

import sys
from pathlib import Path

import pytest

from deploy.local import postgres
from deploy.local.paths import Paths
from deploy.local.supervised import StackError

KILLED = "import pathlib, os, sys; pathlib.Path(sys.argv[2], 'PG_VERSION').touch(); os.kill(os.getpid(), 9)"


def test_a_database_whose_making_was_killed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, real = Paths.below(tmp_path), postgres.binary
    script = tmp_path / "initdb"
    script.write_text(f"#!{sys.executable}\n{KILLED}")
    script.chmod(0o755)
    monkeypatch.setattr(postgres, "identity", lambda: ([], None))
    monkeypatch.setattr(postgres, "binary", lambda name: str(script))
    with pytest.raises(StackError, match="initdb failed"):
        postgres.initialize(paths, "secret")
    assert not (paths.run / "pw").exists()
    monkeypatch.undo()
    assert postgres.binary is real
    made = postgres.initialize(paths, "secret")
    assert "listen_addresses = ''" in (made / "postgresql.conf").read_text()
    assert sorted(path.name for path in tmp_path.glob("postgres*")) == ["postgres"]


def test_secrets_are_written_whole_and_for_their_owner_only(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    made = paths.secrets()
    assert paths.secrets() == made
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "secrets.new").exists()
