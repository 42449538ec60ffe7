"""A copy of the backups in a bucket, so that they survive the disk of BACKUP_DIR; compressed, by shared/objects.

CLUSTER-TIMELINE/base/MOMENT-FIRST.tar.gz   a base backup; FIRST is the first file of the log that it needs
CLUSTER-TIMELINE/wal/NAME.gz                a file of the log; the newest is NAME.partial.gz, and is put again and again
CLUSTER-TIMELINE/received                   the moment up to which the log in the bucket is complete
CLUSTER-TIMELINE/empty, base/MOMENT.empty   there if PostgreSQL held no load at that moment, as in BACKUP_DIR

Nothing here deletes a file of BACKUP_DIR, and PostgreSQL keeps its log for the receiver: what the bucket refuses now is
sent when it accepts again.
"""

import datetime
import gzip
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from deploy.local.backups import BackupError, Base, Timeline, choose, moment_of
from shared.errors import ResultGone, StoreUnavailable
from shared.objects.open import open_object_store
from shared.settings.settings import Settings

_COMPRESSION = 1
"""The emptiness of a file that has just begun is most of it, and needs no better."""
_READ_BYTES = 1 << 20
_CREDENTIALS = "renew S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"
_REMEDIES = {
    **dict.fromkeys(("ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"), _CREDENTIALS),
    "AccessDenied": "allow its credentials to list, read, write and delete",
    "NoSuchBucket": "create it, or correct BACKUP_BUCKET",
}


