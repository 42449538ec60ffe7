"""What `make bench` asks about: a generated market with one report that is there, for our edge and for its peers."""

from pathlib import Path
from urllib.parse import quote

import valkey

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.assurance.perf.bench_calls import Call, Market
from tests.assurance.perf.bench_servers import OURS, PLENTY, TAKE, Server
from tests.assurance.perf.driver import exchange
from tests.assurance.perf.generate import MAPPING, write
from tests.support.accounts import issue_key
from tests.support.workers import run
from workers.ingest.load.load import load
from workers.ingest.mapping import read
from workers.search.job import make_index

ITEMS, OBSERVATIONS = 10_000, 60_000


def fill(settings: Settings, folder: Path) -> Market:
    """Load the market and lift the limits of every plan; return what may be asked about."""
    path = folder / "market.parquet"
    write(path, items=ITEMS, observations=OBSERVATIONS, seed=1)
    path.with_suffix(".toml").write_text(MAPPING)
    load(settings, read(path.with_suffix(".toml")), [path])
    make_index(settings.worker_database_url, settings.search_dir)
    with connect(settings.database_url, application="bench", autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("UPDATE plans SET daily_units = $1, burst_units = $1", (PLENTY,))
        iids = [row[0] for row in connection.execute("SELECT iid FROM items ORDER BY id")]
        row = connection.execute("SELECT slug FROM brands ORDER BY item_count DESC, slug LIMIT 1").fetchone()
    assert row is not None
    return Market.of(iids, row[0], f"/v1/index/cohorts?brand={quote(row[0])}")


def key_of(settings: Settings) -> str:
    """Return an API key whose plan allows every call."""
    with connect(settings.database_url, application="bench", autocommit=True) as connection:
        return issue_key(connection, settings.token_pepper)


def make_report(edge: Server, settings: Settings, call: Call, credential: str) -> None:
    """Order the report of a call, compute it here, and see that it is there."""
    assert edge.name == OURS
    order = f"GET {call.targets(0)} HTTP/1.1\r\nHost: x\r\nX-Real-IP: 198.51.100.9\r\n{credential}\r\nPrefer: wait=0\r\n\r\n"
    assert exchange(str(edge.socket), order.encode()).startswith(b"HTTP/1.1 202")
    with connect(settings.database_url, application="bench", autocommit=True) as connection:
        for (job,) in connection.execute("SELECT id::text FROM jobs WHERE state = 'queued'").fetchall():
            run(settings, job)


def give_to_peers(edge: Server, settings: Settings, calls: tuple[Call, ...], market: Market, credential: str) -> None:
    """Put what the peers answer with into their store: our records, and our answers to questions asked before."""
    state = settings.state_url.removeprefix("unix://")
    with valkey.Valkey(unix_socket_path=state) as client:
        client.script_load(TAKE.read_text())
        for target in [f"/v1/index/lookup/{iid}" for iid in market.known]:
            client.set(f"r:peer:{target.rpartition('/')[2]}", _body(edge, target, credential))
        for call in calls:
            if call.calls == 1 and call.peers and "/lookup/" not in call.targets(0):
                client.set(f"a:peer:{call.targets(0)}", _body(edge, call.targets(0), credential))


def _body(edge: Server, target: str, credential: str) -> bytes:
    request = f"GET {target} HTTP/1.1\r\nHost: x\r\nX-Real-IP: 198.51.100.9\r\n{credential}\r\n\r\n"
    answer = exchange(str(edge.socket), request.encode())
    assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
    return answer.partition(b"\r\n\r\n")[2]
