"""Organizations, members, keys and plans from the command line, on a running stack."""

import contextlib
import http.client
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import COMMAND, Running, completed

pytestmark = pytest.mark.xdist_group("stack")


def ask_people(stack: Running, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
    """Call the service as the person of an ID token."""
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", stack.port, timeout=20)) as line:
        line.request(method, path, body=json.dumps(body) if body else None, headers=head)
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())


def test_a_token_of_the_local_provider_is_a_signed_in_person(stack: Running) -> None:
    ada, grace = (stack.ctl("people", "token", "--person", name).strip() for name in ("ada", "grace"))
    assert stack.ctl("people", "token").count(".") == 2
    for token in (ada, grace):
        status, root = ask_people(stack, "GET", "/v1", token)
        assert (status, root["credential"]) == (200, "bearer")
    status, made = ask_people(stack, "POST", "/v1/org", grace, {"name": "Tried out"})
    assert status == 201
    status, shown = ask_people(stack, "GET", f"/v1/org?organization={made['id']}", grace)
    assert (status, shown["name"], shown["role"]) == (200, "Tried out", "owner")
    assert ask_people(stack, "GET", f"/v1/org?organization={made['id']}", ada)[0] == 404
    head, claims, signature = ada.split(".")
    assert ask_people(stack, "GET", "/v1", f"{head}.{claims}.{signature[::-1]}")[0] == 401
    people = {person["email"]: person for person in json.loads(stack.ctl("people", "list", "--json"))}
    assert people["grace@example.org"]["issuer"] == people["ada@example.org"]["issuer"]


def test_without_a_local_provider_the_command_says_so_and_makes_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = completed([*COMMAND, "people", "token", "--data-dir", str(nowhere)])
    assert done.returncode == 1
    assert "OIDC_ISSUER" in done.stderr and "Traceback" not in done.stderr
    assert not nowhere.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("orgs", "set", "nonsense", "--plan", "brand"),
        ("orgs", "set", "01890000-0000-7000-8000-000000000000", "--state", "suspended"),
        ("keys", "rotate", "01890000-0000-7000-8000-000000000000"),
        ("keys", "revoke", "x"),
        ("people", "role", "01890000-0000-7000-8000-000000000000", "guest@example.org", "owner"),
        ("orgs", "create", "No plan", "--plan", "no-such"),
    ],
)
def test_an_unknown_name_is_reported_with_its_remedy(stack: Running, arguments: tuple[str, ...]) -> None:
    assert re.search(r" `itemindex [a-z]+ [a-z]+", stack_error(stack, *arguments))


def stack_error(stack: Running, *arguments: str) -> str:
    """Run a command that must fail; return its one line."""
    done = completed([*COMMAND, *arguments, "--data-dir", str(stack.folder)])
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr
