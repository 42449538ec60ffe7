"""Backed up, destroyed, restored, compared: what the operators' guide says works, with the commands that it names."""

import os
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from deploy.local import postgres
from shared.db.connect import connect
from shared.db.migrate import pending
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.reports import work
from tests.support.servers import Servers
from tests.support.shop import open_shop

_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1
"""


def digests(settings: Settings) -> dict[str, tuple[int, str | None]]:
    """Return the number of rows and a digest of the content of every table."""
    found = {}
    with connect(settings.database_url, application="tests") as connection:
        for (name,) in connection.execute(_TABLES).fetchall():
            whole = f"SELECT count(*), md5(string_agg(t::text, E'\\n' ORDER BY t::text)) FROM ONLY {name} t"
            row = connection.execute(whole).fetchone()
            assert row is not None
            found[name] = (row[0], row[1])
    return found


def schema(settings: Settings) -> str:
    """Return the schema with its grants, without what differs from one dump to the next."""
    dumped = run("pg_dump", "--schema-only", settings.database_url)
    return "\n".join(line for line in dumped.splitlines() if not line.startswith(("\\restrict", "\\unrestrict", "--")))


def run(program: str, *arguments: str) -> str:
    """Run one of PostgreSQL's own programs."""
    command = [postgres.binary(program), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PGCONNECT_TIMEOUT": "10"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def destroy(servers: Servers, settings: Settings) -> None:
    """Lose the database, and make an empty one of the same name."""
    name = settings.database_url.partition("@/")[2].partition("?")[0]
    owner = servers.url(postgres.OWNER, "owner", "postgres")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}"'.encode())


@pytest.mark.parametrize("jobs", ["1", "2"])
async def test_a_restored_database_equals_the_one_that_was_backed_up(
    servers: Servers, settings: Settings, tmp_path: Path, jobs: str
) -> None:
    open_shop(settings, tmp_path)
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        asked = edge.get("/index/cohorts?brand=vita", key=key, head={"Prefer": "wait=0"})
        assert (await asked).status == 202
        assert await work(settings) == ["succeeded"]
        answer = await edge.get("/index/cohorts?brand=vita", key=key)
        assert answer.status == 200
    before, shape = digests(settings), schema(settings)
    assert sum(rows for rows, _ in before.values()) > 20

    dump, tar = tmp_path / "item-index.dump", tmp_path / "results.tar"
    run("pg_dump", "--format=custom", f"--file={dump}", settings.database_url)
    with tarfile.open(tar, "w") as archive:
        archive.add(settings.results_dir, ".")
    destroy(servers, settings)
    assert digests(settings) == {}
    elsewhere = replace(settings, results_dir=tmp_path / "restored")
    run("pg_restore", "--exit-on-error", "--no-owner", f"--jobs={jobs}", f"--dbname={settings.database_url}", str(dump))
    with tarfile.open(tar) as archive:
        archive.extractall(elsewhere.results_dir, filter="data")

    assert digests(settings) == before
    assert schema(settings) == shape
    with connect(settings.database_url, application="tests") as connection:
        assert pending(connection) == []
    (tmp_path / "again").mkdir()
    async with running_edge(elsewhere, tmp_path / "again") as edge:
        again = await edge.get("/index/cohorts?brand=vita", key=key)
        assert (again.status, again.json["meta"]["cached"]) == (200, True)
        assert again.json["data"] == answer.json["data"]
