"""ID tokens, repeated calls and rotated secrets."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from edge.auth.id_token import InvalidToken
from edge.bulk.downloads import Link, SignedUrls
from edge.http.lists import CursorSigner
from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from shared.db.connect import connect
from shared.errors import InvalidCursor
from shared.organizations import credentials
from shared.settings.settings import Settings
from tests.drills import fault_proxy
from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.issuer import Issuer, SigningKey
from tests.support.workers import sweep

# ID tokens at the edge: accepted where the contract says, through rotations and outages, and cheap to refuse.


async def test_a_person_has_the_free_plan_by_address_and_no_paid_call(signed_in: SignedIn) -> None:
    assert (await signed_in.ask("GET", "/")).json["organization"] is None
    organization = await signed_in.organization()
    root = (await signed_in.ask("GET", "/")).json
    assert (root["credential"], root["plan"]) == ("bearer", "free")
    assert root["organization"] == {"id": organization, "name": "Acme"}
    quota = (await signed_in.ask("GET", "/quota", address="2001:db8::7")).json
    assert (quota["counted_as"], quota["limits"][0]["limit"]) == ("2001:db8::/64", 100)
    free = await signed_in.ask("GET", "/index/brands")
    assert free.status == 200
    assert '"free-daily";q=100' in free.head["RateLimit-Policy"]
    paid = await signed_in.ask("GET", "/index/lookup?iid=IID-A")
    assert (paid.status, paid.json["accepted"]) == (403, ["api-key"])
    both = {"X-Service-Public-Token": signed_in.edge.settings.anonymous_token}
    assert (await signed_in.ask("GET", "/quota", head=both)).status == 400, "two credentials are one too many"


async def test_bad_and_expired_tokens_are_distinguished_and_nothing_else_is(signed_in: SignedIn) -> None:
    edge, issuer = signed_in.edge, signed_in.issuer
    now = issuer.claims()["iat"]
    tokens = {
        issuer.token(iat=now - 900, exp=now - 300): "expired-credentials",
        issuer.token(aud="other"): "invalid-credentials",
        issuer.token() + "x": "invalid-credentials",
        "abc": "invalid-credentials",
        "x" * 8_193: "invalid-credentials",
    }
    bodies = set()
    for token, slug in tokens.items():
        answer = await edge.ask("GET", "/", anonymous=False, head={"Authorization": f"Bearer {token}"})
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (401, slug)
        assert "Bearer" in answer.head["WWW-Authenticate"]
        bodies.add(answer.json["detail"])
    assert len(bodies) == 2


async def test_a_key_in_the_wrong_header_is_refused_with_the_right_one(signed_in: SignedIn) -> None:
    key = "iixk_live_" + "0" * 48
    for name, value in (
        ("Authorization", f"Bearer {key}"),
        ("Authorization", key),
        ("Authorization", "Basic Zm9vOmJhcg=="),
        ("X-Service-Public-Token", key),
    ):
        answer = await signed_in.edge.ask("GET", "/quota", anonymous=False, head={name: value})
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (401, "invalid-credentials")
        assert "Send an API key as `Authorization: ApiKey …`" in answer.json["detail"], value
    answer = await signed_in.edge.ask("GET", "/quota", anonymous=False, head={"Authorization": f"ApiKey {key}"})
    assert "Check that the whole of it was copied" in answer.json["detail"]


async def test_a_rotation_of_the_providers_keys_costs_no_call(signed_in: SignedIn) -> None:
    issuer = signed_in.issuer
    statuses: list[int] = []

    async def call_until(stop: asyncio.Event) -> None:
        while not stop.is_set():
            statuses.append((await signed_in.ask("GET", "/quota", f"p{len(statuses) % 7}")).status)

    stop = asyncio.Event()
    callers = [asyncio.create_task(call_until(stop)) for _ in range(4)]
    while len(statuses) < 40:
        await asyncio.sleep(0)
    issuer.rotate("two")
    while len(statuses) < 120:
        await asyncio.sleep(0)
    stop.set()
    await asyncio.gather(*callers)
    assert set(statuses) == {200}
    assert issuer.fetches == 2


async def test_a_thousand_unknown_keys_cause_one_fetch(signed_in: SignedIn) -> None:
    issuer, people = signed_in.issuer, signed_in.edge.resources.users
    assert (await signed_in.ask("GET", "/quota")).status == 200
    before = issuer.fetches
    good = issuer.token()
    real = issuer.keys[-1]

    async def flood(n: int) -> None:
        issuer.keys[-1] = SigningKey(f"unknown-{n}", real.algorithm, real.private)
        token = issuer.token()
        issuer.keys[-1] = real
        with pytest.raises(InvalidToken):
            await people.authenticate(token)

    await asyncio.gather(*(flood(n) for n in range(1_000)))
    assert issuer.fetches - before <= 1
    assert (await people.authenticate(good)).name == "Ada"


async def test_while_the_provider_is_down_known_keys_go_on_and_unknown_ones_are_not_blamed(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = signed_in.issuer
    assert (await signed_in.ask("GET", "/quota")).status == 200
    issuer.down = True
    provider = signed_in.edge.resources.users.provider
    monkeypatch.setattr(provider, "_refresh_seconds", -1.0)
    monkeypatch.setattr(provider, "_fetch_seconds", -1.0)
    assert (await signed_in.ask("GET", "/quota", "bob")).status == 200
    issuer.rotate("new")
    answer = await signed_in.ask("GET", "/quota", "carol")
    assert answer.status == 503
    assert int(answer.head["Retry-After"]) >= 1
    issuer.down = False
    assert (await signed_in.ask("GET", "/quota", "carol")).status == 200


async def test_no_entry_of_the_providers_keys_keeps_the_others_from_being_used(signed_in: SignedIn) -> None:
    signed_in.issuer.extra_keys = [
        {"kty": "EC", "crv": ["P-256"]},
        {"kty": "EC", "crv": "P-256", "x": {"a": []}},
        [],
        "key",
        {"kty": {}},
        {"use": []},
    ]
    assert (await signed_in.ask("GET", "/quota")).status == 200


async def test_keys_that_cannot_be_read_are_an_outage_of_the_provider_and_no_fault_of_ours(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signed_in.edge.resources.users.provider, "_fetch_seconds", -1.0)
    for body in (b"[" * 200_000, b'{"keys":' * 50_000, b"\xff", b"", b"null", b'{"keys":{}}'):
        signed_in.issuer.raw_jwks = body
        assert (await signed_in.ask("GET", "/quota")).status == 503, body[:9]
    assert signed_in.issuer.fetches >= 6


async def test_while_the_keys_were_never_fetched_a_hundred_calls_cause_one_fetch(signed_in: SignedIn) -> None:
    signed_in.issuer.down = True
    for _ in range(2):
        answers = await asyncio.gather(*(signed_in.ask("GET", "/quota", f"p{n}") for n in range(50)))
        assert {answer.status for answer in answers} == {503}
    assert signed_in.issuer.discoveries == 1


async def test_a_provider_that_names_another_issuer_is_not_believed(signed_in: SignedIn) -> None:
    signed_in.issuer.called = "https://id.example"
    assert (await signed_in.ask("GET", "/quota")).status == 503
    assert signed_in.issuer.fetches == 0


async def test_keys_that_move_to_another_address_are_found_there(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await signed_in.ask("GET", "/quota")).status == 200
    signed_in.issuer.jwks_path = "/moved/jwks"
    signed_in.issuer.rotate("two", keep=False)
    monkeypatch.setattr(signed_in.edge.resources.users.provider, "_fetch_seconds", -1.0)
    assert (await signed_in.ask("GET", "/quota", "bob")).status == 200


async def test_an_invitation_is_not_for_a_person_whose_address_is_not_verified(signed_in: SignedIn) -> None:
    await signed_in.organization()
    answer = await signed_in.ask("POST", "/org/invitations", body={"email": "bob@example.org", "role": "admin"})
    secret = answer.json["link"].partition("#")[2]
    people, acts = (
        signed_in.edge.resources.users,
        OrganizationService(signed_in.edge.resources.database, signed_in.edge.settings),
    )
    for claim in (None, False):
        with pytest.raises(Problem, match="state-conflict"):
            await acts.accept_invitation(
                await people.authenticate(signed_in.issuer.token("bob", email_verified=claim)), secret
            )
    await acts.accept_invitation(await people.authenticate(signed_in.issuer.token("bob")), secret)


# Idempotency-Key on /org: one act for all repetitions, with the answer of the first, also when its connection was
# lost.


ROTATIONS = "/org/api-key/rotations"


async def _acts(signed_in: SignedIn, name: str) -> int:
    rows = (await signed_in.ask("GET", "/org/audit?limit=200")).json["data"]
    return sum(row["act"] == name for row in rows)


async def test_of_many_rotations_at_once_under_one_key_one_happens(signed_in: SignedIn) -> None:
    await signed_in.organization()
    production = await signed_in.key()
    head = {"Idempotency-Key": "many"}
    rotations = (signed_in.ask("POST", ROTATIONS, body={"grace": "24h"}, head=head) for _ in range(50))
    answers = await asyncio.gather(*rotations)
    assert {answer.status for answer in answers} <= {201, 409}
    assert {answer.json["type"].rpartition("/")[2] for answer in answers if answer.status == 409} <= {
        "idempotency-in-progress"
    }
    keys = {answer.json["key"] for answer in answers if answer.status == 201}
    assert len(keys) == 1
    assert await _acts(signed_in, "key.rotated") == 1
    again = await signed_in.ask("POST", ROTATIONS, body={"grace": "24h"}, head=head)
    assert (again.status, {again.json["key"]}) == (201, keys), "a later repetition has the same answer"
    assert [await signed_in.works(key) for key in (production, *keys)] == [200, 200], "the first key has its grace"


async def test_while_a_request_is_under_way_its_repetition_is_refused_at_once(signed_in: SignedIn) -> None:
    await signed_in.organization()
    head, body = {"Idempotency-Key": "slow"}, {"name": "Second"}
    with connect(signed_in.edge.settings.database_url, application="tests") as connection:
        connection.execute("SELECT FROM people FOR UPDATE")  # holds up the act of whichever comes first
        both = {asyncio.create_task(signed_in.ask("POST", "/org", body=body, head=head)) for _ in range(2)}
        [early], [late] = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        answer = early.result()
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (409, "idempotency-in-progress")
        connection.rollback()
        assert (await late).status == 201
        assert connection.execute("SELECT count(*) FROM organizations WHERE name = 'Second'").fetchone() == (1,)


async def _prepared(signed_in: SignedIn) -> dict[str, tuple[str, str, Any]]:
    bob = await signed_in.join("bob", "viewer")
    body = {"email": "eve@example.org", "role": "viewer"}
    invitation = (await signed_in.ask("POST", "/org/invitations", body=body)).json["id"]
    return {
        "organization.created": ("POST", "/org", {"name": "Second"}),
        "member.removed": ("DELETE", f"/org/members/{bob}", None),
        "invitation.withdrawn": ("DELETE", f"/org/invitations/{invitation}", None),
        "member.invited": ("POST", "/org/invitations", {"email": "carol@example.org", "role": "viewer"}),
        "key.issued": ("POST", "/org/api-key", None),
        "key.rotated": ("POST", ROTATIONS, {"grace": "1h"}),
        "key.revoked": ("DELETE", "/org/api-key", None),
    }


async def test_every_post_and_delete_of_org_is_done_once_and_answered_alike(signed_in: SignedIn) -> None:
    await signed_in.organization()
    for act, (method, path, body) in (await _prepared(signed_in)).items():
        before = await _acts(signed_in, act)
        answers = [await signed_in.ask(method, path, body=body, head={"Idempotency-Key": act}) for _ in range(3)]
        assert {(answer.status, answer.body) for answer in answers} == {(answers[0].status, answers[0].body)}, act
        assert answers[0].status in (201, 204), act
        done = await _acts(signed_in, act) - before
        assert done == (0 if act == "organization.created" else 2 if act == "key.revoked" else 1), act
    assert len((await signed_in.ask("GET", "/")).json) > 0
    count = "SELECT count(*) FROM organizations WHERE name = 'Second'"
    assert execute(signed_in.edge.settings, count) == [(1,)]


async def test_the_same_call_about_another_organization_is_another_request(signed_in: SignedIn) -> None:
    first, second = await signed_in.organization(), await signed_in.organization(name="Second")
    head = {"Idempotency-Key": "issue"}
    assert (await signed_in.ask("POST", f"/org/api-key?organization={first}", head=head)).status == 201
    other = await signed_in.ask("POST", f"/org/api-key?organization={second}", head=head)
    assert (other.status, other.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    assert (await signed_in.ask("GET", f"/org?organization={second}")).json["keys"] == []


async def test_what_a_key_of_a_request_stands_for(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.organization("eve", "Other")
    for value in ("x" * 256, "a b", "ä"):
        assert (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": value})).status == 400, value
    assert (await signed_in.ask("GET", "/org")).json["keys"] == [], "a malformed key is refused before anything is done"

    once, same = {"Idempotency-Key": "once"}, {"Idempotency-Key": "same"}
    assert (await signed_in.ask("POST", ROTATIONS, body={"grace": "1h"}, head=once)).status == 409, "no key to rotate"
    mine = await signed_in.ask("POST", "/org/api-key", head=same)
    theirs = await signed_in.ask("POST", "/org/api-key", "eve", head=same)
    assert (mine.status, theirs.status) == (201, 201), "a key belongs to one person"
    assert mine.json["key"] != theirs.json["key"]

    rotated = await signed_in.ask("POST", ROTATIONS, body={"grace": "1h"}, head=once)
    assert rotated.status == 201, "a refused act leaves its key free"
    for method, path, body in (("POST", ROTATIONS, {"grace": "24h"}), ("DELETE", "/org/api-key", None)):
        answer = await signed_in.ask(method, path, body=body, head=once)
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    assert await _acts(signed_in, "key.rotated") == 1, "another request under a used key does nothing"


async def test_the_stored_answer_shows_no_key_and_is_gone_after_a_day(signed_in: SignedIn) -> None:
    await signed_in.organization()
    first = (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})).json["key"]
    with connect(signed_in.edge.settings.database_url, application="tests", autocommit=True) as connection:
        [row] = connection.execute("SELECT sealed_body, key_sha256 FROM idempotent_requests").fetchall()
        assert first.encode() not in bytes(row[0]) and b"kept" not in bytes(row[0]) + bytes(row[1])
        connection.execute("UPDATE idempotent_requests SET created_at = now() - interval '23 hours'")
        again = await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})
        assert again.json["key"] == first
        connection.execute("UPDATE idempotent_requests SET created_at = now() - interval '25 hours'")
        assert (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})).status == 409
        assert (await signed_in.ask("POST", ROTATIONS, head={"Idempotency-Key": "next"})).status == 201
        sweep(signed_in.edge.settings)
        assert connection.execute("SELECT count(*) FROM idempotent_requests").fetchone() == (1,)


# Secrets are rotated with an overlap: no credential, link, cursor or answer is refused, and the old ones end.


NEW = "another pepper for tests, long enough to be one"


async def _status(settings: Settings, folder: Path, key: str, token: str) -> list[int]:
    folder.mkdir(exist_ok=True)
    async with running_edge(settings, folder) as edge:
        return [(await edge.get("/quota", key=key)).status, (await edge.get("/quota", token=token)).status]


async def test_a_new_pepper_refuses_nothing_and_is_the_only_one_afterwards(settings: Settings, tmp_path: Path) -> None:
    used, unused, token = api_key(settings), api_key(settings), free_token(settings)
    accepting = replace(settings, token_pepper_previous=NEW)
    rotated = replace(settings, token_pepper=NEW, token_pepper_previous=settings.token_pepper)
    ended = replace(settings, token_pepper=NEW)
    for n, step in enumerate((settings, accepting, rotated, accepting, rotated)):
        assert await _status(step, tmp_path / str(n), used, token) == [200, 200]
    assert await _status(ended, tmp_path / "ended", used, token) == [200, 200]
    assert await _status(ended, tmp_path / "ended", unused, token) == [401, 200]
    assert await _status(settings, tmp_path / "old", used, token) == [401, 401]


async def test_a_leaked_key_is_revoked_and_an_answer_repeated_during_the_overlap(
    settings: Settings, tmp_path: Path, issuer: Issuer
) -> None:
    chosen = replace(settings, oidc_issuer=issuer.url)
    head = {"Idempotency-Key": "once"}
    async with running_edge(chosen, tmp_path) as edge:
        signed_in = SignedIn(edge, issuer)
        await signed_in.organization()
        first = await signed_in.ask("POST", "/org/api-key", head=head)
    rotated = replace(chosen, token_pepper=NEW, token_pepper_previous=settings.token_pepper)
    async with running_edge(rotated, tmp_path) as edge:
        signed_in = SignedIn(edge, issuer)
        assert (await signed_in.ask("POST", "/org/api-key", head=head)).body == first.body
        body = b'{"key":"%b"}' % first.json["key"].encode()
        assert (await edge.ask("POST", "/org/api-key/revocations", anonymous=False, body=body)).status == 204
        assert (await signed_in.ask("GET", "/org")).json["keys"] == []


def test_links_and_cursors_of_the_previous_secret_are_accepted_until_it_ends() -> None:
    old, new, both = SignedUrls("a" * 32), SignedUrls("b" * 32), SignedUrls("b" * 32, "a" * 32)
    signature = old.query("f" * 64, "acme", 9).rpartition("=")[2]
    link = Link(9, "acme", signature)
    assert [one.holds(link, "f" * 64) for one in (old, new, both)] == [True, False, True]
    assert both.query("f" * 64, "acme", 9) == new.query("f" * 64, "acme", 9)
    cursor = CursorSigner("a" * 32).seal("k", {"q": 1}, [1])
    assert CursorSigner("b" * 32, "a" * 32).open("k", {"q": 1}, cursor) == [1]
    with pytest.raises(InvalidCursor):
        CursorSigner("b" * 32).open("k", {"q": 1}, cursor)


def _run(settings: Settings, *arguments: str, **more: str) -> tuple[int, str]:
    environment = {
        **more,
        "DATABASE_URL": settings.database_url,
        "EDGE_DATABASE_URL": settings.edge_database_url,
        "WORKER_DATABASE_URL": settings.worker_database_url,
        "TOKEN_PEPPER": settings.token_pepper,
    }
    done = CliRunner(env=environment).invoke(cli, list(arguments))
    return done.exit_code, done.output


def test_a_password_of_the_database_is_rotated_by_a_second_login(settings: Settings) -> None:
    code, output = _run(settings, "secrets", "rotate", "worker-password")
    assert code == 0, output
    [url] = re.findall(r"^WORKER_DATABASE_URL=(\S+)$", output, re.MULTILINE)
    with connect(url, application="tests") as new, connect(settings.worker_database_url, application="tests") as old:
        for connection in (new, old):
            assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
        assert _run(settings, "secrets", "retire", "itemindex_worker_login_2")[0] == 1, "refused while it is in use"
        assert _run(settings, "secrets", "rotate", "worker-password")[0] == 1, "the new login is in use already"
    assert _run(settings, "secrets", "retire", "itemindex_worker_login_2")[0] == 0
    with pytest.raises(psycopg.OperationalError):
        connect(url, application="tests")
    assert _run(settings, "secrets", "retire", "postgres")[0] == 1


def test_the_edges_new_login_is_named_for_the_pooler_too_where_there_is_one(settings: Settings) -> None:
    pooler = settings.edge_database_url.replace("@", "@pooler.example:6432,", 1)
    code, output = _run(settings, "secrets", "rotate", "edge-password", EDGE_POOLER_URL=pooler)
    assert code == 0, output
    direct, pooled = (
        re.findall(rf"^{name}=(\S+)$", output, re.MULTILINE) for name in ("EDGE_DATABASE_URL", "EDGE_POOLER_URL")
    )
    connect(direct[0], application="tests").close()
    assert direct[0].split("@")[0] == pooled[0].split("@")[0] and "@pooler.example:6432," in pooled[0]
    assert "in the pooler's list of logins" in output
    assert "EDGE_POOLER_URL" not in _run(settings, "secrets", "rotate", "edge-password")[1]


def test_a_password_is_not_rotated_where_only_the_owner_is_known(settings: Settings) -> None:
    for name, variable in (("edge-password", "EDGE_DATABASE_URL"), ("worker-password", "WORKER_DATABASE_URL")):
        environment = {"DATABASE_URL": settings.database_url, "EDGE_DATABASE_URL": "", "WORKER_DATABASE_URL": ""}
        done = CliRunner(env=environment).invoke(cli, ["secrets", "rotate", name])
        assert done.exit_code == 1 and str(done.exception).startswith(f"{variable} must be set"), done.output
    for url in (settings.edge_database_url, settings.worker_database_url):
        connect(url, application="tests").close()


def test_the_steps_for_a_signing_secret_can_be_copied(settings: Settings) -> None:
    code, output = _run(settings, "secrets", "rotate", "token-pepper")
    assert code == 0, output
    lines = [line for line in output.splitlines() if not line.startswith("#")]
    new = lines[0].partition("=")[2]
    assert len(new) >= 32
    assert lines == [
        f"TOKEN_PEPPER_PREVIOUS={new}",
        f"TOKEN_PEPPER={new}",
        f"TOKEN_PEPPER_PREVIOUS={settings.token_pepper}",
        "TOKEN_PEPPER_PREVIOUS=",
    ]


def test_keys_that_were_not_used_since_are_listed(settings: Settings) -> None:
    key = api_key(settings)
    assert key[10:20] in _run(settings, "keys", "list", "--unused-since", "2099-01-01", "--json")[1]
    assert key[10:20] not in _run(settings, "keys", "list", "--unused-since", "2020-01-01", "--json")[1]


# Two edges ask PostgreSQL about a key once, and take note of its end, also where the notice is lost.


@dataclass
class TwoEdges:
    """Two edges whose notices come by `notices`; `call` gives the statuses of a key's call to each."""

    settings: Settings
    notices: fault_proxy.Link
    edges: list[Edge]

    async def call(self, key: str) -> list[int]:
        """Call both with a key."""
        return [(await edge.get("/quota", key=key)).status for edge in self.edges]

    async def until(self, statuses: list[int], key: str) -> None:
        """Call until the statuses are these: for more than the second of the contract, on a machine full of tests."""
        async with asyncio.timeout(10):
            while await self.call(key) != statuses:
                await asyncio.sleep(0.05)

    def questions(self) -> int:
        """Return how many statements about credentials PostgreSQL has run."""
        return int(_value(self.settings, "SELECT last_value FROM asked"))


