"""Hostile paths, queries and header fields: sections B to D of the catalogue."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from edge.index import lookup as record
from edge.index.lookup import Record, RecordCache
from shared.index.iid import mint
from tests.service.hostile.rows import MARK, Row, each, faults
from tests.support.accounts import api_key, free_token
from tests.support.client import Edge

# Section B of the catalogue: header fields that are odd, hostile, or ask for what there is not.


SOY = f"/index/lookup/{mint('shop', '1').iid}"

MANY_TAGS = ", ".join(f'"{n}"' for n in range(300))

ROWS = [
    *(
        Row("B3", SOY, 415, "unsupported-media-type", {"Content-Encoding": coding})
        for coding in ("gzip", "br", "zstd", MARK)
    ),
    Row(
        "B3",
        "/org/api-key/revocations",
        415,
        "unsupported-media-type",
        {"Content-Encoding": "gzip"},
        "POST",
        b"garbage",
    ),
    Row("B5", SOY, 417, "expectation-failed", {"Expect": MARK}),
    *(Row("B6", SOY, 200, head={"If-None-Match": tags}, costs=1) for tags in ("nonsense", '"', "W/", ",,,", MANY_TAGS)),
    *(Row("B8", SOY, 200, head={"Range": part}, costs=1) for part in ("bytes=0-9", "bytes=-1", "items=0-5", MARK)),
    *(Row("B9", SOY, 200, head={name: "DELETE"}, costs=1) for name in ("X-HTTP-Method-Override", "X-Method-Override")),
    Row("B9", f"{SOY}?_method=DELETE", 400, "invalid-parameter"),
    *(Row("B14", SOY, 200, head={"traceparent": value}, costs=1) for value in ("00-0-0-0", "x" * 4000, MARK)),
    *(
        Row("B17", SOY, 200, head={name: value}, costs=1)
        for name in ("User-Agent", "Accept-Language")
        for value in ("", "x" * 6000, "' OR 1=1--", "\u2603\U0001f47b", "${jndi:ldap://x}")
    ),
    Row("B18", SOY, 400, "ambiguous-credentials", {"Authorization": "ApiKey x"}),
    *(
        Row("Accept", path, 406, "not-acceptable", {"Accept": accept}, anonymous=True)
        for path in (SOY, "/index/search?q=soy", "/index/brands", "/quota")
        for accept in ("image/png", "application/json;q=0", "text/html, application/json;q=0", MARK)
    ),
    *(
        Row("Accept", SOY, 200, head={"Accept": accept}, costs=1)
        for accept in (
            "",
            "application/json",
            "application/*;q=0.1",
            "text/html, */*;q=0.1",
            "image/png, application/json",
        )
    ),
    Row("Accept", "/index/lookup/IID-UNKNOWN", 404, "iid-not-found", {"Accept": "application/json"}, costs=1),
    Row("Accept", "/nowhere", 404, "not-found", {"Accept": "image/png"}),
    Row("Accept", "/health", 200, head={"Accept": "image/png"}),
]


async def test_each_header_is_answered_as_promised(shared_edge: Edge) -> None:
    assert await faults(shared_edge, ROWS) == []


async def test_a_tag_of_the_record_in_any_list_is_304_and_costs_nothing(shared_edge: Edge) -> None:
    tag = (await shared_edge.get(SOY, address="192.0.2.77")).head["ETag"]
    lists = ("*", tag, tag.removeprefix("W/"), f"{MANY_TAGS}, {tag}")
    assert await faults(shared_edge, [Row("B6", SOY, 304, head={"If-None-Match": tags}) for tags in lists]) == []


async def test_any_origin_reads_free_answers_and_none_reads_paid_ones(shared_edge: Edge) -> None:
    key = api_key(shared_edge.settings)
    for origin in ("null", "https://evil.example", "https://testserver.evil.example"):
        free = await shared_edge.get(SOY, head={"Origin": origin}, key=key)
        paid = await shared_edge.get("/", head={"Origin": origin}, key=key)
        assert free.head["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in free.head
        assert "Access-Control-Allow-Origin" not in paid.head


async def test_a_pre_flight_allows_what_there_is_and_is_not_counted(shared_edge: Edge) -> None:
    asked = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "X-Evil",
    }
    free = await shared_edge.ask("OPTIONS", SOY, head=asked, anonymous=False)
    assert (free.status, free.head["Access-Control-Allow-Methods"]) == (204, "GET, HEAD, OPTIONS")
    assert "X-Evil" not in free.head["Access-Control-Allow-Headers"]
    paid = await shared_edge.ask("OPTIONS", "/org", head=asked, anonymous=False)
    assert (paid.status, paid.head.get("Access-Control-Allow-Origin")) == (204, None)
    assert (await shared_edge.get("/quota")).json["limits"][0]["used"] == 0


async def test_no_header_makes_a_second_line_in_the_log(edge: Edge) -> None:
    log = Path(edge.settings.access_log)
    for field in ("User-Agent", "Referer", "X-Request-Id", "Accept-Language"):
        await edge.get("/health", head={field: 'x","path":"/forged"} \u2028 forged'})
    edge.resources.access_log.flush()
    lines = log.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    assert not any("forged" in line for line in lines)


# Section C of the catalogue: paths and IIDs.


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
    async def absent(iids: Sequence[str]) -> dict[str, Record]:
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


# Section D of the catalogue: query parameters.


ODD_LIMITS = [
    "0",
    "51",
    "-1",
    "1.0",
    "1e1",
    "%2B5",
    "%205",
    "%D9%A3",
    "1_0",
    "0x1",
    "9" * 400,
    "NaN",
    "",
    "true",
    "05",
    "5%00",
]

ROWS_QUERY = [
    *each("D1", ["/index/search"], 400, "missing-parameter"),
    *each(
        "D1",
        ["/index/search?q=", "/index/search?q=%20%09%20", "/index/search?q=" + "a" * 201],
        400,
        "invalid-parameter",
    ),
    *each("D3", [f"/index/search?q=soy&limit={limit}" for limit in ODD_LIMITS], 400, "invalid-parameter"),
    *each("D4", [f"/index/search?q=soy&limit={limit}" for limit in ("1", "50")], 200, costs=1),
    *each(
        "D6",
        [
            f"/index/{path}?q={quote(text)}"
            for path in ("brands", "search")
            for text in ("%", "_", "\\", "%" * 200, "_" * 200)
        ],
        200,
        costs=1,
    ),
    *each(
        "D7",
        [f"/index/search?q={quote(text)}" for text in ("(a+)+$", ".*.*.*", "a{1,65535}", "a" * 200, "a " * 99)],
        200,
        costs=1,
    ),
    *each(
        "D9",
        [f"/index/search?q={text}" for text in ("%00", "a%00b", "%ED%A0%80", "%ff", "%c0%af")],
        400,
        "invalid-parameter",
    ),
    *each(
        "D10",
        [
            f"/index/search?q={quote(text)}"
            for text in ("\u202esoy", "so\u200by", "\U0001f469\u200d\U0001f680", "e" + "\u0301" * 199)
        ],
        200,
        costs=1,
    ),
    *each(
        "D12",
        [
            f"/index/search?{text}"
            for text in ("Q=soy", "q[]=soy", "q[$ne]=soy", "q.a=soy", "q=soy&hostile-mark=1"[:9] + "x=1")
        ],
        400,
    ),
    *each("D13", ["/index/search?q=soy&q=milk", "/index/search?q=soy&limit=5&limit=5"], 400, "invalid-parameter"),
    *each(
        "D13", ["/index/search?q=soy;limit=0", "/index/search?&&q=soy&&", "/index/search?q=soy?limit=0"], 200, costs=1
    ),
    *each("D16", ["/index/brands?" + "&".join(f"{n:x}=" for n in range(900))], 400, "invalid-parameter"),
    Row("cursor", "/index/brands?cursor=hostile-mark", 400, "invalid-cursor"),
    Row("unknown", "/index/brands?hostile=hostile-mark", 400, "invalid-parameter"),
    Row("unknown", "/health?x=1", 400, "invalid-parameter"),
]


async def test_each_query_is_answered_as_promised(shared_edge: Edge) -> None:
    assert await faults(shared_edge, ROWS_QUERY) == []


async def test_no_question_makes_the_search_read_more_than_a_page(edge: Edge) -> None:
    """D6, D7: the text is looked up, never run: the answer is a page of at most `limit` hits, and literal."""
    token = free_token(edge.settings)
    for bomb in ("%" * 200, "(a+)+$", "a" * 200, "\u0301" * 200, "a " * 99 + "a"):
        answer = await edge.get(f"/index/search?q={quote(bomb)}&limit=1", token=token)
        assert answer.status == 200, bomb
        assert answer.json["count"] <= 1, bomb


async def test_an_address_that_looks_like_a_static_file_is_not_cached_as_one(shared_edge: Edge) -> None:
    """D15: cache deception."""
    for path in ("/index/search?q=a/x.css", "/index/lookup/IID-A.css", "/quota"):
        assert (await shared_edge.get(path)).head["Cache-Control"] in ("private, max-age=60", "no-store")