class BackupBucket:
    """The bucket of BACKUP_BUCKET. Every call raises BackupError, with a sentence, if the bucket does not work."""

    def __init__(self, settings: Settings) -> None:
        self._name = settings.backup_bucket
        # A base backup is spooled whole, and /tmp may be in memory.
        self._store = open_object_store(replace(settings, s3_bucket=self._name), spool_dir=settings.backup_dir)
        self._stored_keys: dict[str, set[str]] = {}
        self._ended: dict[str, datetime.datetime] | None = None
        self._empty: dict[str, bool] = {}
        """Which timelines are marked as empty, as far as that was written."""

    def send_log(self, timeline: Timeline) -> datetime.datetime | None:
        """Send what the bucket lacks of the log; return the moment up to which it can be restored from there."""
        moment = timeline.received_until()  # what it needs is on the disk before it is written down
        for path in sorted(timeline.wal.iterdir()):
            key = f"{timeline.folder.name}/wal/{path.name}.gz"
            partial = path.suffix == ".partial"
            if not partial and key in self._keys(timeline):
                continue
            with (
                self._create(key) as file,
                gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_COMPRESSION) as packed,
            ):
                with path.open("rb") as whole:
                    shutil.copyfileobj(whole, packed, _READ_BYTES)
            if not partial:
                self._keys(timeline).add(key)
                with self._explain_failures():
                    self._store.remove(f"{timeline.folder.name}/wal/{path.name}.partial.gz")
        if moment is not None:
            with self._create(f"{timeline.folder.name}/received") as file:
                file.write(moment.isoformat().encode())
            self._mark(timeline)
        return moment

    def _mark(self, timeline: Timeline) -> None:
        """Mark a timeline as empty, or no longer, where that has changed."""
        name, empty = timeline.folder.name, timeline.is_empty
        if self._empty.get(name) == empty:
            return
        if empty:
            self._note(f"{name}/empty")
        else:
            with self._explain_failures():
                self._store.remove(f"{name}/empty")
        self._empty[name] = empty

    def _note(self, key: str) -> None:
        with self._create(key) as file:
            file.write(b"\n")  # some services take no object without bytes

    def send_bases(self, timeline: Timeline) -> None:
        """Send the base backups that the bucket lacks."""
        for base in timeline.bases():
            key = f"{timeline.folder.name}/base/{base.path.name}-{base.first_log}.tar.gz"
            if key not in self._keys(timeline):
                with self._create(key) as file:
                    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_COMPRESSION) as archive:
                        archive.add(base.path, arcname=".")
                if base.is_empty:
                    self._note(f"{timeline.folder.name}/base/{base.path.name}.empty")
                self._keys(timeline).add(key)

    def expire(self, timeline: Timeline, oldest: datetime.datetime) -> None:
        """Delete base backups that no moment since `oldest` needs, and the log that only they need.

        A timeline that a restore ended goes as a whole, once its last moment is before.
        """
        ended = self._ends_of_other_timelines(timeline)
        for name in [name for name, moment in ended.items() if moment < oldest]:
            with self._explain_failures():
                there = [listed.key for listed in self._store.list_objects(f"{name}/")]
                for key in sorted(there, key=lambda key: key.endswith("/received")):  # last: by it the rest is found
                    self._store.remove(key)
            del ended[name]
        keys = self._keys(timeline)
        bases = sorted(key for key in keys if "/base/" in key)
        needed = bases[max(sum(moment_of(_moment_and_first_log(key)[0]) <= oldest for key in bases) - 1, 0) :]
        first = min((_moment_and_first_log(key)[1] for key in needed), default="")
        for key in sorted(keys):
            # Behind the timeline's eight digits, so that a file of the history of timelines is older than none.
            old_log = "/wal/" in key and Path(key).name[:24] < first and "." not in Path(key).name[:24]
            if ("/base/" in key and key not in needed) or old_log:
                with self._explain_failures():
                    self._store.remove(key)
                    if "/base/" in key:
                        self._store.remove(f"{key.rpartition('/')[0]}/{_moment_and_first_log(key)[0]}.empty")
                keys.remove(key)

    def _ends_of_other_timelines(self, timeline: Timeline) -> dict[str, datetime.datetime]:
        """Return the last moments of the cluster's other timelines; nothing is added to them, so it is asked once."""
        if self._ended is None:
            ended = {}
            with self._explain_failures():
                for listed in self._store.list_objects(""):
                    name, _, file = listed.key.partition("/")
                    if file == "received" and name.startswith(f"{timeline.cluster}-") and name != timeline.folder.name:
                        written = self._store.open(listed.key).read(0, listed.bytes).decode()
                        ended[name] = datetime.datetime.fromisoformat(written)
            self._ended = ended
        return self._ended

    @contextmanager
    def fetch(self, beside: Path, to: datetime.datetime | None, cluster: str | None = None) -> Iterator[Path]:
        """Lay down what a restore to a moment needs, as BACKUP_DIR has it, beside a path; it is deleted afterwards."""
        with self._explain_failures():
            keys = [listed.key for listed in self._store.list_objects("")]
        beside.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{beside.name}.fetched-", dir=beside.parent) as name:
            root = Path(name)
            for key in keys:
                folder = root / key.split("/", 1)[0]
                if key.endswith("empty"):
                    (root / key).parent.mkdir(parents=True, exist_ok=True)
                    (root / key).touch()
                elif "/base/" in key:
                    (folder / "base" / _moment_and_first_log(key)[0]).mkdir(parents=True, exist_ok=True)
                elif key.endswith("/received"):
                    folder.mkdir(exist_ok=True)
                    self._read(key, folder / "received")
            timeline, base = choose(root, to, cluster)
            self._fill(keys, timeline, base)
            yield root

    def _fill(self, keys: list[str], timeline: Timeline, base: Base) -> None:
        [archive] = [key for key in keys if f"/base/{base.path.name}-" in key and key.startswith(timeline.folder.name)]
        packed = timeline.folder / "base.tar.gz"
        self._read(archive, packed)
        try:
            with tarfile.open(packed) as file:
                file.extractall(base.path, filter="tar")
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise BackupError(f"{archive} in the bucket {self._name} cannot be unpacked: {error}") from None
        packed.unlink()
        timeline.wal.mkdir()
        for key in keys:
            name = Path(key).name.removesuffix(".gz")
            if key.startswith(f"{timeline.folder.name}/wal/") and name >= _moment_and_first_log(archive)[1]:
                try:
                    self._read(key, packed)
                except ResultGone:  # it was completed meanwhile, and so renamed
                    name = name.removesuffix(".partial")
                    self._read(key.replace(".partial", ""), packed)
                with gzip.open(packed) as whole, (timeline.wal / name).open("wb") as file:
                    shutil.copyfileobj(whole, file, _READ_BYTES)
        packed.unlink(missing_ok=True)

    def _read(self, key: str, target: Path) -> None:
        with self._explain_failures(), target.open("wb") as file:
            self._store.fetch(key, file)

    def _keys(self, timeline: Timeline) -> set[str]:
        """Return the whole files of a timeline that the bucket has; it is asked once."""
        name = timeline.folder.name
        if name not in self._stored_keys:
            with self._explain_failures():
                found = {listed.key for listed in self._store.list_objects(f"{name}/")}
            self._stored_keys[name] = {key for key in found if key.endswith(".gz") and ".partial" not in key}
        return self._stored_keys[name]

    @contextmanager
    def _create(self, key: str) -> Iterator[BinaryIO]:
        with self._explain_failures(), self._store.create(key) as file:
            yield file

    @contextmanager
    def _explain_failures(self) -> Iterator[None]:
        try:
            yield
        except StoreUnavailable as error:
            code = re.search(r"<Code>(\w+)</Code>", str(error.__cause__))
            found = f"answers {code[1]}" if code else "does not answer"
            remedy = _REMEDIES.get(code[1] if code else "", "check BACKUP_BUCKET and S3_ENDPOINT")
            raise BackupError(f"the bucket {self._name} {found}; {remedy}") from error


def _moment_and_first_log(key: str) -> tuple[str, str]:
    """Return the moment, as it is written, and the first file of the log of a base backup's key."""
    moment, _, first = Path(key).name.removesuffix(".tar.gz").partition("-")
    return moment, first