def _value(settings: Settings, query: str) -> str:
    [(value,)] = execute(settings, query)
    return str(value)


@pytest.fixture
async def two_edges(settings: Settings, tmp_path: Path) -> AsyncIterator[TwoEdges]:
    body = _value(settings, "SELECT prosrc FROM pg_proc WHERE proname = 'find_credentials'")
    definition = _value(settings, "SELECT pg_get_functiondef('find_credentials'::regproc)")
    execute(settings, "CREATE SEQUENCE asked")
    execute(settings, definition.replace(" STABLE", "").replace(body, f"SELECT nextval('asked'); {body}"))
    folder = re.search("host=([^&]+)", urlsplit(settings.edge_database_url).query)
    assert folder is not None
    notices = fault_proxy.Link(str(tmp_path / ".s.PGSQL.5432"), f"{folder[1]}/.s.PGSQL.5432")
    server = await notices.open()
    changed = replace(
        settings,
        edge_pooler_url=settings.edge_database_url,
        edge_database_url=settings.edge_database_url.replace(folder[1], str(tmp_path)),
    )
    async with AsyncExitStack() as stack:
        edges = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            edges.append(await stack.enter_async_context(running_edge(changed, tmp_path / name)))
        yield TwoEdges(settings, notices, edges)
    notices.turn("cut")
    server.close()


