"""The releases as a bucket of S3 that can only be read: `s3://releases/{dataset}/{data_version}/{file}`.

A view of the rows that name releases: nothing is copied, and bytes are sent and counted as those of other downloads.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from aiohttp import hdrs, web

from edge.auth.credentials import CredentialStore
from edge.bulk import schemas
from edge.bulk.data_credentials import BUCKET, REGION, DataCredentialService, SignatureRefused, SignedRequest
from edge.bulk.downloads import FileResponder
from edge.bulk.iceberg import IcebergMetadata
from edge.bulk.release_repository import LATEST, ReleaseRepository
from edge.http.context import CONTEXT, organization_of, principal_of
from edge.http.json import unstored_json
from edge.http.parameters import whole_number
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.stream import etag_of
from edge.quota.billing import Billing
from shared.clock import rfc3339
from shared.organizations.accounts import INSTITUTIONAL

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_KEYS_MAX = 1_000
_LISTING = {
    "list-type", "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "encoding-type", "fetch-owner",
}  # fmt: skip
# What a client of S3 knows each of our problems as; others are named by their status.
_CODES = {
    "rate-limited": "TooManyRequests",
    "dataset-not-found": "NoSuchKey",
    "result-expired": "NoSuchKey",
    "range-not-satisfiable": "InvalidRange",
    "precondition-failed": "PreconditionFailed",
    "not-found": "NoSuchKey",
    "method-not-allowed": "MethodNotAllowed",
    "not-implemented": "NotImplemented",
    "service-unavailable": "ServiceUnavailable",
    "internal-error": "InternalError",
}
# Which of our problems a code of S3 is, for the status and for our own log.
_SLUGS = {
    "AccessDenied": "invalid-signature",
    "AuthorizationHeaderMalformed": "invalid-request",
    "AuthorizationQueryParametersError": "invalid-request",
    "ExpiredToken": "invalid-request",
    "InvalidAccessKeyId": "invalid-signature",
    "InvalidArgument": "invalid-request",
    "InvalidRequest": "invalid-request",
    "InvalidToken": "invalid-request",
    "RequestTimeTooSkewed": "invalid-signature",
    "SignatureDoesNotMatch": "invalid-signature",
    "SlowDown": "rate-limited",
}


class S3Problem(Problem):
    """A problem with the code that S3's clients know it by."""

    def __init__(self, code: str, detail: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(_SLUGS[code], detail, fields=fields)
        self.code = code


def error_document(problem: Problem, request: web.Request) -> web.Response:
    """Write a problem as S3's own error document."""
    code = getattr(problem, "code", None) or _CODES.get(problem.type.slug, "InvalidRequest")
    members = {"Code": code, "Message": problem.detail, "Resource": request.rel_url.raw_path}
    body = _xml("Error", (*members.items(), ("RequestId", request[CONTEXT].request_id)), namespace="")
    fields = {"Cache-Control": "no-store", **problem.fields}
    return web.Response(
        status=problem.type.status, reason=problem.type.title, body=body, content_type="application/xml", headers=fields
    )


class S3:
    """The handlers."""

    def __init__(
        self,
        repository: ReleaseRepository,
        downloads: FileResponder,
        credentials: CredentialStore,
        service: DataCredentialService,
        iceberg: IcebergMetadata,
        billing: Billing,
        origin: str,
    ) -> None:
        self._repository = repository
        self._downloads = downloads
        self._credentials = credentials
        self._service = service
        self._iceberg = iceberg
        self._billing = billing
        self._origin = origin

    @operation("datasets", "createDataCredentials", answers={200: (schemas.DataCredentials, "The credentials")})
    async def issue(self, request: web.Request) -> web.StreamResponse:
        """Create credentials for the release bucket.

        For S3 clients. Valid for one hour, but no longer than the API key that created them.
        """
        made = self._service.issue(principal_of(request).credential_id)
        document = {**made._asdict(), "expires_at": rfc3339(made.expires_at)}
        return unstored_json({**document, "endpoint": self._origin, "region": REGION, "bucket": BUCKET})

    async def bucket(self, request: web.Request) -> web.StreamResponse:
        """Answer HeadBucket, GetBucketLocation and ListObjectsV2."""
        await self._admit(request)
        query = {name: request.query.getall(name)[-1] for name in request.query if not name.startswith("X-Amz-")}
        if request.method == hdrs.METH_HEAD:
            return web.Response(headers={"x-amz-bucket-region": REGION})
        if "location" in query:
            return _answer(_xml("LocationConstraint", ()))
        if query.get("list-type") != "2" or query.keys() - _LISTING - {"x-id"}:
            raise Problem("not-implemented", "A bucket supports only ListObjectsV2, HeadBucket and GetBucketLocation.")
        return _answer(await self._listed(query))

    async def object(self, request: web.Request) -> web.StreamResponse:
        """Answer GetObject and HeadObject."""
        await self._admit(request)
        if any(not name.startswith(("X-Amz-", "response-")) and name != "x-id" for name in request.query):
            raise Problem("not-implemented", "An object supports only GetObject and HeadObject.")
        # Undecoded: an encoded slash or dot is a part of no key, and a key with either is not found.
        parts = request.rel_url.raw_path.removeprefix(f"/{BUCKET}/").split("/")
        is_metadata = len(parts) == 4 and parts[2] == "metadata"
        if len(parts) != 3 and not is_metadata:
            raise Problem("dataset-not-found", "Keys are {dataset}/{data_version}/{file}.")
        try:
            release = await self._repository.release(parts[0], parts[1])
        except Problem as missing:
            kept = ", ".join(str(version) for version in await self._repository.versions())
            raise Problem("dataset-not-found", f"{missing.detail} Kept are the versions {kept or '(none)'}.") from None
        if is_metadata:
            content, fields = await self._iceberg.file(release, parts[3])
            return await self._downloads.respond_made(request, content, fields, organization_of(request))
        file = await self._repository.file(release.dataset, str(release.data_version), parts[2])
        modified = format_datetime(release.created_at.astimezone(UTC), usegmt=True)
        more = {"Last-Modified": modified, "x-amz-request-id": request[CONTEXT].request_id}
        return await self._downloads.respond(request, file, organization_of(request), more)

    async def refuse(self, request: web.Request) -> web.StreamResponse:
        """Refuse to write."""
        raise Problem("method-not-allowed", "The bucket is read-only.", fields={"Allow": "GET, HEAD"})

    async def _admit(self, request: web.Request) -> None:
        """Let the signer's key call. Raises a problem unless a key that may read has signed, and `rate-limited`."""
        context = request[CONTEXT]
        path, _, query = request.raw_path.partition("?")
        headers = {name.lower(): request.headers.getall(name) for name in request.headers}
        try:
            key_id = self._service.verify(SignedRequest(request.method, path, query, headers))
        except SignatureRefused as refused:
            raise S3Problem(refused.code, refused.detail) from None
        principal = await self._credentials.of_key(key_id)
        if principal is None:
            raise S3Problem("InvalidAccessKeyId", "The API key of these credentials is no longer valid.")
        context.act_as(principal)
        if principal.plan.rank < INSTITUTIONAL:
            raise S3Problem("AccessDenied", "The organization's plan does not include the releases.")
        try:
            await self._billing.count_call(context)
        except Problem as refused:  # clients try again after this code, and not after that of a day's bytes
            raise S3Problem("SlowDown", refused.detail, refused.fields) from None

    async def _listed(self, query: dict[str, str]) -> bytes:
        prefix, delimiter, started = (query.get(name, "") for name in ("prefix", "delimiter", "start-after"))
        if not f"{prefix}{delimiter}{started}".isprintable():
            raise S3Problem("InvalidArgument", "A prefix or delimiter must not contain control characters.")
        size, after = _size(query.get("max-keys", "")), _token(query.get("continuation-token", ""))
        dataset, _, rest = prefix.partition("/")
        version, number = rest.partition("/")[0], None
        if version == LATEST:
            number = (await self._repository.newest()).get(dataset, {"data_version": 0})["data_version"]
        listed = await self._repository.listing(prefix, delimiter, started, after, size + 1, dataset, number)
        page = listed[:size]
        more = len(listed) > size > 0
        encode = quote if query.get("encoding-type") == "url" else str
        fields: list[tuple[str, Any]] = [
            ("Name", BUCKET), ("Prefix", encode(prefix)), ("KeyCount", len(page)), ("MaxKeys", size),
            ("IsTruncated", "true" if more else "false"),
        ]  # fmt: skip
        optional = {
            "Delimiter": encode(delimiter),
            "StartAfter": encode(started),
            "ContinuationToken": query.get("continuation-token", ""),
            "EncodingType": query.get("encoding-type", ""),
            "NextContinuationToken": _encoded(page[-1]["entry"]) if more else "",
        }
        fields += [(name, value) for name, value in optional.items() if value]
        for row in page:
            if row["folder"]:
                fields.append(("CommonPrefixes", [("Prefix", encode(row["entry"]))]))
            else:
                written = row["created_at"].astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
                size_of = [("ETag", etag_of(row["sha256"])), ("Size", row["bytes"]), ("StorageClass", "STANDARD")]
                fields.append(("Contents", [("Key", encode(row["entry"])), ("LastModified", written), *size_of]))
        return _xml("ListBucketResult", fields)


def _size(text: str) -> int:
    if not text:
        return _KEYS_MAX
    size = whole_number(text, 9)
    if size is None:
        raise S3Problem("InvalidArgument", "max-keys must be a number.")
    return min(size, _KEYS_MAX)


def _encoded(entry: str) -> str:
    return base64.urlsafe_b64encode(entry.encode()).decode()


def _token(text: str) -> str:
    try:
        entry = base64.b64decode(text.encode(), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        entry = "\0"
    if not entry.isprintable():
        raise S3Problem("InvalidArgument", "The continuation token is not valid.")
    return entry


def _answer(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/xml", headers={"Cache-Control": "no-store"})


def _xml(name: str, members: Iterable[tuple[str, Any]], namespace: str = _NAMESPACE) -> bytes:
    inner = "".join(_element(*member) for member in members)
    at = f' xmlns="{namespace}"' if namespace else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}{at}>{inner}</{name}>'.encode()


def _element(name: str, value: Any) -> str:
    inner = "".join(_element(*one) for one in value) if isinstance(value, list) else escape(str(value))
    return f"<{name}>{inner}</{name}>"
