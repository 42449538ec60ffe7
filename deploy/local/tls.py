"""TLS of nginx: the certificate that it is given, its settings, and a connection that checks it."""

import http.client
import ssl
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from shared.errors import ConfigurationError

HSTS = "max-age=31536000"
# What ends a quoted text or is replaced in it, and what nginx reads as a pattern where it includes a file: one that
# fits no file would leave out what refuses callers, without a word.
_UNQUOTABLE = set('"\\$*?[\n\r')
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


def given_certificate(chain: Path | None, key: Path | None) -> Certificate | None:
    """Return the certificate of two options; None where neither is set.

    Raises ConfigurationError where one is missing, cannot be read, does not fit the other, or has expired.
    """
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise ConfigurationError("--tls-cert and --tls-key (NGINX_TLS_CERT, NGINX_TLS_KEY) must be set together")
    certificate = Certificate(chain.resolve(), key.resolve())
    # Only here: the commands of every start are spared the library that reads keys.
    from deploy.local.certificates import require_usable

    require_usable(certificate)
    return certificate


def quotable(path: Path) -> str:
    """Return the path as it may stand between quotes in nginx.conf; raise ConfigurationError where it may not."""
    if _UNQUOTABLE & set(str(path)):
        raise ConfigurationError(f'{str(path)!r}: nginx.conf cannot name this path; choose one without any of "\\$*?[')
    return str(path)


def redirecting_server(listen: str, names: str, port: int | None, challenges: Path | None) -> str:
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
        f'ssl_certificate "{quotable(certificate.chain)}";',
        f'ssl_certificate_key "{quotable(certificate.key)}";',
        "ssl_protocols TLSv1.2 TLSv1.3;",
        f"ssl_ciphers {_CIPHERS};",
        "ssl_session_cache shared:tls:10m;",
        "ssl_session_tickets off;",
    )
    return {"LISTEN_TLS": " ssl", "TLS": "\n        ".join(lines), "HSTS": f'"{HSTS}"'}


def get(line: http.client.HTTPConnection, path: str, **fields: str) -> tuple[int, bytes]:
    """Return status and body of an answer, and close the connection. Raises OSError or HTTPException without one."""
    with closing(line):
        line.request("GET", path, headers=fields)
        answer = line.getresponse()
        return answer.status, answer.read()


def answers(line: http.client.HTTPConnection, path: str) -> bool:
    """Return whether a request is answered with 200."""
    try:
        return get(line, path)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def connection(port: int, certificate: Path | None, timeout: float) -> http.client.HTTPConnection:
    """Return a connection to nginx on loopback. With TLS it must show this very certificate, whatever its host."""
    if certificate is None:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    context = ssl.create_default_context(cafile=str(certificate))
    context.check_hostname = False  # it names the public host; that it is this certificate says more
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
