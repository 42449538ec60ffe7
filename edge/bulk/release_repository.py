"""Datasets, releases and files: read from the rows that name them, and nothing that is not named."""

import re
from datetime import datetime
from typing import NamedTuple

import msgspec
from asyncpg import Record

from edge.bulk.descriptions import ReleaseProfile
from edge.bulk.downloads import StoredFile
from edge.http.problems import Problem
from edge.http.routing import API_PATH
from edge.storage.database import Database
from shared.bulk.schema import (
    MEDIA_TYPE,
    RELEASED,
    ColumnDocument,
    Dataset,
    KeptReleaseFile,
    catalogue_key,
    changes_of,
    key_of,
)
from shared.bulk.signing import public_jwk
from shared.db.queries import load_queries

SQL = load_queries(__file__, "releases.sql")
LATEST = "latest"
KEYS_PATH = "/.well-known/release-keys.json"
_VERSION = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_FILE = re.compile(r"[a-z0-9-]{1,80}\.parquet", re.ASCII)


class Release(NamedTuple):
    """One release of a dataset. Changes lead from the release `since`, or a later one, to this one."""

    dataset: str
    data_version: int
    columns: list[ColumnDocument]
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

    async def newest(self) -> dict[str, Record]:
        """Return the newest release of each dataset that has one."""
        return {row["dataset"]: row for row in await self._database.fetch(SQL.newest)}

    async def list_releases(self, dataset: Dataset, limit: int, before: int | None) -> tuple[list[Record], int]:
        """Return one page of a dataset's releases, one more where there are more; and how many there are."""
        releases = await self._database.fetch(SQL.listed, dataset.name, before, limit + 1)
        return releases, int(releases[0]["total"]) if releases else 0

    async def release(self, dataset: str, version: str) -> Release:
        """Find a release by its number, or the newest as `latest`."""
        name = dataset_of(dataset).name
        release = await self._find_release(name, _number(version))
        if release is None:
            listed = f"{API_PATH}/index/datasets/{name}/releases"
            raise not_found("There is no such release; it may have expired.", advice=f"List them at {listed}.")
        return release

    async def release_at(self, dataset: Dataset, moment: datetime, *, after: bool = False) -> Release | None:
        """Find the release that was the newest at a moment, or the first one after it."""
        kept = await self.kept_releases(dataset.name)
        if after:
            return next((release for release in kept if release.created_at >= moment), None)
        return next((release for release in reversed(kept) if release.created_at <= moment), None)

    async def between(self, dataset: Dataset, first: int, last: int) -> list[tuple[int, datetime]]:
        """Return the releases from one to another, and the one before the first."""
        rows = await self._database.fetch(SQL.releases_between, dataset.name, first, last)
        return [(row["data_version"], row["created_at"]) for row in rows]

    async def files(self, dataset: str, version: int) -> list[KeptReleaseFile]:
        """Return a release's files in their order."""
        rows = await self._database.fetch(SQL.files, dataset, version)
        return [KeptReleaseFile(**{**dict(row), "statistics": msgspec.json.decode(row["statistics"])}) for row in rows]

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

    async def profile(self, release: Release) -> ReleaseProfile | None:
        """Return what only descriptions say of a release: its sources, their terms, its days; None of older ones."""
        row = await self._database.fetch_row(SQL.profile, release.dataset, release.data_version)
        return msgspec.json.decode(row["profile"]) if row is not None and row["profile"] is not None else None

    async def schema_changes(self, dataset: Dataset) -> list[dict[str, object]]:
        """Return which columns came, changed or went in which release, the newest first."""
        return [dict(row) for row in await self._database.fetch(SQL.schema_changes, dataset.name)]

    async def keys(self) -> list[dict[str, str]]:
        """Return the public keys that have signed releases, the newest first."""
        return [public_jwk(row["key_id"], row["public_key"]) for row in await self._database.fetch(SQL.keys)]

    async def changes(self, dataset: Dataset, version: int) -> Release | None:
        """Find the changes that lead to a release; None if it was published before changes were."""
        return await self._find_release(changes_of(dataset.name), version)

    async def kept_releases(self, dataset: str) -> list[Release]:
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

    async def bucket_entries(self, *narrowed: object) -> list[Record]:
        """Return a page of the bucket's entries; the statement says what narrows them."""
        return await self._database.fetch(SQL.bucket_entries, *narrowed)

    async def _find_release(self, dataset: str, version: int | None) -> Release | None:
        row = await self._database.fetch_row(SQL.kept, dataset, version, 1)
        return _release(row) if row is not None else None


def _release(row: Record) -> Release:
    texts = {name: row[name] for name in ("columns", "signature")}
    decoded = {name: msgspec.json.decode(text) if text is not None else None for name, text in texts.items()}
    return Release(**{**dict(row), **decoded})


def dataset_of(name: str) -> Dataset:
    """Return a dataset by its name."""
    if name not in RELEASED:
        raise not_found(f"The datasets are: {', '.join(RELEASED)}.")
    return RELEASED[name]


def not_found(cause: str, *, advice: str = "") -> Problem:
    """Make the problem of a dataset, release or file that is not there."""
    return Problem("dataset-not-found", cause, advice=advice)


def _number(version: str) -> int | None:
    if version == LATEST:
        return None
    if not _VERSION.fullmatch(version):
        raise not_found("A release is named by its data_version, or `latest`.")
    return int(version)
