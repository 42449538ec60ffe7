"""Datasets, releases and manifests as the contract shows them (section 6), and the addresses in them."""

from datetime import UTC, datetime
from typing import Any

from edge.http.signed_urls import SignedUrls
from edge.releases.repository import LATEST, Release
from shared.clock import Clock, rfc3339, utc_now
from shared.datasets.schema import Dataset, ReleaseFile, schema_of


class UrlSigner:
    """Makes the signed addresses of one release for one organization."""

    def __init__(self, links: SignedUrls, base_url: str, lifetime_seconds: int, clock: Clock = utc_now) -> None:
        self._links = links
        self._base_url = base_url
        self._lifetime_seconds = lifetime_seconds
        self._clock = clock

    def now(self) -> int:
        """Return the present second since 1970."""
        return int(self._clock().timestamp())

    def until(self) -> int:
        """Return when an address that is made now ends."""
        return self.now() + self._lifetime_seconds

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


def manifest(signer: UrlSigner, release: Release, files: list[ReleaseFile], organization: str) -> dict[str, Any]:
    """Return a release's manifest, its signed addresses made for one organization."""
    dataset, version, until = release.dataset, release.data_version, signer.until()
    address = signer.release(dataset, version)
    return {
        "dataset": dataset,
        "schema": release.columns,
        "data_version": version,
        "created_at": rfc3339(release.created_at),
        "expires_at": rfc3339(release.expires_at),
        "signed_until": rfc3339(datetime.fromtimestamp(until, UTC)),
        "rows": release.rows,
        "bytes": release.bytes,
        "files": [
            {
                **{name: getattr(file, name) for name in ("name", "rows", "bytes", "sha256", "min_key", "max_key")},
                "url": f"{address}/files/{file.name}",
                "signed_url": signer.sign(dataset, version, file, organization, until),
            }
            for file in files
        ],
        "links": {"self": address},
    }
