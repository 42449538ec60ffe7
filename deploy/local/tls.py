"""TLS of nginx: the certificate that it is given, its settings, and a connection that checks it."""

import http.client
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from shared.clock import utc_now
from shared.errors import ConfigurationError

HSTS = "max-age=31536000"
_UNQUOTABLE = set('"\\$\n\r')
# Mozilla's intermediate set: forward secrecy and authenticated encryption only; TLS 1.3 has its own.
_CIPHERS = (
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate with its chain, and its private key, both as PEM files."""

    chain: Path
    key: Path


def given(chain: Path | None, key: Path | None) -> Certificate | None:
    """Return the certificate of two options; None where neither is set.

    Raises ConfigurationError where one is missing, cannot be read, does not fit the other, or has expired.
    """
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise ConfigurationError("--tls-cert and --tls-key (NGINX_TLS_CERT, NGINX_TLS_KEY) must be set together")
    certificate = Certificate(chain.resolve(), key.resolve())
    for path in (certificate.chain, certificate.key):
        quotable(path)
    try:
        leaf = x509.load_pem_x509_certificate(certificate.chain.read_bytes())
        private = serialization.load_pem_private_key(certificate.key.read_bytes(), None)
    except OSError as error:
        raise ConfigurationError(
            f"{error.filename} cannot be read ({error.strerror}); name a PEM file that this user may read"
        ) from None
    except TypeError:
        raise ConfigurationError(f"the key {key} is encrypted; nginx cannot ask for its passphrase") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigurationError(f"{chain} must hold a certificate with its chain, and {key} its key, as PEM") from None
    if private.public_key() != leaf.public_key():
        raise ConfigurationError(
            f"the key {key} does not belong to the first certificate in {chain}; the server's own certificate comes "
            "first, then its chain"
        )
    if leaf.not_valid_after_utc <= utc_now():
        raise ConfigurationError(
            f"the certificate {chain} expired on {leaf.not_valid_after_utc:%Y-%m-%d}; renew it, then start again"
        )
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate.chain, certificate.key)
    except ssl.SSLError as error:
        raise ConfigurationError(f"the certificate {chain} cannot be used: {error}") from None
    return certificate


def require_host(certificate: Certificate, base_url: str) -> None:
    """Raise ConfigurationError unless the service is public by TLS, under a name that the certificate is for."""
    address = urlsplit(base_url)
    host = address.hostname or ""
    if address.scheme != "https":
        raise ConfigurationError(
            f"BASE_URL is {base_url}, but nginx has a certificate; set BASE_URL to the https:// address"
        )
    leaf = x509.load_pem_x509_certificate(certificate.chain.read_bytes())
    names = _names(leaf)
    if host not in names and f"*.{host.partition('.')[2]}" not in names:
        raise ConfigurationError(
            f"the certificate is for {', '.join(sorted(names)) or 'no host'}, not for {host} of BASE_URL; "
            "name the certificate of that host"
        )


def _names(leaf: x509.Certificate) -> set[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    hosts = [name.lower() for name in names.get_values_for_type(x509.DNSName)]
    return {*hosts, *map(str, names.get_values_for_type(x509.IPAddress))}


def quotable(path: Path) -> Path:
    """Return the path; raise ConfigurationError where nginx.conf cannot quote it."""
    if _UNQUOTABLE & set(str(path)):
        raise ConfigurationError(f"{str(path)!r}: nginx.conf cannot quote this path; choose one without quotes or $")
    return path


def redirecting(listen: str, names: str, port: int | None, challenges: Path | None) -> str:
    """Return the server of nginx.conf that redirects plain HTTP to TLS, except for challenges of an authority."""
    shown = ""
    if challenges is not None:
        shown = f"""
        location ^~ /.well-known/acme-challenge/ {{
            root "{quotable(challenges.resolve())}";
            types {{ }}
            default_type text/plain;
        }}"""
    return f"""server {{
        listen {listen} default_server backlog=4096;
        location / {{
            return 421;
        }}
    }}
    server {{
        listen {listen};
        server_name {names};{shown}
        location / {{
            return 308 https://$host{f":{port}" if port else ""}$request_uri;
        }}
    }}"""


def values_of(certificate: Certificate | None) -> dict[str, str]:
    """Return the values of nginx.conf for TLS; none without a certificate."""
    if certificate is None:
        return {"LISTEN_TLS": "", "TLS": "", "HSTS": '""'}
    lines = (
        "http2 on;",
        f'ssl_certificate "{certificate.chain}";',
        f'ssl_certificate_key "{certificate.key}";',
        "ssl_protocols TLSv1.2 TLSv1.3;",
        f"ssl_ciphers {_CIPHERS};",
        "ssl_session_cache shared:tls:10m;",
        "ssl_session_tickets off;",
    )
    return {"LISTEN_TLS": " ssl", "TLS": "\n        ".join(lines), "HSTS": f'"{HSTS}"'}


def connection(port: int, certificate: Path | None, timeout: float) -> http.client.HTTPConnection:
    """Return a connection to nginx on loopback. With TLS it must show this very certificate, whatever its host."""
    if certificate is None:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    context = ssl.create_default_context(cafile=str(certificate))
    context.check_hostname = False  # it names the public host; that it is this certificate says more
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
