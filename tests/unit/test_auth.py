"""Credentials and people: what is accepted of them, and what a process remembers."""

import asyncio
import gc
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from edge.auth import id_token
from edge.auth.credentials import CredentialStore
from edge.auth.id_token import ExpiredToken, Identity, InvalidToken
from edge.auth.oidc_provider import OidcProvider
from edge.auth.users import UserService
from shared.errors import StoreUnavailable
from shared.organizations import credentials
from shared.organizations.credentials import KEY_PREFIX, mint
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.issuer import CLIENT, Issuer, SigningKey, segment

# What a process remembers of credentials, and when it asks PostgreSQL again.


PEPPER = "p" * 32

PLAN = {
    "name": "brand",
    "title": "Brand",
    "rank": 2,
    "counted_by": "organization",
    "daily_units": 1,
    "burst_units": 1,
    "jobs_running": 1,
    "jobs_queued": 1,
    "batch_iids_max": 1,
    "self_service": False,
}


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Database:
    """A database of keys, that answers while a test lets it."""

    def __init__(self, *keys: str) -> None:
        self.keys = {key[credentials.ID]: (key, None) for key in keys}
        self.asked: list[list[str]] = []
        self.reached = asyncio.Condition()
        self.answering = True
        self.answers = asyncio.Event()
        self.answers.set()
        self.plan = PLAN

    async def fetch(self, query: str, ids: list[str] | None = None) -> list[dict[str, Any]]:
        if ids is None:
            return [self.plan]
        rows = [self._row(key_id, *self.keys[key_id]) for key_id in ids if key_id in self.keys]
        async with self.reached:
            self.asked.append(list(ids))
            self.reached.notify_all()
        await self.answers.wait()
        if not self.answering:
            raise StoreUnavailable("database")
        return rows

    async def until_asked(self, times: int) -> None:
        """Wait until so many queries have been sent."""
        async with self.reached:
            await self.reached.wait_for(lambda: len(self.asked) == times)

    def _row(self, key_id: str, key: str, left: float | None) -> dict[str, Any]:
        return {
            "credential_id": key_id,
            "kind": "api-key",
            "secret_hash": credentials.keyed_hash(key, PEPPER),
            "plan": self.plan["name"],
            "organization_id": f"of {key_id}",
            "organization_name": "O",
            "seconds_left": left,
        }


@pytest.fixture
def key() -> str:
    return mint(KEY_PREFIX)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(key: str) -> Database:
    return Database(key)


def store_on(database: Database, clock: Clock | None = None, **limits: int) -> CredentialStore:
    return CredentialStore(
        database,  # type: ignore[arg-type]
        Log("tests"),
        anonymous_token="",
        peppers=(PEPPER,),
        clock=clock or time.monotonic,
        **limits,
    )


@pytest.fixture
async def store(database: Database, clock: Clock, key: str) -> CredentialStore:
    """A store that has heard all notices until now and knows the key."""
    made = store_on(database, clock)
    await made.confirm(0.0, heard=True)
    assert await made.resolve("api-key", key) is not None
    database.asked.clear()
    return made


