"""Certificates of nginx: a local one where none is given, and whether nginx can serve the one that is given."""

import datetime
import ipaddress
import ssl
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from deploy.local.paths import Paths, write_private
from deploy.local.tls import Certificate
from shared.clock import utc_now
from shared.errors import ConfigurationError

# The certificate of nginx where none is given: a local one, signed by its own key.


_DAYS = 397
"""Browsers refuse certificates that are valid for longer."""
_RENEWED_DAYS_BEFORE = 30


def certificate_of(paths: Paths) -> Certificate:
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


# Whether nginx can serve a certificate: it is readable, has its key, is valid now, and is for the service's host.


def require_usable(certificate: Certificate) -> None:
    """Raise ConfigurationError where a file cannot be read, does not fit the other, or has expired."""
    chain, key = certificate.chain, certificate.key
    try:
        leaf = x509.load_pem_x509_certificate(chain.read_bytes())
        private = serialization.load_pem_private_key(key.read_bytes(), None)
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
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(chain, key)
    except ssl.SSLError as error:
        raise ConfigurationError(f"the certificate {chain} cannot be used: {error}") from None


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
