"""What both stores promise: an object is whole or it is not there."""

import errno
import hashlib
import io
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared.errors import ResultGone, StoreFull, StoreUnavailable
from shared.objects.directory import PARTIAL, DirectoryStore, ResultStore
from shared.objects.open import open_object_store
from shared.objects.s3 import S3Store
from shared.settings.settings import Settings
from tests.support.s3 import BUCKET, KEY_ID, REGION, SECRET


def s3_store(address: str, bucket: str = BUCKET, seconds: float = 30.0) -> S3Store:
    return S3Store(bucket, endpoint=address, region=REGION, key_id=KEY_ID, secret=SECRET, answer_seconds=seconds)


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, s3: str) -> ResultStore:
    if request.param == "directory":
        return DirectoryStore(tmp_path / "results")
    return s3_store(s3)


def test_a_written_object_can_be_read_in_any_part(store: ResultStore) -> None:
    content = random.Random(1).randbytes(300_000)
    with store.create("job/1/a.bin") as file:
        file.write(content)
        assert store.size("job/1/a.bin") is None
    assert store.size("job/1/a.bin") == len(content)
    reader = store.open("job/1/a.bin")
    assert reader.read(0, 10) == content[:10]
    assert reader.read(299_990, 100) == content[-10:]
    assert reader.read(300_000, 10) == b""
    reader.close()
    copy, blocks = io.BytesIO(), list[int]()
    store.fetch("job/1/a.bin", copy, lambda: blocks.append(copy.tell()))
    assert copy.getvalue() == content and blocks[-1] == len(content)
    assert list(store.attempts()) == [("job", 1)]
    assert [(found.key, found.bytes) for found in store.list_objects("job/")] == [("job/1/a.bin", len(content))]
    store.delete("job", 1)
    store.delete("job", 1)
    assert store.size("job/1/a.bin") is None and list(store.attempts()) == []
    with pytest.raises(ResultGone):
        store.open("job/1/a.bin")


def test_an_object_that_is_deleted_while_it_is_fetched_is_not_taken_for_whole(s3: str) -> None:
    store = s3_store(s3)
    with store.create("job/1/lost.bin") as file:
        file.write(bytes(3_000_000))
    with pytest.raises(StoreUnavailable, match="has lost a file"):
        store.fetch("job/1/lost.bin", io.BytesIO(), lambda: store.remove("job/1/lost.bin"))
    with pytest.raises(ResultGone):
        store.fetch("job/1/lost.bin", io.BytesIO())


def _failing(*_: object, **__: object) -> Any:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("call", ["fstat", "pread", "scandir", "stat", "unlink"])
def test_a_directory_that_fails_is_unavailable_in_every_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store = DirectoryStore(tmp_path)
    with store.create("job/1/a.bin") as file:
        file.write(b"whole")
    reader = store.open("job/1/a.bin")
    calls: dict[str, list[Callable[[], object]]] = {
        "fstat": [lambda: reader.size],
        "pread": [lambda: reader.read(0, 1)],
        "scandir": [lambda: list(store.list_objects("job/")), lambda: list(store.attempts()), lambda: store.sweep(1.0)],
        "stat": [
            lambda: store.size("job/1/a.bin"),
            lambda: store.size("job/1/none"),
            lambda: list(store.list_objects("job/")),
        ],
        "unlink": [lambda: store.remove("job/1/a.bin")],
    }
    with monkeypatch.context() as failing:
        failing.setattr(os, call, _failing)
        for one in calls[call]:
            with pytest.raises(StoreUnavailable):
                one()
    reader.close()


def test_a_missing_object_of_a_directory_that_fails_is_not_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(tmp_path)
    monkeypatch.setattr(Path, "is_dir", _failing)
    with pytest.raises(StoreUnavailable):
        store.open("job/1/none")
    with pytest.raises(StoreUnavailable):
        store.size("job/1/none")


def test_a_large_object_is_sent_in_parts_and_arrives_whole(store: ResultStore) -> None:
    block = random.Random(2).randbytes(1 << 20)
    with store.spool() as spool:
        for _ in range(36):
            spool.file.write(block)
        spool.file.seek(0)
        digest = hashlib.file_digest(spool.file, "sha256").hexdigest()
        spool.keep(f"releases/{digest}")
    reader, total = store.open(f"releases/{digest}"), hashlib.sha256()
    for n in range(36):
        total.update(reader.read(n << 20, 1 << 20))
    assert total.hexdigest() == digest
    store.remove(f"releases/{digest}")
    store.remove(f"releases/{digest}")
    assert store.size(f"releases/{digest}") is None


