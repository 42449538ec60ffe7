"""Only a well-formed, rightly signed ID token of our provider, for us, in its time, is believed."""

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from edge.auth import id_token
from edge.auth.id_token import ExpiredToken, Identity, InvalidToken
from tests.support.issuer import CLIENT, Issuer, SigningKey, segment

ISSUER = Issuer(url="https://id.example.org", keys=[SigningKey.make("one")])

NOW = time.time()

RSA = SigningKey.make("rsa", "RS256")


def believe(text: str, keys: list[SigningKey] | None = None, now: float | None = None) -> Identity:
    usable = id_token.usable_keys({"keys": [key.published() for key in keys or ISSUER.keys]})
    token = id_token.parse(text)
    id_token.verify(token, id_token.select(token, usable))
    # Of the moment: the module may have been imported long before its tests run.
    at = time.time() if now is None else now
    return id_token.check_claims(token.claims, issuer=ISSUER.url, client_id=CLIENT, now=at)


def signed(claims: Any, key: SigningKey = ISSUER.keys[0], **head: Any) -> str:
    body = f"{segment({'alg': key.algorithm, 'kid': key.kid, **head})}.{segment(claims)}"
    return f"{body}.{segment(jwt.get_algorithm_by_name(key.algorithm).sign(body.encode(), key.private))}"


def test_a_good_token_of_each_allowed_algorithm_is_believed() -> None:
    for algorithm in id_token.ALGORITHMS:
        key = SigningKey.make("k", algorithm)
        identity = believe(signed(ISSUER.claims("ada"), key), [key])
        assert identity == Identity(ISSUER.url, "ada", "ada@example.org", "Ada", email_verified=True), algorithm


def test_a_token_without_kid_fits_only_a_single_key() -> None:
    text = jwt.encode(ISSUER.claims(), ISSUER.keys[0].private, "ES256")
    assert believe(text).subject == "ada"
    with pytest.raises(InvalidToken):
        believe(text, [ISSUER.keys[0], SigningKey.make("two")])


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "", None, ["RS256"], "HS256", "RS384", "ES512", 7])
def test_no_other_algorithm_is_even_looked_at(algorithm: Any) -> None:
    body = f"{segment({'alg': algorithm, 'kid': 'one'})}.{segment(ISSUER.claims())}"
    for signature in ("AA", segment(b"x" * 64)):
        with pytest.raises(InvalidToken):
            believe(f"{body}.{signature}")


def test_a_public_key_is_no_shared_secret() -> None:
    pem = RSA.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    body = f"{segment({'alg': 'HS256', 'kid': 'rsa'})}.{segment(ISSUER.claims())}"
    forged = f"{body}.{segment(jwt.get_algorithm_by_name('HS256').sign(body.encode(), pem))}"
    with pytest.raises(InvalidToken):
        believe(forged, [RSA])


def test_the_keys_own_algorithm_counts_not_the_tokens() -> None:
    body = f"{segment({'alg': 'PS256', 'kid': 'rsa'})}.{segment(ISSUER.claims())}"
    text = f"{body}.{segment(jwt.get_algorithm_by_name('PS256').sign(body.encode(), RSA.private))}"
    with pytest.raises(InvalidToken):
        believe(text, [RSA])


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://id.example.org/"},
        {"iss": "http://id.example.org"},
        {"iss": None},
        {"iss": ["https://id.example.org"]},
        {"aud": "other"},
        {"aud": None},
        {"aud": {"a": CLIENT}},
        {"aud": ["other"]},
        {"aud": [CLIENT, "other"]},
        {"aud": [CLIENT, "other"], "azp": "other"},
        {"azp": "other"},
        {"exp": None},
        {"exp": "9999999999"},
        {"exp": True},
        {"exp": 10**15},
        {"exp": -1},
        {"exp": int(NOW) + 900_000},
        {"iat": None},
        {"iat": int(NOW) + 30_000},
        {"nbf": int(NOW) + 30_000},
        {"nbf": "soon"},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 256},
        {"sub": "a\nb"},
    ],
)
def test_a_wrong_claim_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        believe(signed(ISSUER.claims(**change)))


def test_several_audiences_need_the_party_to_be_us() -> None:
    assert believe(signed(ISSUER.claims(aud=[CLIENT, "other"], azp=CLIENT))).subject == "ada"


def test_a_token_lives_a_minute_longer_than_it_says_and_then_is_expired_not_invalid() -> None:
    text = signed(ISSUER.claims(iat=int(NOW) - 600, exp=int(NOW)))
    assert believe(text, now=NOW + 58).subject == "ada"
    with pytest.raises(ExpiredToken):
        believe(text, now=NOW + 62)


