"""Credentials in paths and values, however they are spelled."""

from urllib.parse import quote

import pytest

from edge.http.faults import shown_value
from edge.http.redaction import has_credential, without_credentials
from shared.organizations.credentials import FREE_PREFIX, KEY_PREFIX, checksum

_DRAWN = "".join(("4f8Zq0Lw2m", "R7tVbY3nKs", "9HdXgJ6pCe", "Ua1TiOzMvB", "5c"))
KEY, TOKEN = (f"{prefix}{_DRAWN}{checksum(prefix + _DRAWN)}" for prefix in (KEY_PREFIX, FREE_PREFIX))
ID_TOKEN = ".".join(("eyJhbGciOiJSUzI1NiJ9", "eyJzdWIiOiJhZGEifQ", "c2lnbmF0dXJl"))


def encoded(text: str) -> str:
    """Return a text with each of its characters percent-encoded."""
    return "".join(f"%{ord(character):02x}" for character in text)


def spellings(secret: str) -> list[str]:
    every = encoded(secret)
    prefix = f"%{ord(secret[0]):02X}{secret[1:]}"
    middle = secret.replace("_", "%5F").replace("e", "%65")
    return [secret, secret.upper(), secret.swapcase(), prefix, middle, every, quote(every, safe=""), encoded(every)]


@pytest.mark.parametrize("secret", [KEY, TOKEN])
def test_no_part_of_a_secret_stays_in_a_path_however_it_is_spelled(secret: str) -> None:
    for spelled in spellings(secret):
        for path in (f"/{spelled}", f"/v1/index/lookup/{spelled}/x", f"/v1/{spelled}%20%C3%BC?x"):
            shown = without_credentials(path)
            assert secret[12:].lower() not in without_credentials(encoded(shown)).lower(), path
            assert f"{secret[:10].lower()}…" in shown.lower(), path
            assert "%" not in shown.partition("…")[0], path


def test_an_id_token_in_a_path_is_left_out() -> None:
    for path in (f"/v1/{ID_TOKEN}", f"/v1/{ID_TOKEN.replace('.', '%2E')}", f"/v1/{encoded(ID_TOKEN)}"):
        assert without_credentials(path) == "/v1/eyJ…"


@pytest.mark.parametrize(
    "path", ["/", "/v1/index/lookup/IID-A", "/%FF%00", "/v1/a%2Fb", "/iixk_", "/%25", "/%", "/eyJ"]
)
def test_any_other_path_stays_as_it_is(path: str) -> None:
    assert without_credentials(path) == path


@pytest.mark.parametrize("secret", [KEY, TOKEN, ID_TOKEN])
def test_a_value_that_may_be_a_credential_is_not_quoted(secret: str) -> None:
    for spelled in spellings(secret):
        if not spelled.startswith(("EYJ", "EYj")):
            assert has_credential(spelled) and shown_value(spelled) is None, spelled
    assert shown_value("soy milk") == "soy milk"
