"""`python -m tests.assurance.judges.first_calls`: other people's clients make their first calls against a stack of their own.

Each client of the service's protocols runs in a process of its own, by what its documentation shows first. A row for
each client; exit code 1 where a call failed. Clients that the tests' environment lacks are in `.venv-judge/readers`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from deploy.local.paths import free_port
from tests.assurance.judges.findings import NotInstalled
from tests.assurance.judges.programs import COMMANDS, ENVIRONMENT, installed, run
from tests.assurance.judges.readers import wait_for_release

_HERE = Path(__file__).parent
_SCRIPT = _HERE / "callers" / "first_calls.py"
_CONFIGURATION = _HERE / "openapi_python_client.yaml"
# The longest first.
IN_READERS = ("openapi_python_client", "s3fs", "pyiceberg", "duckdb", "boto3", "polars", "pyarrow")
IN_TESTS = ("delta_sharing", "itemindex_client", "mcp", "standardwebhooks")
_SECONDS_MAX = 120.0
# What a machine may have set for other services; and more threads than cores would only wait for one another.
_UNSET = ("AWS_PROFILE", "AWS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_SETTINGS = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2", "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def running_stack(folder: Path) -> Iterator[dict[str, str]]:
    """Start a stack with the demo data and a release; yield the environment of its clients."""
    data, port = ["--data-dir", str(folder / "data")], free_port()
    run(["env", "WEBHOOK_PRIVATE_ADDRESSES=true", *COMMANDS, "up", "--detach", "--port", str(port), *data])
    try:
        organization = run([*COMMANDS, "orgs", "create", "Caller", "--plan", "institutional", *data]).strip()
        key = run([*COMMANDS, "keys", "issue", organization, *data]).strip()
        wait_for_release(data)
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        yield {**kept, **_SETTINGS, "ITEMINDEX_URL": f"http://127.0.0.1:{port}/v1", "ITEMINDEX_KEY": key}
    finally:
        run([*COMMANDS, "down", *data])


def first_calls(client: str, folder: Path, environment: dict[str, str]) -> tuple[int, list[str], float]:
    """Let one client make its calls; return their number, those that failed, and the seconds."""
    python = installed(ENVIRONMENT / "readers" / "bin" / "python") if client in IN_READERS else sys.executable
    own = folder / client
    own.mkdir()
    shutil.copy(_CONFIGURATION, own)
    began = time.monotonic()
    try:
        done = subprocess.run(
            [python, str(_SCRIPT), client, str(own)],
            cwd=own,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 0, [f"it took more than {_SECONDS_MAX:.0f} s"], time.monotonic() - began
    seconds = time.monotonic() - began
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"calls"')]
    if done.returncode or len(lines) != 1:
        return 0, [f"it ended with {done.returncode}: {done.stderr.strip()[-500:]}"], seconds
    report = json.loads(lines[0])
    if report["failed"]:
        print(done.stderr[-4_000:], file=sys.stderr)
    return report["calls"], report["failed"], seconds


def main() -> int:
    """Run all clients, or those that are named; return the exit code."""
    reader = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    every = (*IN_READERS, *IN_TESTS)
    reader.add_argument("clients", nargs="*", help=f"any of {', '.join(every)}; default: all")
    chosen: list[str] = reader.parse_args().clients or list(every)
    if unknown := [name for name in chosen if name not in every]:
        reader.error(f"there is no client {', '.join(unknown)}; there are {', '.join(every)}")
    try:
        if set(IN_READERS) & set(chosen):
            installed(ENVIRONMENT / "readers" / "bin" / "python")
    except NotInstalled:
        print(f"{ENVIRONMENT.name}/readers is missing; make it: make {ENVIRONMENT.name}/.readers", file=sys.stderr)
        return 1
    all_passed = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        with running_stack(folder) as environment, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            running = {pool.submit(first_calls, name, folder, environment): name for name in chosen}
            for ended in as_completed(running):
                calls, failed, seconds = ended.result()
                state = f"{len(failed)} FAILED" if failed else "passed"
                print(f"{running[ended]:<22} {calls:>3} calls {state} {seconds:>4.0f} s", flush=True)
                for sentence in failed:
                    print(f"    {sentence}", flush=True)
                all_passed &= not failed
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
