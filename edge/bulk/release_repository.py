"""Datasets, releases and manifests: read from the rows that name them, and shown (contract, section 6)."""

import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from edge.bulk.descriptions import FORMS, Described
from edge.bulk.downloads import SignedUrls, StoredFile
from edge.http.problems import Problem
from edge.http.routing import API_PATH
from edge.storage.database import Database
from shared.bulk.schema import MEDIA_TYPE, RELEASED, Dataset, ReleaseFile, catalogue_key, changes_of, key_of, schema_of
from shared.bulk.signing import FILE_MEMBERS, public_jwk
from shared.clock import rfc3339, utc_now
from shared.db.queries import load_queries

# Releases as the edge reads them: from the rows that name them, and nothing that is not named.


SQL = load_queries(__file__, "releases.sql")
LATEST = "latest"
KEYS_PATH = "/.well-known/release-keys.json"
_VERSION = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_FILE = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)


class Release(NamedTuple):
    """One release of a dataset. Changes lead from the release `since`, or a later one, to this one."""

    dataset: str
    data_version: int
    columns: list[dict[str, Any]]
    rows: int
    bytes: int
    created_at: datetime
    expires_at: datetime
    signature: dict[str, str] | None
    since: int | None = None

    @property
    def identity(self) -> tuple[str, int, datetime]:
        """What no other release has; a restored database may give a number a second time, at another moment."""
        return self.dataset, self.data_version, self.created_at


class ReleaseRepository:
    """Finds datasets, releases and files; one that does not exist is the problem `dataset-not-found`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> dict[str, Any]:
        """Return the newest release of each dataset that has one."""
        return {row["dataset"]: row for row in await self._database.fetch(SQL.newest)}

    async def listed(self, dataset: Dataset, limit: int, before: int | None) -> tuple[list[Any], int]:
        """Return one page of a dataset's releases, one more where there are more; and how many there are."""
        releases = await self._database.fetch(SQL.listed, dataset.name, before, limit + 1)
        return releases, int(releases[0]["total"]) if releases else 0

    async def release(self, dataset: str, version: str) -> Release:
        """Find a release by its number, or the newest as `latest`."""
        name = dataset_of(dataset).name
        release = await self._one(name, _number(version))
        if release is None:
            listed = f"{API_PATH}/index/datasets/{name}/releases"
            raise not_found("There is no such release; it may have expired.", advice=f"List them at {listed}.")
        return release

    async def release_at(self, dataset: Dataset, moment: datetime, *, after: bool = False) -> Release | None:
        """Find the release that was the newest at a moment, or the first one after it."""
        kept = await self.kept(dataset.name)
        if after:
            return next((release for release in kept if release.created_at >= moment), None)
        return next((release for release in reversed(kept) if release.created_at <= moment), None)

    async def between(self, dataset: Dataset, first: int, last: int) -> list[tuple[int, datetime]]:
        """Return the releases from one to another, and the one before the first."""
        rows = await self._database.fetch(SQL.releases_between, dataset.name, first, last)
        return [(row["data_version"], row["created_at"]) for row in rows]

    async def files(self, dataset: str, version: int) -> list[ReleaseFile]:
        """Return a release's files in their order."""
        rows = await self._database.fetch(SQL.files, dataset, version)
        return [ReleaseFile(**{**dict(row), "statistics": msgspec.json.decode(row["statistics"])}) for row in rows]

    async def file(self, dataset: str, version: str, name: str) -> StoredFile:
        """Find one file. A name that is none of ours is not even looked up."""
        file = None
        if _FILE.fullmatch(name):
            row = (dataset_of(dataset).name, _number(version), name)
            file = next(iter(await self._database.fetch(SQL.file, *row)), None)
        if file is None:
            raise not_found("There is no such file in this release.")
        filename = f"{dataset}-{file['name']}"
        return StoredFile(key_of(file["sha256"]), file["bytes"], file["sha256"], MEDIA_TYPE, filename)

    async def profile(self, release: Release) -> dict[str, Any] | None:
        """Return what only descriptions say of a release: its sources, their terms, its days; None of older ones."""
        row = await self._database.fetch_row(SQL.profile, release.dataset, release.data_version)
        return msgspec.json.decode(row["profile"]) if row is not None and row["profile"] is not None else None

    async def schema_changes(self, dataset: Dataset) -> list[dict[str, Any]]:
        """Return which columns came, changed or went in which release, the newest first."""
        return [dict(row) for row in await self._database.fetch(SQL.schema_changes, dataset.name)]

    async def keys(self) -> list[dict[str, str]]:
        """Return the public keys that have signed releases, the newest first."""
        return [public_jwk(row["key_id"], row["public_key"]) for row in await self._database.fetch(SQL.keys)]

    async def changes(self, dataset: Dataset, version: int) -> Release | None:
        """Find the changes that lead to a release; None if it was published before changes were."""
        return await self._one(changes_of(dataset.name), version)

    async def kept(self, dataset: str) -> list[Release]:
        """Return all releases of a dataset, the oldest first."""
        return [_release(row) for row in reversed(await self._database.fetch(SQL.kept, dataset, None, None))]

    async def catalogue(self) -> StoredFile:
        """Find the DuckLake catalogue of the kept releases."""
        row = await self._database.fetch_row(SQL.catalogue)
        if row is None:
            raise not_found("There is no catalogue before the first release.")
        key = catalogue_key(row["sha256"])
        return StoredFile(key, row["bytes"], row["sha256"], "application/vnd.duckdb", "latest.ducklake")

    async def first_moment(self) -> datetime | None:
        """Return when the oldest kept release was cut; None before the first release."""
        row = await self._database.fetch_row(SQL.first_moment)
        return row["created_at"] if row is not None else None

    async def versions(self) -> list[int]:
        """Return the data_versions that have a release."""
        return [row["data_version"] for row in await self._database.fetch(SQL.versions)]

    async def listing(self, *narrowed: Any) -> list[Any]:
        """Return a page of the bucket's entries; the statement says what narrows them."""
        return list(await self._database.fetch(SQL.bucket_entries, *narrowed))

    async def _one(self, dataset: str, version: int | None) -> Release | None:
        row = await self._database.fetch_row(SQL.kept, dataset, version, 1)
        return _release(row) if row is not None else None


