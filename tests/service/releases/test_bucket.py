"""The releases as a bucket of S3: signatures, listings, objects, and how each refusal reads."""

import asyncio
import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from yarl import URL

from edge.bulk import data_credentials
from edge.bulk.data_credentials import DataCredentialService, SignatureRefused, SignedRequest
from shared.clock import utc_now
from shared.settings.settings import Settings
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.releases import cut, released_shop
from tests.support.servers import Contents
from tests.support.shop import load_rows

KEY_ID = "0123456789"


@pytest.fixture(scope="module")
def contents() -> Contents:
    return released_shop


async def credentials_of(edge: Edge, key: str) -> Credentials:
    answer = await edge.ask("POST", "/org/data-credentials", key=key)
    assert answer.status == 200, answer.body
    made = answer.json
    return Credentials(made["access_key_id"], made["secret_access_key"], made["session_token"])


def signed(credentials: Credentials, target: str, method: str = "GET", **fields: str) -> dict[str, str]:
    request = AWSRequest(method, f"http://testserver{target}", headers=fields)
    request.context["payload_signing_enabled"] = False
    S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
    return dict(request.headers.items())


async def ask(edge: Edge, credentials: Credentials, target: str, method: str = "GET", **fields: str) -> Answer:
    return await sent(edge, target, signed(credentials, target, method, **fields), method)


async def sent(edge: Edge, target: str, fields: dict[str, str], method: str = "GET") -> Answer:
    head = {"X-Real-IP": "192.0.2.1", **fields}
    url = URL(f"http://testserver{target}", encoded=True)
    async with edge.session.request(method, url, headers=head) as answer:
        return Answer(answer.status, answer.headers, await answer.read())


def code(answer: Answer) -> str:
    assert answer.head["Content-Type"].startswith("application/xml"), answer
    found = re.search(rb"<Code>(\w+)</Code>", answer.body)
    assert found is not None, answer.body
    return found[1].decode()


