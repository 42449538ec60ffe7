"""What the command line says to a mistake: one clear sentence and exit code 1 or 2, never a traceback."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.ctl.doctor import _child
from deploy.ctl.main import main
from shared.clock import utc_now
from shared.errors import ConfigurationError
from shared.settings.checks import same_user
from shared.settings.settings import Settings

PROJECT = Path(__file__).parents[4]


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
        (("nginx", "--listen", "bad"), "is not an address"),
        (("nginx", "--listen", "0.0.0.0:8080;evil"), "is not an address"),
        (("top", "--url", "http://[", "--once"), "is not the address of metrics"),
        (("calc", "index-numbers", "nowhere.csv"), "does not exist"),
        (("calc", "index_numbers", "nowhere.csv"), "does not exist"),
        (("people", "list", "x", "--data-dir", "/nonexistent"), "no stack runs here"),
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


@pytest.mark.parametrize(
    ("command", "name", "content", "sentence"),
    [
        ("ingest guess", "long.csv", LONG_CELL, "no items here: 1 row"),
        ("ingest guess", "cut.csv.gz", CUT_GZIP, "the file is broken"),
        ("ingest guess", "cut.parquet", b"PAR1....PAR1", "the file is broken"),
        ("calc prior-price", "ragged.csv", b"day,price\n2026-01-01,1,2\n", "the file cannot be read as CSV in UTF-8"),
    ],
    ids=["cell", "gzip", "parquet", "prices"],
)
def test_a_broken_file_is_answered_with_a_sentence(
    run: Run, command: str, name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    done = run(*command.split(), str(tmp_path / name))
    assert (done.returncode, "Traceback" in done.stderr + done.stdout) == (1, False)
    assert sentence in " ".join(done.stderr.split())


def part(pid: int, restarts: int = 1, minutes: float = 0) -> dict[str, Any]:
    started = (utc_now() - timedelta(minutes=minutes)).isoformat()
    return {"name": "edge-a", "pid": pid, "restarts": restarts, "started": started}


def test_the_doctor_forgives_restarts_of_a_part_that_has_run_for_a_while_since() -> None:
    assert [_child(part(os.getpid(), 3, minutes)).ok for minutes in (1, 60)] == [False, True]


@pytest.mark.parametrize("alive", [True, False])
def test_the_doctor_says_that_a_part_which_died_is_down(alive: bool) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    found = _child(part(os.getpid() if alive else ended.pid))
    assert (found.ok, found.found) == (alive, "restarted 1 time" if alive else "is down, restarted 1 time")


def test_settings_are_listed_in_plain_words(run: Run) -> None:
    titles, first = run("config").stdout.splitlines()[2], run("config").stdout.splitlines()[4]
    assert "description" in titles and "sentence" not in titles
    assert "yes" in first and "True" not in first


def test_a_full_disk_is_answered_with_a_sentence() -> None:
    command = [sys.executable, "-m", "deploy.ctl.main", "config"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, cwd=PROJECT, check=False
        )
    assert (done.returncode, done.stderr) == (1, "itemindex: No space left on device.\n")


GOOD = "pq8Zt4mWc1Xv7Rk0Ls5Nb2Hd9Yf3Gj6A"

OTHER = GOOD[::-1]


def refused(environment: dict[str, str]) -> list[str]:
    """Return the lines of the refusal."""
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_environment(environment)
    return str(raised.value).splitlines()


def test_a_setting_that_weakens_is_refused_in_one_line_that_says_what_to_do() -> None:
    for name, value in (
        ("LOG_LEVEL", "CRITICAL"),
        ("TOKEN_PEPPER", "a"),
        ("TOKEN_PEPPER", GOOD[:31]),
        ("SIGNING_SECRET", "a"),
        ("SIGNING_SECRET", "ab" * 32),
        ("STATE_TIMEOUT_SECONDS", "-5"),
        ("STATE_TIMEOUT_SECONDS", "0"),
        ("CACHE_TIMEOUT_SECONDS", "0"),
        ("DATABASE_TIMEOUT_SECONDS", "-1"),
        ("OIDC_TIMEOUT_SECONDS", "0"),
        ("LEASE_TTL_SECONDS", "0"),
        ("DRAIN_SECONDS", "-1"),
        ("USAGE_FLUSH_SECONDS", "0"),
        ("DRAIN_SECONDS", "nan"),
        ("DRAIN_SECONDS", "inf"),
        ("DATABASE_POOL_MAX", "0"),
        ("JOBS_WAITING_MAX", "-3"),
        ("SIGNED_URL_SECONDS", "0"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "-0.1"),
        ("TRUSTED_PROXIES", "0.0.0.0/0"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,::/0"),
        ("TRUSTED_PROXIES", "0.0.0.0/1"),
        ("TRUSTED_PROXIES", "::ffff:0:0/1"),
        ("TRUSTED_PROXIES", "proxy.example"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("BASE_URL", "ftp://x"),
        ("BASE_URL", "api.example.org/v1"),
        ("BASE_URL", "https://"),
        ("BASE_URL", "https://a:b@x/v1"),
        ("BASE_URL", "https://x/v1?a=b"),
        ("BASE_URL", "https://x:99999/v1"),
        ("BASE_URL", "https://x/v1\n"),
        ("PROBLEM_BASE_URL", "javascript:alert(1)"),
        ("S3_ENDPOINT", "file:///etc"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///x"),
        ("OIDC_ISSUER", "file:///etc/passwd"),
        ("OIDC_ISSUER", "http://issuer.example"),
        ("OIDC_ISSUER", "http://127.0.0.1.example"),
        ("OIDC_ISSUER", "issuer.example"),
        ("OIDC_SIGN_UP", "http://issuer.example/registrations"),
        ("OIDC_SIGN_UP", "create"),
        ("OIDC_SIGN_UP", "javascript:alert(1)"),
    ):
        lines = refused({name: value})
        assert lines, name
        for line in lines:
            assert line.startswith(f"{name} "), name
            assert "; " in line, name
        if name.endswith(("PEPPER", "SECRET")) and len(value) > 1:
            assert value not in "".join(lines), name


def test_two_secrets_must_differ_in_any_case() -> None:
    (line,) = refused({"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": GOOD})
    assert "TOKEN_PEPPER and SIGNING_SECRET are equal" in line
    assert GOOD not in line
    (line,) = refused({"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": OTHER, "OIDC_CLIENT_SECRET": OTHER})
    assert "SIGNING_SECRET and OIDC_CLIENT_SECRET are equal" in line


def test_all_faults_are_named_at_once() -> None:
    lines = refused({"TOKEN_PEPPER": "a", "STATE_TIMEOUT_SECONDS": "-5", "BASE_URL": "ftp://x"})
    assert sorted(line.split()[0] for line in lines) == ["BASE_URL", "STATE_TIMEOUT_SECONDS", "TOKEN_PEPPER"]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"TOKEN_PEPPER": GOOD, "SIGNING_SECRET": OTHER, "OIDC_CLIENT_SECRET": "short"},
        {"TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.1,fd00::/8,fc00::/7"},
        {"BASE_URL": "https://api.example.org/v1", "OIDC_ISSUER": "https://issuer.example/realms/x"},
        {"OIDC_ISSUER": "http://127.0.0.1:9000"},
        {"OIDC_SIGN_UP": "https://issuer.example/registrations"},
        {"OIDC_SIGN_UP": "prompt"},
        {"OIDC_SIGN_UP": "none"},
        {"OIDC_ISSUER": "http://[::1]:9000"},
        {"OIDC_ISSUER": "http://localhost:9000"},
        {
            "RELEASE_INTERVAL_HOURS": "0",
            "STATE_FAILOVER_SECONDS": "0",
            "DRAIN_SECONDS": "0",
            "OTEL_TRACES_SAMPLER_ARG": "0",
        },
    ],
)
def test_settings_that_are_safe_are_taken(environment: dict[str, str]) -> None:
    Settings.from_environment(environment)


def test_the_owner_is_known_by_its_name_in_the_address() -> None:
    owner = "postgresql://itemindex:one@db/itemindex"
    assert same_user("postgresql://itemindex:two@other/itemindex", owner)
    assert not same_user("postgresql://itemindex_edge_login:one@db/itemindex", owner)
    assert not same_user("postgresql:///itemindex", "postgresql:///itemindex")
