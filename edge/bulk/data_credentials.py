"""Temporary credentials of S3 made from an API key, and requests that were signed with them (AWS Signature Version 4).

Nothing is stored: the session token names the key and the moment at which it ends, and the secret is derived from the
token. A credential ends with its key, because each request asks for the key again.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote, unquote

from shared.clock import Clock, utc_now
from shared.errors import CopyableError
from shared.organizations.credentials import BASE62
from shared.printable import base64url

BUCKET, REGION = "releases", "us-east-1"
LIFETIME_SECONDS = 3600
SKEW = timedelta(minutes=15)
_PRESIGNED_SECONDS_MAX = 604_800
_ALGORITHM = "AWS4-HMAC-SHA256"
_TOKEN_DOMAIN, _SECRET_DOMAIN = b"item-index/data-token/1\0", b"item-index/data-secret/1\0"
_NONCE_CHARACTERS = 6
_SIGNATURE_NAME = "x-amz-signature"
_TOKEN = re.compile(r"(\d{10})\.([0-9A-Za-z]{10})\.([0-9A-Za-z]{6})\.([A-Za-z0-9_-]{43})", re.ASCII)
_FIELD = re.compile(r"(Credential|SignedHeaders|Signature)=([^,\s]+)", re.ASCII)
_SCOPE = re.compile(r"([^/]+)/(\d{8})/([^/]+)/s3/aws4_request", re.ASCII)
_SIGNATURE = re.compile(r"[0-9a-f]{64}", re.ASCII)
_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


class TemporaryCredentials(NamedTuple):
    """What a client of S3 is configured with."""

    access_key_id: str
    secret_access_key: str
    session_token: str
    expires_at: datetime


class SignedRequest(NamedTuple):
    """A request as it was sent: its path and query undecoded, the names of its headers in small letters."""

    method: str
    path: str
    query: str
    headers: Mapping[str, Sequence[str]]


class SignatureRefused(CopyableError):
    """A request that is not signed as it must be, with the code that S3 has for that."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class DataCredentialService:
    """Makes credentials with the first of the secrets; accepts those of every one."""

    def __init__(self, *secrets: str, clock: Clock = utc_now) -> None:
        self._secrets = [secret.encode() for secret in secrets]
        self._clock = clock

    def issue(self, key_id: str) -> TemporaryCredentials:
        """Make credentials for the API key of this id."""
        expires_at = (self._clock() + timedelta(seconds=LIFETIME_SECONDS)).replace(microsecond=0)
        nonce = "".join(secrets.choice(BASE62) for _ in range(_NONCE_CHARACTERS))
        body = f"{int(expires_at.timestamp()):010d}.{key_id}.{nonce}"
        token = f"{body}.{_mac(self._secrets[0], _TOKEN_DOMAIN, body)}"
        return TemporaryCredentials(
            _access_key(key_id, nonce), _derive_secret(self._secrets[0], token), token, expires_at
        )

    def verify(self, request: SignedRequest) -> str:
        """Return the id of the key whose credentials signed the request. Raises SignatureRefused."""
        query = pairs_of(request.query)
        given = {name.lower(): value for name, value in query}
        if _SIGNATURE_NAME in given:
            algorithm = given.get("x-amz-algorithm", "")
            names = ("x-amz-credential", "x-amz-signedheaders", _SIGNATURE_NAME)
            credential, signed, signature = (given.get(name, "") for name in names)
            token, sent_at = given.get("x-amz-security-token", ""), given.get("x-amz-date", "")
            query, payload = [pair for pair in query if pair[0].lower() != _SIGNATURE_NAME], "UNSIGNED-PAYLOAD"
            life: str | None = given.get("x-amz-expires", "")
        else:
            scheme, _, rest = _field_value(request, "authorization").partition(" ")
            if scheme == "AWS" or "awsaccesskeyid" in given:
                text = f'Version 2 of signatures is not accepted. Use {_ALGORITHM}; in boto3: signature_version="s3v4".'
                raise SignatureRefused("InvalidRequest", text)
            if not scheme:
                raise SignatureRefused("AccessDenied", f"Sign the request with {_ALGORITHM}; it has no signature.")
            algorithm, fields = scheme, dict(_FIELD.findall(rest))
            credential, signed, signature = (fields.get(n, "") for n in ("Credential", "SignedHeaders", "Signature"))
            token, sent_at = _field_value(request, "x-amz-security-token"), _field_value(request, "x-amz-date")
            payload, life = _field_value(request, "x-amz-content-sha256") or _EMPTY_SHA256, None
        if algorithm != _ALGORITHM:
            raise SignatureRefused("InvalidRequest", f"The signature must be of {_ALGORITHM}.")
        scope, names_signed = _SCOPE.fullmatch(credential), signed.split(";")
        if scope is None or "host" not in names_signed or not _SIGNATURE.fullmatch(signature):
            text = "The signature needs a credential of the service `s3`, `host` among its headers, and 64 digits."
            raise SignatureRefused("AuthorizationHeaderMalformed", text)
        key_id, secret = self._open_token(token, scope[1])
        self._check_time(sent_at, scope[2], life)
        expected = sign(secret, scope[2], scope[3], sent_at, canonical(request, query, names_signed, payload))
        if not hmac.compare_digest(expected, signature):
            detail = "The signature does not match. Check the secret, and that no proxy changes the request."
            raise SignatureRefused("SignatureDoesNotMatch", detail)
        return key_id

    def _open_token(self, token: str, access_key: str) -> tuple[str, str]:
        """Return the key's id and the secret of a session token that this service made and that has not expired."""
        form = _TOKEN.fullmatch(token)
        body = token.rpartition(".")[0]
        made_by = [s for s in self._secrets if form and hmac.compare_digest(_mac(s, _TOKEN_DOMAIN, body), form[4])]
        if form is None or not made_by or access_key != _access_key(form[2], form[3]):
            detail = "The session token is not for this access key. Create new ones with POST /v1/org/data-credentials."
            raise SignatureRefused("InvalidToken" if token else "InvalidAccessKeyId", detail)
        if int(form[1]) <= self._clock().timestamp():
            detail = "These credentials have expired. Create new ones with POST /v1/org/data-credentials."
            raise SignatureRefused("ExpiredToken", detail)
        return form[2], _derive_secret(made_by[0], token)

    def _check_time(self, sent_at: str, day: str, life: str | None) -> None:
        try:
            moment = datetime.strptime(sent_at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            raise SignatureRefused(
                "AccessDenied", "The request needs a date: X-Amz-Date, as 20261231T235959Z."
            ) from None
        now = self._clock()
        if not sent_at.startswith(day):
            raise SignatureRefused(
                "SignatureDoesNotMatch", "The date in the credential scope differs from the date of the request."
            )
        if moment > now + SKEW or (life is None and moment < now - SKEW):
            raise SignatureRefused(
                "RequestTimeTooSkewed", "The time of the request differs from the server's by more than 15 minutes."
            )
        if life is None:
            return
        if not re.fullmatch(r"\d{1,6}", life, re.ASCII) or not 0 < int(life) <= _PRESIGNED_SECONDS_MAX:
            raise SignatureRefused("AuthorizationQueryParametersError", "X-Amz-Expires must be 1 to 604800 seconds.")
        if now > moment + timedelta(seconds=int(life)):
            raise SignatureRefused("AccessDenied", "This presigned address has expired. Sign a new one.")


def sign(secret: str, day: str, region: str, sent_at: str, request: str) -> str:
    """Return the signature of a canonical request, by AWS Signature Version 4 for S3."""
    scope = f"{day}/{region}/s3/aws4_request"
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    text = "\n".join((_ALGORITHM, sent_at, scope, hashlib.sha256(request.encode(errors="surrogateescape")).hexdigest()))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def canonical(request: SignedRequest, query: Iterable[tuple[str, str]], names: Sequence[str], payload: str) -> str:
    """Return what a signature covers: method, path, query, the signed headers and the digest of the body."""
    # S3 encodes a path once, where other services of AWS encode it twice. By segments: an encoded slash is not a slash.
    path = "/".join(_encode(unquote(part, errors="surrogateescape")) for part in request.path.split("/"))
    encoded = sorted((_encode(name), _encode(value)) for name, value in query)
    fields = "".join(f"{name}:{_field_value(request, name)}\n" for name in names)
    listed = "&".join("=".join(pair) for pair in encoded)
    return "\n".join((request.method, path, listed, fields, ";".join(names), payload))


def pairs_of(query: str) -> list[tuple[str, str]]:
    """Return the names and values of a query, decoded; a plus is itself, as it is to S3."""
    split = (pair.partition("=") for pair in query.split("&") if pair)
    return [(unquote(n, errors="surrogateescape"), unquote(v, errors="surrogateescape")) for n, _, v in split]


def _encode(text: str) -> str:
    return quote(text, safe="-_.~", errors="surrogateescape")


def _field_value(request: SignedRequest, name: str) -> str:
    return ",".join(" ".join(value.split()) for value in request.headers.get(name, ()))


def _access_key(key_id: str, nonce: str) -> str:
    return f"IIXT{key_id}{nonce}"


def _derive_secret(secret: bytes, token: str) -> str:
    return _mac(secret, _SECRET_DOMAIN, token)


def _mac(secret: bytes, domain: bytes, text: str) -> str:
    return base64url(hmac.digest(secret, domain + text.encode(), hashlib.sha256))
