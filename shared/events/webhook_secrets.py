"""Secrets of webhooks as the database keeps them: sealed under the signing secret, each for its own endpoint."""

from collections.abc import Iterable

from shared.organizations.sealing import seal, sealing_key, unseal

_PURPOSE = "webhook"


def sealed_secret(signing_secret: str, endpoint: str, secret: str) -> bytes:
    """Return a webhook's secret, encrypted. `endpoint` is the webhook's id."""
    return seal(sealing_key(signing_secret, _PURPOSE, endpoint), secret.encode())


def opened_secret(signing_secrets: Iterable[str], endpoint: str, sealed: bytes) -> str | None:
    """Return the secret of `sealed_secret`, None where no signing secret opens it; an empty one is none."""
    keys = (sealing_key(one, _PURPOSE, endpoint) for one in signing_secrets if one)
    opened = (plain for key in keys if (plain := unseal(key, sealed)) is not None)
    return next((plain.decode() for plain in opened), None)
