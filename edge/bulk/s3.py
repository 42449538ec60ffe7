"""The releases as a bucket of S3 that can only be read: `s3://releases/{dataset}/{data_version}/{file}`.

A view of the rows that name releases: nothing is copied, and bytes are sent and counted as those of other downloads.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import quote

from aiohttp import hdrs, web

from edge.auth.credentials import CredentialStore
from edge.bulk import release_schemas
from edge.bulk.data_credentials import BUCKET, REGION, DataCredentialService, SignatureRefused, SignedRequest
from edge.bulk.downloads import FileResponder
from edge.bulk.iceberg_metadata import IcebergMetadata
from edge.bulk.release_repository import LATEST, ReleaseRepository
from edge.bulk.s3_errors import REQUEST_ID_FIELD, S3Problem
from edge.bulk.s3_requests import check_names, fields_of, names_of, object_etag, part_of_object
from edge.bulk.s3_xml import xml_document
from edge.http.context import CONTEXT, organization_of, principal_of
from edge.http.json import NO_STORE, unstored_json
from edge.http.parameters import whole_number
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.quota.billing import Billing
from shared.clock import rfc3339, utc_now
from shared.organizations.accounts import INSTITUTIONAL

_KEYS_MAX = 1_000
_NO_SUBRESOURCE = {"prefix", "delimiter", "max-keys", "encoding-type"}
# ListObjects, of older clients, and ListObjectsV2, by `list-type`.
_LISTING = {
    "": _NO_SUBRESOURCE | {"list-type", "marker"},
    "2": _NO_SUBRESOURCE | {"list-type", "continuation-token", "start-after", "fetch-owner"},
}
# All objects are the service's own.
_OWNER = [("ID", "item-index"), ("DisplayName", "Item Index")]


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

    @operation("datasets", "createDataCredentials", answers={200: (release_schemas.DataCredentials, "The credentials")})
    async def issue(self, request: web.Request) -> web.StreamResponse:
        """Create credentials for the release bucket.

        For S3 clients. Valid for one hour, but no longer than the API key that created them.
        """
        made = self._service.issue(principal_of(request).credential_id)
        document = {**made._asdict(), "expires_at": rfc3339(made.expires_at)}
        return unstored_json({**document, "endpoint": self._origin, "region": REGION, "bucket": BUCKET})

    async def buckets(self, request: web.Request) -> web.StreamResponse:
        """Answer ListBuckets, which is signed for the path `/`: our nginx tells it from a person's browser."""
        await self._admit(request, "/")
        created = _moment_text(await self._repository.first_moment() or utc_now())
        bucket = [("Name", BUCKET), ("CreationDate", created), ("BucketRegion", REGION)]
        members = [("Owner", _OWNER), ("Buckets", [("Bucket", bucket)])]
        return _answer(request, xml_document("ListAllMyBucketsResult", members))

    async def bucket(self, request: web.Request) -> web.StreamResponse:
        """Answer HeadBucket, GetBucketLocation, ListObjects and ListObjectsV2."""
        await self._admit(request)
        query = {name: request.query.getall(name)[-1] for name in names_of(request)}
        if request.method == hdrs.METH_HEAD:
            return _answer(request, b"", {"x-amz-bucket-region": REGION})
        if "location" in query:
            return _answer(request, xml_document("LocationConstraint", ()))
        if query.keys() - _LISTING.get(query.get("list-type", ""), set()):
            raise Problem(
                "not-implemented",
                "A bucket supports only ListObjectsV2, ListObjects, HeadBucket and GetBucketLocation.",
            )
        return _answer(request, await self._listing(query))

    async def object(self, request: web.Request) -> web.StreamResponse:
        """Answer GetObject and HeadObject."""
        await self._admit(request)
        check_names(request)
        overrides = fields_of(request)
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
        fields = {
            "Last-Modified": format_datetime(release.created_at.astimezone(UTC), usegmt=True),
            REQUEST_ID_FIELD: request[CONTEXT].request_id,
        }
        if "partNumber" in request.query:
            fields["x-amz-mp-parts-count"] = "1"
        if is_metadata:
            content, media_type = await self._iceberg.file(release, parts[3])
            etag = object_etag(hashlib.sha256(content).hexdigest())
            part = part_of_object(request, etag, len(content), release.created_at)
            fields |= {"ETag": etag, "Content-Type": media_type, **overrides}
            return await self._downloads.respond_made(request, content, organization_of(request), part, fields)
        file = await self._repository.file(release.dataset, str(release.data_version), parts[2])
        etag = object_etag(file.sha256)
        part = part_of_object(request, etag, file.bytes, release.created_at)
        fields |= {"ETag": etag, **overrides}
        # nginx passes on the fields that it knows, and would leave out what the caller has asked for.
        accelerate = not overrides
        organization = organization_of(request)
        return await self._downloads.send(request, file, organization, part, fields, accelerate=accelerate)

    async def refuse(self, request: web.Request) -> web.StreamResponse:
        """Refuse to write."""
        raise Problem("method-not-allowed", "The bucket is read-only.", fields={"Allow": "GET, HEAD"})

    async def _admit(self, request: web.Request, signed_path: str = "") -> None:
        """Let the signer's key call. Raises a problem unless a key that may read has signed, and `rate-limited`."""
        context = request[CONTEXT]
        path, _, query = request.raw_path.partition("?")
        headers = {name.lower(): request.headers.getall(name) for name in request.headers}
        try:
            key_id = self._service.verify(SignedRequest(request.method, signed_path or path, query, headers))
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

    async def _listing(self, query: dict[str, str]) -> bytes:
        is_v2 = "list-type" in query
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        started = query.get("start-after" if is_v2 else "marker", "")
        if not f"{prefix}{delimiter}{started}".isprintable():
            raise S3Problem("InvalidArgument", "A prefix or delimiter must not contain control characters.")
        size, after = _size(query.get("max-keys", "")), _token(query.get("continuation-token", ""))
        if delimiter and not is_v2 and started.endswith(delimiter):
            after = started  # the folder with which the page before ended: none of its keys begins the next page
        dataset, _, rest = prefix.partition("/")
        version, number = rest.partition("/")[0], None
        if version == LATEST:
            number = (await self._repository.newest()).get(dataset, {"data_version": 0})["data_version"]
        listed = await self._repository.bucket_entries(prefix, delimiter, started, after, size + 1, dataset, number)
        page = listed[:size]
        more = len(listed) > size > 0
        encode = quote if query.get("encoding-type") == "url" else str
        fields: list[tuple[str, object]] = [
            ("Name", BUCKET),
            ("Prefix", encode(prefix)),
            ("MaxKeys", size),
            ("IsTruncated", "true" if more else "false"),
        ]
        optional = {"Delimiter": encode(delimiter), "EncodingType": query.get("encoding-type", "")}
        last = page[-1]["entry"] if more else ""
        if is_v2:
            fields.append(("KeyCount", len(page)))
            optional |= {"StartAfter": encode(started), "ContinuationToken": query.get("continuation-token", "")}
            optional["NextContinuationToken"] = _encode_token(last)
        else:
            fields.append(("Marker", encode(started)))
            optional["NextMarker"] = encode(last)
        fields += [(name, value) for name, value in optional.items() if value]
        owner = [("Owner", _OWNER)] if not is_v2 or query.get("fetch-owner") == "true" else []
        for row in page:
            if row["folder"]:
                fields.append(("CommonPrefixes", [("Prefix", encode(row["entry"]))]))
            else:
                described: list[tuple[str, object]] = [
                    ("Key", encode(row["entry"])),
                    ("LastModified", _moment_text(row["created_at"])),
                ]
                described += [("ETag", object_etag(row["sha256"])), ("Size", row["bytes"]), *owner]
                fields.append(("Contents", [*described, ("StorageClass", "STANDARD")]))
        return xml_document("ListBucketResult", fields)


def _size(text: str) -> int:
    if not text:
        return _KEYS_MAX
    size = whole_number(text, 9)
    if size is None:
        raise S3Problem("InvalidArgument", "max-keys must be a number.")
    return min(size, _KEYS_MAX)


def _encode_token(entry: str) -> str:
    return base64.urlsafe_b64encode(entry.encode()).decode()


def _token(text: str) -> str:
    try:
        entry = base64.b64decode(text.encode(), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        entry = "\0"
    if not entry.isprintable():
        raise S3Problem("InvalidArgument", "The continuation token is not valid.")
    return entry


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _answer(request: web.Request, body: bytes, more: Mapping[str, str] | None = None) -> web.Response:
    fields = {**NO_STORE, REQUEST_ID_FIELD: request[CONTEXT].request_id, **(more or {})}
    return web.Response(body=body, content_type="application/xml", headers=fields)
