"""Delta Sharing, the read side, in the response format `parquet`: the same releases for the protocol's own clients.

The protocol: delta-io/delta-sharing, PROTOCOL.md. A table is a dataset, a version a release's data_version, and a file
action one file of its manifest.
"""

import uuid
from datetime import datetime
from functools import partial

import msgspec
from aiohttp import web

from edge.bulk import delta_sharing_schemas as bodies
from edge.bulk.delta_sharing_predicates import PredicateHints
from edge.bulk.release_documents import UrlSigner
from edge.bulk.release_repository import LATEST, Release, ReleaseRepository, dataset_of, not_found
from edge.http.context import organization_of
from edge.http.json import NO_STORE
from edge.http.problems import Problem
from edge.http.routing import operation
from edge.http.validation import BODY, PATH, QUERY
from shared.bulk.schema import LIST, RELEASED, ColumnDocument, Dataset, KeptReleaseFile, version_of
from shared.errors import InvalidParameter

SHARE, SCHEMA = "item-index", "releases"
NDJSON = "application/x-ndjson"
VERSION_FIELD = "Delta-Table-Version"
_READER_VERSION = 1
_ENCODER = msgspec.json.Encoder()
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:item-index:delta-sharing")

_ERRORS = {
    400: "INVALID_PARAMETER_VALUE",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    429: "REQUEST_LIMIT_EXCEEDED",
}
_CHANGES_MAX = 100


def share() -> dict[str, object]:
    """Return the one share."""
    return {"name": SHARE, "id": str(uuid.uuid5(_NAMESPACE, SHARE))}


def table(name: str) -> dict[str, object]:
    """Return a table as lists show it."""
    return {"name": name, "schema": SCHEMA, "share": SHARE, "shareId": share()["id"], "id": _id(name)}


def head(release: Release, files: int) -> list[dict[str, object]]:
    """Return the first two lines of each answer: the protocol, and the description of the table."""
    return [
        {"protocol": {"minReaderVersion": _READER_VERSION}},
        {
            "metaData": {
                "id": _id(release.dataset),
                "name": release.dataset,
                "description": RELEASED[release.dataset].title,
                "format": {"provider": "parquet"},
                "schemaString": schema_string(release.columns),
                "partitionColumns": [],
                "configuration": {"enableChangeDataFeed": "true"},
                "version": release.data_version,
                "size": release.bytes,
                "numFiles": files,
            }
        },
    ]


def file_line(
    kind: str, file: KeptReleaseFile, url: str, expires: int, version: int, moment: datetime
) -> dict[str, object]:
    """Return the line of a version's `file`, of one that it added or removed, or of its changed rows (`cdf`)."""
    action = {
        "url": url,
        "id": file.sha256,
        "partitionValues": {},
        "size": file.bytes,
        "stats": msgspec.json.encode(file.statistics).decode(),
        "expirationTimestamp": expires * 1000,
        "version": version,
        "timestamp": int(moment.timestamp() * 1000),
    }
    return {kind: action}


def schema_string(columns: list[ColumnDocument]) -> str:
    """Return a schema as the protocol writes it: JSON in a string."""
    fields = [
        {
            "name": column["name"],
            "type": _type(column["type"]),
            "nullable": column["nullable"],
            "metadata": {"comment": column["description"]},
        }
        for column in columns
    ]
    return msgspec.json.encode({"type": "struct", "fields": fields}).decode()


def enough(files: list[KeptReleaseFile], limit: int | None) -> list[KeptReleaseFile]:
    """Return the first files that together have `limit` rows; all of them without a limit."""
    if limit is None:
        return files
    chosen, rows = [], 0
    for file in files:
        if rows >= limit:
            break
        chosen.append(file)
        rows += file.rows
    return chosen


def _type(text: str) -> object:
    return {"type": "array", "elementType": "string", "containsNull": False} if text == LIST else text


def _id(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))


def error_members(problem: Problem, request: web.Request) -> dict[str, object]:
    """Return what the protocol's clients read of a refusal."""
    status = problem.type.status
    code = _ERRORS.get(status, "INTERNAL_ERROR" if status >= 500 else "UNSUPPORTED_OPERATION")
    return {"errorCode": code, "message": problem.detail}


_operation = partial(operation, "delta-sharing")
_lines = partial(_operation, answers={200: "Lines of JSON"}, produces=[NDJSON])


def profile_of(key: str, base_url: str) -> web.Response:
    """Answer with a profile file: where the protocol's clients ask, and the key they show."""
    fields = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="item-index.share"'}
    document = {"shareCredentialsVersion": 1, "endpoint": f"{base_url}/delta-sharing", "bearerToken": key}
    return web.json_response(document, headers=fields)


