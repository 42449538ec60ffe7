"""Signatures of manifests: Ed25519 (RFC 8032) over a canonical statement of a release, and the key that makes them."""

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from shared.clock import rfc3339
from shared.errors import ConfigurationError
from shared.printable import base64url

if TYPE_CHECKING:
    from shared.bulk.schema import ColumnDocument, KeptReleaseFile

ALGORITHM = "Ed25519"
FILE_MEMBERS = ("name", "rows", "bytes", "sha256", "min_key", "max_key")
"""What a manifest says of a file, but for its addresses."""


class SigningKey(NamedTuple):
    """A private key with its public half and the id of that, both as base64url."""

    private: Ed25519PrivateKey
    public: str
    id: str

    @classmethod
    def read(cls, path: Path) -> "SigningKey":
        """Read a key from a PEM file. Raises ConfigurationError where there is none."""
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except OSError as error:
            raise ConfigurationError(f"RELEASE_SIGNING_KEY_FILE {path} cannot be read: {error.strerror}") from None
        except (ValueError, TypeError):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise ConfigurationError(
                f"RELEASE_SIGNING_KEY_FILE {path} must be an Ed25519 key as PEM without a password: "
                "make one with `openssl genpkey -algorithm ed25519`"
            )
        public = base64url(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        return cls(private, public, key_id(public))

    def sign(self, statement: bytes) -> dict[str, str]:
        """Return the signature of a statement, as manifests show it."""
        return {"algorithm": ALGORITHM, "key_id": self.id, "value": base64url(self.private.sign(statement))}


def new_key() -> bytes:
    """Make a key, as PEM."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def statement(
    dataset: str,
    schema: "list[ColumnDocument]",
    data_version: int,
    created_at: datetime,
    files: "list[KeptReleaseFile]",
) -> bytes:
    """Return what is signed: all of the manifest that never changes, as canonical JSON (RFC 8785)."""
    signed = {
        "dataset": dataset,
        "schema": schema,
        "data_version": data_version,
        "created_at": rfc3339(created_at),
        "rows": sum(file.rows for file in files),
        "bytes": sum(file.bytes for file in files),
        "files": [{name: getattr(file, name) for name in FILE_MEMBERS} for file in files],
    }
    return json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def key_id(public: str) -> str:
    """Return the thumbprint of a public key (RFC 7638 with RFC 8037)."""
    return base64url(hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{public}"}}'.encode()).digest())


def public_jwk(key_id: str, public: str) -> dict[str, str]:
    """Return a public key as a JSON Web Key (RFC 8037)."""
    return {"kty": "OKP", "crv": ALGORITHM, "alg": "EdDSA", "use": "sig", "kid": key_id, "x": public}
