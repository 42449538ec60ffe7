"""The local identity provider with several sign-ins at a time: each code is redeemed for its own token."""

import base64
import hashlib
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from joserfc.jwk import RSAKey

from deploy.local.identity import CLIENT_ID, application

PORT, ORIGIN = 8999, "http://127.0.0.1:8998"

PASSWORDS = {"ada": "of ada", "grace": "of grace"}

VERIFIER = "v" * 43


@pytest.fixture(scope="module")
def provider() -> Any:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "a"})
    kept = {"jwk": key.as_dict(private=True), "secret_key": "s" * 40, "client_secret": "c", "passwords": PASSWORDS}
    return application(kept, PORT, ORIGIN)


def code_of(provider: Any, name: str, nonce: str) -> str:
    """Sign in as a person, and return the code with which the browser is sent back."""
    return _signed_in(provider, name, nonce)[1]


def _signed_in(provider: Any, name: str, nonce: str) -> tuple[Any, str]:
    browser = provider.test_client()
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    asked = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": f"{ORIGIN}/dashboard/sign-in/callback",
        "scope": "openid profile email",
        "state": "state",
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    page = browser.get(f"/oauth/authorize?{urlencode(asked)}", follow_redirects=True)
    for field, text in (("login", name), ("password", PASSWORDS[name])):
        tokens = re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)
        page = browser.post(page.request.path, data={"csrf_token": tokens[0], field: text})
        while page.status_code in (302, 303) and not page.headers["Location"].startswith(ORIGIN):
            page = browser.get(page.headers["Location"])
    return browser, parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]


def test_nobody_changes_the_address_that_makes_them_an_operator(provider: Any) -> None:
    browser, _ = _signed_in(provider, "grace", "nonce")
    assert browser.get("/profile/grace").status_code == 404
    assert browser.get("/", follow_redirects=True).status_code == 200


def test_codes_that_are_redeemed_in_any_order_name_their_own_people(provider: Any) -> None:
    names = ["ada", "grace", "ada", "grace"]
    codes = [code_of(provider, name, f"nonce {number}") for number, name in enumerate(names)]
    redeemed = []
    for code in codes:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{ORIGIN}/dashboard/sign-in/callback",
            "code_verifier": VERIFIER,
        }
        answer = provider.test_client().post("/oauth/token", data=form, auth=(CLIENT_ID, "c"))
        assert answer.status_code == 200, answer.text
        redeemed.append(jwt.decode(answer.json["id_token"], options={"verify_signature": False}))
    assert [(one["email"], one["nonce"]) for one in redeemed] == [
        (f"{name}@example.org", f"nonce {number}") for number, name in enumerate(names)
    ]
