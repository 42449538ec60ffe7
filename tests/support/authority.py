"""A certificate authority of the tests, and Pebble, the small ACME server of Debian's package."""

import datetime
import json
import os
import shutil
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy.local.paths import free_port
from deploy.local.service_process import Program, ServiceProcess, tail
from shared.clock import utc_now

_DAY = datetime.timedelta(days=1)
ACME_MISSING = next(
    (f"{name} is not installed" for name in ("pebble", "pebble-challtestsrv", "certbot") if not shutil.which(name)), ""
)
"""Why no certificate can be got by ACME here; empty where it can."""


class Authority:
    """A root that signs an intermediate, which signs the certificates of servers."""

    def __init__(self) -> None:
        self._root_key, self._key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        self.root = _signed("Root", self._root_key, "Root", self._root_key, ca=True)
        self.intermediate = _signed("Intermediate", self._key, "Root", self._root_key, ca=True)

    def issue(self, folder: Path, *names: str, days: int = 30) -> tuple[Path, Path]:
        """Write fullchain.pem and key.pem of a server; `days` below zero: it has expired. Returns both."""
        folder.mkdir(exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = _signed(names[0], key, "Intermediate", self._key, names=names, days=days)
        chain_path, key_path = folder / "fullchain.pem", folder / "key.pem"
        pem = serialization.Encoding.PEM
        chain_path.write_bytes(leaf.public_bytes(pem) + self.intermediate.public_bytes(pem))
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        key_path.write_bytes(private)
        return chain_path, key_path

    def trusting(self) -> ssl.SSLContext:
        """Return the context of a client that trusts only the root."""
        return ssl.create_default_context(cadata=self.root.public_bytes(serialization.Encoding.PEM).decode())


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    ca: bool = False,
    names: tuple[str, ...] = (),
    days: int = 30,
) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    usage = x509.KeyUsage(True, False, False, False, False, ca, ca, False, False)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(utc_now() - 90 * _DAY)
        .not_valid_after(utc_now() + days * _DAY)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if names:
        alternative = x509.SubjectAlternativeName([_general(one) for one in names])
        builder = builder.add_extension(alternative, critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@dataclass(frozen=True)
class Pebble:
    """A running ACME server that validates challenges at `http_port` of this machine, whatever the domain."""

    directory: str
    http_port: int
    bundle: Path
    """The certificate of its own address."""
    _management: str

    def root(self) -> str:
        """Return the root (PEM) of the certificates that it issues; another one at each start."""
        context = ssl.create_default_context(cafile=str(self.bundle))
        with urllib.request.urlopen(f"{self._management}/roots/0", context=context, timeout=10) as answer:
            return str(answer.read().decode())

    def certbot(self, folder: Path, *arguments: str, **environment: str) -> str:
        """Run certbot with all that it keeps below a folder; return what it printed."""
        own = [word for name in ("config", "work", "logs") for word in (f"--{name}-dir", str(folder / name))]
        command = ["certbot", *arguments, "--non-interactive", "--server", self.directory, *own]
        given = {**os.environ, "REQUESTS_CA_BUNDLE": str(self.bundle), **environment}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def pebble(folder: Path) -> Iterator[Pebble]:
    """Run Pebble and its name server for as long as the block lasts."""
    acme, management, http, names, names_management = (free_port() for _ in range(5))
    authority = Authority()
    chain, key = authority.issue(folder / "pebble", "127.0.0.1")
    bundle = folder / "pebble" / "bundle.pem"
    bundle.write_bytes(authority.root.public_bytes(serialization.Encoding.PEM))
    settings = {
        "listenAddress": f"127.0.0.1:{acme}",
        "managementListenAddress": f"127.0.0.1:{management}",
        "certificate": str(chain),
        "privateKey": str(key),
        "httpPort": http,
        "tlsPort": free_port(),
        "externalAccountBindingRequired": False,
    }
    (folder / "pebble.json").write_text(json.dumps({"pebble": settings}))
    made = Pebble(f"https://127.0.0.1:{acme}/dir", http, bundle, f"https://127.0.0.1:{management}")
    resolver = ["-dns01", f"127.0.0.1:{names}", "-management", f"127.0.0.1:{names_management}", "-defaultIPv6", ""]
    none = [word for name in ("http01", "https01", "tlsalpn01") for word in (f"-{name}", "")]
    quick = ["env", "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0"]
    server = [*quick, "pebble", "-config", str(folder / "pebble.json"), "-dnsserver", f"127.0.0.1:{names}"]

    def answers() -> bool:
        try:
            return bool(made.root())
        except OSError:
            return False

    programs = [
        Program(name="names", command=["pebble-challtestsrv", *resolver, *none], log=folder / "names.log"),
        Program(name="pebble", command=server, log=folder / "pebble.log", ready=answers),
    ]
    children = [ServiceProcess(program) for program in programs]
    try:
        for child in children:
            child.start()
            assert child.wait_ready(30), tail(child.program.log, 20)
        yield made
    finally:
        for child in reversed(children):
            child.stop()