async def test_two_edges_ask_about_no_key_that_they_know_and_take_note_of_each_that_ends(two_edges: TwoEdges) -> None:
    keys = [api_key(two_edges.settings) for _ in range(6)]
    asked = -1
    while two_edges.questions() != asked:  # an edge that got no time for a second asks again
        asked = two_edges.questions()
        ends = asyncio.get_running_loop().time() + 6  # longer than an outage lets it rely on what it knows
        while asyncio.get_running_loop().time() < ends:
            for key in keys:
                assert await two_edges.call(key) == [200, 200]
            await asyncio.sleep(0.4)  # often enough that neither edge forgets a key
    for state in ("pass", "cut", "stall"):  # of the way that notices take
        two_edges.notices.turn(state)
        revoked, suspended = keys.pop(), keys.pop()
        assert await two_edges.call(revoked) == await two_edges.call(suspended) == [200, 200]
        execute(two_edges.settings, "UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", revoked[credentials.ID])
        of = "(SELECT organization_id FROM api_keys WHERE key_id = $1)"
        execute(
            two_edges.settings,
            f"UPDATE organizations SET state = 'suspended' WHERE id = {of}",
            suspended[credentials.ID],
        )
        await two_edges.until([401, 401], revoked)
        await two_edges.until([401, 401], suspended)
        two_edges.notices.turn("pass")


def test_edges_forget_whom_they_know_only_when_a_person_changes(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("LISTEN accounts")
        heard = []
        for name in ("Ada", "Ada", "Ada L."):
            connection.execute("SELECT FROM join_person('i', 'ada', NULL, $1, false)", (name,))
            heard.append([notice.payload for notice in connection.notifies(timeout=0.2)])
    assert heard == [[], [], ["people"]]
