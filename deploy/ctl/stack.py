"""`itemindex up`, `status`, `down` and `logs`: the whole service on this machine."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import click

from deploy.ctl.console import (
    console,
    data_dir,
    data_dir_option,
    errors,
    for_programs,
    print_json,
    report,
    rows_of,
    show,
    store_options,
)
from deploy.ctl.demo import create_demo_organizations, load_demo
from deploy.ctl.nginx import tls_options
from deploy.local import identity, tls
from deploy.local.paths import Paths
from deploy.local.running_stack import StackPart, end_left_behind, is_supervised, lock_stack, read_state, settings_of
from deploy.local.service_process import tail
from deploy.local.stack import Stack
from deploy.terminal import Styled, safe
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.organizations.accounts import SQL
from shared.processes import is_alive
from shared.settings.settings import Settings

_DETACHED_SECONDS = 300.0
_DOWN_SECONDS = 90.0
_READY_SECONDS = 30.0


@click.command(epilog="Example: itemindex logs edge-a -f")
@click.argument("name", required=False)
@click.option("-f", "--follow", is_flag=True, help="Keep showing new lines.")
@click.option("-n", "--lines", default=30, type=click.IntRange(0, 100_000), help="Number of lines to start with.")
@data_dir_option
def logs(name: str | None, follow: bool, lines: int) -> None:
    """Show the log of one part, or the end of every log."""
    folder = Paths.at(data_dir()).root / "log"
    names = sorted(path.stem for path in folder.glob("*.log"))
    if not names:
        raise ItemIndexError("there are no logs here; `itemindex up` writes them below its data directory")
    if name is not None and name not in names:
        raise click.BadParameter(f"there are: {', '.join(names)}", param_hint="NAME")
    chosen = [folder / f"{part}.log" for part in ([name] if name else names)]
    for path in chosen:
        console.say("[bold cyan]{part}[/]", part=path.stem)
        with path.open(errors="replace") as log:
            console.pass_on("".join(deque(log, lines)))
    if follow:
        _follow(chosen)


def _follow(paths: list[Path]) -> None:
    """Print the lines that are added to the files until Ctrl-C."""
    command = ["tail", "-n", "0", "-F", *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as tail:
        assert tail.stdout is not None
        try:
            for line in tail.stdout:
                console.pass_on(line)
        except KeyboardInterrupt:
            pass
        finally:
            tail.terminate()  # also after an error: leaving the block waits for it


@click.command(epilog="Example: itemindex up --port 8081 --data-dir ~/item-index")
@click.option(
    "--port", default=8080, type=click.IntRange(1, 65_535), envvar="ITEMINDEX_PORT", help="Port of nginx, on loopback."
)
@data_dir_option
@click.option(
    "--edges", "edge_workers", default=1, type=click.IntRange(1, 64), help="Worker processes of each of the two edges."
)
@click.option("--demo/--no-demo", default=True, help="Load the demo data on the first start.")
@click.option(
    "--tls",
    "local_tls",
    is_flag=True,
    help="Serve HTTPS with a self-signed certificate, created in the data directory.",
)
@tls_options
@click.option("--detach", is_flag=True, help="Return as soon as the service is ready; stop it with `itemindex down`.")
def up(
    port: int, edge_workers: int, demo: bool, local_tls: bool, tls_cert: Path | None, tls_key: Path | None, detach: bool
) -> None:
    """Run the whole service here: PostgreSQL, two Valkey servers, two edges, dispatcher, workers, nginx.

    The first start creates the database and loads the demo data; later starts reuse it. Ctrl-C stops everything.
    """
    paths = _create_paths()
    if detach:
        certificate = tls.given_certificate(tls_cert, tls_key)
        given = ["--tls-cert", str(certificate.chain), "--tls-key", str(certificate.key)] if certificate else []
        _detach(paths, port, edge_workers, demo, [*(["--tls"] if local_tls else []), *given])
        return
    with lock_stack(paths):
        end_left_behind(paths)
        certificate = tls.given_certificate(tls_cert, tls_key)
        if certificate is None and local_tls:
            from deploy.local.self_signed import certificate_of

            certificate = certificate_of(paths)
        _run(Stack(paths, port, edge_workers, certificate=certificate), demo)


def _create_paths() -> Paths:
    try:
        return Paths.below(data_dir())
    except OSError as error:
        raise ItemIndexError(
            f"{data_dir()} cannot be the data directory ({error.strerror or error}); name another with --data-dir"
        ) from None


def _run(stack: Stack, demo: bool) -> None:
    stack.require_free_port()
    stop: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: _interrupt(stop, received))
    try:
        with console.status("starting …") as status:
            stack.start_servers(lambda what: status.update(safe(f"starting {what} …")))
            stack.write_state(ready=False)
        if demo and load_demo(stack.settings, console) and stack.identity is not None:
            create_demo_organizations(stack.settings, identity.issuer(stack.identity["port"]))
        with console.status("starting the service …") as status:
            stack.start_service(lambda what: status.update(safe(f"starting {what} …")))
            status.update("waiting for the search index …")
            _wait_until_ready(stack)
        stack.write_state()
        certificate = stack.certificate
        _greet(stack.paths, stack.settings, stack.settings.base_url, certificate.chain if certificate else None)
        console.say("\nCtrl-C stops everything.\n")
        stack.watch(lambda: bool(stop))
    except KeyboardInterrupt:
        pass
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # an impatient second Ctrl-C must not leave half of it running
        console.say("stopping …")
        stack.stop()
        console.say("stopped")


def _wait_until_ready(stack: Stack) -> None:
    """Wait until searches work too; on an empty index, or a slow machine, continue without."""
    ends = time.monotonic() + _READY_SECONDS
    while time.monotonic() < ends:
        line = tls.connection(stack.port, stack.certificate.chain if stack.certificate else None, timeout=5)
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            document = json.loads(tls.get(line, "/v1/ready")[1])
            if document["status"] == "ready" or document["data_version"] == 0:
                return
        time.sleep(0.1)


def _interrupt(stop: list[int], number: int) -> None:
    stop.append(number)
    raise KeyboardInterrupt


def _greet(paths: Paths, settings: Settings, base: str, certificate: Path | None) -> None:
    """Print where the documentation is, calls to try, and the people that can sign in."""
    header = f"-H 'X-Service-Public-Token: {settings.anonymous_token}'"
    if certificate:
        header += f" --cacert {certificate}"
    console.say(
        "\n[bold green]Item Index is ready.[/]  Read and try it: [link={base}/docs]{base}/docs[/link]\n", base=base
    )
    with connect(settings.database_url, application="up") as connection:
        calls_a_day = {plan["name"]: plan["daily_units"] for plan in rows_of(connection, SQL.plans)}
    console.say(
        "Calls to try ({anonymous:,} a day are free without sign-up; `itemindex tokens issue` gives {free:,}):\n",
        anonymous=calls_a_day["anonymous"],
        free=calls_a_day["free"],
    )
    for path in ("/index/search?q=soy+milk", "/index/brands?q=ka", "/quota"):
        console.say("  curl -s {header} '{base}{path}'", header=header, base=base, path=path, soft_wrap=True)
    console.say("\nThe dashboard: [link={origin}/dashboard]{origin}/dashboard[/link]", origin=base[:-3])
    if not os.environ.get("OIDC_ISSUER"):
        words = identity.prepare(paths)["passwords"]
        for person in identity.PEOPLE:
            role = f"{person.organization}, plan {person.plan}" if person.organization else "new here"
            operator = ", operator" if person.email == identity.STAFF else ""
            console.say(
                "Sign in as [bold]{name}[/] with password [bold]{word}[/]  ({role})",
                name=person.login,
                word=words[person.login],
                role=role + operator,
            )
    sys.stdout.flush()


def _detach(paths: Paths, port: int, edge_workers: int, demo: bool, options: list[str]) -> None:
    with lock_stack(paths):
        pass  # the log of a stack that runs has the passwords of its people, and must not be begun anew
    log = paths.log("supervisor")
    command = [
        sys.executable,
        "-m",
        "deploy.ctl.main",
        "up",
        "--port",
        str(port),
        "--data-dir",
        str(paths.root),
        "--edges",
        str(edge_workers),
        "--demo" if demo else "--no-demo",
        *options,
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
    ends = time.monotonic() + _DETACHED_SECONDS
    with console.status("starting in the background …"):
        while time.monotonic() < ends and process.poll() is None:
            state = read_state(paths)
            if state and state["ready"] and state["pid"] == process.pid:
                certificate = Path(state["certificate"]) if state["certificate"] else None
                _greet(paths, settings_of(paths), state["base_url"], certificate)
                console.say("\nStop it with `make down`, or with `itemindex down` where that is installed.\n")
                return
            time.sleep(0.1)
    errors.say("[bold red]itemindex:[/] it did not start; the end of {log} says:", log=log)
    errors.pass_on(tail(log, 15))
    if process.poll() is None:
        process.terminate()
    sys.exit(1)


@click.command(epilog="Example: itemindex status --json")
@store_options
def status() -> None:
    """Show each part: its process, its uptime, and how often it was restarted. Exit code 3 if nothing is running."""
    state = read_state(Paths.at(data_dir()))
    if state is None:
        errors.say("nothing runs on this data directory; start it with `itemindex up`")
        sys.exit(3)
    shown = {key: value for key, value in state.items() if key != "environment"}
    if for_programs():
        print_json(shown)
        return
    show([_row(child) for child in state["children"]], title=f"{state['base_url']}  (pid {state['pid']})")


def _row(child: StackPart) -> dict[str, object]:
    alive = child["pid"] is not None and is_alive(child["pid"])
    verdict = Styled("up", "green") if alive else Styled("down", "red")
    return {
        "part": child["name"],
        "state": verdict,
        "pid": str(child["pid"]),
        "since": child["started"],
        "restarts": child["restarts"],
    }


@click.command(epilog="Example: itemindex down --data-dir ~/item-index")
@store_options
def down() -> None:
    """Stop the service that is running on this data directory, and wait until it has stopped.

    Also stops parts left behind by a killed supervisor.
    """
    paths = Paths.at(data_dir())
    state = read_state(paths)
    if state is None:
        _end_orphans(paths)
        return
    os.kill(state["pid"], signal.SIGTERM)
    ends = time.monotonic() + _DOWN_SECONDS
    while time.monotonic() < ends:
        if not is_supervised(paths):
            report("stopped", stopped=True)
            return
        time.sleep(0.1)
    raise ItemIndexError(
        f"pid {state['pid']} is still stopping after {_DOWN_SECONDS:.0f} s; see `itemindex logs supervisor`"
    )


def _end_orphans(paths: Paths) -> None:
    with lock_stack(paths) if paths.root.exists() else contextlib.nullcontext():
        ended = end_left_behind(paths)
    if ended:
        report("stopped {count} processes without a supervisor", stopped=True, count=len(ended))
    else:
        report("nothing runs on this data directory", stopped=False)
