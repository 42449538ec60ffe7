"""What the embedded stack makes once is complete or not there, whenever its first start was killed."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.stack import up
from deploy.local import nginx, postgres
from deploy.local.nginx import render
from deploy.local.paths import Paths, free_port, port_is_free
from deploy.local.running_stack import StackError, lock_stack
from deploy.local.stack import Stack
from shared.errors import ConfigurationError
from shared.settings.settings import Settings

KILLED = '#!/bin/sh\ntouch "$2/PG_VERSION"\nkill -9 $$\n'


def test_a_database_whose_making_was_killed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, real = Paths.below(tmp_path), postgres.binary
    script = tmp_path / "initdb"
    script.write_text(KILLED)
    script.chmod(0o755)
    monkeypatch.setattr(postgres, "identity", lambda: ([], None))
    monkeypatch.setattr(postgres, "binary", lambda name: str(script))
    with pytest.raises(StackError, match="initdb failed"):
        postgres.initialize(paths, "secret")
    assert not (paths.run / "pw").exists()
    monkeypatch.undo()
    assert postgres.binary is real
    made = postgres.initialize(paths, "secret")
    assert "listen_addresses = ''" in (made / "postgresql.conf").read_text()
    assert sorted(path.name for path in tmp_path.glob("postgres*")) == ["postgres"]


def test_sockets_have_a_path_for_the_kernel_and_for_addresses_whatever_the_folder_is_called() -> None:
    assert Paths.at(Path("/srv/items")).run == Path("/srv/items/run")
    for folder in ("/srv/" + "a" * 90, "/srv/" + "数据" * 15, "/srv/a,b", "/srv/a b", "/srv/a&b", "/srv/a%20b"):
        path = str(Paths.at(Path(folder)).socket("worker-webhooks"))
        assert len(path) <= 107 and re.fullmatch(r"[a-z0-9/._-]+", path)


def test_a_port_that_was_given_is_given_to_no_one_else_and_a_server_may_take_it() -> None:
    port = free_port()
    other = subprocess.run(
        [sys.executable, "-c", f"import socket; socket.socket().bind(('127.0.0.1', {port}))"], capture_output=True
    )
    assert b"Address already in use" in other.stderr
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port), timeout=5):
        assert not port_is_free(port)
    assert port_is_free(port)


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port at which another program answers as this service would."""
    with ThreadingHTTPServer(("127.0.0.1", free_port()), _Healthy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class _Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def test_nginx_is_not_ready_because_another_program_answers_at_its_port(tmp_path: Path, taken_port: int) -> None:
    program = nginx.program(
        Paths.below(tmp_path),
        Settings(base_url=f"http://127.0.0.1:{taken_port}/v1"),
        listen=f"127.0.0.1:{taken_port}",
        metrics_listen=f"127.0.0.1:{free_port()}",
        certificate=None,
    )
    assert program.ready(), "the other program answers"
    with pytest.raises(StackError, match=f"port {taken_port} is taken by pid {os.getpid()} "):
        Stack(Paths.below(tmp_path), taken_port).start(program)


def test_a_start_says_which_process_holds_the_port(tmp_path: Path, taken_port: int) -> None:
    done = CliRunner().invoke(up, ["--data-dir", str(tmp_path), "--port", str(taken_port)])
    assert f"port {taken_port} is taken by pid {os.getpid()} (" in str(done.exception)
    assert "--port" in str(done.exception)


def test_a_second_start_leaves_the_log_of_the_stack_that_runs(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    paths.log("supervisor").write_text("Sign in as ada")
    with lock_stack(paths):
        done = CliRunner().invoke(up, ["--detach", "--data-dir", str(tmp_path)])
    assert "a stack already runs on" in str(done.exception)
    assert paths.log("supervisor").read_text() == "Sign in as ada"


def test_workers_of_nginx_fit_its_limit_of_memory_on_a_host_of_any_size() -> None:
    for cores, expected in ((2, 2), (64, 16)):
        code = f"import os; os.cpu_count = lambda: {cores}; from deploy.local import nginx; print(nginx._DEFAULTS)"
        assert f"'WORKERS': '{expected}'" in subprocess.check_output([sys.executable, "-c", code], text=True)


def test_nginx_is_given_no_path_that_it_would_read_as_something_else() -> None:
    for folder in ("/srv/a[b]", "/srv/*", '/srv/"a', "/srv/$a"):
        with pytest.raises(ConfigurationError, match="cannot name this path"):
            render({"RUN_DIR": Path(folder)})


def test_secrets_are_written_whole_and_for_their_owner_only(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    made = paths.secrets()
    assert paths.secrets() == made
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "secrets.new").exists()
