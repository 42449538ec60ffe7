"""What the API answers of an export that is done: changes since a version, CSV, months, signed addresses."""

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from shared.settings.settings import Settings
from tests.service.exports.orders import done
from tests.service.exports.test_api import execute, path_of, shop, slug
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import ROWS, load_rows


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
    names = ["+C Lemon", "=1+1", "-5", "-5 apples", "@home", "'quoted", "plain"]
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
    }
    plain = [name[1:] if re.match(r"'[=+\-@\t\r\n]", name) else name for name in guarded]
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