class Sharing:
    """The handlers."""

    def __init__(self, repository: ReleaseRepository, signer: UrlSigner, base_url: str) -> None:
        self._base_url = base_url
        self._repository = repository
        self._signer = signer

    @_operation("sharingProfile", answers={200: (bodies.SharingProfile, "The profile")})
    async def profile(self, request: web.Request) -> web.StreamResponse:
        """Delta Sharing profile file.

        The file that Delta Sharing clients read: the server's address, and your own API key as token.
        """
        return profile_of(request.headers["Authorization"].partition(" ")[2], self._base_url)

    @_operation("sharingShares", bodies.SharingPage, answers={200: (bodies.SharingList, "Shares")})
    async def shares(self, request: web.Request) -> web.StreamResponse:
        """List shares."""
        return _page(request, [share()])

    @_operation("sharingShare", bodies.SharePath, answers={200: (bodies.SharingShare, "The share")})
    async def share(self, request: web.Request) -> web.StreamResponse:
        """Read a share."""
        _check_path(request)
        return web.json_response({"share": share()}, headers=NO_STORE)

    @_operation("sharingSchemas", bodies.SharePath, bodies.SharingPage, answers={200: (bodies.SharingList, "Schemas")})
    async def schemas(self, request: web.Request) -> web.StreamResponse:
        """List a share's schemas."""
        _check_path(request)
        return _page(request, [{"name": SCHEMA, "share": SHARE}])

    @_operation("sharingTables", bodies.SchemaPath, bodies.SharingPage, answers={200: (bodies.SharingList, "Tables")})
    async def tables(self, request: web.Request) -> web.StreamResponse:
        """List a schema's tables."""
        _check_path(request)
        return _page(request, [table(name) for name in RELEASED])

    @_operation("sharingAllTables", bodies.SharePath, bodies.SharingPage, answers={200: (bodies.SharingList, "Tables")})
    async def all_tables(self, request: web.Request) -> web.StreamResponse:
        """List a share's tables."""
        _check_path(request)
        return _page(request, [table(name) for name in RELEASED])

    @_operation("sharingVersion", bodies.TablePath, bodies.VersionQuery)
    async def version(self, request: web.Request) -> web.StreamResponse:
        """Version of a table."""
        dataset, moment = _check_path(request), request[QUERY]["startingTimestamp"]
        if moment is None:
            release = await self._repository.release(dataset.name, LATEST)
        else:
            release = _require_release(await self._repository.release_at(dataset, moment, after=True))
        return web.json_response({}, headers={VERSION_FIELD: str(release.data_version), **NO_STORE})

    @_lines("sharingMetadata", bodies.TablePath, bodies.MetadataQuery)
    async def metadata(self, request: web.Request) -> web.StreamResponse:
        """Protocol and metadata of a table."""
        release = await self._release(_check_path(request), **request[QUERY])
        files = await self._repository.files(release.dataset, release.data_version)
        return _answer(release.data_version, head(release, len(files)))

    @_lines("sharingQuery", bodies.TablePath, bodies.SharingQuery)
    async def query(self, request: web.Request) -> web.StreamResponse:
        """Files of a table."""
        dataset, requested = _check_path(request), request[BODY]
        first = requested["startingVersion"]
        if first is not None:
            return await self._since(request, dataset, first, requested["endingVersion"])
        release = await self._release(dataset, requested["version"], requested["timestamp"])
        files = await self._repository.files(release.dataset, release.data_version)
        types = {str(column["name"]): str(column["type"]) for column in release.columns}
        hints = PredicateHints.read(requested["predicateHints"], requested["jsonPredicateHints"], types)
        # A file that may match may hold no matching row: with hints a limit would leave out rows that are asked for.
        limit = None if requested["predicateHints"] or requested["jsonPredicateHints"] else requested["limitHint"]
        fitting = [file for file in files if hints.may_match(file)]
        until, version, moment = self._signer.until(), release.data_version, release.created_at
        lines = [
            file_line("file", file, self._url(request, release.dataset, version, file, until), until, version, moment)
            for file in enough(fitting, limit)
        ]
        return _answer(version, [*head(release, len(files)), *lines])

    @_lines("sharingChanges", bodies.TablePath, bodies.ChangesQuery)
    async def changes(self, request: web.Request) -> web.StreamResponse:
        """Changes of a table."""
        requested = request[QUERY]
        dataset = _check_path(request)
        first = requested["startingVersion"]
        if first is None:
            if requested["startingTimestamp"] is None:
                raise InvalidParameter("startingVersion", "is required unless `startingTimestamp` is given")
            first = _require_release(
                await self._repository.release_at(dataset, requested["startingTimestamp"], after=True)
            ).data_version
        last = requested["endingVersion"]
        if last is None and requested["endingTimestamp"] is not None:
            last = _require_release(
                await self._repository.release_at(dataset, requested["endingTimestamp"])
            ).data_version
        return await self._since(request, dataset, first, last, by_row=True)

    async def _since(
        self, request: web.Request, dataset: Dataset, first: int, last: int | None, *, by_row: bool = False
    ) -> web.StreamResponse:
        newest = await self._release(dataset, last, None)
        steps = await self._repository.between(dataset, first, newest.data_version)
        if len(steps) > _CHANGES_MAX:
            raise InvalidParameter(
                "startingVersion", f"must be at most {_CHANGES_MAX} versions before the last one", first
            )
        if not steps or steps[-1][0] < first:
            raise InvalidParameter("startingVersion", "must be an existing version, not after the last one", first)
        # Without a record of changes as far back: the files added and removed, whose rows were deleted and inserted.
        changes = await self._repository.changes(dataset, newest.data_version) if by_row else None
        if changes is not None and changes.since is not None and changes.since < first:
            return _answer(newest.data_version, await self._changed_rows(request, newest, changes, first, steps))
        until = self._signer.until()
        lines = head(newest, len(await self._repository.files(dataset.name, newest.data_version)))
        before: tuple[int, dict[str, KeptReleaseFile]] = (0, {})
        if steps[0][0] < first:
            before = await self._files_by_digest(dataset, steps.pop(0)[0])
        for version, moment in steps:
            now = await self._files_by_digest(dataset, version)
            for kind, (where, files), others in (("remove", before, now), ("add", now, before)):
                for file in (file for sha256, file in files.items() if sha256 not in others[1]):
                    url = self._url(request, dataset.name, where, file, until)
                    lines.append(file_line(kind, file, url, until, version, moment))
            before = now
        return _answer(newest.data_version, lines)

    async def _changed_rows(
        self, request: web.Request, newest: Release, changes: Release, first: int, steps: list[tuple[int, datetime]]
    ) -> list[dict[str, object]]:
        files, until = await self._repository.files(changes.dataset, changes.data_version), self._signer.until()
        reason = [column for column in changes.columns if column["name"] == "_change_reason"]
        lines = head(newest._replace(columns=[*newest.columns, *reason]), len(files))
        for file in files:
            if (version := version_of(file.name)) >= first:
                # A version in between that has expired has the moment of the next one.
                moment = next(moment for number, moment in steps if number >= version)
                url = self._url(request, changes.dataset, changes.data_version, file, until)
                lines.append(file_line("cdf", file, url, until, version, moment))
        return lines

    async def _files_by_digest(self, dataset: Dataset, version: int) -> tuple[int, dict[str, KeptReleaseFile]]:
        return version, {file.sha256: file for file in await self._repository.files(dataset.name, version)}

    async def _release(self, dataset: Dataset, version: int | None, timestamp: datetime | None) -> Release:
        if version is not None and timestamp is not None:
            raise InvalidParameter("timestamp", "cannot be combined with `version`")
        if timestamp is not None:
            return _require_release(await self._repository.release_at(dataset, timestamp))
        return await self._repository.release(dataset.name, LATEST if version is None else str(version))

    def _url(self, request: web.Request, dataset: str, version: int, file: KeptReleaseFile, until: int) -> str:
        return self._signer.sign(dataset, version, file, organization_of(request), until)


def _check_path(request: web.Request) -> Dataset:
    path: dict[str, str] = request[PATH]
    # The protocol's names are the same in every case; clients that ask a metastore know small letters alone.
    if path["share"].lower() != SHARE or path.get("schema", SCHEMA).lower() != SCHEMA:
        raise not_found(f"The share is `{SHARE}`, its schema `{SCHEMA}`.")
    return dataset_of(path.get("table", "items").lower())


def _require_release(release: Release | None) -> Release:
    if release is None:
        raise not_found("There was no release at that time.")
    return release


def _page(request: web.Request, items: list[dict[str, object]]) -> web.Response:
    start, size = int(request[QUERY]["pageToken"] or 0), request[QUERY]["maxResults"]
    page = items[start : start + size if size is not None else None]
    more = {"nextPageToken": str(start + len(page))} if page and start + len(page) < len(items) else {}
    return web.json_response({"items": page, **more}, headers=NO_STORE)


def _answer(version: int, documents: list[dict[str, object]]) -> web.Response:
    fields = {VERSION_FIELD: str(version), **NO_STORE}
    return web.Response(body=_ENCODER.encode_lines(documents), content_type=NDJSON, charset="utf-8", headers=fields)
