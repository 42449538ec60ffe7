"""Secrets are rotated with an overlap: no credential, link, cursor or answer is refused, and the old ones end."""

import re
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from deploy.ctl.main import cli
from edge.bulk.signed_urls import SignedLink, SignedUrls
from edge.http.cursors import CursorSigner
from shared.db.connect import connect
from shared.errors import InvalidCursor
from shared.settings.settings import Settings
from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key, free_token
from tests.support.client import running_edge
from tests.support.issuer import Issuer

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
    link = SignedLink(9, "acme", signature)
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
