"""`itemindex ingest` says what a load came to, and what it could not use."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from shared.settings.settings import Settings
from tests.support.shop import ROWS, load_rows


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    return lambda *arguments: CliRunner().invoke(cli, arguments)


def test_rejects_are_those_of_the_last_load_also_when_it_has_none(settings: Settings, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "no load yet" in str(run("loads", "rejects").exception)
    first = load_rows(settings, tmp_path, ROWS + "9,[/x],B,G,K,1,soon,N,1,\n")
    shown = run("loads", "rejects")
    assert shown.exit_code == 0, shown.exception
    assert "soon" in shown.output
    [reject] = json.loads(run("loads", "rejects", "--json").output)["rejects"]
    assert (reject["file"], reject["line"], reject["column"], reject["value"]) == ("shop.csv", 7, "day", "soon")
    last = load_rows(settings, tmp_path, name="clean.csv")
    document = json.loads(run("loads", "rejects", "--json").output)
    assert (document["load"], document["rejected"], document["rejects"]) == (last.load_id, 0, [])
    assert "0 rejects" in run("loads", "rejects").output
    assert json.loads(run("loads", "rejects", first.load_id, "--json").output)["rejected"] == 1
    assert "no such load" in str(run("loads", "rejects", "nothing").exception)


def test_a_load_prints_its_account_and_one_document_for_programs(settings: Settings, tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    load_rows(settings, tmp_path)
    (tmp_path / "b.csv").write_text(
        (tmp_path / "shop.csv").read_text().replace("10.90", "10.50") + "9,X,B,G,K,1,soon,N,1,\n"
    )
    result = run("ingest", "--mapping", str(tmp_path / "shop.toml"), "--json", str(tmp_path / "b.csv"))
    assert result.exit_code == 0, result.exception
    [document] = json.loads(result.output)
    assert document["counts"]["observations_replaced"] == 1
    assert document["rejects"] == {"has no day of the form %Y-%m-%d": 1}
