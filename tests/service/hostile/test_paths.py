"""Section C of the catalogue: paths and IIDs."""

from collections.abc import Sequence

from edge.index import record
from edge.index.record import ItemRecord, RecordCache
from shared.index.iid import mint
from tests.service.hostile.rows import Row, each, faults
from tests.support.client import Edge

SOY_PATHS = mint("shop", "1").iid

ROWS_PATHS = [
    Row("C2", f"/index/lookup/{SOY_PATHS.lower()}", 200, costs=1),
    Row("C3", "/index/lookup/IID-A", 404, "iid-not-found", costs=1),
    *each("C5", ["/index/lookup/IID" + "-AAAAAAAAAAAAAAAA" * 5, "/index/lookup/IID-" + "A" * 3000], 400, "invalid-iid"),
    *each(
        "C6",
        [f"/index/lookup/IID-A{tail}" for tail in ("%0A", "%0D%0A", "%09", "%20", "%E2%80%8B", "%C2%A0")],
        400,
        "invalid-iid",
    ),
    *each(
        "C8",
        [f"/index/lookup/IID-A{tail}" for tail in ("%252FB", ";v=1", "%3Fq", "%23", "*", "%7C")],
        400,
        "invalid-iid",
    ),
    *each("C8", ["/index/lookup/IID-A%2FB"], 400, "invalid-iid"),
    *each("C9", ["/index/lookup/%5c..", "/index/lookup/..%5c"], 400, "invalid-iid"),
    *each("C9", ["//health", "/index//lookup/IID-A", "/.%2e/health", "/%2e%2e/metrics"], 404, "not-found"),
    # nginx resolves these before it decides what a request may do, and the edge would match them as they came.
    *each(
        "C9",
        [
            *("/index/lookup/..", "/index/lookup/.", "/index/lookup/%2E%2e", "/index/lookup/..%2fquota"),
            *("/../releases/items", "/index/./brands", "/errors/%2e", "/docs/guides/..", "/index/../index/brands"),
        ],
        404,
        "not-found",
    ),
    *each(
        "C11",
        [
            "/index/lookup/%c0%af",
            "/index/lookup/%ff",
            "/index/lookup/%u0041",
            "/index/lookup/%G1",
            "/index/lookup/%ED%A0%80",
        ],
        400,
    ),
    *each(
        "C12",
        [
            f"/index/lookup/{text}"
            for text in ("'%20OR%201=1--", "%3Cscript%3Ehostile-mark", "%7Cid", "$jndi:ldap:x", "hostile-mark")
        ],
        400,
        "invalid-iid",
    ),
    *each(
        "C12",
        [f"/index/lookup/{text}" for text in ("%7B%7B7*7%7D%7D", "$%7Bjndi:ldap:%2F%2Fhostile-mark%7D")],
        400,
        "invalid-iid",
    ),
    *each("C13", ["/index/lookup/IID-A{x}", "/index/lookup/IID-A%7Bx%7D", "/index/lookup/{iid}"], 400, "invalid-iid"),
    *each("C14", ["/index/lookup/IID-A/", "/index/lookup/IID-A//"], 308),
    *each("C14", ["/index/lookup/IID-A/more", "/index", "/index/lookup/IID-A/record"], 404, "not-found"),
    *each("C15", ["/Index/Lookup/IID-A", "/HEALTH", "/index/Brands"], 404, "not-found"),
    *each(
        "C17",
        ["/.git/config", "/metrics", "/debug", "/openapi.json~", "/nginx_status", "/admin", "/.env", "/server-status"],
        404,
        "not-found",
    ),
    Row("C18", f"/index/lookup/{SOY_PATHS}", 200, method="HEAD", costs=1),
    Row("C18", "/index/lookup/IID-A", 404, method="HEAD", costs=1),
    Row("C18", "/index/lookup/foo", 400, method="HEAD"),
]


async def test_each_path_is_answered_as_promised(shared_edge: Edge) -> None:
    assert await faults(shared_edge, ROWS_PATHS) == []


async def test_unknown_iids_fill_no_memory(edge: Edge) -> None:
    async def absent(iids: Sequence[str]) -> dict[str, ItemRecord]:
        return dict.fromkeys(iids, record.ABSENT)

    stores = edge.resources
    records = RecordCache(stores.cache, stores.version, absent, bytes_max=30_000, ttl_seconds=60)
    for n in range(1_000):
        assert (await records.find(f"IID-UNKNOWN-{n:013}")).state == "-"
    assert sum(records.peek(f"IID-UNKNOWN-{n:013}") is not None for n in range(1_000)) <= 100


async def test_head_has_the_same_head_as_get(shared_edge: Edge) -> None:
    for path in (f"/index/lookup/{SOY_PATHS}", "/index/brands", "/health", "/openapi.json", "/errors", "/docs"):
        got = await shared_edge.ask("GET", path, address="203.0.113.1")
        asked = await shared_edge.ask("HEAD", path, address="203.0.113.2")
        own = {"date", "x-request-id", "ratelimit"}
        heads = [{k: v for k, v in answer.head.items() if k.lower() not in own} for answer in (got, asked)]
        assert heads[0] == heads[1], path
        assert asked.body == b""