def _release(row: Any) -> Release:
    texts = {name: row[name] for name in ("columns", "signature")}
    decoded = {name: msgspec.json.decode(text) if text is not None else None for name, text in texts.items()}
    return Release(**{**dict(row), **decoded})


def dataset_of(name: str) -> Dataset:
    """Return a dataset by its name."""
    if name not in RELEASED:
        raise not_found(f"The datasets are: {', '.join(RELEASED)}.")
    return RELEASED[name]


def not_found(cause: str, *, advice: str = "") -> Problem:
    """Make the problem of what is not there."""
    return Problem("dataset-not-found", cause, advice=advice)


def _number(version: str) -> int | None:
    if version == LATEST:
        return None
    if not _VERSION.fullmatch(version):
        raise not_found("A release is named by its data_version, or `latest`.")
    return int(version)


# Datasets, releases and manifests as the contract shows them (section 6), and the addresses in them.


class UrlSigner:
    """Makes the signed addresses of one release for one organization."""

    def __init__(self, links: SignedUrls, base_url: str, lifetime_seconds: int) -> None:
        self._links = links
        self._base_url = base_url
        self._lifetime_seconds = lifetime_seconds

    def until(self) -> int:
        """Return when an address that is made now ends."""
        return int(utc_now().timestamp()) + self._lifetime_seconds

    def page(self) -> str:
        """Return the address of the guide that says how the datasets are read."""
        return f"{self._base_url}/docs/guides/bulk-data"

    def keys(self) -> str:
        """Return the address of the public keys that check signatures of manifests."""
        return f"{self._base_url.removesuffix(API_PATH)}{KEYS_PATH}"

    def releases(self, dataset: str) -> str:
        """Return the address of a dataset's releases."""
        return f"{self._base_url}/index/datasets/{dataset}/releases"

    def release(self, dataset: str, version: int | str) -> str:
        """Return the address of a release."""
        return f"{self.releases(dataset)}/{version}"

    def sign(self, dataset: str, version: int, file: ReleaseFile, organization: str, until: int) -> str:
        """Return the signed address of a file."""
        query = self._links.query(file.sha256, organization, until)
        return f"{self.release(dataset, version)}/signed/{file.name}?{query}"


def dataset_entry(signer: UrlSigner, dataset: Dataset, newest: Any) -> dict[str, Any]:
    """Return a dataset with its newest release."""
    return {
        "name": dataset.name,
        "title": dataset.title,
        "schema": schema_of(dataset),
        "sorted_by": list(dataset.order),
        "latest": release_entry(signer, dataset.name, newest) if newest is not None else None,
        "links": {
            "releases": signer.releases(dataset.name),
            "latest": signer.release(dataset.name, LATEST),
        },
    }


def release_entry(signer: UrlSigner, dataset: str, row: Any) -> dict[str, Any]:
    """Return a release as lists show it."""
    return {
        **{name: row[name] for name in ("data_version", "rows", "bytes", "files")},
        "created_at": rfc3339(row["created_at"]),
        "expires_at": rfc3339(row["expires_at"]),
        "links": {"self": signer.release(dataset, row["data_version"])},
    }


def described(
    signer: UrlSigner, release: Release, files: list[ReleaseFile], profile: dict[str, Any] | None
) -> Described:
    """Return what descriptions of a release say."""
    address = signer.release(release.dataset, release.data_version)
    size = (release.rows, release.bytes)
    contents = (release.data_version, release.created_at, *size, files, profile)
    return Described(release.dataset, release.columns, *contents, address, signer.page())


def manifest(signer: UrlSigner, release: Release, files: list[ReleaseFile], organization: str) -> dict[str, Any]:
    """Return a release's manifest, its signed addresses made for one organization."""
    dataset, version, until = release.dataset, release.data_version, signer.until()
    address = signer.release(dataset, version)
    return {
        "dataset": dataset,
        "schema": release.columns,
        "data_version": version,
        **({"since": release.since} if release.since is not None else {}),
        "created_at": rfc3339(release.created_at),
        "expires_at": rfc3339(release.expires_at),
        "signed_until": rfc3339(datetime.fromtimestamp(until, UTC)),
        "rows": release.rows,
        "bytes": release.bytes,
        "files": [
            {
                **{name: getattr(file, name) for name in FILE_MEMBERS},
                "url": f"{address}/files/{file.name}",
                "signed_url": signer.sign(dataset, version, file, organization, until),
            }
            for file in files
        ],
        "signature": release.signature,
        "links": {
            "self": address,
            "keys": signer.keys(),
            **{form.replace("-", "_"): f"{address}/descriptions/{form}" for form in FORMS},
        },
    }
