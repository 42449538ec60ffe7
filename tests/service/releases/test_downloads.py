"""Releases over HTTP: who may have them, what a manifest tells, and what a file's bytes promise."""

import base64
import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from itemindex_client import NotVerified
from itemindex_client.downloads import verify

from edge.bulk.descriptions import FORMS, Described, dcat
from shared import db
from shared.bulk.schema import RELEASED
from shared.bulk.signing import SigningKey, new_key
from shared.db.connect import connect
from shared.errors import ConfigurationError
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import cut, released_shop
from tests.support.servers import Contents, begins_with
from tests.support.shop import load_rows

MIGRATION = Path(db.__file__).with_name("migrations") / "0131_release_descriptions.sql"

RELEASES = "/index/datasets/observations/releases"

ORIGIN = "http://testserver"


@pytest.fixture(scope="module")
def contents() -> Contents:
    return released_shop


async def manifest(edge: Edge, key: str, dataset: str = "observations") -> Any:
    answer = await edge.get(f"/index/datasets/{dataset}/releases/latest", key=key)
    assert answer.status == 200, answer.body
    return answer.json


def path_of(url: str) -> str:
    return url.removeprefix(f"{ORIGIN}/v1")


@begins_with(load_rows)
async def test_an_index_that_was_never_cut_has_datasets_and_no_releases(edge: Edge, settings: Settings) -> None:
    key = api_key(settings, "institutional")
    assert [entry["latest"] for entry in (await edge.get("/index/datasets", key=key)).json["data"]] == [None] * len(
        RELEASED
    )
    assert (await edge.get(RELEASES, key=key)).json["data"] == []
    assert (await edge.get(f"{RELEASES}/latest", key=key)).status == 404


def two_signed_releases(settings: Settings, folder: Path) -> None:
    """Cut a release without a key, and two that each have a key of their own."""
    released_shop(settings, folder)
    for month in (8, 9):
        file = folder / f"{month}.pem"
        file.write_bytes(new_key())
        row = f"1,Soy,Vita,Drinks,Soy milk,1.0,2026-0{month}-03,NORTH,1,\n"
        load_rows(settings, folder, row, name=f"{month}.csv")
        cut(replace(settings, release_signing_key_file=file))


async def test_a_manifest_names_files_whose_bytes_have_its_digests(shared_edge: Edge, shared_key: str) -> None:
    reported = await manifest(shared_edge, shared_key)
    assert reported["rows"] == sum(file["rows"] for file in reported["files"]) == 5
    for file in reported["files"]:
        for url, credential in ((file["url"], shared_key), (file["signed_url"], None)):
            answer = await shared_edge.get(path_of(url), key=credential, anonymous=False)
            assert (answer.status, len(answer.body)) == (200, file["bytes"])
            digest = hashlib.sha256(answer.body).digest()
            assert digest.hex() == file["sha256"]
            assert answer.head["ETag"] == f'"sha256-{file["sha256"]}"'
            assert answer.head["Repr-Digest"] == f"sha-256=:{base64.b64encode(digest).decode()}:"
            assert int(answer.head["Content-Length"]) == file["bytes"]
            assert answer.head["Content-Disposition"] == f'attachment; filename="observations-{file["name"]}"'
        assert pq.read_table(io.BytesIO(answer.body)).num_rows == file["rows"]


@begins_with(two_signed_releases)
async def test_a_manifest_is_signed_and_former_keys_stay(edge: Edge, key: str, tmp_path: Path) -> None:
    assert (await edge.get(f"{RELEASES}/1", key=key)).json["signature"] is None
    url = f"{ORIGIN}/.well-known/release-keys.json"
    async with edge.session.get(url, headers={"X-Real-IP": "192.0.2.1"}) as answer:
        assert answer.content_type == "application/jwk-set+json"
        keys = (await answer.json(content_type=None))["keys"]
    assert [(one["kty"], one["crv"], one["alg"]) for one in keys] == [("OKP", "Ed25519", "EdDSA")] * 2
    for version, kid in ((2, keys[1]["kid"]), (3, keys[0]["kid"])):
        signed = (await edge.get(f"{RELEASES}/{version}", key=key)).json
        assert signed["signature"]["key_id"] == kid
        assert signed["links"]["keys"] == url
        mirror = tmp_path / str(version)
        mirror.mkdir()
        for one in signed["files"]:
            (mirror / one["name"]).write_bytes((await edge.get(path_of(one["url"]), key=key)).body)
        (mirror / "manifest.json").write_text(json.dumps(signed))
        assert verify(mirror, {"keys": keys})["data_version"] == version
        with pytest.raises(NotVerified, match="not one of the given keys"):
            verify(mirror, {"keys": [one for one in keys if one["kid"] != kid]})


