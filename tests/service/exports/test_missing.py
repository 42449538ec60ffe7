"""An object that the store lacks once costs nothing but time; one that stays missing expires and is paid back."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.db.connect import Connection, connect
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from shared.telemetry.metrics import REGISTRY
from tests.service.exports.orders import done
from tests.service.exports.test_api import path_of, shop, slug, used
from tests.support.client import Edge
from tests.support.servers import Contents
from workers.dispatcher import Refunds, confirm_missing

PATIENCE_SECONDS = 900


@pytest.fixture
def contents() -> Contents:
    return shop


@pytest.fixture
def connection(settings: Settings) -> Iterator[Connection]:
    with connect(settings.worker_database_url, application="tests", autocommit=True) as opened:
        yield opened


class Dispatcher:
    """What the dispatcher does about missing results, and what it logs."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self.written = io.StringIO()
        self._settings, self._connection = settings, connection

    def look(self, *, waited_seconds: int = 0) -> list[str]:
        """Look once, so many seconds after the result was first missed; return the events of the log."""
        self._connection.execute(
            "UPDATE jobs SET missing_since = missing_since - make_interval(secs => $1)", (waited_seconds,)
        )
        store, log = DirectoryStore(self._settings.results_dir), Log("dispatcher", stream=self.written)
        confirm_missing(self._connection, store, log, PATIENCE_SECONDS)
        return [json.loads(line)["event"] for line in self.written.getvalue().splitlines()]

    def state(self) -> tuple[str, bool]:
        """Return the export's state, and whether it counts as missing."""
        [row] = self._connection.execute("SELECT state, missing_since IS NOT NULL FROM jobs WHERE kind = 'export'")
        return row[0], row[1]


def missed() -> float:
    return REGISTRY.get_sample_value("itemindex_results_missing_total") or 0.0


async def export_and_object(edge: Edge, settings: Settings, key: str) -> tuple[str, Path]:
    """Make an export of one file; return its address and where its bytes are."""
    [file] = (await done(edge, settings, key))["manifest"]["files"]
    [stored] = [path for path in settings.results_dir.rglob("observations*") if path.is_file()]
    return path_of(file["url"]), stored


@pytest.mark.parametrize("harm", ["deleted", "truncated"])
async def test_an_object_that_is_put_back_is_served_again(
    edge: Edge, settings: Settings, key: str, connection: Connection, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, stored = await export_and_object(edge, settings, key)
    written = io.StringIO()
    monkeypatch.setattr(edge.resources.log, "_stream", written)
    dispatcher, whole, before = Dispatcher(settings, connection), stored.read_bytes(), missed()
    served = await edge.get(url, key=key)
    assert (served.status, served.body) == (200, whole)
    stored.unlink() if harm == "deleted" else stored.write_bytes(whole[:-1])
    for _ in range(2):
        answer = await edge.get(url, key=key)
        assert (answer.status, slug(answer), answer.head["Retry-After"]) == (503, "service-unavailable", "30")
    assert missed() == before + 2
    reported = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["object"] for line in reported if line["event"] == "result-missing"] == [
        str(stored.relative_to(settings.results_dir))
    ]
    assert dispatcher.look(waited_seconds=PATIENCE_SECONDS - 1) == []
    assert dispatcher.state() == ("succeeded", True)
    stored.write_bytes(whole)
    again = await edge.get(url, key=key)
    assert (again.status, again.body) == (200, whole)
    assert dispatcher.look(waited_seconds=10 * PATIENCE_SECONDS) == ["result-found"]
    assert dispatcher.state() == ("succeeded", False)
    assert await used(edge, key) == 100


async def test_an_object_that_stays_missing_expires_the_export_and_pays_it_back_once(
    edge: Edge, settings: Settings, key: str, connection: Connection
) -> None:
    url, stored = await export_and_object(edge, settings, key)
    dispatcher = Dispatcher(settings, connection)
    stored.unlink()
    assert (await edge.get(url, key=key)).status == 503
    for _ in range(2):
        assert dispatcher.look(waited_seconds=PATIENCE_SECONDS) == ["result-lost"]
    answer = await edge.get(url, key=key)
    assert (answer.status, slug(answer)) == (410, "result-expired")
    refunds = Refunds(settings, Log("tests", level="error"))
    assert [refunds.settle(connection) for _ in range(2)] == [1, 0]
    refunds.close()
    assert await used(edge, key) == 0


async def test_a_store_that_does_not_answer_expires_nothing(
    edge: Edge, settings: Settings, key: str, connection: Connection
) -> None:
    url, stored = await export_and_object(edge, settings, key)
    dispatcher, elsewhere = Dispatcher(settings, connection), settings.results_dir.with_name("elsewhere")
    stored.unlink()
    assert (await edge.get(url, key=key)).status == 503
    settings.results_dir.rename(elsewhere)
    with pytest.raises(StoreUnavailable):
        dispatcher.look(waited_seconds=10 * PATIENCE_SECONDS)
    assert dispatcher.state() == ("succeeded", True)
