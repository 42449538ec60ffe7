"""Files of Iceberg metadata, as the catalogue and the bucket show them."""

import json
from collections.abc import Callable
from functools import partial

from edge.bulk.iceberg_manifests import manifest, manifest_list
from edge.bulk.iceberg_tables import MANIFEST, MANIFEST_LIST, TABLE, table_metadata
from edge.bulk.release_repository import Release, ReleaseRepository, dataset_of
from edge.http.made_once import MadeByKey
from edge.http.problems import Problem
from shared.bulk.schema import KeptReleaseFile

_KEPT_MAX = 256


class IcebergMetadata:
    """Makes metadata from the rows of releases. What a release says of itself never changes, so it is kept."""

    def __init__(self, repository: ReleaseRepository, kept_max: int = _KEPT_MAX) -> None:
        self._repository = repository
        self._kept = MadeByKey[bytes](kept_max)

    async def table(self, dataset: str) -> dict[str, object]:
        """Return a table's metadata. Raises `dataset-not-found` where it has no release yet."""
        releases = await self._repository.kept_releases(dataset_of(dataset).name)
        if not releases:
            raise Problem("dataset-not-found", "There is no release of this dataset yet.")
        return table_metadata(dataset, releases)

    async def file(self, release: Release, name: str) -> tuple[bytes, str]:
        """Return one file of a release's metadata, with its media type."""
        if name == TABLE:
            content = json.dumps(await self.table(release.dataset)).encode()
        elif name in (MANIFEST, MANIFEST_LIST):
            content = await self._avro_file(release, name)
        else:
            raise Problem(
                "dataset-not-found", f"The metadata of a release are {MANIFEST}, {MANIFEST_LIST} and {TABLE}."
            )
        return content, "application/json" if name == TABLE else "application/vnd.apache.avro+binary"

    async def _avro_file(self, release: Release, name: str) -> bytes:
        async def prepare() -> Callable[[], bytes]:
            files = await self._repository.files(release.dataset, release.data_version)
            return partial(_avro_content, release, name, files)

        return await self._kept.get((*release.identity, name), prepare)


def _avro_content(release: Release, name: str, files: list[KeptReleaseFile]) -> bytes:
    content = manifest(release, files)
    return content if name == MANIFEST else manifest_list(release, len(content), len(files))
