"""ID tokens at the edge: accepted where the contract says, through rotations and outages, and cheap to refuse."""

import asyncio

import pytest

from edge.auth.id_token import InvalidToken
from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from tests.service.org.conftest import SignedIn
from tests.support.issuer import SigningKey


async def test_a_person_has_the_free_plan_by_address_and_no_paid_call(signed_in: SignedIn) -> None:
    assert (await signed_in.ask("GET", "/")).json["organization"] is None
    organization = await signed_in.organization()
    root = (await signed_in.ask("GET", "/")).json
    assert (root["credential"], root["plan"]) == ("bearer", "free")
    assert root["organization"] == {"id": organization, "name": "Acme"}
    quota = (await signed_in.ask("GET", "/quota", address="2001:db8::7")).json
    assert (quota["counted_as"], quota["limits"][0]["limit"]) == ("2001:db8::/64", 100)
    free = await signed_in.ask("GET", "/index/brands")
    assert free.status == 200
    assert '"free-daily";q=100' in free.head["RateLimit-Policy"]
    paid = await signed_in.ask("GET", "/index/lookup?iid=IID-A")
    assert (paid.status, paid.json["accepted"]) == (403, ["api-key"])
    both = {"X-Service-Public-Token": signed_in.edge.settings.anonymous_token}
    assert (await signed_in.ask("GET", "/quota", head=both)).status == 400, "two credentials are one too many"


async def test_bad_and_expired_tokens_are_distinguished_and_nothing_else_is(signed_in: SignedIn) -> None:
    edge, issuer = signed_in.edge, signed_in.issuer
    now = issuer.claims()["iat"]
    tokens = {
        issuer.token(iat=now - 900, exp=now - 300): "expired-credentials",
        issuer.token(aud="other"): "invalid-credentials",
        issuer.token() + "x": "invalid-credentials",
        "abc": "invalid-credentials",
        "x" * 8_193: "invalid-credentials",
    }
    bodies = set()
    for token, slug in tokens.items():
        answer = await edge.ask("GET", "/", anonymous=False, head={"Authorization": f"Bearer {token}"})
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (401, slug)
        assert "Bearer" in answer.head["WWW-Authenticate"]
        bodies.add(answer.json["detail"])
    assert len(bodies) == 2


async def test_a_key_in_the_wrong_header_is_refused_with_the_right_one(signed_in: SignedIn) -> None:
    key = "iixk_live_" + "0" * 48
    for name, value in (
        ("Authorization", f"Bearer {key}"),
        ("Authorization", key),
        ("Authorization", "Basic Zm9vOmJhcg=="),
        ("X-Service-Public-Token", key),
    ):
        answer = await signed_in.edge.ask("GET", "/quota", anonymous=False, head={name: value})
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (401, "invalid-credentials")
        assert "Send an API key as `Authorization: ApiKey …`" in answer.json["detail"], value
    answer = await signed_in.edge.ask("GET", "/quota", anonymous=False, head={"Authorization": f"ApiKey {key}"})
    assert "Check that the whole of it was copied" in answer.json["detail"]


async def test_a_rotation_of_the_providers_keys_costs_no_call(signed_in: SignedIn) -> None:
    issuer = signed_in.issuer
    statuses: list[int] = []

    async def call_until(stop: asyncio.Event) -> None:
        while not stop.is_set():
            statuses.append((await signed_in.ask("GET", "/quota", f"p{len(statuses) % 7}")).status)

    stop = asyncio.Event()
    callers = [asyncio.create_task(call_until(stop)) for _ in range(4)]
    while len(statuses) < 40:
        await asyncio.sleep(0)
    issuer.rotate("two")
    while len(statuses) < 120:
        await asyncio.sleep(0)
    stop.set()
    await asyncio.gather(*callers)
    assert set(statuses) == {200}
    assert issuer.fetches == 2


