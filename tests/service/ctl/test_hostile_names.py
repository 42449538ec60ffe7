"""Names that people and data bring reach the operator's terminal as text."""

from typing import Any

import pytest

from deploy.ctl.main import main
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.unit.ctl.test_terminal import HOSTILE, acts, rendered

NAMES = [name for name in HOSTILE if name != "\ud800"]  # PostgreSQL keeps no surrogate


@pytest.mark.parametrize("as_json", [False, True])
def test_organizations_are_listed_whatever_they_are_called(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: Any, as_json: bool
) -> None:
    with connect(settings.database_url, application="tests") as connection:
        for name in NAMES:
            connection.execute("INSERT INTO organizations (name, plan) VALUES ($1, 'brand')", (name,))
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    with pytest.raises(SystemExit) as ended:
        main(["orgs", "list", *(["--json"] if as_json else [])])
    assert ended.value.code == 0
    written = capsys.readouterr().out
    assert acts(written) - ({"\x7f"} if as_json else set()) == set()
    if not as_json:
        assert [name for name in NAMES if rendered(name) not in written] == []


def test_an_error_that_quotes_what_was_given_is_text(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ingest", "check", "\x1b]0;owned\x07[/b].toml"])
    assert ended.value.code == 1
    written = capsys.readouterr().err
    assert acts(written) == set()
    assert "[/b].toml" in written