async def test_while_notices_arrive_a_key_is_asked_for_once(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    principal = store.cached(key)
    for second in range(1, 100):
        clock.now = float(second)
        await store.confirm(second - 0.1, heard=True)
        assert store.cached(key) is principal is await store.resolve("api-key", key)
    assert database.asked == []


@pytest.mark.parametrize("named", ["key", "organization"])
async def test_a_notice_ends_what_it_names_and_nothing_else(
    store: CredentialStore, database: Database, clock: Clock, key: str, named: str
) -> None:
    store.changed("another")
    assert store.cached(key) is not None
    del database.keys[key[credentials.ID]]
    clock.now = 0.1
    store.changed(key[credentials.ID] if named == "key" else f"of {key[credentials.ID]}")
    assert store.cached(key) is None
    clock.now = 0.2
    assert [await store.resolve("api-key", key) for _ in range(2)] == [None, None]
    assert len(database.asked) == 1


async def test_credentials_that_nobody_has_accepted_wait_in_bounded_number_and_known_ones_do_not_notice(
    store: CredentialStore, database: Database, clock: Clock, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edge.auth.credentials._CHECKS_MAX", 3)
    database.answers.clear()  # PostgreSQL takes its time
    made_up = [mint(KEY_PREFIX) for _ in range(3)]
    waiting = [asyncio.create_task(store.resolve("api-key", text)) for text in (made_up[0], *made_up[:2])]
    await database.until_asked(2)  # two calls of one credential are one query, and wait as two
    with pytest.raises(StoreUnavailable, match="checks as many new credentials as it can"):
        await store.resolve("api-key", made_up[2])
    assert await store.resolve("api-key", key) is not None
    clock.now = 1.0  # what is known of the key has to be confirmed
    again = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(3)
    database.answers.set()
    assert await asyncio.gather(*waiting) == [None] * 3
    assert await again is not None
    assert await store.resolve("api-key", made_up[2]) is None


async def test_what_no_notice_confirms_holds_for_a_second(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    del database.keys[key[credentials.ID]]  # the notice of it is lost
    clock.now = 0.9
    assert store.cached(key) is not None
    clock.now = 1.0
    assert store.cached(key) is None
    assert await store.resolve("api-key", key) is None


async def test_without_notices_all_keys_are_read_in_one_statement(database: Database, clock: Clock) -> None:
    keys = [mint(KEY_PREFIX) for _ in range(50)]
    database.keys = {key[credentials.ID]: (key, None) for key in keys}
    store = store_on(database, clock)
    for key in keys:
        await store.resolve("api-key", key)
    database.asked.clear()
    database.keys.popitem()
    for _ in range(3):
        clock.now += 0.7
        await store.confirm(clock.now, heard=False)
    assert [len(ids) for ids in database.asked] == [50, 49, 49]
    assert [store.cached(key) is not None for key in keys] == [True] * 49 + [False]


async def test_after_a_gap_nothing_that_was_read_before_it_is_confirmed(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    late = mint(KEY_PREFIX)
    database.keys[late[credentials.ID]] = (late, None)
    database.answers.clear()
    reading = asyncio.create_task(store.resolve("api-key", late))
    await database.until_asked(1)
    del database.keys[late[credentials.ID]]
    store.changed("")  # the connection was lost meanwhile
    clock.now = 0.5
    confirming = asyncio.create_task(store.confirm(0.5, heard=True))
    await database.until_asked(2)
    database.answers.set()
    await asyncio.gather(reading, confirming)
    await store.confirm(1.4, heard=True)
    clock.now = 1.5
    assert store.cached(key) is not None
    assert store.cached(late) is None


async def test_a_key_ends_when_its_grace_does(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.keys[key[credentials.ID]] = (key, 0.3)
    store.changed(key[credentials.ID])
    clock.now = 0.1
    assert await store.resolve("api-key", key) is not None
    clock.now = 0.41
    await store.confirm(0.4, heard=True)
    assert store.cached(key) is None


async def test_a_changed_plan_is_read_with_all_that_have_it(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.plan = {**PLAN, "daily_units": 7}
    store.changed("plans")
    await store.confirm(0.1, heard=True)
    principal = store.cached(key)
    assert principal is not None and principal.plan.daily_units == (await store.plan("brand")).daily_units == 7


async def test_a_new_plan_is_read_with_the_first_key_that_has_it(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.plan = {**PLAN, "name": "gold"}
    store.changed(f"of {key[credentials.ID]}")
    clock.now = 0.1
    principal = await store.resolve("api-key", key)
    assert principal is not None and principal.plan.name == "gold"


async def test_of_too_many_notices_one_reading_is_made(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    for number in range(20_000):
        store.changed(str(number))
    clock.now = 0.1
    await store.confirm(0.1, heard=True)
    await store.confirm(0.2, heard=True)
    assert database.asked == [[key[credentials.ID]]]
    assert store.cached(key) is not None


async def test_an_outage_lets_known_keys_call_for_five_seconds(
    store: CredentialStore, database: Database, clock: Clock, key: str
) -> None:
    database.answering = False
    clock.now = 4.9
    await store.confirm(4.9, heard=False)
    assert store.cached(key) is not None
    clock.now = 5.1
    with pytest.raises(StoreUnavailable):
        await store.resolve("api-key", key)
    database.answering = True
    assert await store.resolve("api-key", key) is not None


async def test_another_secret_of_a_known_id_is_refused_without_a_question(
    store: CredentialStore, database: Database, key: str
) -> None:
    body = key[: credentials.ID.stop] + "A" * 32
    forged = body + credentials.checksum(body)
    as_token = credentials.FREE_PREFIX + body[len(KEY_PREFIX) :]
    assert await store.resolve("api-key", forged) is None
    assert await store.resolve("public-token", as_token + credentials.checksum(as_token)) is None
    assert store.cached(forged) is store.cached("") is store.cached(key[credentials.ID]) is None
    assert database.asked == [] and store.cached(key) is not None


async def test_a_scanner_with_well_formed_keys_pushes_out_no_valid_one(clock: Clock) -> None:
    keys = [mint(KEY_PREFIX) for _ in range(4)]
    store = store_on(Database(*keys), clock, valid_max=3, unknown_max=3)
    for key in (*keys[:3], keys[0], keys[3]):  # the least recently used leaves first
        await store.resolve("api-key", key)
    for _ in range(100):
        await store.resolve("api-key", mint(KEY_PREFIX))
    assert [store.cached(key) is not None for key in keys] == [True, False, True, True]
    assert len(store._valid) == len(store._unknown) == 3


async def test_no_credential_is_kept(store: CredentialStore, key: str) -> None:
    held = [part for name, part in vars(store).items() if name != "_database"]
    assert key not in str(held + gc.get_referents(*held)) and len(store._valid) == 1


async def test_a_burst_of_first_calls_is_one_question(database: Database, key: str) -> None:
    database.answers.clear()
    store = store_on(database)
    calls = [asyncio.create_task(store.resolve("api-key", key)) for _ in range(50)]
    await database.until_asked(1)
    calls[0].cancel()  # a caller that disconnects cancels no other
    database.answers.set()
    principals = await asyncio.gather(*calls[1:])
    assert len(database.asked) == len(set(principals)) == 1
    assert await store.resolve("api-key", key) is principals[0]


async def test_a_value_read_before_a_change_is_not_used_after_it(database: Database, key: str) -> None:
    database.answers.clear()
    store = store_on(database)
    early = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(1)
    del database.keys[key[credentials.ID]]
    store.changed(key[credentials.ID])
    late = asyncio.create_task(store.resolve("api-key", key))
    await database.until_asked(2)
    database.answers.set()
    await early
    assert await late is store.cached(key) is None


async def test_an_outage_is_reported_to_all_and_not_remembered(database: Database, key: str) -> None:
    database.answering = False
    store = store_on(database)
    reported = await asyncio.gather(*(store.resolve("api-key", key) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in reported] == [StoreUnavailable] * 3
    database.answering = True
    assert await store.resolve("api-key", key) is not None


# Only a well-formed, rightly signed ID token of our provider, for us, in its time, is believed.


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


# What is remembered of people while their roles change.


class Provider:
    """The provider, which has its keys already."""

    issuer = ISSUER.url

    async def keys_for(self, token: id_token.Unverified) -> list[id_token.VerificationKey]:
        return id_token.usable_keys({"keys": [key.published() for key in ISSUER.keys]})


class SlowUsers:
    """A database that answers when a test lets it."""

    def __init__(self) -> None:
        self.role = "owner"
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()

    async def fetch_row(self, query: str, *values: Any, scope: Any) -> dict[str, Any]:
        return {"id": "p", "name": "Ada", "email": "ada@example.org", "email_verified": True}

    async def fetch(self, query: str, *values: Any, scope: Any) -> list[dict[str, Any]]:
        role = self.role
        self.asked.set()
        await self.answers.wait()
        return [{"id": "o", "name": "Acme", "plan": "brand", "state": "active", "role": role}]


async def test_a_person_who_was_read_before_a_change_of_roles_is_read_again() -> None:
    provider: Any = Provider()
    slow: Any = SlowUsers()
    users = UserService(provider, slow, Settings(oidc_client_id=CLIENT))
    text = ISSUER.token("ada")
    reading = asyncio.create_task(users.authenticate(text))
    await slow.asked.wait()
    slow.role = "viewer"
    users.invalidate()
    slow.answers.set()
    await reading
    assert [one.role for one in (await users.authenticate(text)).memberships] == ["viewer"]


async def test_a_provider_that_does_not_answer_is_waited_for_by_a_bounded_number_of_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("edge.auth.oidc_provider._WAITING_MAX", 3)
    reached, released = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await released.wait()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        provider = OidcProvider(Settings(oidc_issuer=f"http://127.0.0.1:{port}"), Log("tests"))
        await provider.open()
        calls = [asyncio.ensure_future(provider.endpoints()) for _ in range(5)]
        await reached.wait()
        assert [call.done() for call in calls] == [False] * 3 + [True] * 2
        released.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 5
        await provider.close()
