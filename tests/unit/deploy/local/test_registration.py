"""Registration at the local identity provider: who becomes a person, who is refused, and what is kept of them."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import pytest
from joserfc.jwk import RSAKey

from deploy.local.identity import CLIENT_ID, LocalIdentity, application
from deploy.local.registration import Registry

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

PORT, ORIGIN = 8997, "http://127.0.0.1:8996"
JANE = {"name": "Jane O'Neil", "email": "Jane.O'Neil@Shop.example", "password": "long enough"}
Provider = Callable[[Registry | None], "Flask"]


@pytest.fixture(scope="module")
def provider() -> Provider:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "a"})

    def build(registry: Registry | None) -> "Flask":
        kept = LocalIdentity(
            port=PORT,
            jwk=dict(key.as_dict(private=True)),
            secret_key="s" * 40,
            client_secret="c",
            passwords={"ada": "of ada"},
        )
        return application(kept, PORT, ORIGIN, registry)

    return build


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "registered.json"


def send(browser: "FlaskClient", path: str, fields: dict[str, str]) -> "TestResponse":
    """Send a form of a page as it was shown."""
    tokens = re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(path).text)
    return browser.post(path, data={"csrf_token": tokens[0], **fields})


def sign_in(browser: "FlaskClient", login: str, password: str) -> "TestResponse":
    """Answer both pages of signing in; return what the second one answers."""
    assert send(browser, "/login", {"login": login}).status_code == 302
    return send(browser, "/auth/password", {"password": password})


def test_a_person_who_registers_goes_on_with_the_sign_in_that_asked_for_it(provider: Provider, file: Path) -> None:
    app = provider(Registry(file))
    browser = app.test_client()
    discovery = browser.get("/.well-known/openid-configuration").json
    assert discovery is not None
    assert "create" in discovery["prompt_values_supported"]
    asked = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": f"{ORIGIN}/dashboard/sign-in/callback",
        "scope": "openid profile email",
        "prompt": "create",
        "nonce": "nonce",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    begun = browser.get(f"/oauth/authorize?{urlencode(asked)}")
    assert urlsplit(begun.headers["Location"]).path == "/join"
    made = send(browser, "/join", JANE)
    assert urlsplit(made.headers["Location"]).path == "/oauth/authorize"
    back = browser.get(made.headers["Location"])
    assert back.headers["Location"].startswith(f"{ORIGIN}/dashboard/sign-in/callback?code=")


def test_a_registered_person_signs_in_with_the_address_in_any_case_after_a_restart(
    provider: Provider, file: Path
) -> None:
    assert send(provider(Registry(file)).test_client(), "/join", JANE).status_code == 302
    again = provider(Registry(file))
    assert sign_in(again.test_client(), "JANE.o'neil@shop.EXAMPLE ", JANE["password"]).status_code == 302
    assert "Login failed" in sign_in(again.test_client(), JANE["email"], "something else").text


def test_the_file_keeps_no_password_and_belongs_to_its_user_alone(provider: Provider, file: Path) -> None:
    send(provider(Registry(file)).test_client(), "/join", JANE)
    [kept] = json.loads(file.read_text())
    assert (kept["name"], kept["email"]) == (JANE["name"], JANE["email"].lower())
    assert kept["password_hash"].startswith("scrypt:")
    assert JANE["password"] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("name", "", "Enter your name."),
        ("name", "  ", "Enter your name"),
        ("name", "Jane\nBcc: all", "on one line"),
        ("name", "Jane\x00Doe", "on one line"),
        ("name", "Jane\x1b[2J", "on one line"),
        ("name", "x" * 101, "at most 100"),
        ("email", "", "Enter your email"),
        ("email", "jane", "such as"),
        ("email", "аda@example.org", "such as"),  # its first letter is Cyrillic
        ("email", "a@b.org\nBcc: c@d.org", "such as"),
        ("email", f"a@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.{'f' * 60}", "too long"),
        ("password", "", "Choose a password"),
        ("password", "1234567", "8 to 200"),
        ("password", "x" * 201, "8 to 200"),
    ],
)
def test_what_is_missing_or_out_of_bounds_is_named_and_nobody_is_kept(
    provider: Provider, file: Path, field: str, text: str, fault: str
) -> None:
    answer = send(provider(Registry(file)).test_client(), "/join", {**JANE, field: text})
    assert answer.status_code == 400
    assert fault in answer.text
    assert not file.exists()


def test_a_name_as_long_as_a_form_may_be_is_refused_at_once(provider: Provider, file: Path) -> None:
    browser = provider(Registry(file)).test_client()
    before = time.process_time()
    answer = send(browser, "/join", {**JANE, "name": "x" * 60_000 + "\x01\x01"})
    assert answer.status_code == 400
    assert time.process_time() - before < 3, "a pattern that tries every cut of it takes a quarter of a minute"


@pytest.mark.parametrize("taken", ["ADA@example.org", "boss@shop.example", JANE["email"].upper()])
def test_an_address_that_is_somebodys_or_an_operators_is_refused(provider: Provider, file: Path, taken: str) -> None:
    app = provider(Registry(file, ["Boss@Shop.example"]))
    send(app.test_client(), "/join", JANE)
    answer = send(app.test_client(), "/join", {**JANE, "email": taken, "password": "another one"})
    assert answer.status_code == 409
    assert "cannot be registered" in answer.text
    assert len(json.loads(file.read_text())) == 1


def test_who_registered_an_address_before_it_was_an_operators_signs_in_no_more(provider: Provider, file: Path) -> None:
    send(provider(Registry(file)).test_client(), "/join", JANE)
    later = provider(Registry(file, [JANE["email"].upper()]))
    assert "Login failed" in sign_in(later.test_client(), JANE["email"], JANE["password"]).text
    assert send(later.test_client(), "/join", {**JANE, "email": "other@shop.example"}).status_code == 302
    assert len(json.loads(file.read_text())) == 2, "nobody is lost who may sign in again another day"


def test_more_than_twenty_attempts_a_minute_are_refused_before_a_password_is_hashed(
    provider: Provider, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = provider(Registry(file))
    hashed: list[str] = []

    def note(password: str) -> str:
        hashed.append(password)
        return "scrypt:none"

    monkeypatch.setattr("deploy.local.registration.hash_password", note)
    answers = [
        send(app.test_client(), "/join", {**JANE, "email": f"{number}@shop.example"}).status_code
        for number in range(22)
    ]
    assert answers == [302] * 20 + [429] * 2
    assert len(hashed) == 20


def test_a_form_without_its_token_and_one_of_a_megabyte_are_refused(provider: Provider, file: Path) -> None:
    app = provider(Registry(file))
    assert app.test_client().post("/join", data=JANE).status_code == 400
    assert send(app.test_client(), "/join", {**JANE, "name": "x" * 1_000_000}).status_code in (400, 413)
    assert not file.exists()


def test_the_providers_own_form_which_asks_no_limits_is_closed(provider: Provider, file: Path) -> None:
    assert provider(Registry(file)).test_client().get("/register").status_code == 404


def test_without_a_registry_nobody_registers_and_no_page_offers_it(provider: Provider) -> None:
    app = provider(None)
    assert app.test_client().get("/join").status_code == 404
    assert "/join" not in app.test_client().get("/login").text
    discovery = app.test_client().get("/.well-known/openid-configuration").json
    assert discovery is not None
    assert "create" not in discovery["prompt_values_supported"]


def test_a_sign_in_checks_one_hash_whether_the_person_exists_or_not(
    provider: Provider, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import werkzeug.security

    checked: list[str] = []
    check = werkzeug.security.check_password_hash

    def note(of: str, password: str) -> bool:
        checked.append(password)
        return check(of, password)

    monkeypatch.setattr(werkzeug.security, "check_password_hash", note)
    app = provider(Registry(file))
    for login in ("ada", "nobody@shop.example"):
        assert "Login failed" in sign_in(app.test_client(), login, f"of {login}?").text
    assert checked == ["of ada?", "of nobody@shop.example?"]
