"""What clients of S3 send beside a plain GetObject, and the forms in which they read the answers."""

import re
import xml.etree.ElementTree as ET
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from edge.bulk.routes import BUCKETS_PATH
from tests.service.releases.test_bucket import ask, code, credentials_of, sent, signed
from tests.support.client import Answer, Edge
from tests.support.releases import released_shop
from tests.support.servers import Contents

FILE = "/releases/items/1/0000.parquet"
ORIGIN = "http://testserver"


@pytest.fixture(scope="module")
def contents() -> Contents:
    return released_shop


async def presigned(edge: Edge, credentials: Credentials, query: str, method: str = "GET") -> Answer:
    request = AWSRequest(method, f"{ORIGIN}{FILE}?{query}")
    S3SigV4QueryAuth(credentials, "s3", "us-east-1", expires=60).add_auth(request)
    return await sent(edge, request.url.removeprefix(ORIGIN), {}, method)


def elements(answer: Answer, path: str) -> list[str]:
    """Return the texts of elements of an answer, by a path of their names."""
    assert (answer.status, answer.head["Content-Type"].split(";")[0]) == (200, "application/xml"), answer.body
    space = "{http://s3.amazonaws.com/doc/2006-03-01/}"
    found = ET.fromstring(answer.body).findall("/".join(f"{space}{name}" for name in path.split("/")))
    return [one.text or "" for one in found]


