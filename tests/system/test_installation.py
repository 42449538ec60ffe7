"""`itemindex nginx` as an installation starts it: a certificate of an authority, its renewal, and plain HTTP beside it."""

import asyncio
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from deploy.local.paths import free_port
from tests.support.authority import ACME_MISSING, Authority, pebble
from tests.system.conftest import COMMAND, PROJECT, clean_environment
from tests.system.nginx.reloads import reload_under_load
from tests.system.nginx.stub import Stub

pytestmark = pytest.mark.xdist_group("tls")


class Installed:
    """nginx as an installation runs it, in front of the stub."""

    def __init__(self, folder: Path, sockets: Path, context: ssl.SSLContext | None, **given: str) -> None:
        self.port, self.http_port, self.context = free_port(), int(given.pop("http_port", free_port())), context
        self.sockets, self.stub, self._folder = sockets, Stub(), folder
        self.environment = {
            **clean_environment(),
            "BASE_URL": f"https://api.example.org:{self.port}/v1",
            "NGINX_SERVER_NAMES": "api.example.org 127.0.0.1",
            "NGINX_LISTEN": f"127.0.0.1:{self.port}",
            "NGINX_HTTP_LISTEN": f"127.0.0.1:{self.http_port}",
            "NGINX_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
            "NGINX_RUN_DIR": str(sockets),
            "NGINX_TLS_CERT": str(folder / "tls/fullchain.pem"),
            "NGINX_TLS_KEY": str(folder / "tls/key.pem"),
            **given,
        }
        self._nginx: asyncio.subprocess.Process | None = None

    async def start(self, *wrapper: str) -> None:
        """Start the stub and nginx, through the programs of `wrapper`; wait until it listens."""
        for name in ("edge-a.sock", "edge-b.sock"):
            await self.stub.start(self.sockets / name)
        command = [*wrapper, *COMMAND, "nginx"]
        with (self._folder / "nginx.log").open("ab") as log:
            self._nginx = await asyncio.create_subprocess_exec(
                *command, env=self.environment, cwd=PROJECT, stdout=log, stderr=log
            )
        await self.until(self.listens)

    def listens(self) -> bool:
        """Return whether it listens; fails where it has ended."""
        assert self._nginx and self._nginx.returncode is None, (self._folder / "nginx.log").read_text()
        try:
            lines = Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()  # of its own network namespace
        except (FileNotFoundError, ProcessLookupError):
            return False  # it has ended just now: the next look fails with what it said
        address = self.environment["NGINX_LISTEN"].rpartition(":")[2]
        return any(f":{int(address):04X} 00000000:0000 0A " in line for line in lines)

    @property
    def pid(self) -> int:
        """The process to send signals to, as systemd knows it."""
        assert self._nginx is not None
        return self._nginx.pid

    def reload(self) -> None:
        """As ExecReload of the unit."""
        os.kill(self.pid, signal.SIGHUP)

    def workers(self) -> set[str]:
        """Return the process numbers of nginx's workers."""
        return set(Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds; the test's own time limit ends it."""
        while not condition():
            await asyncio.sleep(0.02)

    async def stop(self) -> None:
        """Stop nginx, then the stub."""
        if self._nginx and self._nginx.returncode is None:
            self._nginx.terminate()
            await self._nginx.wait()
        await self.stub.close()

    async def shown(self, context: ssl.SSLContext) -> int:
        """Return the serial number of the certificate that a verifying client of api.example.org is shown."""
        _, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=context, server_hostname="api.example.org"
        )
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return x509.load_der_x509_certificate(found).serial_number

    async def plain(self, target: str, host: str = "api.example.org") -> bytes:
        """Ask over plain HTTP and return all that comes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.http_port)
        writer.write(
            f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.close()
        return answer


Install = Callable[..., Awaitable[Installed]]


@pytest.fixture
async def install(tmp_path: Path) -> AsyncIterator[Install]:
    running: list[Installed] = []
    with tempfile.TemporaryDirectory(prefix="tls-") as sockets:

        async def make(context: ssl.SSLContext | None, **given: str) -> Installed:
            running.append(Installed(tmp_path, Path(sockets), context, **given))
            await running[-1].start()
            return running[-1]

        yield make
        for one in running:
            await one.stop()


async def test_openssl_finds_the_chain_the_protocols_and_nothing_older(install: Install, tmp_path: Path) -> None:
    authority = Authority()
    authority.issue(tmp_path / "tls", "api.example.org", "127.0.0.1")
    (tmp_path / "root.pem").write_bytes(authority.root.public_bytes(serialization.Encoding.PEM))
    served = await install(authority.trusting())
    address = ["-connect", f"127.0.0.1:{served.port}", "-servername", "api.example.org"]
    verify = ["-CAfile", str(tmp_path / "root.pem"), "-verify_return_error", "-verify_hostname", "api.example.org"]

    async def client(*options: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            "openssl",
            "s_client",
            *address,
            *verify,
            *options,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        return process.returncode, printed.decode(errors="replace")

    for version in ("-tls1_2", "-tls1_3"):
        code, printed = await client(version, "-alpn", "h2,http/1.1", "-showcerts")
        assert code == 0 and "Verify return code: 0 (ok)" in printed and "ALPN protocol: h2" in printed, printed
        assert printed.count("BEGIN CERTIFICATE") == 2, "the chain without the root"
    for version in ("-tls1", "-tls1_1"):
        assert (await client(version, "-cipher", "ALL:@SECLEVEL=0"))[0] != 0
    assert (await client("-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256"))[0] != 0, "no forward secrecy"


async def test_plain_http_redirects_to_the_service_and_nowhere_else(install: Install, tmp_path: Path) -> None:
    authority = Authority()
    authority.issue(tmp_path / "tls", "api.example.org")
    (tmp_path / "acme/.well-known/acme-challenge").mkdir(parents=True)
    (tmp_path / "acme/.well-known/acme-challenge/token").write_text("token.print")
    (tmp_path / "acme/other").write_text("not shown")
    served = await install(authority.trusting(), NGINX_ACME_DIR=str(tmp_path / "acme"))
    answer = await served.plain("/v1/index/lookup?iid=1%202&x=%0d")
    assert answer.startswith(b"HTTP/1.1 308 "), "a POST stays one"
    place = f"Location: https://api.example.org:{served.port}/v1/index/lookup?iid=1%202&x=%0d\r\n"
    assert place.encode() in answer
    assert b"Strict-Transport-Security" not in answer, "it counts only by TLS"
    assert (await served.plain("/", host="evil.example")).startswith(b"HTTP/1.1 421 ")
    assert (await served.plain("http://evil.example/")).startswith(b"HTTP/1.1 421 ")
    assert b" 308 " in await served.plain("/other")
    reader, writer = await asyncio.open_connection("127.0.0.1", served.http_port)
    writer.write(b"GET /.well-known/acme-challenge/token HTTP/1.0\r\nHost: api.example.org\r\n\r\n")
    shown = await reader.read()
    writer.close()
    assert b" 200 " in shown.partition(b"\r\n")[0] and shown.endswith(b"token.print")
    assert served.stub.seen == [], "no plain call reaches an edge"


@pytest.mark.timeout(300)
async def test_a_renewed_certificate_is_shown_and_no_call_is_lost(install: Install, tmp_path: Path) -> None:
    authority = Authority()
    authority.issue(tmp_path / "tls", "api.example.org", "127.0.0.1", "localhost")
    served = await install(authority.trusting(), NGINX_SERVER_NAMES="api.example.org localhost")
    first = await served.shown(authority.trusting())
    answered, lost = await reload_under_load(
        served, 4, 800, lambda: authority.issue(tmp_path / "tls", "api.example.org", "127.0.0.1", "localhost")
    )
    assert (answered >= 800, lost) == (True, [])
    last = x509.load_pem_x509_certificate((tmp_path / "tls/fullchain.pem").read_bytes()).serial_number
    assert last != first
    # A worker of before may take one more connection.
    while await served.shown(authority.trusting()) != last:
        await asyncio.sleep(0.02)


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="only root can drop capabilities")
@pytest.mark.parametrize("allowed", [True, False], ids=["the unit's capability", "no capability"])
async def test_the_units_capability_is_what_ports_443_and_80_need(tmp_path: Path, allowed: bool) -> None:
    unit = (PROJECT / "deploy/systemd/itemindex-nginx.service").read_text()
    [bounding] = re.findall(r"^CapabilityBoundingSet=(.*)$", unit, re.M)
    [ambient] = re.findall(r"^AmbientCapabilities=(.*)$", unit, re.M)
    assert ambient == bounding == "CAP_NET_BIND_SERVICE"
    few = "-all,+net_bind_service" if allowed else "-all"
    Authority().issue(tmp_path / "tls", "api.example.org")
    with tempfile.TemporaryDirectory(prefix="tls-") as sockets:
        listening = {"NGINX_LISTEN": "0.0.0.0:443", "NGINX_HTTP_LISTEN": "0.0.0.0:80"}
        served = Installed(tmp_path, Path(sockets), None, **listening)
        try:
            # In a network of its own: these ports of the machine are not touched.
            start = served.start("unshare", "--net", "setpriv", "--bounding-set", few)
            if allowed:
                await start
            else:
                with pytest.raises(
                    AssertionError, match=r"bind\(\) to 0\.0\.0\.0:\d+ failed \(13: Permission denied\)"
                ):
                    await start
        finally:
            await served.stop()


@pytest.mark.skipif(bool(ACME_MISSING) and not os.environ.get("CI"), reason=ACME_MISSING or "all is installed")
@pytest.mark.timeout(300)
async def test_certbot_gets_a_certificate_and_renews_it_through_the_running_nginx(
    install: Install, tmp_path: Path
) -> None:
    """The commands of the operators' guide, with an ACME server that validates the challenge over HTTP."""
    hook = tmp_path / "hook"  # as the guide links it; certbot takes a blank in its path for the command's end
    hook.symlink_to(PROJECT / "deploy/nginx/certificate-renewed.sh")
    webroot = tmp_path / "acme"
    webroot.mkdir()
    with pebble(tmp_path) as acme:

        async def certbot(*arguments: str, **environment: str) -> None:
            await asyncio.to_thread(acme.certbot, tmp_path / "certbot", *arguments, **environment)

        shown = [sys.executable, "-m", "http.server", str(acme.http_port), "--directory", str(webroot)]
        before_nginx = await asyncio.create_subprocess_exec(*shown, stderr=subprocess.DEVNULL)
        common = ["--webroot", "--webroot-path", str(webroot), "--agree-tos", "--register-unsafely-without-email"]
        await certbot("certonly", *common, "--domain", "api.example.org")
        before_nginx.terminate()
        await before_nginx.wait()
        owner = {"TLS_DIR": str(tmp_path / "tls"), "TLS_OWNER": str(os.getuid())}
        lineage = {"RENEWED_LINEAGE": str(tmp_path / "certbot/config/live/api.example.org")}
        given = {**os.environ, **owner, **lineage, "TLS_RELOAD": "true"}
        await asyncio.to_thread(subprocess.run, [hook], check=True, env=given)
        trusting = ssl.create_default_context(cadata=await asyncio.to_thread(acme.root))
        served = await install(trusting, http_port=str(acme.http_port), NGINX_ACME_DIR=str(webroot))
        first = await served.shown(trusting)
        reload = {**owner, "TLS_RELOAD": f"kill -HUP {served.pid}"}
        await certbot("renew", "--force-renewal", "--no-random-sleep-on-renew", "--deploy-hook", str(hook), **reload)
        while await served.shown(trusting) == first:
            await asyncio.sleep(0.02)


