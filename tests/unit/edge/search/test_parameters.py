"""The parameters of a search as the fast path reads them are those of validation, or it leaves the query to that."""

from typing import Any
from urllib.parse import quote, quote_plus

from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from edge.http.problems import Problem
from edge.http.validation import PARSER
from edge.search import schemas
from edge.search.answers import search_parameters

NAMES = ["q", "limit", "brand", "category", "product_type", "cursor", "page", "Q", ""]

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["1", "50", "51", "0", "+5", "soy milk", " x ", "e\u0301", "\0", "\ud800"]
)

QUOTED = TEXTS.flatmap(
    lambda text: st.sampled_from(
        [
            quote(text, errors="surrogatepass"),
            quote_plus(text, errors="surrogatepass"),
            "%",
            "%zz",
            "a%ff",
            "a=b",
            "a;b",
        ]
    )
)

PAIRS = st.tuples(st.sampled_from(NAMES), QUOTED).map("=".join)

QUERIES = st.lists(PAIRS | st.sampled_from(["q", "", "#", "q=soy#x", "q=a"]), min_size=1, max_size=5).map("&".join)


async def _validated(query: str) -> dict[str, Any] | None:
    """Read a query the ordinary way."""
    request = make_mocked_request("GET", f"/v1/index/search?{query}")
    try:
        read: dict[str, Any] = await PARSER.parse(
            schemas.SearchParameters(), request, location="querystring", unknown=None
        )
    except Problem:
        return None
    return read


@given(query=QUERIES)
async def test_what_the_fast_path_reads_is_what_validation_reads(query: str) -> None:
    read = search_parameters(query)
    assert read is None or read == await _validated(query)


async def test_plain_queries_are_read() -> None:
    for query in (
        "q=soy+milk",
        "q=soy%20milk&limit=7",
        "limit=50&q=%E7%B6%AD%E4%BB%96",
        "q=a&brand=vita&category=x.y",
        "q=a&cursor=Zm9v",
    ):
        assert search_parameters(query) == await _validated(query) is not None, query


def test_other_queries_are_left_to_validation() -> None:
    for query in (
        "",
        "q",
        "q=",
        "limit=3",
        "q=a&q=b",
        "q=a&limit=051",
        "q=a&page=2",
        "q=%ff",
        "q=a#b",
        "q=a&",
        "q=%00",
        "q=a&limit=0",
    ):
        assert search_parameters(query) is None, query