async def test_an_etag_is_hexadecimal_and_no_md5(shared_edge: Edge, shared_key: str) -> None:
    """s3fs reads the digits before the hyphen as a number; others compare an ETag without one with the MD5."""
    credentials = await credentials_of(shared_edge, shared_key)
    etag = (await ask(shared_edge, credentials, FILE, "HEAD")).head["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{64}-1"', etag)
    listed = await ask(shared_edge, credentials, "/releases?list-type=2&prefix=items%2F1%2F")
    assert elements(listed, "Contents/ETag") == [etag]
    metadata = await ask(shared_edge, credentials, "/releases/items/1/metadata/manifest.avro")
    assert re.fullmatch(r'"[0-9a-f]{64}-1"', metadata.head["ETag"])


async def test_conditions_are_those_of_the_object(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    head = (await ask(shared_edge, credentials, FILE, "HEAD")).head
    written = parsedate_to_datetime(head["Last-Modified"])
    before, after = (format_datetime(written + timedelta(days=days), usegmt=True) for days in (-1, 1))
    for fields, status in (
        ({"If-Match": head["ETag"]}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"If-None-Match": head["ETag"]}, 304),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-Modified-Since": head["Last-Modified"]}, 304),
        ({"If-Modified-Since": before}, 200),
        ({"If-Modified-Since": after, "If-None-Match": '"other"'}, 200),
        ({"If-Unmodified-Since": head["Last-Modified"]}, 200),
        ({"If-Unmodified-Since": before}, 412),
        ({"If-Unmodified-Since": before, "If-Match": head["ETag"]}, 200),
        ({"If-Unmodified-Since": "yesterday"}, 200),
    ):
        answer = await ask(shared_edge, credentials, FILE, **fields)
        assert answer.status == status, fields
        if status == 412:
            assert code(answer) == "PreconditionFailed"


async def test_ranges_are_read_as_s3_reads_them(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    whole = (await ask(shared_edge, credentials, FILE)).body
    for field, content in (
        ("bytes=0-9", whole[:10]),
        ("bytes=10-", whole[10:]),
        ("bytes=-7", whole[-7:]),
        (f"bytes=5-{len(whole) * 2}", whole[5:]),
        ("BYTES=0-0", whole[:1]),
    ):
        part = await ask(shared_edge, credentials, FILE, Range=field)
        assert (part.status, part.body) == (206, content), field
        head = await ask(shared_edge, credentials, FILE, "HEAD", Range=field)
        assert (head.status, int(head.head["Content-Length"])) == (206, len(content)), field
        assert head.head["Content-Range"] == part.head["Content-Range"]
    for field in ("bytes=0-1,3-4", "bytes=9-2", "items=0-1"):
        assert (await ask(shared_edge, credentials, FILE, Range=field)).body == whole, field
    assert code(await ask(shared_edge, credentials, FILE, Range=f"bytes={len(whole)}-")) == "InvalidRange"


async def test_an_object_has_one_part(shared_edge: Edge, shared_key: str) -> None:
    """Clients that load in parallel ask for part 1 to learn the length."""
    credentials = await credentials_of(shared_edge, shared_key)
    whole = (await ask(shared_edge, credentials, FILE)).body
    first = await ask(shared_edge, credentials, f"{FILE}?partNumber=1")
    assert (first.status, first.body) == (206, whole)
    assert first.head["Content-Range"] == f"bytes 0-{len(whole) - 1}/{len(whole)}"
    assert first.head["x-amz-mp-parts-count"] == "1"
    head = await ask(shared_edge, credentials, f"{FILE}?partNumber=1", "HEAD")
    assert (head.status, int(head.head["Content-Length"])) == (206, len(whole))
    second = await ask(shared_edge, credentials, f"{FILE}?partNumber=2")
    assert (second.status, code(second)) == (416, "InvalidPartNumber")
    both = await ask(shared_edge, credentials, f"{FILE}?partNumber=1", Range="bytes=0-1")
    assert (both.status, code(both)) == (400, "InvalidRequest")


@pytest.mark.parametrize(
    "query",
    [
        "x-amz-checksum-mode=ENABLED&x-id=GetObject",
        "X-Amz-Checksum-Mode=ENABLED",
        "versionId=null",
        "response-content-type=text%2Fplain",
    ],
)
async def test_what_sdks_add_to_an_address_changes_no_bytes(shared_edge: Edge, shared_key: str, query: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    whole = await ask(shared_edge, credentials, FILE)
    answer = await presigned(shared_edge, credentials, query)
    assert (answer.status, answer.body) == (200, whole.body), answer.body


async def test_an_address_chooses_fields_of_its_answer(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    query = (
        "response-content-disposition=inline&response-content-type=text%2Fhtml&response-cache-control=no-store"
        "&response-content-language=en&response-expires=0"
    )
    for method in ("GET", "HEAD"):
        head = (await presigned(shared_edge, credentials, query, method)).head
        chosen = [head[name] for name in ("Content-Disposition", "Content-Type", "Cache-Control")]
        assert chosen == ["inline", "text/html", "no-store"]
        assert (head["Content-Language"], head["Expires"]) == ("en", "0")
        assert head["Content-Security-Policy"] == "sandbox"
    for value in ("a%0D%0ASet-Cookie:%20a=b", "%C3%A9", "%00"):
        refused = await presigned(shared_edge, credentials, f"response-content-disposition={value}")
        assert (refused.status, code(refused)) == (400, "InvalidArgument"), value
    plain = await presigned(shared_edge, credentials, "x-id=GetObject")
    assert plain.head["Content-Disposition"].startswith("attachment")
    assert "Content-Security-Policy" not in plain.head


async def listed(edge: Edge, credentials: Credentials, query: str) -> tuple[list[str], list[str]]:
    """Return all keys and folders of the older listing, a page of one entry after another."""
    keys: list[str] = []
    folders: list[str] = []
    marker = ""
    while True:
        more = f"&marker={marker.replace('/', '%2F')}" if marker else ""
        page = await ask(edge, credentials, f"/releases?max-keys=1{query}{more}")
        keys += elements(page, "Contents/Key")
        folders += elements(page, "CommonPrefixes/Prefix")
        assert elements(page, "Marker") == [marker]
        if elements(page, "IsTruncated") == ["false"]:
            return keys, folders
        [marker] = elements(page, "NextMarker")


async def test_older_listings_name_what_the_newer_ones_do(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    newer = await ask(shared_edge, credentials, "/releases?list-type=2")
    assert (await listed(shared_edge, credentials, "")) == (elements(newer, "Contents/Key"), [])
    for query in ("&delimiter=%2F", "&delimiter=%2F&prefix=items%2F"):
        newer = await ask(shared_edge, credentials, f"/releases?list-type=2{query}")
        assert (await listed(shared_edge, credentials, query)) == ([], elements(newer, "CommonPrefixes/Prefix"))
    inside = await ask(shared_edge, credentials, "/releases?delimiter=%2F&marker=items%2F1%2F0")
    assert "items/" in elements(inside, "CommonPrefixes/Prefix")
    assert elements(await ask(shared_edge, credentials, "/releases"), "Contents/Owner/ID")
    with_owner = await ask(shared_edge, credentials, "/releases?list-type=2&fetch-owner=true")
    assert len(elements(with_owner, "Contents/Owner/ID")) == len(elements(with_owner, "Contents"))
    assert elements(await ask(shared_edge, credentials, "/releases?list-type=2"), "Contents/Owner") == []


async def test_the_bucket_is_the_only_one(shared_edge: Edge, shared_key: str) -> None:
    """Signed for the path `/`, from which nginx leads here; signed for the path itself it is another request."""
    credentials = await credentials_of(shared_edge, shared_key)
    fields = signed(credentials, "/?x-id=ListBuckets")
    answer = await sent(shared_edge, f"{BUCKETS_PATH}?x-id=ListBuckets", fields)
    assert elements(answer, "Buckets/Bucket/Name") == ["releases"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z", elements(answer, "Buckets/Bucket/CreationDate")[0])
    assert code(await ask(shared_edge, credentials, BUCKETS_PATH)) == "SignatureDoesNotMatch"
    assert code(await sent(shared_edge, BUCKETS_PATH, {})) == "AccessDenied"


async def test_refusals_have_the_request_id_where_clients_look(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    for target in ("/releases/none", "/releases?list-type=2", FILE):
        answer = await ask(shared_edge, credentials, target)
        assert answer.head["x-amz-request-id"] == answer.head["X-Request-Id"]


@pytest.mark.parametrize("target", ["/releases", "/releases/", FILE])
async def test_what_is_no_call_of_s3_is_refused_as_s3_does(shared_edge: Edge, target: str) -> None:
    answer = await sent(shared_edge, target, {}, "PATCH")
    assert (answer.status, code(answer)) == (405, "MethodNotAllowed")


@pytest.mark.parametrize("query", ["versionId=1", "acl=", "tagging=", "uploads="])
async def test_what_objects_do_not_have_is_refused(shared_edge: Edge, shared_key: str, query: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    answer = await ask(shared_edge, credentials, f"{FILE}?{query}")
    expected = (404, "NoSuchVersion") if query.startswith("version") else (501, "NotImplemented")
    assert (answer.status, code(answer)) == expected


async def test_signatures_of_the_second_version_are_refused_with_the_remedy(shared_edge: Edge) -> None:
    """boto3 makes them where an address is presigned and no version is chosen."""
    query = "AWSAccessKeyId=IIXT&Signature=x&Expires=9999999999&x-amz-security-token=t"
    for answer in (
        await sent(shared_edge, f"{FILE}?{query}", {}),
        await sent(shared_edge, FILE, {"Authorization": "AWS IIXT:c2lnbmF0dXJl"}),
    ):
        assert (answer.status, code(answer)) == (400, "InvalidRequest")
        assert b"s3v4" in answer.body
