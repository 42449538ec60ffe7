"""Section B of the catalogue: header fields that are odd, hostile, or ask for what there is not."""

from pathlib import Path

from shared.index.iid import mint
from tests.service.hostile.rows import MARK, Row, faults
from tests.support.accounts import api_key
from tests.support.client import Edge

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
