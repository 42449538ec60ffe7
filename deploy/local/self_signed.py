"""The certificate of nginx where none is given: a local one, signed by its own key."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from deploy.local.paths import Paths, write_private
from deploy.local.tls import Certificate
from shared.clock import utc_now

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
        write_private(certificate.chain, _sign_itself(key).public_bytes(serialization.Encoding.PEM))
    return certificate


def _good_for_a_while(certificate: Certificate) -> bool:
    try:
        issued = x509.load_pem_x509_certificate(certificate.chain.read_bytes())
    except (OSError, ValueError):
        return False
    least = utc_now() + datetime.timedelta(days=_RENEWED_DAYS_BEFORE)
    return certificate.key.exists() and issued.not_valid_after_utc > least


def _sign_itself(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
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