@pytest.mark.parametrize(
    "head",
    [
        {"crit": ["b64"]},
        {"crit": []},
        {"typ": "at+jwt"},
        {"typ": 7},
        {"kid": ""},
        {"kid": 7},
        {"kid": "../../dev/null"},
        {"kid": "x" * 8000},
    ],
)
def test_an_odd_header_is_refused(head: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        believe(signed(ISSUER.claims(), **head))


def test_any_changed_byte_is_refused() -> None:
    text = signed(ISSUER.claims())
    head, payload, signature = text.split(".")
    forged = [
        f"{head}.{segment(ISSUER.claims('eve'))}.{signature}",
        f"{head}.{payload}.",
        f"{head}.{payload}",
        f"{text}.x",
        f"{text}.x.y",
        f"{text}=",
        f"{text}\n",
        f" {text}",
        f"{text}\0",
        f"{head}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        f"{head}.{payload}.{signature[:-1]}\u0391",
    ]
    for other in forged:
        with pytest.raises(InvalidToken):
            believe(other)


@pytest.mark.parametrize(
    "payload",
    [
        b'{"sub":"a","sub":"b"}',
        b'{"exp":NaN}',
        b"[]",
        b"7",
        b"{",
        b"[" * 5000,
        b"\xff",
        b'{"exp":1e400}',
        b'{"exp":' + b"9" * 6000 + b"}",
    ],
)
def test_odd_json_is_refused_and_breaks_nothing(payload: bytes) -> None:
    with pytest.raises(InvalidToken):
        believe(signed(payload))


def test_a_token_of_more_than_8_kb_is_refused_unread() -> None:
    with pytest.raises(InvalidToken):
        id_token.parse(signed(ISSUER.claims(padding="x" * 9000)))


def test_keys_that_cannot_be_used_do_not_spoil_the_set() -> None:
    good = ISSUER.keys[0].published()
    odd: list[Any] = [
        None,
        7,
        {},
        {"kty": "AKP"},
        {"kty": "EC", "crv": "P-256"},
        {"kty": "oct", "k": "AAAA", "kid": "one"},
        {**good, "use": "enc"},
        {**good, "kid": 7},
        {**good, "alg": "HS256"},
        {**good, "crv": "P-521"},
        {**good, "x": "!!"},
        {**RSA.published(), "n": "AQAB"},
        {"kty": "EC", "crv": ["P-256"]},
        {"kty": ["EC"]},
        {**good, "alg": ["ES256"]},
        {**good, "key_ops": ["encrypt"]},
        {**good, "key_ops": "verify"},
        {**good, "use": ["sig"]},
        {**good, "crv": {}},
        {**good, "x": ["a"]},
        {**good, "kid": {}},
        {"kty": "RSA", "n": {}, "e": []},
    ]
    assert [key.kid for key in id_token.usable_keys({"keys": [*odd, good]})] == ["one"]
    for document in (None, [], {"keys": None}, {"keys": {}}, "keys"):
        assert id_token.usable_keys(document) == []


def test_a_key_that_is_published_for_verifying_is_used() -> None:
    entry = {**ISSUER.keys[0].published(), "key_ops": ["verify"]}
    del entry["use"]
    assert len(id_token.usable_keys({"keys": [entry]})) == 1


def test_of_several_keys_with_one_kid_each_is_tried() -> None:
    twins = [SigningKey.make("same"), SigningKey.make("same"), SigningKey.make("same", "RS256")]
    for key in twins:
        assert believe(signed(ISSUER.claims(), key), twins).subject == "ada"
    with pytest.raises(InvalidToken):
        believe(signed(ISSUER.claims(), SigningKey.make("same")), twins)


LOGOUT = {"http://schemas.openid.net/event/backchannel-logout": {}}


@pytest.mark.parametrize(
    "claims",
    [
        {"events": LOGOUT},
        {"events": LOGOUT, "nonce": None, "sid": "s"},
        {"scope": "openid"},
        {"scp": ["read"]},
        {"client_id": CLIENT},
        {"token_use": "access"},
        {"token_use": "refresh"},
        {"token_use": ["id"]},
        {"typ": "Bearer"},
        {"typ": "Refresh"},
        {"typ": "Logout"},
        {"typ": "Offline"},
        {"typ": 7},
        {"nonce": ""},
        {"nonce": ["a"]},
        {"nonce": 7},
    ],
)
def test_a_token_that_a_provider_signs_for_another_purpose_is_no_id_token(claims: dict[str, Any]) -> None:
    for head in ({}, {"typ": "JWT"}):
        with pytest.raises(InvalidToken):
            believe(signed(ISSUER.claims(**claims), **head))


def test_an_id_token_that_says_so_is_believed() -> None:
    for claims in ({"token_use": "id"}, {"typ": "ID"}, {"nonce": "n", "azp": CLIENT}, {"sid": "s", "jti": "j"}):
        assert believe(signed(ISSUER.claims(**claims))).subject == "ada", claims


def test_an_address_is_verified_only_where_the_provider_says_so() -> None:
    for claim, verified in ((True, True), (False, False), (None, False), ("true", False), (1, False)):
        assert believe(signed(ISSUER.claims(email_verified=claim))).email_verified is verified, claim


def test_an_address_that_no_column_or_page_could_hold_is_left_out() -> None:
    for address in ("a\0b@example.org", "a\ud800@example.org", "a\nb@example.org", "   "):
        assert believe(signed(ISSUER.claims(email=address))).email is None, address


def test_a_small_rsa_key_is_skipped() -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa

    small = SigningKey("small", "RS256", rsa.generate_private_key(public_exponent=65537, key_size=1024))
    assert id_token.usable_keys({"keys": [small.published()]}) == []


def test_an_address_the_provider_does_not_vouch_for_is_left_out() -> None:
    assert believe(signed(ISSUER.claims(email_verified=False))).email is None
    assert believe(signed(ISSUER.claims(name=None, preferred_username="adal"))).name == "adal"
