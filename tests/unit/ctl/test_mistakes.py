"""What the command line says to a mistake: one clear sentence and exit code 1 or 2, never a traceback."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from deploy.ctl.main import main

PROJECT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Done:
    """The outcome of a command."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process: what would end in a traceback raises here."""
    for name in os.environ:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", "/nonexistent")

    def called(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        written = capsys.readouterr()
        return Done(int(str(ended.value.code)), written.out, written.err)

    return called


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("up", "--port", "99999"), "99999 is not in the range"),
        (("up", "--data-dir", "/proc/nope"), "cannot be the data directory"),
        (("doctor", "--data-dir", "/proc/nope"), "nothing runs on /proc/nope"),
        (("jobs", "list", "--state", "nonsense"), "'nonsense' is not one of"),
        (("jobs", "list", "--limit", "0"), "0 is not in the range"),
        (("loads", "rejects", "--limit", "-1"), "-1 is not in the range"),
        (("plans", "set", "brand", "--burst-units", "9" * 12), "is not in the range"),
        (("webhooks", "replay", str(UUID(int=1)), "--after", "9" * 30), "is not in the range"),
        (("nginx", "render", "--listen", "bad"), "is no address"),
        (("nginx", "render", "--listen", "0.0.0.0:8080;evil"), "is no address"),
        (("fetch", "items", "--key", "k", "--url", "http://127.0.0.1:1/v1"), "cannot be reached"),
        (("fetch", "items", "--key", "k", "--url", "ftp://x"), "must begin with http"),
        (("fetch", "items", "--key", "ké"), "the key has characters that no key has"),
        (("fetch", "items", "--key", "k", "--url", "http://é é"), "is no address of an API"),
        (("top", "--url", "http://[", "--once"), "is no address of metrics"),
        (("calc", "index-numbers", "nowhere.csv"), "does not exist"),
        (("members", "list", "x", "--data-dir", "/nonexistent"), "no stack runs here"),
        (("logs", "--data-dir", "/nonexistent"), "there are no logs here"),
        (("item", "list"), "Did you mean `items`?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_answered_with_a_sentence(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    done = run(*arguments)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr + done.stdout
    assert sentence in " ".join((done.stderr + done.stdout).split())


@pytest.mark.parametrize("command", ["status", "doctor", "orgs list", "down", "logs", "top", "jobs list"])
def test_a_command_that_only_reads_creates_nothing(
    run: Run, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(*command.split(), "--data-dir", str(tmp_path / "absent"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("shell", "marker"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --no-files")]
)
def test_completion_prints_a_script_of_the_shell(run: Run, shell: str, marker: str) -> None:
    done = run("completion", shell)
    assert (done.returncode, marker in done.stdout) == (0, True)


LONG_CELL = b"a,b,day,price\n1," + b"x" * 200_000 + b",2026-07-01,2\n"
CUT_GZIP = gzip.compress(b"id,name\n" + b"1,x\n" * 10_000, mtime=0)[:40]
LONG_HEADER = b"x" * 200_000 + b",price\n1,2\n"


@pytest.mark.parametrize(
    ("command", "name", "content", "sentence"),
    [
        ("ingest guess", "long.csv", LONG_CELL, "the file is broken: field larger than field limit"),
        ("ingest guess", "cut.csv.gz", CUT_GZIP, "the file is broken"),
        ("ingest guess", "cut.parquet", b"PAR1....PAR1", "the file is broken"),
        ("calc units --pairs", "long.csv", LONG_CELL, "the file is no CSV that can be read"),
        ("calc prior-price", "long.csv", LONG_HEADER, "the file is no CSV that can be read"),
        ("calc footprint", "long.csv", LONG_HEADER, "the file is no CSV that can be read"),
    ],
    ids=["cell", "gzip", "parquet", "pairs", "prices", "figures"],
)
def test_a_broken_file_is_answered_with_a_sentence(
    run: Run, command: str, name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    done = run(*command.split(), str(tmp_path / name))
    assert (done.returncode, "Traceback" in done.stderr + done.stdout) == (1, False)
    assert sentence in " ".join(done.stderr.split())


def test_a_full_disk_is_answered_with_a_sentence() -> None:
    command = [sys.executable, "-m", "deploy.ctl.main", "openapi"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, cwd=PROJECT, check=False
        )
    assert (done.returncode, done.stderr) == (1, "itemindex: No space left on device.\n")