async def test_a_thousand_unknown_keys_cause_one_fetch(signed_in: SignedIn) -> None:
    issuer, people = signed_in.issuer, signed_in.edge.resources.users
    assert (await signed_in.ask("GET", "/quota")).status == 200
    before = issuer.fetches
    good = issuer.token()
    real = issuer.keys[-1]

    async def flood(n: int) -> None:
        issuer.keys[-1] = SigningKey(f"unknown-{n}", real.algorithm, real.private)
        token = issuer.token()
        issuer.keys[-1] = real
        with pytest.raises(InvalidToken):
            await people.authenticate(token)

    await asyncio.gather(*(flood(n) for n in range(1_000)))
    assert issuer.fetches - before <= 1
    assert (await people.authenticate(good)).name == "Ada"


async def test_while_the_provider_is_down_known_keys_go_on_and_unknown_ones_are_not_blamed(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = signed_in.issuer
    assert (await signed_in.ask("GET", "/quota")).status == 200
    issuer.down = True
    provider = signed_in.edge.resources.users.provider
    monkeypatch.setattr(provider, "_refresh_seconds", -1.0)
    monkeypatch.setattr(provider, "_fetch_seconds", -1.0)
    assert (await signed_in.ask("GET", "/quota", "bob")).status == 200
    issuer.rotate("new")
    answer = await signed_in.ask("GET", "/quota", "carol")
    assert answer.status == 503
    assert int(answer.head["Retry-After"]) >= 1
    issuer.down = False
    assert (await signed_in.ask("GET", "/quota", "carol")).status == 200


async def test_no_entry_of_the_providers_keys_keeps_the_others_from_being_used(signed_in: SignedIn) -> None:
    signed_in.issuer.extra_keys = [
        {"kty": "EC", "crv": ["P-256"]},
        {"kty": "EC", "crv": "P-256", "x": {"a": []}},
        [],
        "key",
        {"kty": {}},
        {"use": []},
    ]
    assert (await signed_in.ask("GET", "/quota")).status == 200


async def test_keys_that_cannot_be_read_are_an_outage_of_the_provider_and_no_fault_of_ours(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signed_in.edge.resources.users.provider, "_fetch_seconds", -1.0)
    for body in (b"[" * 200_000, b'{"keys":' * 50_000, b"\xff", b"", b"null", b'{"keys":{}}'):
        signed_in.issuer.raw_jwks = body
        assert (await signed_in.ask("GET", "/quota")).status == 503, body[:9]
    assert signed_in.issuer.fetches >= 6


async def test_while_the_keys_were_never_fetched_a_hundred_calls_cause_one_fetch(signed_in: SignedIn) -> None:
    signed_in.issuer.down = True
    for _ in range(2):
        answers = await asyncio.gather(*(signed_in.ask("GET", "/quota", f"p{n}") for n in range(50)))
        assert {answer.status for answer in answers} == {503}
    assert signed_in.issuer.discoveries == 1


async def test_a_provider_that_names_another_issuer_is_not_believed(signed_in: SignedIn) -> None:
    signed_in.issuer.called = "https://id.example"
    assert (await signed_in.ask("GET", "/quota")).status == 503
    assert signed_in.issuer.fetches == 0


async def test_keys_that_move_to_another_address_are_found_there(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await signed_in.ask("GET", "/quota")).status == 200
    signed_in.issuer.jwks_path = "/moved/jwks"
    signed_in.issuer.rotate("two", keep=False)
    monkeypatch.setattr(signed_in.edge.resources.users.provider, "_fetch_seconds", -1.0)
    assert (await signed_in.ask("GET", "/quota", "bob")).status == 200


async def test_an_invitation_is_not_for_a_person_whose_address_is_not_verified(signed_in: SignedIn) -> None:
    await signed_in.organization()
    answer = await signed_in.ask("POST", "/org/invitations", body={"email": "bob@example.org", "role": "admin"})
    secret = answer.json["link"].partition("#")[2]
    people, acts = (
        signed_in.edge.resources.users,
        OrganizationService(signed_in.edge.resources.database, signed_in.edge.settings),
    )
    for claim in (None, False):
        with pytest.raises(Problem, match="state-conflict"):
            await acts.accept_invitation(
                await people.authenticate(signed_in.issuer.token("bob", email_verified=claim)), secret
            )
    await acts.accept_invitation(await people.authenticate(signed_in.issuer.token("bob")), secret)
