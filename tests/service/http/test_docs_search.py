"""The search of the documentation: it needs no script and no credential, and its hits lead to what they name."""

import html
import re
from urllib.parse import quote

import pytest

from edge.docs.guides import READERS
from edge.http.catalogue import CATALOGUE
from tests.service.http.test_docs import HTML, _Links, at_origin
from tests.support.client import Edge

SEARCH = "/v1/docs/search"
QUESTIONS = {
    "webhook signature": "/v1/docs/guides/events#",
    "idempotency key": "/v1/errors/idempotency-key-reused",
    "back up": "/v1/docs/guides/backup",
    "excel": "/v1/docs/guides/",
    "undo a load": "/v1/docs/guides/undo",
    "upgrade": "/v1/docs/guides/upgrade",
    "GET /v1/index/search": "/v1/docs/reference#tag/index/GET/v1/index/search",
    "OIDC_SIGN_UP": "/v1/docs/guides/",
}


@pytest.fixture
def edge(shared_edge: Edge) -> Edge:
    return shared_edge


async def hits(edge: Edge, q: str) -> list[str]:
    """Return the addresses of the hits of a query, in their order."""
    status, head, body = await at_origin(edge, f"{SEARCH}?q={quote(q, safe='')}", **HTML)
    assert (status, head["Content-Type"]) == (200, "text/html; charset=utf-8")
    listed = body.decode().partition('<ul class="hits">')[2].partition("</ul>")[0]
    return [html.unescape(address) for address in re.findall(r'<li><a href="([^"]+)"', listed)]


@pytest.mark.parametrize(("q", "first"), QUESTIONS.items())
async def test_what_people_ask_is_answered_by_the_first_hit(edge: Edge, q: str, first: str) -> None:
    found = await hits(edge, q)
    assert found[0].startswith(first), found[:5]


async def test_every_problem_is_found_by_its_code_first_as_a_word_or_as_a_whole_type(edge: Edge) -> None:
    for slug in CATALOGUE:
        for q in (slug, slug.upper(), f"https://api.example.org/v1/errors/{slug}"):
            assert (await hits(edge, q))[0] == f"/v1/errors/{slug}", q


async def test_a_status_finds_all_of_its_problems(edge: Edge) -> None:
    for status in {entry.status for entry in CATALOGUE.values()}:
        expected = {f"/v1/errors/{slug}" for slug, entry in CATALOGUE.items() if entry.status == status}
        assert expected <= set(await hits(edge, str(status))), status


async def test_every_hit_leads_to_a_page_that_has_its_anchor(edge: Edge) -> None:
    words = ("the", "a", "to", "is", "of", "itemindex", "report", "price", "set", "run", *READERS["operators"])
    found = {address for word in words for address in await hits(edge, word)}
    assert len(found) > 100
    ids: dict[str, set[str]] = {}
    for address in sorted(found):
        path, _, anchor = address.partition("#")
        if path not in ids:
            status, _, body = await at_origin(edge, path, **HTML)
            assert status == 200, path
            page = _Links(body.decode())
            ids[path] = page.ids | {link.removeprefix("#") for link in page.links if link.startswith("#tag/")}
        assert not anchor or anchor in ids[path], address


@pytest.mark.parametrize(
    "q", ['"><script>alert(1)</script>', "\x00", "x" * 10_000, "𝕏 ß ﷺ", "' OR 1=1 --", "(((((", "a " * 5_000]
)
async def test_any_text_is_answered_with_a_page_that_escapes_it(edge: Edge, q: str) -> None:
    status, _, body = await at_origin(edge, f"{SEARCH}?q={quote(q[:6_000], safe='')}", **HTML)
    assert status in (200, 400, 414)
    assert "<script>alert" not in body.decode()


@pytest.mark.parametrize("raw", ["%ff%fe", "%", "%ed%a0%80", "&q=b", ""])
async def test_a_broken_query_is_no_fault_of_ours(edge: Edge, raw: str) -> None:
    status, _, _ = await at_origin(edge, f"{SEARCH}?q={raw}", **HTML)
    assert status in (200, 400)


async def test_pages_of_the_documentation_offer_the_field(edge: Edge) -> None:
    for path in (SEARCH, "/v1/docs/guides", "/v1/errors"):
        _, _, body = await at_origin(edge, path, **HTML)
        assert 'action="/v1/docs/search"' in body.decode(), path
    _, _, body = await at_origin(edge, "/v1/docs/guides/tour", **HTML)
    assert 'href="/v1/docs/search"' in body.decode()