class DiskFull(Exception):
    """What the fake writer below meets."""


def test_a_writer_that_fails_leaves_nothing_in_a_listing(store: ResultStore) -> None:
    with pytest.raises(DiskFull), store.create("job/1/a.bin") as file:  # noqa: PT012
        file.write(b"half")
        raise DiskFull
    with store.spool() as spool:
        spool.file.write(b"never kept")
    assert store.size("job/1/a.bin") is None
    assert list(store.list_objects("job/")) == list(store.attempts()) == []


@pytest.mark.parametrize("call", ["flush", "fsync"])
def test_a_full_disk_is_an_error_and_not_a_short_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    store = DirectoryStore(tmp_path)

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "no space left on the device")

    with store.create("job/1/a.bin") as file:
        file.write(b"before")
    if call == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull, match="is full"), store.create("job/1/a.bin") as file:  # noqa: PT012
        file.write(b"after")
        if call == "flush":
            full()
    monkeypatch.undo()
    assert store.open("job/1/a.bin").read(0, 100) == b"before"
    assert list(store.list_objects(f"{PARTIAL}/")) == []


LIMITED = """
import resource, signal, sys
from pathlib import Path
from shared.objects.directory import DirectoryStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with DirectoryStore(Path(sys.argv[1])).create("job/1/a.bin") as file:
    for _ in range(100):
        file.write(bytes(4096))
"""

ENDLESS = """
import sys
from pathlib import Path
from shared.objects.directory import DirectoryStore
with DirectoryStore(Path(sys.argv[1])).create("job/1/a.bin") as file:
    while True:
        file.write(bytes(65536))
        print("more", flush=True)
"""


def test_a_writer_at_the_limit_of_its_disk_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "StoreFull: the results store is full" in done.stderr
    store = DirectoryStore(tmp_path)
    assert store.size("job/1/a.bin") is None
    assert list(store.list_objects(f"{PARTIAL}/")) == []


def test_a_killed_writer_leaves_a_file_that_cannot_be_opened_and_the_sweep_deletes_it(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    for rounds in (1, 5, 20):
        writer = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(rounds):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert store.size("job/1/a.bin") is None and list(store.attempts()) == []
    assert store.sweep(3600) == 0  # it may still be writing
    assert store.sweep(-1) == 3
    assert list(store.list_objects(f"{PARTIAL}/")) == []


def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "results"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    assert DirectoryStore(root).size("link") is None
    with pytest.raises(ResultGone):
        DirectoryStore(root).open("link")


def test_a_volume_that_is_not_mounted_is_an_outage_and_not_a_loss(tmp_path: Path) -> None:
    root, aside = tmp_path / "results", tmp_path / "aside"
    store = DirectoryStore(root)
    with store.create("job/1/a.bin") as file:
        file.write(b"kept")
    root.rename(aside)
    for make, undo in ((lambda: None, lambda: None), (root.mkdir, root.rmdir), (root.touch, root.unlink)):
        make()
        for ask in (store.open, store.size):
            with pytest.raises(StoreUnavailable):
                ask("job/1/a.bin")
        undo()
    aside.rename(root)
    assert store.open("job/1/a.bin").read(0, 9) == b"kept"
    with pytest.raises(ResultGone):
        store.open("job/1/b.bin")


def test_a_directory_that_may_not_be_read_is_an_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DirectoryStore(tmp_path)
    with store.create("job/1/a.bin") as file:
        file.write(b"kept")

    def refused(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreUnavailable):
        store.open("job/1/a.bin")


def test_an_unavailable_s3_says_so(s3: str) -> None:
    store = s3_store(s3, "no-such-bucket")
    with pytest.raises(StoreUnavailable), store.create("a/1/b") as file:
        file.write(b"x")
    assert store.size("a/1/b") is None


def test_an_s3_that_hangs_is_waited_for_as_long_as_was_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = s3_store(f"http://127.0.0.1:{silent.getsockname()[1]}", seconds=0.1)
        for ask in (store.open, store.size):
            with pytest.raises(StoreUnavailable):
                ask("job/1/a.bin")


def test_the_settings_choose(settings: Settings) -> None:
    assert isinstance(open_object_store(settings), DirectoryStore)
    named = Settings.from_environment({"S3_BUCKET": BUCKET, "S3_ENDPOINT": "http://127.0.0.1:9"})
    assert isinstance(open_object_store(named), S3Store)
    assert "a secret" not in repr(Settings.from_environment({"S3_SECRET_ACCESS_KEY": "a secret"}))
