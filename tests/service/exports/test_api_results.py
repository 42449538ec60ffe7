"""What the API answers of an export that is done: changes since a version, CSV, months, signed addresses."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import Connection, connect
from shared.errors import StoreUnavailable
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from shared.telemetry.metrics import REGISTRY
from tests.service.exports.orders import done
from tests.service.exports.test_api import path_of, shop, slug
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import ROWS, load_rows
from tests.support.workers import settle_refunds
from workers.dispatcher.missing_results import MissingResults
from workers.jobs.failed_rows import FailedRows


@pytest.fixture
def contents() -> Contents:
    return shop


async def test_since_holds_changed_and_removed_items(edge: Edge, settings: Settings, key: str, tmp_path: Path) -> None:
    load_rows(
        settings, tmp_path, ROWS + "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-08-01,NORTH,12.00,\n", name="b.csv"
    )
    execute(settings, "UPDATE items SET status = 'withdrawn', data_version = 2 WHERE name LIKE 'Cr%'")
    changes = {"format": "ndjson", "since": 1}
    export = await done(edge, settings, key, {"dataset": "observations", **changes})
    manifest = export["manifest"]
    assert (manifest["data_version"], manifest["since"], manifest["months"], manifest["rows"]) == (
        2,
        1,
        ["2026-08-01"],
        1,
    )
    rows, gone = [await edge.get(path_of(file["url"]), key=key) for file in manifest["files"]]
    assert json.loads(rows.body)["day"] == "2026-08-01"
    assert [file["content"] for file in manifest["files"]] == ["rows", "gone"]
    assert json.loads(gone.body)["reason"] == "withdrawn"
    items = (await done(edge, settings, key, {"dataset": "items", **changes}))["manifest"]
    assert [(file["content"], file["rows"]) for file in items["files"]] == [("rows", 1), ("gone", 1)]
    vita = {"dataset": "observations", **changes, "filter": {"brand": "vita"}}
    whole = (await done(edge, settings, key, vita))["manifest"]
    assert (whole["months"], whole["rows"]) == ([], 4)  # all of what may have come into the filter
    assert [one["all_months"] for one in (manifest, items, whole)] == [False, True, True]
    none = (await done(edge, settings, key, {"dataset": "items", "since": 2}))["manifest"]
    assert (none["rows"], len(none["files"])) == (0, 1)


async def test_csv_names_the_prefix_of_formulas_and_without_it_has_the_very_text(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    names = ["+C Lemon", "=1+1", "-5", "-5 apples", "@home", "'quoted", "'=said", "''-5", "plain"]
    names += ["＝1+1", "＋C Lemon", "－5", "＠home", "'＝said"]
    rows = (f'{20 + n},"{name}",Vita,Drinks,Tea,1,2026-08-01,NORTH,1,\n' for n, name in enumerate(names))
    load_rows(settings, tmp_path, "".join(rows), name="odd.csv")
    read = {}
    for format in ("csv", "ndjson"):
        order = {"dataset": "items", "columns": ["iid", "name"], "format": format}
        manifest = (await done(edge, settings, key, order))["manifest"]
        body = (await edge.get(path_of(manifest["files"][0]["url"]), key=key)).body.decode()
        read[format] = manifest["formula_prefix"], body
    prefix, text = read["csv"]
    guarded = [row["name"] for row in csv.DictReader(io.StringIO(text))]
    assert (prefix, read["ndjson"][0]) == ("'", None)
    assert {name for name in guarded if name.startswith(prefix)} == {
        "'+C Lemon",
        "'=1+1",
        "'-5 apples",
        "'@home",
        "'quoted",
        "''=said",
        "'''-5",
        "'＝1+1",
        "'＋C Lemon",
        "'－5",
        "'＠home",
        "''＝said",
    }
    plain = [name[1:] if re.match(r"'+[=+\-@\t\r\n＝＋－＠]", name) else name for name in guarded]
    assert sorted(plain) == sorted(json.loads(line)["name"] for line in read["ndjson"][1].splitlines())


async def test_since_of_nothing_names_no_month_and_replaces_none(edge: Edge, settings: Settings, key: str) -> None:
    unchanged = {"dataset": "observations", "format": "ndjson", "since": 1}
    manifest = (await done(edge, settings, key, unchanged))["manifest"]
    assert (manifest["rows"], manifest["months"], manifest["all_months"]) == (0, [], False)


async def test_a_manifest_from_before_says_by_its_months_whether_all_count(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    execute(settings, "UPDATE jobs SET result = result - 'all_months' WHERE kind = 'export'")
    assert (await edge.get(f"/index/exports/{published_export['id']}", key=key)).json["manifest"]["all_months"] is True
    months = "UPDATE jobs SET result = jsonb_set(result, '{months}', '[\"2026-07-01\"]') WHERE kind = 'export'"
    execute(settings, months)
    assert (await edge.get(f"/index/exports/{published_export['id']}", key=key)).json["manifest"]["all_months"] is False


async def test_a_signed_address_needs_no_header_and_opens_one_file_only(
    edge: Edge, settings: Settings, key: str, published_export: Any
) -> None:
    [file] = published_export["manifest"]["files"]
    signed = path_of(file["signed_url"])
    answer = await edge.get(signed, anonymous=False)
    assert (answer.status, hashlib.sha256(answer.body).hexdigest()) == (200, file["sha256"])
    for changed in (
        signed.replace("expires=1", "expires=2"),
        signed.replace("observations-00001", "observations-00002"),
        signed.replace("organization=0", "organization=1"),
        signed[:-1] + ("A" if signed[-1] != "A" else "B"),
    ):
        refused = await edge.get(changed, anonymous=False)
        assert (refused.status, slug(refused)) == (403, "invalid-signature"), changed
    execute(settings, "UPDATE organizations SET state = 'suspended'")
    assert slug(await edge.get(signed, anonymous=False)) == "invalid-signature"


PATIENCE_SECONDS = 900


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
        failed = FailedRows("missing-result", log)
        MissingResults(store, log, PATIENCE_SECONDS, failed).confirm(self._connection)
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
    assert await edge.used(key) == 100


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
    assert [settle_refunds(settings) for _ in range(2)] == [1, 0]
    assert await edge.used(key) == 0


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
