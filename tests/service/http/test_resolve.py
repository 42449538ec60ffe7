"""GET and POST /index/resolve: every identifier that people hold opens a record."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.servers import Contents
from tests.support.shop import mapping
from workers.ingest.load.load import load
from workers.provenance import item_acts, standing
from workers.search.job import make_index

MAPPING = """
source = "{source}"
title = "T"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
brand = "brand"
[item.identifiers]
gtin = "gtin"
mpn = "mpn"
sku = "sku"
url = "url"
[match]
trust = "review"
"""
HEADER = "id,name,brand,gtin,mpn,sku,url\n"
NORTH = (
    "1,Headphones,Sony Corp.,4006381333931,WH-1000XM4,A-1,https://north.test/p/1\n"
    "2,Juice,Vita,042100005264,,A-2,\n"
    "3,Novel,Maison,9780306406157,,A-3,\n"
    "4,Loose apples,,2012345000001,,A-4,\n"
    "5,Small cup,Vita,96385074,,A-5,\n"
)
SOUTH = "9,Headset,sony,04006381333931,WH1000XM4,B-9,\n8,Loose pears,,2012345000001,,A-1,\n7,Case,,14006381333938,,,\n"
ONE, TWO, THREE, FOUR, FIVE = (mint("north", str(n)).iid for n in range(1, 6))
NINE, EIGHT, SEVEN = mint("south", "9").iid, mint("south", "8").iid, mint("south", "7").iid


def fill(settings: Settings, folder: Path) -> None:
    for source, rows in (("north", NORTH), ("south", SOUTH)):
        path = folder / f"{source}.csv"
        path.write_text(HEADER + rows)
        load(settings, mapping(folder, MAPPING.replace("{source}", source)), [path])
    make_index(settings.worker_database_url, settings.search_dir)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return fill


async def test_every_identifier_of_an_item_opens_its_record(shared_edge: Edge) -> None:
    for query, iid in [
        ("gtin=042100005264", TWO),
        ("gtin=0042100005264", TWO),
        ("gtin=00042100005264", TWO),
        ("ean=0042100005264", TWO),
        ("upc=042100005264", TWO),
        ("upc=04252614", TWO),
        ("isbn=0306406152", THREE),
        ("isbn=0-306-40615-2", THREE),
        ("isbn=978-0-306-40615-7", THREE),
        ("gtin=9780306406157", THREE),
        ("gtin=%2096385074%20", FIVE),
        ("gtin=14006381333938", SEVEN),
        ("gtin=4006381333931&source=north", ONE),
        ("gtin=4006381333931&source=south", NINE),
        ("gtin=2012345000001&source=south", EIGHT),
        ("mpn=wh%201000xm4&brand=SONY&source=north", ONE),
        ("sku=A-1&source=north", ONE),
        ("sku=A-1&source=south", EIGHT),
        ("sku=7&source=south", SEVEN),  # a source's own id
        ("url=http://NORTH.test/p/1/?utm_source=mail", ONE),
        (f"iid={TWO.lower()}", TWO),
    ]:
        key = api_key(shared_edge.settings)
        found = await shared_edge.get(f"/index/resolve?{query}", key=key)
        same = await shared_edge.get(f"/index/lookup/{iid}", key=key)
        assert (found.status, found.body) == (200, same.body), query
        assert found.head["ETag"] == same.head["ETag"], query
        assert found.head["Content-Location"] == f"{shared_edge.settings.base_url}/index/lookup/{iid}", query


async def test_where_several_items_have_it_they_are_listed_to_choose_from(shared_edge: Edge) -> None:
    for query, iids in (
        ("gtin=4006381333931", [ONE, NINE]),
        ("mpn=WH1000XM4&brand=sony", [ONE, NINE]),
        ("gtin=2012345000001", [FOUR, EIGHT]),
    ):
        key = api_key(shared_edge.settings)
        answer = await shared_edge.get(f"/index/resolve?{query}", key=key)
        assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (300, "several-items"), query
        assert [one["iid"] for one in answer.json["candidates"]] == sorted(iids), query
        assert answer.json["count"] == 2, query
        assert {one["sources"][0] for one in answer.json["candidates"]} == {"north", "south"}, query
        assert (await shared_edge.get("/quota", key=key)).json["limits"][0]["used"] == 1, query


async def test_a_code_that_a_shop_made_itself_opens_nothing_without_the_shop(edge: Edge, settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.withdraw(connection, EIGHT, "test", None)
    await edge.resources.version.read()
    alone = await edge.get("/index/resolve?gtin=2012345000001")
    assert (alone.status, [one["iid"] for one in alone.json["candidates"]]) == (300, [FOUR])


async def test_a_malformed_identifier_is_refused_by_name_and_not_counted(shared_edge: Edge) -> None:
    for query, slug, parameter, detail in (
        ("gtin=4006381333932", "invalid-identifier", "gtin", "has a wrong check digit; the correct one is 1"),
        ("isbn=0306406151", "invalid-identifier", "isbn", "has a wrong check digit; the correct one is 2"),
        ("ean=400638133393", "invalid-identifier", "ean", "has a wrong check digit; the correct one is 0"),
        ("gtin=00000000", "invalid-identifier", "gtin", "has only zeros, which were never given to an article"),
        ("gtin=", "invalid-parameter", "gtin", None),
        ("mpn=n/a&brand=sony", "invalid-identifier", "mpn", "only says that there is no identifier"),
        ("url=javascript:1", "invalid-identifier", "url", "must be an absolute http or https address"),
        ("mpn=x", "missing-parameter", "brand", "is required with `mpn`"),
        ("sku=x", "missing-parameter", "source", "is required with `sku`"),
        ("", "missing-parameter", "gtin", "is required unless one of ean, upc, isbn, mpn, sku, url is given"),
        (
            "source=north",
            "missing-parameter",
            "gtin",
            "is required unless one of ean, upc, isbn, mpn, sku, url is given",
        ),
        ("brand=sony&gtin=96385074", "invalid-parameter", "brand", "is only allowed with `mpn`"),
        ("mpn=x&brand=-", "invalid-parameter", "brand", "is not the name of a brand"),
        (
            "gtin=96385074&ean=96385074",
            "invalid-parameter",
            "ean",
            "cannot be combined with `gtin`; send only one identifier",
        ),
        (
            f"iid={ONE}&gtin=96385074",
            "invalid-parameter",
            "gtin",
            "cannot be combined with `iid`; send only one identifier",
        ),
        ("gtin=96385074&source=No!", "invalid-parameter", "source", "must be the name of a source"),
        ("barcode=96385074", "invalid-parameter", "barcode", None),
        ("gtin=96385074&gtin=96385074", "invalid-parameter", "gtin", "is repeated; send it once"),
    ):
        uncounted = "192.0.2.8"  # the stores are those of all tests: nothing else asks from this address
        answer = await shared_edge.get(f"/index/resolve?{query}", address=uncounted)
        assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (400, slug), query
        [error] = answer.json["errors"]
        assert error["parameter"] == parameter, query
        assert detail is None or error["detail"] == detail, query
        assert (await shared_edge.get("/quota", address=uncounted)).json["limits"][0]["used"] == 0, query


async def test_an_identifier_that_no_item_has_is_404_and_counted(edge: Edge) -> None:
    for path in ("gtin=036000291452", "sku=zz&source=north", "gtin=4006381333931&source=unknown"):
        answer = await edge.get(f"/index/resolve?{path}", address="192.0.2.7")
        assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (404, "identifier-not-found")
    assert (await edge.get("/quota", address="192.0.2.7")).json["limits"][0]["used"] == 3
    refused = await edge.get("/index/resolve?gtin=96385074", address="192.0.2.7")
    assert refused.status == 429


async def test_a_wrong_check_digit_is_refused_with_the_one_that_was_expected(edge: Edge) -> None:
    wrong = (await edge.get("/index/resolve?gtin=4006381333932")).json
    assert (wrong["expected_check_digit"], wrong["suggestion"]) == ("1", None)
    lost = (await edge.get("/index/resolve?gtin=42100005264")).json
    assert (lost["expected_check_digit"], lost["suggestion"]) == (None, "042100005264")
    no_iid = await edge.get("/index/resolve?iid=IID-%21")
    assert no_iid.json["type"].rsplit("/", 1)[1] == "invalid-iid"


async def test_a_representation_that_the_caller_has_is_304_and_head_has_no_body(edge: Edge) -> None:
    first = await edge.get("/index/resolve?gtin=96385074")
    again = await edge.get("/index/resolve?gtin=96385074", head={"If-None-Match": first.head["ETag"]})
    assert (again.status, again.body) == (304, b"")
    head = await edge.ask("HEAD", "/index/resolve?gtin=96385074")
    assert (head.status, head.body, head.head["ETag"]) == (200, b"", first.head["ETag"])


async def test_identifiers_of_a_merged_item_lead_to_its_survivor_and_back_after_a_split(
    edge: Edge, settings: Settings
) -> None:
    async def resolved() -> list[tuple[int, str | None]]:
        await edge.resources.version.read()
        key = api_key(settings)
        answers = [
            await edge.get(f"/index/resolve?{query}", key=key)
            for query in ("gtin=4006381333931", "sku=B-9&source=south", "sku=9&source=south", f"iid={NINE}")
        ]
        used = (await edge.get("/quota", key=key)).json["limits"][0]["used"]
        assert used == sum(answer.status in (200, 300) for answer in answers)
        return [(one.status, one.head.get("Content-Location") or one.head.get("Location")) for one in answers]

    base = edge.settings.base_url
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.merge(connection, NINE, ONE, "test", None)
    survivor = (200, f"{base}/index/lookup/{ONE}")
    assert await resolved() == [survivor, survivor, survivor, (301, f"{base}/index/resolve?iid={ONE}")]
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        item_acts.restore(connection, NINE, "test", None)
    own = (200, f"{base}/index/lookup/{NINE}")
    assert await resolved() == [(300, None), own, own, own]


async def test_a_load_that_changes_an_identifier_is_seen_at_once(
    edge: Edge, settings: Settings, tmp_path: Path, key: str
) -> None:
    assert (await edge.get("/index/resolve?gtin=036000291452", key=key)).status == 404
    path = tmp_path / "more.csv"
    path.write_text(HEADER + "6,Straw,Vita,036000291452,,,\n")
    load(settings, mapping(tmp_path, MAPPING.replace("{source}", "north")), [path])
    await edge.resources.version.read()
    assert (await edge.get("/index/resolve?gtin=036000291452", key=key)).status == 200
