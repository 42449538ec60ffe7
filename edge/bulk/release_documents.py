"""Datasets, releases and manifests as the contract shows them (section 6), and the addresses in them."""

from datetime import UTC, datetime

from asyncpg import Record

from edge.bulk.descriptions import FORMS, Described, ReleaseProfile
from edge.bulk.release_repository import KEYS_PATH, LATEST, Release
from edge.bulk.signed_urls import SignedUrls
from edge.http.routing import API_PATH
from shared.bulk.schema import Dataset, KeptReleaseFile, schema_of
from shared.bulk.signing import FILE_MEMBERS
from shared.clock import rfc3339, utc_now


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

    def sign(self, dataset: str, version: int, file: KeptReleaseFile, organization: str, until: int) -> str:
        """Return the signed address of a file."""
        query = self._links.query(file.sha256, organization, until)
        return f"{self.release(dataset, version)}/signed/{file.name}?{query}"


def dataset_entry(signer: UrlSigner, dataset: Dataset, newest: Record | None) -> dict[str, object]:
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


def release_entry(signer: UrlSigner, dataset: str, row: Record) -> dict[str, object]:
    """Return a release as lists show it."""
    return {
        **{name: row[name] for name in ("data_version", "rows", "bytes", "files")},
        "created_at": rfc3339(row["created_at"]),
        "expires_at": rfc3339(row["expires_at"]),
        "links": {"self": signer.release(dataset, row["data_version"])},
    }


def description_of(
    signer: UrlSigner, release: Release, files: list[KeptReleaseFile], profile: ReleaseProfile | None
) -> Described:
    """Return what descriptions of a release say."""
    address = signer.release(release.dataset, release.data_version)
    size = (release.rows, release.bytes)
    contents = (release.data_version, release.created_at, *size, files, profile)
    return Described(release.dataset, release.columns, *contents, address, signer.page())


def manifest(signer: UrlSigner, release: Release, files: list[KeptReleaseFile], organization: str) -> dict[str, object]:
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
