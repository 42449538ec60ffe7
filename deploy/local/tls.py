"""TLS of nginx: its certificate, a local one where none is given, and a connection that checks it."""

import datetime
import http.client
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from deploy.local.paths import Paths, write_private
from shared.clock import utc_now
from shared.errors import ConfigurationError

HSTS = "max-age=31536000"
_DAYS = 397
"""Browsers refuse certificates that are valid for longer."""
_RENEWED_DAYS_BEFORE = 30
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

    Raises ConfigurationError where one is missing, cannot be read, or does not fit the other.
    """
    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise ConfigurationError("--tls-cert and --tls-key (NGINX_TLS_CERT, NGINX_TLS_KEY) must be set together")
    certificate = Certificate(chain.resolve(), key.resolve())
    for path in (certificate.chain, certificate.key):
        if _UNQUOTABLE & set(str(path)):
            raise ConfigurationError(f"{path!r}: nginx.conf cannot quote this path")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate.chain, certificate.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"the certificate {chain} and its key {key} cannot be used: {error}") from None
    return certificate


def local(paths: Paths) -> Certificate:
    """Return the self-signed certificate of a data directory for 127.0.0.1 and localhost; made anew before it ends."""
    folder = paths.root / "tls"
    certificate = Certificate(folder / "cert.pem", folder / "key.pem")
    if not _good_for_a_while(certificate):
        folder.mkdir(exist_ok=True, mode=0o700)
        key = ec.generate_private_key(ec.SECP256R1())
        write_private(
            certificate.key,
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ),
        )
        write_private(certificate.chain, _self_signed(key).public_bytes(serialization.Encoding.PEM))
    return certificate


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


def _good_for_a_while(certificate: Certificate) -> bool:
    try:
        issued = x509.load_pem_x509_certificate(certificate.chain.read_bytes())
    except (OSError, ValueError):
        return False
    least = utc_now() + datetime.timedelta(days=_RENEWED_DAYS_BEFORE)
    return certificate.key.exists() and issued.not_valid_after_utc > least


def _self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Item Index, local")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(utc_now() - datetime.timedelta(minutes=5))
        .not_valid_after(utc_now() + datetime.timedelta(days=_DAYS))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(own, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own), critical=False)
        .sign(key, hashes.SHA256())
    )
