"""Organizations, members, keys and plans from the command line, on a running stack."""

import contextlib
import http.client
import json
import subprocess

import pytest

from tests.system.conftest import COMMAND, PROJECT, Running, clean_environment

pytestmark = pytest.mark.xdist_group("stack")


def _status(stack: Running, key: str) -> int:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10)) as line:
        line.request("GET", "/v1/quota", headers={"Authorization": f"ApiKey {key}"})
        return line.getresponse().status


def test_an_organization_is_made_by_commands(stack: Running) -> None:
    organization = stack.ctl("orgs", "create", "Command", "--plan", "institutional").strip()
    key = stack.ctl("keys", "issue", organization).strip()
    assert _status(stack, key) == 200
    assert "rotate" in stack_error(stack, "keys", "issue", organization)
    new = stack.ctl("keys", "rotate", organization, "--grace", "1h").strip()
    listed = json.loads(stack.ctl("keys", "list", organization, "--json"))
    assert [(k["id"], k["expires_at"] is None) for k in listed] == [(new[10:20], True), (key[10:20], False)]
    assert [_status(stack, k) for k in (key, new)] == [200, 200]
    stack.ctl("orgs", "plan", organization, "brand")
    stack.ctl("orgs", "state", organization, "suspended")
    stack.ctl("orgs", "state", organization, "active")
    stack.ctl("keys", "revoke", organization)
    acts = [entry["act"] for entry in json.loads(stack.ctl("orgs", "audit", organization, "--json"))]
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


def test_plans_are_edited_in_their_table(stack: Running) -> None:
    plans = {p["name"]: p for p in json.loads(stack.ctl("plans", "list", "--json"))}
    assert plans["brand"]["daily_units"] == 50_000
    stack.ctl("plans", "set", "brand", "--daily-units", "50001")
    stack.ctl("plans", "set", "brand", "--daily-units", "50000")
    assert "plans list" in stack_error(stack, "plans", "set", "nothing", "--daily-units", "1")
    assert "name what" in stack_error(stack, "plans", "set", "brand")


@pytest.mark.parametrize(
    "arguments",
    [
        ("orgs", "plan", "nonsense", "brand"),
        ("orgs", "state", "01890000-0000-7000-8000-000000000000", "suspended"),
        ("keys", "rotate", "01890000-0000-7000-8000-000000000000"),
        ("keys", "revoke", "x"),
        ("members", "set", "01890000-0000-7000-8000-000000000000", "guest@example.org", "owner"),
        ("orgs", "create", "No plan", "--plan", "no-such"),
    ],
)
def test_an_unknown_name_is_reported_with_its_remedy(stack: Running, arguments: tuple[str, ...]) -> None:
    assert "itemindex" in stack_error(stack, *arguments)


def stack_error(stack: Running, *arguments: str) -> str:
    """Run a command that must fail; return its one line."""
    done = subprocess.run(
        [*COMMAND, *arguments, "--data-dir", str(stack.folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=clean_environment(),
        timeout=60,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr
