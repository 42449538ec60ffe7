"""GS1 Digital Links: each statement of the standard that a resolver must keep, and each check of GS1's test suite.

The statements are those of the list of Digital Link 1.2 (S01 to S18) and the checks of the newer suite for GS1-Conformant
Resolvers (github gs1/GS1DL-resolver-testsuite, commit e3485a5, Apache-2.0), in our own words. TLS (S02) is nginx's:
tests/system/test_tls.py. The compressed addresses were made by GS1's toolkit: tests/unit/edge/index/test_compressed_digital_link.py.
"""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from jsonschema import Draft7Validator

from shared.gtin import check_digit
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.http.digital_link_schemas import DESCRIPTION_SCHEMA, LINKSET_SCHEMA
from tests.support.client import Answer, Edge
from tests.support.servers import Contents
from tests.support.shop import MAPPING, load_rows

GTIN = "09506000134352"


LINK = f"/01/{GTIN}"


LINKSET = "application/linkset+json"


def fill(settings: Settings, folder: Path) -> None:
    rows = f"{GTIN},Olive oil,Giardino,Food,Oil,,2026-07-01,NORTH,8,\n2012345000001,Apples,,Food,Fruit,,2026-07-01,NORTH,2,\n"
    load_rows(settings, folder, rows, text=MAPPING.replace('sku = "sku"', 'gtin = "sku"'))


@pytest.fixture(scope="module")
def contents() -> Contents:
    return fill


@pytest.fixture
def edge(shared_edge: Edge) -> Edge:
    """One edge for all tests: they only read."""
    return shared_edge


async def ask(edge: Edge, path: str, method: str = "GET", **head: str) -> Answer:
    """Send a request without a credential, as a scanner does; nothing that it gives may be counted."""
    fields = {"X-Real-IP": "192.0.2.1", **{name.replace("_", "-"): text for name, text in head.items()}}
    url = f"http://testserver{path}"
    async with edge.session.request(method, url, headers=fields, allow_redirects=False) as response:
        return Answer(response.status, response.headers, await response.read())


async def links(edge: Edge, path: str = LINK) -> dict[str, list[dict[str, str]]]:
    """Return the links of an article by the name of their type."""
    [context] = (await ask(edge, path, Accept=LINKSET)).json["linkset"]
    return {name.removeprefix("https://ref.gs1.org/voc/"): found for name, found in context.items() if "://" in name}


def record_of(edge: Edge) -> str:
    return f"{edge.settings.base_url}/index/lookup/{mint('shop', GTIN).iid}"


async def test_s01_get_head_and_options_work_over_http_1_1(edge: Edge) -> None:
    answer = await ask(edge, LINK, "OPTIONS", Origin="https://a.test", Access_Control_Request_Method="GET")
    assert answer.status == 204
    assert {"GET", "HEAD", "OPTIONS"} <= set(answer.head["Access-Control-Allow-Methods"].split(", "))
    got, headed = await ask(edge, LINK), await ask(edge, LINK, "HEAD")
    assert (got.status, headed.status, headed.body) == (307, 307, b"")
    assert got.head["Location"] == headed.head["Location"]


async def test_s03_pages_of_any_origin_may_ask(edge: Edge) -> None:
    for method in ("OPTIONS", "GET"):
        assert (await ask(edge, LINK, method, Origin="https://a.test")).head["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("compressed", "uncompressed"),
    [
        ("/ARFKk4XBoA", LINK),
        ("/CxFKk4XBoIlXgg", f"{LINK}/10/ABC1"),
        (f"{LINK}/EESrwQ", f"{LINK}/10/ABC1"),
        ("/GhFKk4XBoIlXgguBzT_G8", f"{LINK}/10/ABC1/21/98765?17=261231"),
        ("/ARFKk4XBoeIlinkTypegfPzYuuGnh4N-iiA8Sbk", f"{LINK}?linkType=gs1%3Apip&foo=b%26r"),
    ],
)
@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize("accept", ["text/html", LINKSET])
async def test_s04_s05_a_compressed_address_is_answered_like_the_one_for_which_it_stands_and_names_it(
    edge: Edge, compressed: str, uncompressed: str, end: str, accept: str
) -> None:
    short, long = await ask(edge, compressed + end, Accept=accept), await ask(edge, uncompressed, Accept=accept)
    assert (short.status, short.head.get("Location")) == (long.status, long.head.get("Location"))
    assert short.status == 200 or short.status == 307
    assert accept == "text/html" or "linkType" in uncompressed or short.body == long.body
    address = f'<{edge.settings.base_url.removesuffix("/v1")}{uncompressed}>; rel="owl:sameAs"'
    assert address in short.head["Link"]
    assert "sameAs" not in long.head["Link"]
    assert long.head["Link"].split(", ")[0] in short.head["Link"]  # the list of links is found at the same address


async def test_s05_an_unknown_article_and_options_name_the_uncompressed_address_too(edge: Edge) -> None:
    unknown = await ask(edge, "/AQAAC31wZA")
    assert (unknown.status, unknown.json["type"].rsplit("/", 1)[1]) == (404, "identifier-not-found")
    assert '/01/00000096385074>; rel="owl:sameAs"' in unknown.head["Link"]
    assert f'{LINK}>; rel="owl:sameAs"' in (await ask(edge, "/ARFKk4XBoA", "OPTIONS")).head["Link"]


async def test_a_link_type_in_a_compressed_address_and_in_its_query_is_refused(edge: Edge) -> None:
    answer = await ask(edge, "/ARFKk4XBoeIlinkTypegfPzYuuGnh4N-iiA8Sbk?linkType=linkset")
    assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, "linkType")


@pytest.mark.parametrize(
    ("path", "status", "slug"),
    [
        ("/ARFKk4XBoCCJV4", 400, "invalid-identifier"),  # a GTIN, and a value that is cut off
        ("/AQAAC31wZQ", 400, "invalid-identifier"),  # a wrong check digit
        ("/administrator", 404, "not-found"),
        ("/AN2yxDhfaiaw", 404, "not-found"),  # a shipping container
        ("/ARFKk4XBo", 404, "not-found"),  # shorter than any GTIN
        ("/ARFKk4XBoA/x", 404, "not-found"),
    ],
)
async def test_a_segment_that_is_no_compressed_address_is_refused(
    edge: Edge, path: str, status: int, slug: str
) -> None:
    answer = await ask(edge, path)
    assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (status, slug)


@pytest.mark.parametrize(
    "path", [f"{LINK}/foo", f"{LINK}/foo/bar", f"{LINK}/21/1/10/2", "/01/09506000134353", "/01/foo"]
)
async def test_s06_s07_what_breaks_the_syntax_or_its_check_digit_is_400(edge: Edge, path: str) -> None:
    answer = await ask(edge, path)
    assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (400, "invalid-identifier")
    assert answer.head["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("query", "accept", "media_type"),
    [
        ("?linkType=linkset", "", LINKSET),
        ("?linkType=linkset", "*/*", LINKSET),
        ("?linkType=all", LINKSET, LINKSET),
        ("?linkType=all", "", LINKSET),
        ("", LINKSET, LINKSET),
        ("", "application/json", "application/json"),
        ("?linkType=linkset", "application/json", "application/json"),
        ("?linkType=linkset", "text/html", LINKSET),
    ],
)
async def test_s08_the_linkset_comes_by_link_type_or_accept_without_a_redirect(
    edge: Edge, query: str, accept: str, media_type: str
) -> None:
    answer = await ask(edge, LINK + query, Accept=accept)
    assert (answer.status, answer.head["Content-Type"]) == (200, media_type)
    Draft7Validator(LINKSET_SCHEMA).validate(answer.json)
    assert answer.json["linkset"][0]["anchor"] == edge.settings.base_url.removesuffix("/v1") + LINK
    assert answer.json["linkset"][0]["itemDescription"] == "Olive oil"
    assert 'rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"' in answer.head["Link"]


async def test_s08_qualifiers_walk_up_to_the_article(edge: Edge) -> None:
    answer = await ask(edge, f"{LINK}/10/KL8G/21/7", Accept=LINKSET)
    assert answer.json["linkset"][0]["anchor"].endswith(LINK)
    assert (await ask(edge, f"{LINK}/10/KL8G")).head["Location"] == record_of(edge)


async def test_s09_every_answer_says_where_the_linkset_is(edge: Edge) -> None:
    for method, path in (("GET", LINK), ("HEAD", LINK), ("OPTIONS", LINK), ("GET", f"{LINK}?linkType=gs1:pip")):
        link = (await ask(edge, path, method)).head["Link"]
        assert f'{LINK}?linkType=linkset>; rel="linkset"; type="{LINKSET}"' in link
        assert 'rel="gs1:' not in link  # links of the article in the head are deprecated
    named = (await ask(edge, LINK)).head["Link"].partition(">")[0].removeprefix("<")
    followed = await ask(edge, urlsplit(named).path + "?" + urlsplit(named).query)
    assert (followed.status, followed.head["Content-Type"]) == (200, LINKSET)


async def test_s10_s12_the_one_default_link_is_where_a_plain_request_is_led(edge: Edge) -> None:
    [default] = (await links(edge))["defaultLink"]
    plain = await ask(edge, LINK)
    assert (plain.status, plain.head["Location"]) == (307, default["href"])
    assert default["href"] == record_of(edge)
    for accept in ("*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json, text/plain, */*"):
        assert (await ask(edge, LINK, Accept=accept)).head["Location"] == default["href"]


async def test_s11_s16_each_link_has_a_target_a_type_of_the_vocabulary_and_a_title(edge: Edge) -> None:
    found = await links(edge)
    assert set(found) == {"defaultLink", "pip", "sustainabilityInfo"}  # terms of ref.gs1.org/voc
    assert all(urlsplit(link["href"]).netloc and link["title"] for typed in found.values() for link in typed)


@pytest.mark.parametrize("prefix", ["gs1:", "https://ref.gs1.org/voc/", "https://gs1.org/voc/"])
async def test_s13_a_link_type_leads_to_the_link_of_that_type_that_accept_fits(edge: Edge, prefix: str) -> None:
    for name, typed in (await links(edge)).items():
        for link in typed:
            answer = await ask(edge, f"{LINK}?linkType={prefix}{name}", Accept=link["type"])
            assert (answer.status, answer.head["Location"]) == (307, link["href"])


@pytest.mark.parametrize("name", ["gs1:nosuchlt", "nosuchlt", "pip", ""])
async def test_s13_a_link_type_that_the_article_lacks_is_404(edge: Edge, name: str) -> None:
    answer = await ask(edge, f"{LINK}?linkType={name}")
    slug = answer.json["type"].rsplit("/", 1)[1]
    assert (answer.status, slug) == ((404, "link-type-not-found") if name else (400, "invalid-parameter"))


async def test_s14_the_query_is_passed_on_to_links_that_declare_it(edge: Edge) -> None:
    answer = await ask(edge, f"{LINK}?foo=bar&17=261231&foo=b%26z&linkType=gs1:pip", Accept="text/html")
    assert parse_qs(urlsplit(answer.head["Location"]).query) == {"foo": ["bar", "b&z"], "17": ["261231"]}
    declared = {one["type"]: one["fwqs"] for one in (await links(edge))["pip"]}
    assert declared == {"application/json": False, "text/html": True}


async def test_a_code_with_attributes_leads_to_a_record_that_opens(edge: Edge) -> None:
    location = (await ask(edge, f"{LINK}?17=261231&_method=DELETE")).head["Location"]
    assert location == record_of(edge)
    record = await edge.get(location.removeprefix(edge.settings.base_url))
    assert (record.status, record.json["name"]) == (200, "Olive oil")
    refused = await edge.get(location.removeprefix(edge.settings.base_url) + "?17=261231")
    assert (refused.status, refused.json["errors"][0]["parameter"]) == (400, "17")


async def test_a_link_type_that_comes_twice_is_refused(edge: Edge) -> None:
    answer = await ask(edge, f"{LINK}?linkType=gs1:pip&linkType=gs1:defaultLink")
    assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, "linkType")


async def test_a_query_cannot_lead_elsewhere_or_split_the_head(edge: Edge) -> None:
    evil = f"{LINK}?a=%0D%0ASet-Cookie:%20x&//evil.test&linkType=gs1:pip"
    location = (await ask(edge, evil, Accept="text/html")).head["Location"]
    origin = edge.settings.base_url.removesuffix("/v1")
    assert location.startswith(f"{origin}/dashboard/explorer/IID-")
    assert "\r" not in location
    assert "\n" not in location


@pytest.mark.parametrize("path", [f"{LINK}?linkType=gs1:pip&a=", "/ARFKk4XBoA?linkType=gs1:pip&a="])
async def test_a_query_that_is_too_long_to_be_passed_on_is_refused(edge: Edge, path: str) -> None:
    passed, refused = [await ask(edge, path + "'" * count, Accept="text/html") for count in (1_200, 1_400)]
    assert (passed.status, refused.status) == (307, 414)
    assert refused.json["type"].rsplit("/", 1)[1] == "uri-too-long"


async def test_s15_the_resolver_describes_itself(edge: Edge) -> None:
    answer = await ask(edge, "/.well-known/gs1resolver", Accept="application/json")
    assert answer.status == 200
    assert answer.head["Content-Type"].startswith("application/json")
    assert answer.head["Access-Control-Allow-Origin"] == "*"
    Draft7Validator(DESCRIPTION_SCHEMA).validate(answer.json)
    assert answer.json["resolverRoot"] == edge.settings.base_url.removesuffix("/v1")


async def test_s17_no_prefix_of_a_company_is_redirected_so_nothing_is_handled_by_another_resolver(edge: Edge) -> None:
    """Its condition never holds: an article is led to a link only where the index has it, by its whole GTIN."""
    assert "handledBy" not in await links(edge)
    unknown = f"/01/{GTIN[:12]}"  # the same company, an article that is not in the index
    unknown += f"9{check_digit(unknown[4:] + '9')}"
    answer = await ask(edge, unknown)
    assert (answer.status, answer.head.get("Location")) == (404, None)
    assert "handledBy" not in answer.head.get("Link", "")


async def test_s18_a_slash_at_the_end_makes_no_difference(edge: Edge) -> None:
    for path in (LINK, f"{LINK}/10/KL8G"):
        with_slash, without = await ask(edge, f"{path}/"), await ask(edge, path)
        assert (with_slash.status, with_slash.head["Location"]) == (without.status, without.head["Location"])


async def test_a_shorter_gtin_leads_to_the_same_record(edge: Edge) -> None:
    assert (await ask(edge, f"/01/{GTIN.lstrip('0')}")).head["Location"] == record_of(edge)


async def test_following_links_is_not_counted(edge: Edge) -> None:
    before = (await edge.get("/quota")).json["limits"]
    for _ in range(5):
        assert (await ask(edge, LINK)).status == 307
    assert (await edge.get("/quota")).json["limits"][0]["used"] == before[0]["used"]