async def describe(edge: Edge, form: str, release: str = "latest", dataset: str = "observations") -> Any:
    answer = await edge.get(f"/index/datasets/{dataset}/releases/{release}/descriptions/{form}", anonymous=False)
    assert answer.status == 200 and answer.head["Content-Type"] == "application/ld+json", answer.body
    return answer.json


async def test_a_release_is_described_to_machines_that_have_no_credential(shared_edge: Edge, shared_key: str) -> None:
    reported = await manifest(shared_edge, shared_key)
    croissant, schema_org, dcat = [await describe(shared_edge, form) for form in FORMS]
    digests = [(file["url"], file["sha256"]) for file in reported["files"]]
    listed = [one for one in croissant["distribution"] if one["@type"] == "cr:FileObject"]
    assert [(one["contentUrl"], one["sha256"]) for one in listed] == digests
    assert [(one["contentUrl"], one["sha256"]) for one in schema_org["distribution"]] == digests
    checksums = [one["spdx:checksum"]["spdx:checksumValue"]["@value"] for one in dcat["dcat:distribution"]]
    assert checksums == [sha256 for _, sha256 in digests]
    fields = {one["name"].partition("/")[2]: one for one in croissant["recordSet"][0]["field"]}
    assert {name: one["description"] for name, one in fields.items()} == {
        column["name"]: column["description"] for column in reported["schema"]
    }
    assert croissant["temporalCoverage"] == schema_org["temporalCoverage"] == "2026-07-01/2026-07-02"
    assert "rai:dataCollectionMissingData" not in croissant
    [source] = croissant["isBasedOn"]
    assert (source["identifier"], croissant["license"]) == ("shop", [source["license"]])
    [derived] = dcat["prov:wasDerivedFrom"]
    assert derived["dct:rights"]["dct:description"] == source["license"]
    variables = {one["name"]: one for one in schema_org["variableMeasured"]}
    assert (variables["price_minor"]["minValue"], variables["price_minor"]["maxValue"]) == (850, 2500)
    assert (await shared_edge.get(f"{RELEASES}/latest/descriptions/rdf", anonymous=False)).status == 400
    assert (await shared_edge.get(f"{RELEASES}/9/descriptions/dcat", anonymous=False)).status == 404


async def test_a_description_is_made_once_however_often_and_in_whatever_words_it_is_asked_for(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Described] = []
    monkeypatch.setitem(FORMS, "dcat", lambda release: made.append(release) or dcat(release))
    for number in range(3):
        assert (
            await edge.get(f"{RELEASES}/latest/descriptions/dcat", head={"Accept": f"*/*;q=0.{number + 1}"})
        ).status == 200
    assert len(made) == 1


