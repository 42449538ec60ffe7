"""Section E of the catalogue: credentials that are absent, wrong, twice, or in the wrong place."""

import re
from pathlib import Path

from shared.db.connect import connect
from shared.organizations.credentials import BASE62, FREE_PREFIX, KEY_PREFIX, checksum, mint
from shared.settings.settings import Settings
from tests.service.hostile.rows import Row, faults
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge
from tests.support.database import execute

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
        for at in ("/quota", "/nowhere"):
            await edge.get(at, key=key, head={"X-Request-Id": text})
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