# AWS's own examples: "Signature Calculations for the Authorization Header" and "Authenticating Requests: Using Query
# Parameters" in the documentation of the API of S3.
EXAMPLE_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # pragma: allowlist secret
EXAMPLES = [
    ("/test.txt", "", {"range": "bytes=0-9"}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    ("/", "lifecycle=", {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("/", "max-keys=2&prefix=J", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
]


@pytest.mark.parametrize(("path", "query", "fields", "signature"), EXAMPLES)
def test_signatures_are_those_of_the_examples_of_aws(
    path: str, query: str, fields: dict[str, str], signature: str
) -> None:
    empty = hashlib.sha256(b"").hexdigest()
    head = {
        "host": "examplebucket.s3.amazonaws.com",
        "x-amz-content-sha256": empty,
        "x-amz-date": "20130524T000000Z",
        **fields,
    }
    request = SignedRequest("GET", path, query, {name: [value] for name, value in head.items()})
    pairs = data_credentials.pairs_of(query)
    text = data_credentials.canonical(request, pairs, sorted(head), empty)
    assert data_credentials.sign(EXAMPLE_SECRET, "20130524", "us-east-1", "20130524T000000Z", text) == signature


async def test_a_file_comes_by_its_key_whole_and_in_part_under_both_ways_to_sign(
    shared_edge: Edge, shared_key: str
) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    manifest = (await shared_edge.get("/index/datasets/observations/releases/latest", key=shared_key)).json
    for file in manifest["files"]:
        target = f"/releases/observations/{manifest['data_version']}/{file['name']}"
        whole = await ask(shared_edge, credentials, target)
        assert (whole.status, hashlib.sha256(whole.body).hexdigest()) == (200, file["sha256"])
        assert whole.head["Last-Modified"].endswith("GMT") and whole.head["ETag"] == f'"{file["sha256"]}-1"'
        part = await ask(shared_edge, credentials, target.replace("/1/", "/latest/"), Range="bytes=4-99")
        assert (part.status, part.body) == (206, whole.body[4:100])
        head = await ask(shared_edge, credentials, target, "HEAD")
        assert (head.status, int(head.head["Content-Length"])) == (200, file["bytes"])
        request = AWSRequest("GET", f"http://testserver{target}")
        S3SigV4QueryAuth(credentials, "s3", "us-east-1", expires=60).add_auth(request)
        assert (await sent(shared_edge, request.url.removeprefix("http://testserver"), {})).body == whole.body


async def test_listings_are_pages_of_keys_and_of_folders(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    load_rows(settings, tmp_path, "1,Soy,Vita,Drinks,Soy milk,1.0,2026-08-03,NORTH,1,\n", name="8.csv")
    cut(settings)
    credentials = await credentials_of(edge, key)

    async def listed(query: str, token: bytes = b"") -> tuple[list[str], list[str], bytes]:
        more = f"&continuation-token={token.decode().replace('=', '%3D')}" if token else ""
        answer = await ask(edge, credentials, f"/releases?list-type=2{query}{more}")
        assert answer.status == 200, answer.body
        keys, folders = (
            re.findall(rb"<%b>(?:<Prefix>)?([^<]+)<" % n, answer.body) for n in (b"Key", b"CommonPrefixes")
        )
        following = re.search(rb"<NextContinuationToken>([^<]+)", answer.body)
        return [k.decode() for k in keys], [f.decode() for f in folders], following[1] if following else b""

    every = (await listed(""))[0]
    assert every == sorted(every) and {key.split("/")[1] for key in every} == {"1", "2"}
    paged: list[str] = []
    token = b""
    while True:
        keys, _, token = await listed("&max-keys=2", token)
        paged += keys
        if not token:
            break
    assert paged == every
    datasets = sorted({f"{key.split('/')[0]}/" for key in every})
    assert (await listed("&delimiter=%2F"))[:2] == ([], datasets)
    _, _, token = await listed("&delimiter=%2F&max-keys=1")
    assert (await listed("&delimiter=%2F", token))[1] == datasets[1:]
    assert (await listed("&prefix=observations%2F&delimiter=%2F"))[1] == ["observations/1/", "observations/2/"]
    newest = [key for key in every if key.startswith("observations/2/")]
    assert (await listed("&prefix=observations%2Flatest%2F"))[0] == [k.replace("/2/", "/latest/") for k in newest]
    assert (await listed(f"&start-after={quote(every[-2], safe='')}"))[0] == every[-1:]
    assert (await listed("&max-keys=0"))[0] == []
    place = await ask(edge, credentials, "/releases?location=")
    assert place.status == 200 and b"<LocationConstraint" in place.body


REFUSED = [
    ("/releases/observations/99/2026-07-0000.parquet", "GET", (404, "NoSuchKey")),
    ("/releases/observations/1/none.parquet", "GET", (404, "NoSuchKey")),
    ("/releases/none/1/0000.parquet", "GET", (404, "NoSuchKey")),
    ("/releases/observations/1/..%2F..%2Fitems%2F1%2F0000.parquet", "GET", (404, "NoSuchKey")),
    ("/releases/observations%2F1%2F0000.parquet", "GET", (404, "NoSuchKey")),
    ("/releases/a/b/c/d", "GET", (404, "NoSuchKey")),
    ("/releases/items/1/0000.parquet?acl=", "GET", (501, "NotImplemented")),
    ("/releases?versions=", "GET", (501, "NotImplemented")),
    ("/releases?list-type=2&max-keys=x", "GET", (400, "InvalidArgument")),
    ("/releases?list-type=2&prefix=%00", "GET", (400, "InvalidArgument")),
    ("/releases?list-type=2&continuation-token=AA%3D%3D", "GET", (400, "InvalidArgument")),
    ("/releases/items/1/%00.parquet", "GET", (404, "NoSuchKey")),
    ("/releases?list-type=2&continuation-token=%21", "GET", (400, "InvalidArgument")),
    ("/releases/items/1/0000.parquet", "PUT", (405, "MethodNotAllowed")),
    ("/releases/items/1/0000.parquet", "DELETE", (405, "MethodNotAllowed")),
    ("/releases", "POST", (405, "MethodNotAllowed")),
]


async def test_what_the_bucket_does_not_have_is_refused_as_s3_does(shared_edge: Edge, shared_key: str) -> None:
    credentials = await credentials_of(shared_edge, shared_key)
    for target, method, expected in REFUSED:
        answer = await ask(shared_edge, credentials, target, method)
        assert (answer.status, code(answer)) == expected, (target, method, answer.body)
    answer = await ask(shared_edge, credentials, "/releases/items/99/0000.parquet")
    assert b"Kept are the versions 1." in answer.body
    answer = await ask(shared_edge, credentials, f"/releases/{shared_key}")
    assert b"<Resource>/releases/iixk_live_" in answer.body and shared_key[10:].encode() not in answer.body


async def test_bytes_are_counted_as_those_of_other_downloads(settings: Settings, key: str, tmp_path: Path) -> None:
    target = "/releases/items/1/0000.parquet"
    async with running_edge(replace(settings, download_bytes_per_day=10), tmp_path) as edge:
        credentials = await credentials_of(edge, key)
        outside = await ask(edge, credentials, target, Range="bytes=99999999-")
        assert (outside.status, code(outside)) == (416, "InvalidRange")
        url = "/index/datasets/items/releases/latest/files/0000.parquet"
        assert (await edge.get(url, key=key, head={"Range": "bytes=0-3"})).status == 206
        assert (await ask(edge, credentials, target, Range="bytes=0-5")).status == 206
        spent = await ask(edge, credentials, target, Range="bytes=0-0")
        assert (spent.status, code(spent), "Retry-After" in spent.head) == (429, "TooManyRequests", True)


async def test_calls_have_the_burst_of_calls_that_cost_nothing(settings: Settings, key: str, tmp_path: Path) -> None:
    execute(settings, "UPDATE plans SET burst_units = 4 WHERE name = 'institutional'")
    async with running_edge(settings, tmp_path) as edge:
        credentials = await credentials_of(edge, key)
        answers = await asyncio.gather(*(ask(edge, credentials, "/releases/?list-type=2") for _ in range(60)))
    refused = [answer for answer in answers if answer.status == 429]
    assert {answer.status for answer in answers} == {200, 429} and len(answers) - len(refused) <= 16
    assert (code(refused[0]), refused[0].head["Retry-After"]) == ("SlowDown", "1")


async def test_unsigned_changed_and_foreign_requests_are_refused(shared_edge: Edge, shared_key: str) -> None:
    credentials, target = await credentials_of(shared_edge, shared_key), "/releases/items/1/0000.parquet"
    good = signed(credentials, target)
    wrong = [
        ({}, target, (403, "AccessDenied")),
        (good, "/releases/items/latest/0000.parquet", (403, "SignatureDoesNotMatch")),
        ({**good, "Authorization": good["Authorization"][:-1] + "g"}, target, (400, "AuthorizationHeaderMalformed")),
        ({**good, "Authorization": "ApiKey " + shared_key}, target, (400, "InvalidRequest")),
        ({**good, "X-Amz-Security-Token": good["X-Amz-Security-Token"][:-2] + "AA"}, target, (400, "InvalidToken")),
        ({**good, "X-Amz-Security-Token": ""}, target, (403, "InvalidAccessKeyId")),
        ({**good, "Authorization": good["Authorization"].replace("host;", "")}, target, (400, "AuthorizationHeaderMalformed")),
    ]  # fmt: skip
    for fields, at, expected in wrong:
        answer = await sent(shared_edge, at, fields)
        assert (answer.status, code(answer)) == expected, fields
    other = Credentials(credentials.access_key, "x" * 43, credentials.token)
    assert code(await ask(shared_edge, other, target)) == "SignatureDoesNotMatch"


async def test_the_id_of_a_key_is_no_credential(edge: Edge, key: str) -> None:
    """Using the bucket leaves the key's id in memory, and the id is no secret: it is in logs and lists."""
    credentials = await credentials_of(edge, key)
    assert (await ask(edge, credentials, "/releases?location=")).status == 200
    for text in (key[10:20], f"key:{key[10:20]}"):
        assert edge.resources.credentials.peek(text) is None
        for path in ("/index/datasets", "/index/lookup/IID-00000-00000-00000"):
            assert (await edge.get(path, key=text)).status == 401


async def test_credentials_end_with_their_key(edge: Edge, settings: Settings, key: str) -> None:
    """By the notice that ends the key itself: no entry of an earlier request outlives it."""
    credentials, target = await credentials_of(edge, key), "/releases/items/1/0000.parquet"
    assert (await ask(edge, credentials, target)).status == 200
    execute(settings, "UPDATE api_keys SET revoked_at = now()")
    answer = await ask(edge, credentials, target)
    while answer.status == 200:  # until the notice has come; the test's own limit ends it where none does
        answer = await ask(edge, credentials, target)
    assert (answer.status, code(answer)) == (403, "InvalidAccessKeyId")


def verified(service: DataCredentialService, credentials: data_credentials.TemporaryCredentials, when: str) -> str:
    """Verify a request that was signed at a moment."""
    head = {"host": "h", "x-amz-date": when, "x-amz-security-token": credentials.session_token}
    request = SignedRequest("GET", "/releases", "", {name: [value] for name, value in head.items()})
    text = data_credentials.canonical(request, [], sorted(head), hashlib.sha256(b"").hexdigest())
    signature = data_credentials.sign(credentials.secret_access_key, when[:8], "us-east-1", when, text)
    scope = f"{credentials.access_key_id}/{when[:8]}/us-east-1/s3/aws4_request"
    line = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={';'.join(sorted(head))}, Signature={signature}"
    return service.verify(request._replace(headers={**request.headers, "authorization": [line]}))


@pytest.mark.parametrize(
    ("minutes", "offset", "refused"),
    [
        (0, 0, ""),
        (59, 14, ""),
        (0, -16, "RequestTimeTooSkewed"),
        (0, 16, "RequestTimeTooSkewed"),
        (61, 0, "ExpiredToken"),
    ],
)
def test_credentials_last_an_hour_and_clocks_may_differ_by_a_quarter(minutes: int, offset: int, refused: str) -> None:
    made_at = utc_now().replace(hour=12)
    credentials = DataCredentialService("s", clock=lambda: made_at).issue(KEY_ID)
    now = made_at + timedelta(minutes=minutes)
    # The secret is being rotated: the one that signed is the previous one now.
    service = DataCredentialService("new", "s", clock=lambda: now)
    when = (now + timedelta(minutes=offset)).strftime("%Y%m%dT%H%M%SZ")
    if not refused:
        assert verified(service, credentials, when) == KEY_ID
        return
    with pytest.raises(SignatureRefused) as raised:
        verified(service, credentials, when)
    assert raised.value.code == refused
