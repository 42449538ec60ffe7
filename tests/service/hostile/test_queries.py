"""Section D of the catalogue: query parameters."""

from urllib.parse import quote

from tests.service.hostile.rows import Row, each, faults
from tests.support.accounts import free_token
from tests.support.client import Edge

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
