"""Hostile credentials and use: sections E and G of the catalogue, and random walks against a model."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, seed
from hypothesis import settings as options
from hypothesis import strategies as st

from shared.db.connect import connect
from shared.index.iid import mint as mint_iid
from shared.organizations.accounts import SQL
from shared.organizations.credentials import BASE62, FREE_PREFIX, KEY_PREFIX, checksum, keyed_hash, mint
from shared.redis import keys
from shared.settings.settings import Settings
from tests.service.hostile.rows import Row, faults
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge, running_edge
from tests.support.database import execute

# Section E of the catalogue: credentials that are absent, wrong, twice, or in the wrong place.


ANONYMOUS = Settings().anonymous_token

# What secret scanners may search for (contract, section 8): the form, and then the CRC-32 of what precedes the check.
PUBLISHED = re.compile(r"iixk_live_[0-9A-Za-z]{48}")


def _odd_credentials(key: str) -> list[Row]:
    wrong_check = key[:-1] + BASE62[(BASE62.index(key[-1]) + 1) % 62]
    bad = [
        wrong_check,
        mint(KEY_PREFIX),
        mint(FREE_PREFIX),
        key.lower(),
        key[:-1],
        f'"{key}"',
        f"{key}\u200b",
        f" {key}",
        "",
        "x",
    ]
    rows = [
        Row("E4", "/quota", 401, "invalid-credentials", {"Authorization": f"ApiKey {text}"}, anonymous=False)
        for text in bad
    ]
    other = [f"Basic {key}", "ApiKey", f"Token {key}", key, f"ApiKey\t{key}", "Digest x"]
    rows += [
        Row("E5", "/quota", 401, "invalid-credentials", {"Authorization": text}, anonymous=False) for text in other
    ]
    rows += [
        Row("E5", "/quota", 200, None, {"Authorization": f"{scheme} {key}"}, anonymous=False)
        for scheme in ("apikey", "APIKEY", "ApiKey")
    ]
    return rows


async def test_each_credential_is_answered_as_promised(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings)
    field = "X-Service-Public-Token"
    rows = [
        Row("E1", "/index/brands", 401, "missing-credentials", anonymous=False),
        *(
            Row("E2", "/index/brands", 401, "invalid-credentials", {field: text}, anonymous=False)
            for text in (ANONYMOUS[:-1] + "A", ANONYMOUS.upper(), "hostile-mark", mint(FREE_PREFIX), key)
        ),
        Row("E2", "/index/brands", 400, "ambiguous-credentials", {field: f"{ANONYMOUS}, {ANONYMOUS}"}, anonymous=False),
        *_odd_credentials(key),
        Row("E5", "/quota", 400, "ambiguous-credentials", {"Authorization": f"ApiKey {key},{key}"}, anonymous=False),
        Row(
            "E7",
            "/index/rollups/sustainability?brand=vita",
            403,
            "insufficient-plan",
            {"Authorization": f"ApiKey {key}"},
            anonymous=False,
        ),
    ]
    assert await faults(shared_edge, rows) == []


async def test_a_key_in_the_address_is_refused_and_never_written_down(edge: Edge) -> None:
    # E5: query strings end up in logs and histories.
    key = api_key(edge.settings)
    for path in (
        f"/index/brands?key={key}",
        f"/index/brands?{key}=1",
        f"/index/lookup/{key}",
        f"/index/brands?api_key={key}",
    ):
        answer = await edge.get(path, address="203.0.113.7")
        assert answer.status == 400
        assert key.encode() not in answer.body
    edge.resources.access_log.flush()
    assert key not in Path(edge.settings.access_log).read_text(encoding="utf-8")


async def test_no_secret_of_a_caller_comes_to_rest(edge: Edge) -> None:
    # P20: in no log, no store, no table, whichever way the call went.
    key, token = api_key(edge.settings), free_token(edge.settings)
    for path in ("/quota", "/index/brands", "/index/cohorts", "/nowhere", "/index/lookup?iid=IID-A"):
        await edge.get(path, key=key)
        await edge.get(path, token=token)
    for text in (key, token):  # in place of an item's id, by mistake
        for spelled in (text, text.swapcase(), f"%69{text[1:]}", text.replace("_", "%5f"), f"%2569{text[1:]}"):
            await edge.get(f"/index/lookup/{spelled}", key=key)
            await edge.get(f"/{spelled}", key=key)
    await edge.resources.request_log.flush()
    edge.resources.access_log.flush()
    stored = Path(edge.settings.access_log).read_bytes()
    for store in (edge.resources.state, edge.resources.cache):
        for name in await store.command("KEYS", "*"):
            held = (
                await store.command("LRANGE", name, "0", "-1") if await store.command("TYPE", name) == b"list" else []
            )
            stored += b"\n".join([name, *held])
    with connect(edge.settings.database_url, application="tests") as connection:
        for table in ("api_keys", "public_tokens", "audit", "organizations"):
            stored += str(connection.execute(f"SELECT t::text FROM {table} t").fetchall()).encode()
    for secret in (key[20:52], token[20:52]):
        assert secret.lower().encode() not in stored.lower()


async def test_wrong_unknown_and_revoked_keys_get_the_same_answer(edge: Edge) -> None:
    # E4: one body for all of them, but for its request id; a wrong check costs no question to PostgreSQL.
    revoked = api_key(edge.settings)
    execute(edge.settings, "UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", revoked[10:20])
    reported = set()
    for key in (revoked, mint(KEY_PREFIX), "iixk_live_" + "a" * 48):
        answer = await edge.get("/quota", key=key)
        reported.add(
            (answer.status, answer.head["WWW-Authenticate"], re.sub(rb"urn:uuid:[0-9a-f-]+", b"", answer.body))
        )
    assert len(reported) == 1
    await edge.resources.database.close()
    assert (await edge.get("/quota", key="iixk_live_" + "a" * 48)).status == 401
    assert (await edge.get("/quota", key=mint(KEY_PREFIX))).status == 503


def test_a_secret_scanner_can_be_sure() -> None:
    """E16: form and check find every key, and no random text of the same form."""

    def known(text: str) -> bool:
        return bool(PUBLISHED.fullmatch(text)) and checksum(text[:-6]) == text[-6:]

    assert all(known(mint(KEY_PREFIX)) for _ in range(100))
    assert not any(known(mint(KEY_PREFIX)[:-6] + checksum(str(n))) for n in range(1_000))


# Section G of the catalogue: what is counted, as whom, and what happens when counting is made hard.


SOY = f"/index/lookup/{mint_iid('shop', '1').iid}"


async def used(edge: Edge, address: str) -> int:
    """Return what an anonymous caller has used today."""
    return int((await edge.get("/quota", address=address)).json["limits"][0]["used"])


async def test_calls_are_counted_as_the_contract_says(shared_edge: Edge) -> None:
    etag = (await shared_edge.get(SOY, address="203.0.113.99")).head["ETag"]
    rows = [
        ("GET", SOY, {}, 200, 1),
        ("HEAD", SOY, {}, 200, 1),
        ("GET", "/index/lookup/IID-A", {}, 404, 1),
        ("HEAD", "/index/lookup/IID-A", {}, 404, 1),
        ("GET", SOY, {"If-None-Match": etag}, 304, 0),
        ("OPTIONS", SOY, {}, 204, 0),
        ("GET", "/health", {}, 200, 0),
        ("GET", f"{SOY}/", {}, 308, 0),
        ("GET", "/index/search?q=", {}, 400, 0),
        ("DELETE", SOY, {}, 405, 0),
        ("GET", SOY, {"Accept": "image/png"}, 406, 0),
    ]
    for number, (method, path, head, status, units) in enumerate(rows):
        address = f"203.0.113.{number}"
        answer = await shared_edge.ask(method, path, address=address, head=head)
        assert (answer.status, await used(shared_edge, address)) == (status, units), (method, path)


async def test_a_caller_that_disconnects_has_paid(shared_edge: Edge) -> None:
    # G7: else hanging up before the answer would be a way to ask for nothing.
    token = shared_edge.settings.anonymous_token
    _, writer = await asyncio.open_unix_connection(shared_edge.path)
    writer.write(
        f"GET /v1/index/brands HTTP/1.1\r\nHost: testserver\r\nX-Real-IP: 203.0.113.200\r\n"
        f"X-Charge-Id: {'7' * 32}\r\nX-Service-Public-Token: {token}\r\n\r\n".encode()
    )
    await writer.drain()
    writer.transport.abort()
    for _ in range(500):
        if await used(shared_edge, "203.0.113.200"):
            break
    assert await used(shared_edge, "203.0.113.200") == 1


async def test_odd_networks_have_one_allowance_each(shared_edge: Edge) -> None:
    # G12: an IPv4 address inside IPv6 is that address; every other /64 is one caller.
    groups = [
        ("198.51.100.1", "::ffff:198.51.100.1", "64:ff9b::198.51.100.1"),
        ("2002:c633:6401::1", "2002:c633:6401::2"),
        ("fe80::1", "fe80::1%eth0"),
        ("fd00::1", "fd00::ffff"),
        ("2001:0:53aa:64c::1", "2001:0:53aa:64c::2"),
    ]
    for group in groups:
        counted = {(await shared_edge.get("/quota", address=address)).json["counted_as"] for address in group}
        assert len(counted) == 1, group


async def test_without_an_address_no_caller_is_served(shared_edge: Edge) -> None:
    # G15: all callers as one, or none: the fault is in nginx's configuration, and it shows at once.
    for address in ("", "unknown", "010.0.0.1", "1.2.3.4:80"):
        answer = await shared_edge.ask("GET", SOY, address=address)
        assert answer.status == 500
        assert answer.json["type"].endswith("/internal-error")


async def test_a_refusal_says_what_lifts_it(shared_edge: Edge) -> None:
    # G16: a thousand people behind one address learn how to get an allowance of their own.
    for _ in range(3):
        await shared_edge.get("/index/brands")
    refused = (await shared_edge.get("/index/brands")).json
    assert refused["counted_as"] == shared_edge.address
    assert "sign-up" in refused["lifted_by"]


async def test_a_full_store_is_an_outage_and_no_free_day(edge: Edge) -> None:
    """G21: without room for counters the little local allowance decides; nothing breaks, no number is stated."""
    state = edge.resources.state
    before = (await state.command("CONFIG", "GET", "maxmemory"))[1]
    await state.command("CONFIG", "SET", "maxmemory", "1")
    try:
        answers = [await edge.get("/index/brands", address="203.0.113.5") for _ in range(4)]
        ready = (await edge.get("/ready")).json
    finally:
        await state.command("CONFIG", "SET", "maxmemory", before)
    statuses = [answer.status for answer in answers]
    assert statuses.count(200) <= 3
    assert set(statuses) <= {200, 429, 503}
    assert all("RateLimit" not in answer.head for answer in answers if answer.status == 200)
    [full] = [part for part in ready["parts"] if part["name"] == "state"]
    assert (ready["status"], full["state"]) == ("degraded", "read-only") and "calls cannot be counted" in full["detail"]
    assert {part["name"]: part["state"] for part in (await edge.get("/ready")).json["parts"]}["state"] == "ok"


async def test_a_burst_above_the_plan_is_refused_and_not_charged(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings)
    await shared_edge.get(SOY)  # into memory: PostgreSQL under a burst has limits of its own
    answers = await asyncio.gather(*(shared_edge.get(SOY, key=key) for _ in range(200)))
    served = [answer for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status == 429]
    assert len(served) + len(refused) == 200
    for answer in refused:
        assert (answer.json["policy"], answer.head["Retry-After"]) == ("brand-burst", "1")
    assert (await shared_edge.get("/quota", key=key)).json["limits"][0]["used"] == len(served)


@pytest.mark.parametrize(("trusted", "units"), [("", 3), ("127.0.0.0/8", 1)])
async def test_a_charge_id_is_believed_only_from_nginx(
    settings: Settings, tmp_path: Path, trusted: str, units: int
) -> None:
    """A caller who reaches the edge over TCP and repeats one id would else be charged once for any number of calls."""
    async with running_edge(replace(settings, trusted_proxies=trusted), tmp_path) as edge:
        site = web.TCPSite(edge.runner, "127.0.0.1", 0)
        await site.start()
        address = edge.runner.addresses[-1]
        head = {"X-Service-Public-Token": settings.anonymous_token, "X-Charge-Id": "7" * 32, "X-Real-IP": "127.0.0.1"}
        async with aiohttp.ClientSession(f"http://{address[0]}:{address[1]}") as session:
            for _ in range(3):
                async with session.get("/v1/index/brands", headers=head) as answer:
                    assert answer.status == 200
        assert await used(edge, "127.0.0.1") == units


# Random walks through an organization's life against a model: who may call, and how many units are left.


LIMITS = {"brand": 7, "institutional": 12}

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["issue", "rotate", "rotate-with-grace", "revoke", "suspend", "resume", "midnight"]),
            st.just(0),
        ),
        st.tuples(st.just("plan"), st.integers(0, 1)),
        st.tuples(st.sampled_from(["call", "exhaust"]), st.integers(0, 3)),
        st.tuples(st.just("batch"), st.integers(1, 45)),
    ),
    min_size=8,
    max_size=25,
)


class Model:
    """What the contract says of one organization. `keys` are all ever issued; True: it works."""

    def __init__(self) -> None:
        self.keys: dict[str, bool] = {}
        self.current: str | None = None
        self.active = True
        self.plan = "brand"
        self.used = 0

    def may_call(self, key: str) -> bool:
        return self.active and self.keys[key]

    def charge(self, key: str, units: int) -> int:
        """Return the status of a call that costs so many units."""
        if not self.may_call(key):
            return 401
        if self.used + units > LIMITS[self.plan]:
            return 429
        self.used += units
        return 200

    def replaced(self, key: str, *, keep: bool) -> None:
        """A new key works at once; the old one is kept or not, and one in an earlier grace goes."""
        for other in self.keys:
            self.keys[other] = self.keys[other] and keep and other == self.current
        self.keys[key], self.current = True, key


class Walk:
    """One organization in a running edge, and its model."""

    def __init__(self, edge: Edge, organization: str) -> None:
        self.edge, self.organization, self.model = edge, organization, Model()
        self.day = 0

    async def step(self, act: str, number: int) -> None:
        match act:
            case "issue" | "rotate" | "rotate-with-grace" | "revoke":
                await self.change_keys(act)
            case "suspend" | "resume" | "plan":
                await self.change_organization(act, number)
            case "midnight":
                await self.midnight()
            case "call" | "exhaust" | "batch":
                await self.calls(act, number)

    def run(self, query: Any, *values: Any) -> Any:
        with connect(self.edge.settings.database_url, application="tests") as connection:
            return connection.execute(query, (self.organization, *values)).fetchone()

    async def change_keys(self, act: str) -> None:
        key = mint(KEY_PREFIX)
        key_id, digest = key[len(KEY_PREFIX) :][:10], keyed_hash(key, self.edge.settings.token_pepper)
        grace = 3600 if act == "rotate-with-grace" else 0
        model = self.model
        if act == "issue":
            done = await asyncio.to_thread(self.run, SQL.issue_key, key_id, digest, None, "tests")
            assert (done is not None) == (model.current is None and model.active)
        elif act == "revoke":
            await asyncio.to_thread(self.run, SQL.revoke_keys, None, "tests")
            model.keys = dict.fromkeys(model.keys, False)
            model.current = None
            done = None
        else:
            done = await asyncio.to_thread(self.run, SQL.rotate_key, key_id, digest, grace, None, "tests")
            assert (done is not None) == (model.current is not None)
        if done is not None:
            model.replaced(key, keep=bool(grace))
        self.edge.forget_accounts()

    async def change_organization(self, act: str, number: int) -> None:
        if act == "plan":
            self.model.plan = sorted(LIMITS)[number]
            await asyncio.to_thread(self.run, SQL.change_plan, self.model.plan, "tests")
        else:
            self.model.active = act == "resume"
            await asyncio.to_thread(self.run, SQL.change_state, "active" if self.model.active else "suspended", "tests")
        self.edge.forget_accounts()

    async def midnight(self) -> None:
        """The store's clock cannot be moved, so the counters are: yesterday's have another day in their name."""
        state, account = self.edge.resources.state, f"org:{self.organization}"
        today = int((await state.command("TIME"))[0]) // 86_400
        self.day += 1
        if await state.command("EXISTS", keys.quota(account, today)):
            await state.command("RENAME", keys.quota(account, today), keys.quota(account, today - self.day))
        self.model.used = 0

    async def calls(self, act: str, number: int) -> None:
        keys = list(self.model.keys)
        if not keys:
            return
        key = keys[number % len(keys)]
        path, units = "/index/brands", 1
        if act == "batch":
            path, units = "/index/lookup?" + "&".join(f"iid=IID-{n}" for n in range(number)), -(-number // 10)
        for _ in range(LIMITS["institutional"] + 1 if act == "exhaust" else 1):
            answer = await self.edge.get(path, key=key)
            assert answer.status == self.model.charge(key, units), (act, answer)

    async def check(self) -> None:
        for key in self.model.keys:
            answer = await self.edge.get("/quota", key=key)
            assert answer.status == (200 if self.model.may_call(key) else 401)
            if answer.status == 200:
                limit = answer.json["limits"][0]
                left = max(0, LIMITS[self.model.plan] - self.model.used)
                assert (limit["used"], limit["remaining"]) == (self.model.used, left)


def _organization(settings: Settings) -> str:
    with connect(settings.database_url, application="tests") as connection:
        for plan, units in LIMITS.items():
            connection.execute(
                "UPDATE plans SET daily_units = $2, burst_units = 1000000 WHERE name = $1", (plan, units)
            )
        row = connection.execute(SQL.create_organization_as_operator, ("Acme", "brand", "tests")).fetchone()
    assert row is not None
    return str(row[0])


async def _walk(settings: Settings, folder: Path, all_steps: list[list[tuple[str, int]]]) -> None:
    async with running_edge(settings, folder) as edge:
        for steps in all_steps:
            walk = Walk(edge, await asyncio.to_thread(_organization, settings))
            for act, number in steps:
                await walk.step(act, number)
                await walk.check()


def test_permissions_and_remaining_units_are_those_of_the_model(settings: Settings, tmp_path: Path) -> None:
    """E8, E11, G1, G6: whatever happens in whatever order. Several walks share an edge; each has an organization."""

    @seed(20261121)
    @options(max_examples=2, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(STEPS, min_size=5, max_size=5))
    def walk(all_steps: Any) -> None:
        asyncio.run(_walk(settings, tmp_path, all_steps))

    walk()
