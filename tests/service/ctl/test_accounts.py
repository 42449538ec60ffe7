"""Organizations and keys on the command line: named by id or name, printed for people or programs."""

import json
import re
from typing import Any

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.command import Run

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def test_an_organization_is_named_by_its_id_or_its_name(run: Run) -> None:
    made = json.loads(run("orgs", "create", "Acme Ltd", "--json")[1])
    for name in (made["id"], made["id"].upper(), "Acme Ltd", "acme ltd"):
        assert run("members", "list", name, "--json")[:2] == (0, "[]\n")
    code, out, _ = run("orgs", "plan", "acme ltd", "institutional", "--json")
    assert (code, json.loads(out)["organization"]) == (0, made["id"])


def test_a_name_of_several_organizations_is_refused_with_their_ids(run: Run) -> None:
    ids = [run("orgs", "create", "Twin")[1].strip() for _ in range(2)]
    code, _, error = run("orgs", "state", "Twin", "suspended")
    assert code == 1
    assert all(one in " ".join(error.split()) for one in ids)
    assert "there is no organization" in run("orgs", "state", "Unknown Inc", "suspended")[2]


def test_a_key_is_printed_alone_or_as_json(run: Run) -> None:
    run("orgs", "create", "Acme Ltd")
    assert re.fullmatch(r"iixk_live_\S+\n", run("keys", "issue", "Acme Ltd")[1])
    rotated: dict[str, Any] = json.loads(run("keys", "rotate", "Acme Ltd", "--json")[1])
    [listed] = json.loads(run("keys", "list", "Acme Ltd", "--json")[1])
    assert rotated["key"].startswith("iixk_live_")
    assert listed["id"] == rotated["id"]


def test_what_is_no_utf_8_and_a_store_that_is_down_are_answered_with_a_sentence(run: Run, settings: Settings) -> None:
    code, _, error = run("orgs", "plan", "\udcff", "brand")
    assert (code, "is not text in UTF-8" in error) == (1, True)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("INSERT INTO people (issuer, subject, name, email) VALUES ('i', 's', 'n', 'a@b.example')")
    code, _, error = run("sessions", "a@b.example", STATE_URL="redis://127.0.0.1:9/0")
    assert (code, "the state store does not answer" in error) == (1, True)


def test_instants_have_one_format_everywhere(run: Run) -> None:
    run("orgs", "create", "Acme Ltd")
    run("tokens", "issue")
    for command in (("orgs", "list"), ("tokens", "list"), ("orgs", "audit", "Acme Ltd")):
        [row, *_] = json.loads(run(*command, "--json")[1])
        instant = row.get("created_at") or row["at"]
        assert _INSTANT.fullmatch(instant), command
        assert instant in run(*command)[1]