def refused(tmp_path: Path, chain: object, key: object, **given: str) -> str:
    """Return the sentence with which nginx is not started."""
    environment = {
        **clean_environment(),
        "BASE_URL": "https://api.example.org/v1",
        "NGINX_RUN_DIR": str(tmp_path / "run"),
        "NGINX_TLS_CERT": str(chain),
        "NGINX_TLS_KEY": str(key),
        **given,
    }
    done = subprocess.run(
        [*COMMAND, "nginx"],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert not (tmp_path / "run/nginx.conf").exists(), "nothing is started"
    return " ".join(done.stderr.split())


def test_a_certificate_that_cannot_serve_is_refused_with_a_sentence(tmp_path: Path) -> None:
    authority = Authority()
    chain, key = authority.issue(tmp_path / "good", "api.example.org", "*.example.net")
    other_chain, other_key = authority.issue(tmp_path / "other", "elsewhere.example")
    old_chain, old_key = authority.issue(tmp_path / "old", "api.example.org", days=-1)
    (tmp_path / "text").write_text("no certificate")
    assert "does not belong to the first certificate" in refused(tmp_path, chain, other_key)
    assert "renew it, then start again" in refused(tmp_path, old_chain, old_key)
    assert "is for elsewhere.example, not for api.example.org" in refused(tmp_path, other_chain, other_key)
    assert "(No such file or directory)" in refused(tmp_path, tmp_path / "absent", key)
    assert "must hold a certificate with its chain" in refused(tmp_path, tmp_path / "text", key)
    assert "must hold a certificate with its chain" in refused(tmp_path, chain, tmp_path / "text")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    secret = serialization.BestAvailableEncryption(b"passphrase")
    pem = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret)
    (tmp_path / "encrypted.pem").write_bytes(pem)
    assert "nginx cannot ask for its passphrase" in refused(tmp_path, chain, tmp_path / "encrypted.pem")
    assert "set BASE_URL to the https:// address" in refused(tmp_path, chain, key, BASE_URL="http://api.example.org/v1")
    deeper = "https://a.b.example.net/v1"
    assert "not for a.b.example.net" in refused(tmp_path, chain, key, BASE_URL=deeper), "a wildcard is one label"
    assert "must be set together" in refused(tmp_path, chain, "")
    assert "set NGINX_TLS_CERT and NGINX_TLS_KEY too" in refused(tmp_path, "", "", NGINX_HTTP_LISTEN="0.0.0.0:80")
    assert "set NGINX_HTTP_LISTEN too" in refused(tmp_path, chain, key, NGINX_ACME_DIR=str(tmp_path))
