"""The first minutes: the README, the first calls, accounts and sign-in from the command line."""

import contextlib
import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import pytest

from deploy.ctl.main import COMMANDS, load_command
from tests.system.conftest import COMMAND, PROJECT, Running, clean_environment, completed

pytestmark = pytest.mark.xdist_group("stack")


# What a newcomer does in the first minutes, through nginx, on the demo data.


ANONYMOUS = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK"


def ask(
    stack: Running, path: str, *, source: str = "127.0.0.1", method: str = "GET", **fields: str
) -> tuple[int, Any, Any]:
    line = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10, source_address=(source, 0))
    head = {"X-Service-Public-Token": ANONYMOUS, **{name.replace("_", "-"): value for name, value in fields.items()}}
    line.request(method, f"/v1{path}", headers=head)
    response = line.getresponse()
    body = response.read()
    line.close()
    kind = response.headers.get("Content-Type", "")
    return response.status, response.headers, json.loads(body) if "json" in kind and body else body


def test_search_lookup_and_brands_of_real_items(stack: Running) -> None:
    status, _, found = ask(stack, "/index/search?q=soy+milk&limit=5", source="127.0.1.1")
    assert status == 200
    assert len(found["data"]) == 5
    iid = found["data"][0]["iid"]
    status, head, record = ask(stack, f"/index/lookup/{iid}", source="127.0.1.1")
    assert (status, record["iid"]) == (200, iid)
    assert record["price_band"]["currency"] == "HKD"
    assert head["RateLimit"].startswith('"free-daily";r=1;')
    status, _, brands = ask(stack, "/index/brands?q=vita", source="127.0.1.1")
    assert brands["data"][0]["name"].startswith("Vita")
    status, head, problem = ask(stack, f"/index/lookup/{iid}", source="127.0.1.1")
    assert (status, problem["retry_after"]) == (429, int(head["Retry-After"]))


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("嘉頓", "127.0.2.1"),
        ("vitasoi", "127.0.2.2"),
        ("creme", "127.0.2.3"),
        ("soy mil", "127.0.2.4"),
        ("Bread rolls", "127.0.2.5"),
    ],
)
def test_searches_that_people_make_find_something(stack: Running, question: str, source: str) -> None:
    status, _, found = ask(stack, f"/index/search?q={quote(question)}", source=source)
    assert status == 200
    assert found["count"] > 0


def test_a_footprint_follows_from_the_weight_and_the_category(stack: Running) -> None:
    _, _, found = ask(stack, "/index/search?q=bun+210g&limit=1", source="127.0.3.1")
    _, _, record = ask(stack, f"/index/lookup/{found['data'][0]['iid']}", source="127.0.3.1")
    assert record["sustainability"]["basis"] == "category_average"
    assert record["sustainability"]["co2e_kg"] > 0
    assert record["sustainability"]["waste_kg"] is None


def test_a_revoked_token_is_refused_within_a_second(stack: Running) -> None:
    token = stack.ctl("tokens", "issue").strip()
    assert ask(stack, "/quota", X_Service_Public_Token=token)[0] == 200
    stack.ctl("tokens", "revoke", token.removeprefix("iixp_free_")[:10])
    assert ask(stack, "/quota", X_Service_Public_Token=token)[0] == 401


def test_pre_flight_is_answered_and_not_counted(stack: Running) -> None:
    status, head, _ = ask(stack, "/index/brands", method="OPTIONS", source="127.0.4.1", Origin="https://shop.example")
    assert (status, head["Access-Control-Allow-Origin"]) == (204, "*")
    assert ask(stack, "/quota", source="127.0.4.1")[2]["limits"][0]["used"] == 0


