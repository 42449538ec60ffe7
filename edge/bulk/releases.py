"""GET /index/datasets, their releases, a release's manifest and its files."""

from functools import partial
from operator import itemgetter

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.bulk import schemas
from edge.bulk.descriptions import FORMS
from edge.bulk.downloads import FileResponder
from edge.bulk.release_repository import (
    ReleaseRepository,
    UrlSigner,
    dataset_entry,
    dataset_of,
    described,
    manifest,
    release_entry,
)
from edge.http.context import organization_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator, envelope
from edge.http.parameters import PATH, QUERY
from edge.http.problems import Problem
from edge.http.representation import Representation, cacheable
from edge.http.signed_urls import Link, SignedUrls
from edge.storage.data_version import DataVersionWatcher
from shared.bulk.schema import MEDIA_TYPE, RELEASED
from shared.organizations.accounts import INSTITUTIONAL

KIND = "releases"
_PARTS = {
    "200": {"description": "File"},
    "206": {"description": "The requested range of the file"},
    "304": {"description": "Your copy is current."},
}
JSON_LD = "application/ld+json"
_KEY_SET = "application/jwk-set+json"
_FILE = {
    "description": "The unchanged file. Supports Range and If-Range, with a strong ETag and Repr-Digest.",
    "tags": ["datasets"],
}


class Datasets:
    """The handlers."""

    def __init__(
        self,
        repository: ReleaseRepository,
        signer: UrlSigner,
        links: SignedUrls,
        downloads: FileResponder,
        lists: Paginator,
        version: DataVersionWatcher,
    ) -> None:
        self._repository = repository
        self._signer = signer
        self._links = links
        self._downloads = downloads
        self._lists = lists
        self._version = version

    @docs(
        operationId="listDatasets",
        summary="List the datasets",
        description="Each with its schema and newest release.",
        tags=["datasets"],
    )
    @response_schema(schemas.DatasetList(), 200, description="All datasets")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with all datasets."""
        newest = await self._repository.newest()
        entries = [dataset_entry(self._signer, dataset, newest.get(name)) for name, dataset in RELEASED.items()]
        response = envelope(
            entries, total=len(entries), exact=True, next_cursor=None, query={}, data_version=self._version.current
        )
        cacheable(request, response)
        return response

    @docs(
        operationId="listReleases",
        summary="List a dataset's releases",
        description="Newest first.",
        tags=["datasets"],
    )
    @match_info_schema(schemas.DatasetPath())
    @querystring_schema(schemas.ReleasesQuery())
    @response_schema(schemas.ReleaseList(), 200, description="One page of releases")
    async def releases(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page."""
        dataset, requested = dataset_of(request[PATH]["name"]), request[QUERY]
        query = {"dataset": dataset.name, "limit": requested["limit"]}
        find = partial(self._repository.listed, dataset, requested["limit"])
        entry = partial(release_entry, self._signer, dataset.name)
        return await self._lists.answer(KIND, query, requested["cursor"], find, entry, itemgetter("data_version"))

    @docs(
        operationId="getManifest",
        summary="Manifest of a release",
        description="Lists every file with its size, its digest, a URL for use with your API key and a signed URL.",
        tags=["datasets"],
    )
    @match_info_schema(schemas.ReleasePath())
    @response_schema(schemas.ReleaseManifest(), 200, description="The manifest")
    async def manifest(self, request: web.Request) -> web.StreamResponse:
        """Answer with the manifest."""
        path = request[PATH]
        release = await self._repository.release(path["name"], path["release"])
        files = await self._repository.files(release.dataset, release.data_version)
        document = manifest(self._signer, release, files, organization_of(request))
        # The signed addresses are this organization's alone, and every answer makes new ones.
        return unstored_json(document)

    @docs(
        operationId="listSchemaChanges",
        summary="Changes of a dataset's schema",
        description="Columns that were added, changed or removed, by release, newest first. Derived from the releases.",
        tags=["datasets"],
    )
    @match_info_schema(schemas.DatasetPath())
    @response_schema(schemas.SchemaChangeList(), 200, description="All changes")
    async def schema_changes(self, request: web.Request) -> web.StreamResponse:
        """Answer with all changes."""
        dataset = dataset_of(request[PATH]["name"])
        changes = await self._repository.schema_changes(dataset)
        query, version = {"dataset": dataset.name}, self._version.current
        return envelope(changes, total=len(changes), exact=True, next_cursor=None, query=query, data_version=version)

    @docs(
        operationId="describeRelease",
        summary="Machine-readable description of a release",
        description="Croissant 1.1, schema.org Dataset or DCAT, as JSON-LD: files with digests, columns, licences and "
        "attribution of the sources, collection period and missing days. Needs no credential, but the files do.",
        tags=["datasets"],
        produces=[JSON_LD],
        responses={"200": {"description": "The description"}},
    )
    @match_info_schema(schemas.DescriptionPath())
    async def description(self, request: web.Request) -> web.StreamResponse:
        """Answer with one description."""
        path = request[PATH]
        release = await self._repository.release(path["name"], path["release"])
        files = await self._repository.files(release.dataset, release.data_version)
        profile = await self._repository.profile(release)
        document = FORMS[path["form"]](described(self._signer, release, files, profile))
        return Representation.of(msgspec.json.encode(document), JSON_LD).respond(request)

    async def keys(self, request: web.Request) -> web.StreamResponse:
        """Answer with the public keys that check signatures of manifests, as a JSON Web Key Set (RFC 7517)."""
        return Representation.of(msgspec.json.encode({"keys": await self._repository.keys()}), _KEY_SET).respond(
            request
        )

    @docs(operationId="getFile", summary="Fetch a file", produces=[MEDIA_TYPE], responses=_PARTS, **_FILE)
    @match_info_schema(schemas.ReleaseFilePath())
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Send a file to a caller with a key."""
        path = request[PATH]
        file = await self._repository.file(path["name"], path["release"], path["file"])
        return await self._downloads.respond(request, file, organization_of(request))

    @docs(
        operationId="getDuckLake",
        summary="DuckLake catalogue of all available releases",
        description="`ATTACH 'ducklake:…'` reads every table, and `AT (VERSION => data_version)` every kept release.",
        produces=["application/vnd.duckdb"],
        responses=_PARTS,
        tags=["datasets"],
    )
    async def ducklake(self, request: web.Request) -> web.StreamResponse:
        """Send the newest catalogue."""
        return await self._downloads.respond(request, await self._repository.catalogue(), organization_of(request))

    @docs(
        operationId="getSignedFile",
        summary="Fetch a file by its signed URL",
        produces=[MEDIA_TYPE],
        responses=_PARTS,
        **_FILE,
    )
    @match_info_schema(schemas.ReleaseFilePath())
    @querystring_schema(schemas.LinkQuery())
    async def signed(self, request: web.Request) -> web.StreamResponse:
        """Send a file for a signed link, until it expires and as long as its organization may read."""
        path, link = request[PATH], Link(**request[QUERY])
        file = await self._repository.file(path["name"], path["release"], path["file"])
        if not self._links.holds(link, file.sha256):
            raise Problem(
                "invalid-signature",
                "This signed URL was modified or is for another file. Fetch the manifest again.",
            )
        if link.expires <= self._signer.now():
            raise Problem(
                "expired-signature", "This signed URL has expired. Fetch the manifest again to get a new one."
            )
        if await self._repository.rank_of(link.organization) < INSTITUTIONAL:
            raise Problem("invalid-signature", "The organization of this signed URL can no longer read the file.")
        return await self._downloads.respond(request, file, link.organization)
