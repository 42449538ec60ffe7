"""Organizations and keys on the command line: named by id or name, printed for people or programs."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deploy.ctl.main import main
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.client import running_edge
from tests.support.command import Run
from tests.support.database import execute
from tests.support.terminal import HOSTILE, acts, rendered

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def test_an_organization_is_named_by_its_id_or_its_name(run: Run) -> None:
    made = json.loads(run("orgs", "create", "Acme Ltd", "--json")[1])
    for name in (made["id"], made["id"].upper(), "Acme Ltd", "acme ltd"):
        assert run("people", "list", name, "--json")[:2] == (0, "[]\n")
    code, out, _ = run("orgs", "set", "acme ltd", "--plan", "institutional", "--json")
    assert (code, json.loads(out)["organization"]) == (0, made["id"])


def test_a_name_of_several_organizations_is_refused_with_their_ids(run: Run) -> None:
    ids = [run("orgs", "create", "Twin")[1].strip() for _ in range(2)]
    code, _, error = run("orgs", "set", "Twin", "--state", "suspended")
    assert code == 1
    assert all(one in " ".join(error.split()) for one in ids)
    assert "there is no organization" in run("orgs", "set", "Unknown Inc", "--state", "suspended")[2]


def test_one_job_or_load_that_is_not_there_is_named_as_such(run: Run) -> None:
    assert "there is no such job; `itemindex jobs list` shows all" in run("jobs", "list", str(uuid4()))[2]
    assert "there is no such load; `itemindex loads list` shows all" in run("loads", "list", "17")[2]


def test_what_is_no_utf_8_and_a_store_that_is_down_are_answered_with_a_sentence(run: Run, settings: Settings) -> None:
    code, _, error = run("orgs", "set", "\udcff", "--plan", "brand")
    assert (code, "is not text in UTF-8" in error) == (1, True)
    execute(settings, "INSERT INTO people (issuer, subject, name, email) VALUES ('i', 's', 'n', 'a@b.example')")
    code, _, error = run("people", "sessions", "a@b.example", STATE_URL="redis://127.0.0.1:9/0")
    assert (code, "the state store is not responding" in error) == (1, True)


def test_what_a_migration_did_is_printed_for_programs_too(run: Run, tmp_path: Path) -> None:
    folders = {"SEARCH_DIR": str(tmp_path / "search"), "RESULTS_DIR": str(tmp_path / "results")}
    assert json.loads(run("migrate", "--json", **folders)[1]) == {"applied": [], "waiting": []}
    listed = json.loads(run("migrate", "--directories", "--json", **folders)[1])
    assert {one["name"]: one["location"] for one in listed} == {
        "results": folders["RESULTS_DIR"],
        "search": folders["SEARCH_DIR"],
    }


def test_a_member_is_added_changed_and_removed_but_for_the_last_owner(run: Run, settings: Settings) -> None:
    run("orgs", "create", "Acme Ltd")
    with connect(settings.database_url, application="tests") as connection:
        for name in ("ada", "bob"):
            values = (name, f"{name}@example.org")
            connection.execute("INSERT INTO people (issuer, subject, name, email) VALUES ('i', $1, $1, $2)", values)

    def role(person: str, role: str) -> int:
        return run("people", "role", "Acme Ltd", f"{person}@example.org", role)[0]

    assert [role("ada", "owner"), role("bob", "viewer"), role("bob", "admin"), role("bob", "admin")] == [0] * 4
    assert [role("ada", "none"), role("ada", "member"), role("bob", "none"), role("bob", "none")] == [1, 1, 0, 1]
    [member] = json.loads(run("people", "list", "Acme Ltd", "--json")[1])
    assert (member["name"], member["role"]) == ("ada", "owner")
    assert len(json.loads(run("people", "list", "--json")[1])) == 2


def test_a_key_is_printed_alone_or_as_json(run: Run) -> None:
    run("orgs", "create", "Acme Ltd")
    assert re.fullmatch(r"iixk_live_\S+\n", run("keys", "issue", "Acme Ltd")[1])
    rotated: dict[str, Any] = json.loads(run("keys", "rotate", "Acme Ltd", "--json")[1])
    [listed] = json.loads(run("keys", "list", "Acme Ltd", "--json")[1])
    assert rotated["key"].startswith("iixk_live_")
    assert listed["id"] == rotated["id"]
    assert run("keys", "rotate", "Acme Ltd", "--grace", "24h")[2] == ""
    _, _, error = run("keys", "rotate", "Acme Ltd", "--grace", "1h")
    assert f"ended now: key {rotated['id']} is still in its own" in " ".join(error.split())


async def test_an_organization_is_made_by_commands(run: Run, settings: Settings, tmp_path: Path) -> None:
    organization = run("orgs", "create", "Command", "--plan", "institutional")[1].strip()
    key = run("keys", "issue", organization)[1].strip()
    code, _, error = run("keys", "issue", organization)
    assert (code, "rotate" in error) == (1, True)
    new = run("keys", "rotate", organization, "--grace", "1h")[1].strip()
    listed = json.loads(run("keys", "list", organization, "--json")[1])
    assert [(k["id"], k["expires_at"] is None) for k in listed] == [(new[10:20], True), (key[10:20], False)]
    async with running_edge(settings, tmp_path) as edge:
        assert [(await edge.get("/quota", key=k)).status for k in (key, new)] == [200, 200]
    run("orgs", "set", organization, "--plan", "brand")
    run("orgs", "set", organization, "--state", "suspended")
    run("orgs", "set", organization, "--state", "active")
    run("keys", "revoke", organization)
    acts = [entry["act"] for entry in json.loads(run("orgs", "audit", organization, "--json")[1])]
    assert acts == [
        "key.revoked",
        "key.revoked",
        "organization.active",
        "organization.suspended",
        "plan.changed",
        "key.rotated",
        "key.issued",
        "organization.created",
    ]


def test_plans_are_edited_in_their_table(run: Run) -> None:
    def brand() -> int:
        plans = {p["name"]: p for p in json.loads(run("plans", "list", "--json")[1])}
        return int(plans["brand"]["daily_units"])

    assert brand() == 50_000
    assert run("plans", "set", "brand", "--daily-units", "50001")[0] == 0
    assert brand() == 50_001
    for arguments, words in ((("nothing", "--daily-units", "1"), "plans list"), (("brand",), "name what")):
        code, _, error = run("plans", "set", *arguments)
        assert (code, words in error) == (1, True), arguments


def test_instants_have_one_format_everywhere(run: Run) -> None:
    run("orgs", "create", "Acme Ltd")
    run("tokens", "issue")
    for command in (("orgs", "list"), ("tokens", "list"), ("orgs", "audit", "Acme Ltd")):
        [row, *_] = json.loads(run(*command, "--json")[1])
        instant = row.get("created_at") or row["at"]
        assert _INSTANT.fullmatch(instant), command
        assert instant in run(*command)[1]


NAMES = [name for name in HOSTILE if name != "\ud800"]  # PostgreSQL keeps no surrogate


def test_organizations_are_listed_whatever_they_are_called(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    with connect(settings.database_url, application="tests") as connection:
        for name in NAMES:
            connection.execute("INSERT INTO organizations (name, plan) VALUES ($1, 'brand')", (name,))
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    for as_json in (False, True):
        with pytest.raises(SystemExit) as ended:
            main(["orgs", "list", *(["--json"] if as_json else [])])
        assert ended.value.code == 0, as_json
        written = capsys.readouterr().out
        assert acts(written) - ({"\x7f"} if as_json else set()) == set(), as_json
        if not as_json:
            assert [name for name in NAMES if rendered(name) not in written] == [], as_json


def test_an_error_that_quotes_what_was_given_is_text(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ingest", "--dry-run", "--mapping", "\x1b]0;owned\x07[/b].toml"])
    assert ended.value.code == 1
    written = capsys.readouterr().err
    assert acts(written) == set()
    assert "[/b].toml" in written
