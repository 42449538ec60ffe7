"""`itemindex people token`: /v1/org can be tried without a browser."""

import contextlib
import http.client
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import COMMAND, PROJECT, Running, clean_environment

pytestmark = pytest.mark.xdist_group("stack")


def ask(stack: Running, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
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
        status, root = ask(stack, "GET", "/v1", token)
        assert (status, root["credential"]) == (200, "bearer")
    status, made = ask(stack, "POST", "/v1/org", grace, {"name": "Tried out"})
    assert status == 201
    status, shown = ask(stack, "GET", f"/v1/org?organization={made['id']}", grace)
    assert (status, shown["name"], shown["role"]) == (200, "Tried out", "owner")
    assert ask(stack, "GET", f"/v1/org?organization={made['id']}", ada)[0] == 404
    people = {person["email"]: person for person in json.loads(stack.ctl("people", "list", "--json"))}
    assert people["grace@example.org"]["issuer"] == people["ada@example.org"]["issuer"]


def test_a_forged_token_is_refused(stack: Running) -> None:
    head, claims, signature = stack.ctl("people", "token").strip().split(".")
    turned = signature[:-8] + signature[-8:][::-1]
    assert ask(stack, "GET", "/v1", f"{head}.{claims}.{turned}")[0] == 401


def test_without_a_local_provider_the_command_says_so_and_makes_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    done = subprocess.run(
        [*COMMAND, "people", "token", "--data-dir", str(nowhere)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=clean_environment(),
        timeout=60,
    )
    assert done.returncode == 1
    assert "OIDC_ISSUER" in done.stderr and "Traceback" not in done.stderr
    assert not nowhere.exists()
