"""Whether nginx can serve a certificate: it is readable, has its key, is valid now, and is for the service's host."""

import ssl
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from deploy.local.tls import Certificate
from shared.clock import utc_now
from shared.errors import ConfigurationError


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