async def test_a_description_says_which_days_are_missing_and_keeps_the_terms_of_its_release(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    before = await describe(edge, "croissant", "1")
    load_rows(settings, tmp_path, "1,Soy,Vita,Drinks,Soy milk,1.0,2026-07-05,NORTH,1,\n", name="gap.csv")
    execute(settings, "UPDATE sources SET license = 'changed', attribution = 'by the shop'")
    cut(settings)
    after = await describe(edge, "croissant")
    assert after["rai:dataCollectionMissingData"] == "Days without an observation: 2026-07-03/2026-07-04"
    assert after["rai:dataCollectionTimeframe"] == ["2026-07-01", "2026-07-05"]
    assert (after["license"], after["isBasedOn"][0]["creditText"]) == (["changed"], "by the shop")
    assert await describe(edge, "croissant", "1") == before


async def test_changes_of_the_schema_are_derived_from_the_releases_and_outlive_them(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    with connect(settings.database_url, application="tests") as connection:  # as if older code had cut the release
        connection.execute(
            "UPDATE releases SET columns = (SELECT jsonb_agg(CASE c ->> 'name' WHEN 'units' "
            """THEN c || '{"type": "long"}' WHEN 'day' THEN c || '{"name": "date"}' ELSE c END) """
            "FROM jsonb_array_elements(columns) c WHERE c ->> 'name' <> 'outlier') WHERE dataset = 'observations'"
        )
    load_rows(settings, tmp_path, "1,Soy,Vita,Drinks,Soy milk,1.0,2026-08-03,NORTH,1,\n", name="8.csv")
    cut(settings)
    backfill = re.search(r"^WITH columns.*?;$", MIGRATION.read_text(), re.DOTALL | re.MULTILINE)
    assert backfill is not None
    of_second = "SELECT * FROM schema_changes WHERE data_version = 2 ORDER BY dataset, name"
    with connect(settings.database_url, application="tests") as connection:
        kept = connection.execute(of_second).fetchall()
        connection.execute("CREATE TEMPORARY TABLE before AS SELECT * FROM schema_changes")
        connection.execute("DELETE FROM schema_changes")
        connection.execute(backfill[0].encode())
        assert connection.execute(of_second).fetchall() == kept != []  # the migration finds what the worker found
        connection.execute("DELETE FROM schema_changes")
        connection.execute("INSERT INTO schema_changes SELECT * FROM before")
        connection.execute("DELETE FROM releases WHERE data_version = 1")
    changes = (await edge.get("/index/datasets/observations/schema-changes", key=key)).json["data"]
    assert [(one["change"], one["name"], one["type"]) for one in changes if one["data_version"] == 2] == [
        ("removed", "date", "date"),
        ("added", "day", "date"),
        ("added", "outlier", "string"),
        ("changed", "units", "integer"),
    ]
    first = [one for one in changes if one["data_version"] == 1]
    assert {one["change"] for one in first} == {"added"} and len(first) == len(RELEASED["observations"].columns)
    assert {
        one["data_version"] for one in (await edge.get("/index/datasets/items/schema-changes", key=key)).json["data"]
    } == {1}
    assert (await edge.get("/index/datasets/none/schema-changes", key=key)).status == 404


@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"])
def test_a_file_that_holds_no_signing_key_is_refused_with_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="RELEASE_SIGNING_KEY_FILE"):
        SigningKey.read(file)


async def test_parts_and_conditions(shared_edge: Edge, shared_key: str) -> None:
    file = (await manifest(shared_edge, shared_key))["files"][0]
    for path, credential in ((path_of(file["url"]), shared_key), (path_of(file["signed_url"]), None)):

        async def ask(method: str = "GET", path: str = path, shared_key: str | None = credential, **fields: str) -> Any:
            head = {name.replace("_", "-"): value for name, value in fields.items()}
            return await shared_edge.ask(method, path, key=shared_key, anonymous=False, head=head)

        whole, etag = (await ask()).body, f'"sha256-{file["sha256"]}"'
        part = await ask(Range="bytes=4-9", If_Range=etag)
        assert (part.status, part.body, part.head["Content-Range"]) == (206, whole[4:10], f"bytes 4-9/{len(whole)}")
        for other in ('"x"', f"W/{etag}", "Sat, 21 Nov 2026 00:00:00 GMT", "x"):
            assert (await ask(Range="bytes=4-9", If_Range=other)).body == whole
        assert (await ask(Range=f"bytes={len(whole)}-")).status == 416
        assert (await ask(Range="bytes=-7")).body == whole[-7:]
        assert (await ask(If_None_Match=etag)).status == 304
        assert (await ask(If_Match='"x"')).status == 412
        # Range has a meaning for GET only.
        for fields in ({}, {"Range": "bytes=4-9"}, {"Range": f"bytes={len(whole)}-"}):
            head = await ask("HEAD", **fields)
            assert (head.status, head.body, int(head.head["Content-Length"])) == (200, b"", len(whole))


async def test_the_plan_is_asked_before_anything_else(shared_edge: Edge, shared_key: str) -> None:
    brand = api_key(shared_edge.settings, "brand")
    for path in (
        "/index/datasets",
        RELEASES,
        f"{RELEASES}/latest",
        f"{RELEASES}/latest/files/2026-07-0000.parquet",
        "/index/datasets/nothing/releases",
    ):
        refused = await shared_edge.get(path, key=brand)
        assert (refused.status, refused.json["required_plan"]) == (403, "institutional")
        assert (await shared_edge.get(path)).status == 403
        assert (await shared_edge.get(path, anonymous=False)).status == 401


NAMES_OF_NOTHING = [
    "..%2F..%2Fpostgres%2Fpg_hba.conf",
    "..%5c..%5cx.parquet",
    "%2e%2e",
    "%00.parquet",
    "x.parquet%00",
    "2026-07-0000.PARQUET",
    ".partial",
    "2026-07-9999.parquet",
    "a" * 250,
]


async def test_names_that_are_none_of_ours_are_404(shared_edge: Edge, shared_key: str) -> None:
    for file in NAMES_OF_NOTHING:
        for kind, query in (("files", ""), ("signed", "?expires=1&organization=x&signature=y")):
            refused = await shared_edge.get(
                f"{RELEASES}/latest/{kind}/{file}{query}", key=shared_key if kind == "files" else None, check=False
            )
            assert refused.status in (400, 404), (file, refused)
            assert refused.json["type"].rsplit("/", 1)[1] in ("dataset-not-found", "not-found", "invalid-parameter")


NO_RELEASES = ["0", "01", "99", "-1", "newest", "1e1", "%31%00", "9" * 30]


async def test_releases_that_are_not_there_are_404(shared_edge: Edge, shared_key: str) -> None:
    for release in NO_RELEASES:
        refused = await shared_edge.get(f"{RELEASES}/{release}", key=shared_key, check=False)
        assert refused.status in (400, 404) and refused.json["type"].rsplit("/", 1)[1] in (
            "dataset-not-found",
            "invalid-parameter",
        )
        assert (
            await shared_edge.get(f"/index/datasets/nothing/releases/{release}", key=shared_key, check=False)
        ).status in (
            400,
            404,
        )


async def test_a_signed_address_that_was_changed_opens_nothing(shared_edge: Edge, shared_key: str) -> None:
    other = api_key(shared_edge.settings, "institutional")
    reported, items = await manifest(shared_edge, shared_key), await manifest(shared_edge, shared_key, "items")
    path = path_of(reported["files"][0]["signed_url"])
    query = dict(pair.split("=") for pair in path.partition("?")[2].split("&"))
    foreign = path_of((await manifest(shared_edge, other))["files"][0]["signed_url"]).partition("?")[2]
    other = dict(pair.split("=") for pair in foreign.split("&"))["organization"]
    changed = [
        path.replace(query["signature"], query["signature"][:-1] + ("A" if query["signature"][-1] != "A" else "B")),
        path.replace(f"expires={query['expires']}", f"expires={int(query['expires']) + 1}"),
        path.replace(query["organization"], other),
        path_of(items["files"][0]["signed_url"]).partition("?")[0] + "?" + path.partition("?")[2],
        path.replace(query["signature"], "%C3%BC" * 43),
    ]
    for address in changed:
        refused = await shared_edge.get(address, anonymous=False)
        assert (refused.status, refused.json["type"].rsplit("/", 1)[1]) == (403, "invalid-signature"), address
    assert (await shared_edge.get(path.partition("?")[0], anonymous=False)).status == 400


async def test_a_signed_address_ends_with_its_time_or_with_the_contract(
    edge: Edge, settings: Settings, key: str
) -> None:
    from edge.bulk.signed_urls import SignedUrls

    file = (await manifest(edge, key))["files"][0]
    path = path_of(file["signed_url"])
    organization = path.partition("organization=")[2].partition("&")[0]
    past = SignedUrls(settings.signing_secret).query(file["sha256"], organization, 1_700_000_000)
    refused = await edge.get(f"{path.partition('?')[0]}?{past}", anonymous=False)
    assert (refused.status, refused.json["type"].rsplit("/", 1)[1]) == (410, "expired-signature")
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("UPDATE organizations SET plan = 'brand' WHERE id = $1", (organization,))
        assert (await edge.get(path, anonymous=False)).status == 403
        connection.execute(
            "UPDATE organizations SET plan = 'institutional', state = 'suspended' WHERE id = $1", (organization,)
        )
        assert (await edge.get(path, anonymous=False)).status == 403


async def test_a_file_that_the_store_lost_is_refused_before_the_first_byte(shared_edge: Edge, shared_key: str) -> None:
    file = (await manifest(shared_edge, shared_key))["files"][0]
    stored = shared_edge.settings.results_dir / "releases" / f"{file['sha256']}.parquet"
    stored.write_bytes(stored.read_bytes()[:-1])
    for _ in range(2):
        refused = await shared_edge.get(path_of(file["url"]), key=shared_key)
        assert (refused.status, refused.json["type"].rsplit("/", 1)[1]) == (410, "result-expired")
        stored.unlink(missing_ok=True)