def test_a_trailing_slash_redirects_and_a_wrong_method_names_the_right_ones(stack: Running) -> None:
    status, head, _ = ask(stack, "/index/brands/?limit=3")
    assert (status, head["Location"]) == (308, "/v1/index/brands?limit=3")
    status, head, problem = ask(stack, "/index/brands", method="DELETE")
    assert (status, problem["title"]) == (405, "Method Not Allowed")
    assert set(head["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_doctor_finds_nothing_wrong(stack: Running) -> None:
    findings = json.loads(stack.ctl("doctor", "--json"))
    assert [finding for finding in findings if not finding["ok"]] == []


def test_top_shows_a_running_stack(stack: Running) -> None:
    ask(stack, "/quota")
    frame = stack.ctl("top", "--once", "--interval", "0.5")
    for expected in (
        "data_version",
        "requests",
        "quota",
        "cache",
        "stores",
        "reports",
        "edge-a",
        "worker-reports",
        "MiB",
    ):
        assert expected in frame, frame


# The commands of the README, of the tour and of the tutorial, run as they stand there, and the answers that they
# show.


# Each with an address of its own: the free calls of the usual one may be used up by other tests.
DOCUMENTS = {
    "README.md": "127.0.77.1",
    "deploy/guides/tour.md": "127.0.77.2",
    "deploy/guides/tutorial.md": "127.0.77.3",
}

README, TOUR, TUTORIAL = (PROJECT.joinpath(name).read_text(encoding="utf-8") for name in DOCUMENTS)


def commands(document: str) -> list[tuple[str, str]]:
    """Return the commands of a document, each with the line of its answer that is shown, or nothing."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```\n(\$ .*?)^```", document, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = (found[-1][0], line)
    # The PATH that they name is that of `make up`; here it is the one of these tests, which have the client already.
    apart = ("export PATH", "export ITEMINDEX_KEY", "python3 -m venv", "pip install")
    return [(command, shown) for command, shown in found if not command.startswith(apart)]


def save_programs(document: str, folder: Path) -> None:
    """Save the programs of a document under the names that it says."""
    for name, program in re.findall(
        r"[Ss]ave this as `(\S+)`:\n\n```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(program)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_commands_answer_as_is_shown(released_stack: Running, name: str, tmp_path: Path) -> None:
    asked = commands(text := (PROJECT / name).read_text(encoding="utf-8"))
    assert sum(bool(shown) for _, shown in asked) >= 4
    stack = released_stack
    here = f"127.0.0.1:{stack.port}"
    script = "\n".join(f"{command}; echo; echo ==" for command, _ in asked)
    script = script.replace("127.0.0.1:8080", here).replace("curl -s", f"curl --interface {DOCUMENTS[name]} -s")
    environment = {**clean_environment(), "ITEMINDEX_DATA_DIR": str(stack.folder)}
    organization = stack.ctl("orgs", "create", f"Reader of {name}", "--plan", "institutional").strip()
    environment |= {"ITEMINDEX_KEY": stack.ctl("keys", "issue", organization).strip(), "MPLBACKEND": "agg"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    save_programs(text, tmp_path)
    # What the tutorial writes is not of the project; the other two name files of it.
    folder = tmp_path if list(tmp_path.iterdir()) else PROJECT
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=folder, env=environment, timeout=180
    )
    *answers, _ = done.stdout.replace(here, "127.0.0.1:8080").replace(DOCUMENTS[name], "127.0.0.1").split("\n==\n")
    for answer, (command, shown) in zip(answers, asked, strict=True):
        pattern = ".*".join(re.escape(part.strip()) for part in shown.split("…"))
        assert re.match(pattern, answer.strip(), re.DOTALL), f"{command}\n{shown}\n{answer}\n{done.stderr}"


def test_every_command_that_they_name_exists() -> None:
    named = re.findall(r"(?:^|\(|`|\$ )itemindex ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", README + TOUR, re.MULTILINE)
    assert len(named) > 10
    for word, below in named:
        command = load_command(COMMANDS[word][0])
        if isinstance(command, click.Group):
            assert not below or below in command.commands, (word, below)


# `itemindex people token`: /v1/org can be tried without a browser.


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


# Organizations, members, keys and plans from the command line, on a running stack.


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
