"""GET /index/datasets, their releases, a release's manifest and its files."""

from collections.abc import Callable
from functools import partial
from operator import itemgetter

import msgspec
from aiohttp import web

from edge.bulk import release_schemas
from edge.bulk.descriptions import FORMS, Described
from edge.bulk.downloads import FileResponder
from edge.bulk.release_documents import UrlSigner, dataset_entry, description_of, manifest, release_entry
from edge.bulk.release_repository import ReleaseRepository, dataset_of
from edge.bulk.signed_urls import LinkChecker, SignedLink
from edge.http.answer_keeping import cacheable
from edge.http.context import organization_of
from edge.http.json import unstored_json
from edge.http.lists import Paginator, envelope
from edge.http.made_once import MadeByKey
from edge.http.parameters import LinkQuery
from edge.http.representation import Representation
from edge.http.routing import operation
from edge.http.validation import PATH, QUERY
from edge.storage.data_version import DataVersionWatcher
from shared.bulk.schema import MEDIA_TYPE, RELEASED

KIND = "releases"
JSON_LD = "application/ld+json"
_KEY_SET = "application/jwk-set+json"
_DESCRIPTIONS_KEPT_MAX = 16
_operation = partial(operation, "datasets")


class Datasets:
    """The handlers."""

    def __init__(
        self,
        repository: ReleaseRepository,
        signer: UrlSigner,
        links: LinkChecker,
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
        # Anyone may ask for them, and one of a thousand files takes some ten milliseconds.
        self._descriptions = MadeByKey[Representation](_DESCRIPTIONS_KEPT_MAX)

    @_operation("listDatasets", answers={200: (release_schemas.DatasetList, "All datasets")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List the datasets.

        Each with its schema and newest release.
        """
        newest = await self._repository.newest()
        entries = [dataset_entry(self._signer, dataset, newest.get(name)) for name, dataset in RELEASED.items()]
        response = envelope(
            entries, total=len(entries), exact=True, next_cursor=None, query={}, data_version=self._version.current
        )
        cacheable(request, response)
        return response

    @_operation(
        "listReleases",
        release_schemas.DatasetPath,
        release_schemas.ReleasesQuery,
        answers={200: (release_schemas.ReleaseList, "One page of releases")},
    )
    async def releases(self, request: web.Request) -> web.StreamResponse:
        """List a dataset's releases.

        Newest first.
        """
        dataset, requested = dataset_of(request[PATH]["name"]), request[QUERY]
        query = {"dataset": dataset.name, "limit": requested["limit"]}
        find = partial(self._repository.list_releases, dataset, requested["limit"])
        entry = partial(release_entry, self._signer, dataset.name)
        return await self._lists.answer(KIND, query, requested["cursor"], find, entry, itemgetter("data_version"))

    @_operation(
        "getManifest", release_schemas.ReleasePath, answers={200: (release_schemas.ReleaseManifest, "The manifest")}
    )
    async def manifest(self, request: web.Request) -> web.StreamResponse:
        """Manifest of a release.

        Lists every file with its size, its digest, a URL for use with your API key and a signed URL.
        """
        path = request[PATH]
        release = await self._repository.release(path["name"], path["release"])
        files = await self._repository.files(release.dataset, release.data_version)
        document = manifest(self._signer, release, files, organization_of(request))
        # The signed addresses are this organization's alone, and every answer makes new ones.
        return unstored_json(document)

    @_operation(
        "listSchemaChanges",
        release_schemas.DatasetPath,
        answers={200: (release_schemas.SchemaChangeList, "All changes")},
    )
    async def schema_changes(self, request: web.Request) -> web.StreamResponse:
        """Changes of a dataset's schema.

        Columns that were added, changed or removed, by release, newest first. Derived from the releases.
        """
        dataset = dataset_of(request[PATH]["name"])
        changes = await self._repository.schema_changes(dataset)
        query, version = {"dataset": dataset.name}, self._version.current
        return envelope(changes, total=len(changes), exact=True, next_cursor=None, query=query, data_version=version)

    @_operation(
        "describeRelease", release_schemas.DescriptionPath, answers={200: "The description"}, produces=[JSON_LD]
    )
    async def description(self, request: web.Request) -> web.StreamResponse:
        """Machine-readable description of a release.

        Croissant 1.1, schema.org Dataset or DCAT, as JSON-LD: files with digests, columns, licences and attribution of
        the sources, collection period and missing days. Needs no credential, but the files do.
        """
        path = request[PATH]
        release = await self._repository.release(path["name"], path["release"])

        async def prepare() -> Callable[[], Representation]:
            files = await self._repository.files(release.dataset, release.data_version)
            profile = await self._repository.profile(release)
            return partial(_description, path["form"], description_of(self._signer, release, files, profile))

        return (await self._descriptions.get((*release.identity, path["form"]), prepare)).respond(request)

    async def keys(self, request: web.Request) -> web.StreamResponse:
        """Answer with the public keys that check signatures of manifests, as a JSON Web Key Set (RFC 7517)."""
        return Representation.of(msgspec.json.encode({"keys": await self._repository.keys()}), _KEY_SET).respond(
            request
        )

    @_operation("getFile", release_schemas.ReleaseFilePath, answers=release_schemas.FILE_ANSWERS, produces=[MEDIA_TYPE])
    async def file(self, request: web.Request) -> web.StreamResponse:
        """Fetch a file.

        The unchanged file. Supports Range and If-Range, with a strong ETag and Repr-Digest.
        """
        path = request[PATH]
        file = await self._repository.file(path["name"], path["release"], path["file"])
        return await self._downloads.respond(request, file, organization_of(request))

    @_operation("getDuckLake", answers=release_schemas.FILE_ANSWERS, produces=["application/vnd.duckdb"])
    async def ducklake(self, request: web.Request) -> web.StreamResponse:
        """DuckLake catalogue of all available releases.

        `ATTACH 'ducklake:…'` reads every table, and `AT (VERSION => data_version)` every kept release.
        """
        return await self._downloads.respond(request, await self._repository.catalogue(), organization_of(request))

    @_operation(
        "getSignedFile",
        release_schemas.ReleaseFilePath,
        LinkQuery,
        answers=release_schemas.FILE_ANSWERS,
        produces=[MEDIA_TYPE],
    )
    async def signed_file(self, request: web.Request) -> web.StreamResponse:
        """Fetch a file by its signed URL.

        The unchanged file. Supports Range and If-Range, with a strong ETag and Repr-Digest.
        """
        path, link = request[PATH], SignedLink(**request[QUERY])
        file = await self._repository.file(path["name"], path["release"], path["file"])
        await self._links.require(link, file.sha256, "Fetch the manifest again for a valid one.")
        return await self._downloads.respond(request, file, link.organization)


def _description(form: str, release: Described) -> Representation:
    return Representation.of(msgspec.json.encode(FORMS[form](release)), JSON_LD)
