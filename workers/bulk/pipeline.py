"""A part of an export from its source to its file: batches of a snapshot or of a release, written in one format."""

from collections.abc import Callable

from shared.bulk.manifest import File
from shared.db.connect import Connection
from workers.bulk.changes import changed_batches
from workers.bulk.part import CHANGED, RELEASE, Part
from workers.bulk.sources.export_rows import snapshot_batches
from workers.bulk.sources.release import release_batches, stored_copy
from workers.bulk.sources.snapshot import Snapshot
from workers.bulk.writers.part_file import PartFile, Progress
from workers.jobs.context import Services


def write_part(
    services: Services,
    connection: Connection,
    part: Part,
    check: Callable[[], None],
    progress: Progress,
) -> File:
    """Write a part's file and return its description; no manifest names it yet. `check` is called often and may raise.

    Raises SnapshotGone or SnapshotLost if the snapshot cannot be read, ResultGone if the release lacks a file.
    """
    with PartFile.begun(services.objects, part, progress) as file:
        if part.snapshot == RELEASE:
            stored = stored_copy(connection, services.objects, part)
            if stored is not None:
                return file.copied(stored, check)
            for batch in release_batches(connection, services.objects, part):
                check()
                file.write(batch)
        elif part.snapshot == CHANGED:
            for batch in changed_batches(connection, services.objects, part):
                check()
                file.write(batch)
        else:
            url = services.settings.worker_database_url
            with Snapshot(url, part.snapshot, application="export", check=check) as snapshot:
                for batch in snapshot_batches(snapshot, part):
                    file.write(batch)
        check()
        return file.closed()
