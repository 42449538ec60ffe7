"""What real files need: composite ids, several prices a row, kinds by column, groups, stages, files joined to known items."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.test_values import put, rejected
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import MAPPING as SHOP
from tests.support.shop import load_rows, undone
from workers.provenance import events, item_acts

HEAD = 'source = "{source}"\ntitle = "T"\nlicense = "CC0-1.0"\n'

PRICES_LANGUAGE = '[observation]\nday = "day"\nchannel = "shop"\nprice = "price"\ncurrency = { constant = "HKD" }\n'


def mapped(source: str, rest: str) -> str:
    return HEAD.format(source=source) + rest


def test_stages_of_a_life_cycle_are_added_up_and_undone_with_their_load(settings: Settings, tmp_path: Path) -> None:
    text = mapped(
        "m",
        '[item]\nid = "id"\nname = "id"\n[[impacts]]\nindicator = "co2e_kg"\nvalue = "co2"\nbasis = "modelled"\nmethod = "m"\nstage = "stage"\n',
    )
    content = "id,stage,co2\na,Upstream,1.15\na,Operations,0.6\na,Upstream,0.15\na,End of life,-0.504\nb,,1\nb,Use,much\nb,Use,\n"
    summary = put(settings, tmp_path, text, content)
    query = "SELECT stage, per_unit::text FROM impact_stages ORDER BY 1"
    assert execute(settings, query) == [("End of life", "-0.504"), ("Operations", "0.6"), ("Upstream", "1.30")]
    assert execute(settings, "SELECT count(*) FROM impacts") == [(0,)]
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(6, "stage", ""), (7, "co2", "much")]
    assert (summary.counts["impacts_read"], summary.counts["impacts_new"], summary.counts["impacts_superseded"]) == (
        4,
        3,
        1,
    )
    put(settings, tmp_path, text, content.replace("0.6", "0.7"), "b.csv")
    assert execute(settings, query)[1] == ("Operations", "0.7")
    undone(settings)
    assert execute(settings, query)[1] == ("Operations", "0.6")
    undone(settings)
    assert execute(settings, query) == []


def test_stages_of_two_sources_are_never_mixed(settings: Settings, tmp_path: Path) -> None:
    text = mapped(
        "m",
        '[item]\nid = "id"\nname = "id"\niid = "iid"\n[[impacts]]\nindicator = "co2e_kg"\nvalue = "co2"\nbasis = "modelled"\n'
        'method = "m"\nstage = "stage"\n',
    )
    put(settings, tmp_path, text, "id,iid,stage,co2\na,IID-STAGES,Upstream,1\na,IID-STAGES,Use,2\n")
    put(settings, tmp_path, text, "id,iid,stage,co2\na,IID-STAGES,Use,3\na,IID-STAGES,End of life,4\n", "b.csv")
    query = "SELECT stage, per_unit::text FROM impact_stages ORDER BY 1"
    assert execute(settings, query) == [("End of life", "4"), ("Upstream", "1"), ("Use", "3")], "one source, two loads"
    other = text.replace('source = "m"', 'source = "n"\nrank = 1')
    merged = "id,iid,stage,co2\nz,IID-OTHERS,Use,9\nz,IID-OTHERS,Transport,5\n"
    put(settings, tmp_path, other, merged, "c.csv")
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        item_acts.merge(connection, "IID-OTHERS", "IID-STAGES", "tests", None)
    assert execute(settings, query) == [("Transport", "5"), ("Use", "9")], "the lowest rank decides, for all stages"


@begins_with(load_rows)
@pytest.mark.parametrize(
    ("join", "name"),
    [
        ('id = "key"\njoin_by = "id"\njoin_source = "shop"', "1"),
        ('id = "key"\njoin_by = "sku"', "1"),
        ('id = "key"\njoin_by = "iid"', mint("shop", "1").iid.lower()),
    ],
    ids=["id", "identifier", "iid"],
)
def test_observations_and_impacts_are_joined_to_items_that_the_index_has(
    settings: Settings, tmp_path: Path, join: str, name: str
) -> None:
    before = execute(
        settings, "SELECT iid, name, brand_id, category_id, identifiers, attributes FROM items ORDER BY iid"
    )
    summary = put(
        settings,
        tmp_path,
        mapped("feed", f"[item]\n{join}\n" + PRICES_LANGUAGE),
        f"key,day,shop,price\n{name},2026-07-09,WEST,7\nnone,2026-07-09,WEST,7\n",
    )
    assert summary.counts["observations_new"] == 1
    assert [(row[1], row[2], row[3], row[4]) for row in rejected(settings)] == [
        (3, "key", "none", "names no item that the index has")
    ]
    prices = "SELECT price_minor FROM observations WHERE item_id = $1 AND day = '2026-07-09'"
    assert execute(settings, prices, mint("shop", "1").key) == [(700,)]
    impact = '[[impacts]]\nindicator = "water_l"\nvalue = "w"\nbasis = "measured"\nmethod = "m"\n'
    put(settings, tmp_path, mapped("lab", f"[item]\n{join}\n" + impact), f"key,w\n{name},1.50\n", "w.csv")
    assert execute(settings, "SELECT item_id, per_unit::text FROM impacts") == [(mint("shop", "1").key, "1.50")]
    assert (
        execute(settings, "SELECT iid, name, brand_id, category_id, identifiers, attributes FROM items ORDER BY iid")
        == before
    )


def test_a_gtin_joins_with_and_without_leading_zeros(settings: Settings, tmp_path: Path) -> None:
    items = mapped("m", '[item]\nid = "id"\nname = "id"\n[item.identifiers]\ngtin = "ean"\nmpn = "mpn"\n')
    put(settings, tmp_path, items, "id,ean,mpn\na,0012345600012,007\nb,4006381333931,7\nc,04006381333931,8\n")
    feed = mapped("feed", '[item]\nid = "key"\njoin_by = "gtin"\n' + PRICES_LANGUAGE)
    rows = ("012345600012,2026-07-01,S,1", "00012345600012,2026-07-02,S,2", "4006381333931,2026-07-03,S,3")
    put(settings, tmp_path, feed, "\n".join(("key,day,shop,price", *rows)) + "\n", "feed.csv")
    prices = "SELECT i.name, price_minor FROM observations JOIN items i ON i.id = item_id ORDER BY 2"
    assert execute(settings, prices) == [("a", 100), ("a", 200)]
    assert [(row[1], row[4]) for row in rejected(settings)] == [(4, "names several items of the index")]
    by_mpn = mapped("parts", '[item]\nid = "key"\njoin_by = "mpn"\n' + PRICES_LANGUAGE)
    put(settings, tmp_path, by_mpn, "key,day,shop,price\n7,2026-07-04,S,4\n", "parts.csv")
    assert execute(settings, prices)[2:] == [("b", 400)]


def test_an_identifier_joins_whatever_its_source_calls_it(settings: Settings, tmp_path: Path) -> None:
    cases = (
        ("ean", "4006381333931", "gtin", "4006381333931"),
        ("upc", "036000291452", "gtin", "0036000291452"),
        ("upc", "042100005264", "gtin", "42100005264"),  # a spreadsheet ate the zero
        ("isbn", "0-306-40615-2", "gtin", "9780306406157"),
        ("gtin", "9780201379624", "isbn", "0201379627"),
        ("mpn", "AB-12/3", "mpn", "ab123"),
        ("style", "x-1", "style", "x-1"),
    )
    schemes = list(dict.fromkeys(scheme for scheme, *_ in cases))
    columns = "".join(f'{scheme} = "{scheme}"\n' for scheme in schemes)
    items = mapped("m", f'[item]\nid = "id"\nname = "id"\n[item.identifiers]\n{columns}')
    rows = [["id", *schemes]]
    for number, (scheme, text, _, _) in enumerate(cases):
        rows.append([str(number), *(text if one == scheme else "" for one in schemes)])
    put(settings, tmp_path, items, "".join(",".join(row) + "\n" for row in rows))
    for join in dict.fromkeys(join for _, _, join, _ in cases):
        feed = mapped(f"feed_{join}", f'[item]\nid = "key"\njoin_by = "{join}"\n' + PRICES_LANGUAGE)
        prices = [f"{given},2026-07-01,S,{n}\n" for n, (_, _, by, given) in enumerate(cases, 1) if by == join]
        put(settings, tmp_path, feed, "key,day,shop,price\n" + "".join(prices), f"{join}.csv")
    found = execute(
        settings, "SELECT i.name, price_minor / 100 - 1 FROM observations JOIN items i ON i.id = item_id ORDER BY 2"
    )
    assert found == [(str(number), number) for number in range(len(cases))]
    assert rejected(settings) == []


def test_a_code_that_a_shop_gave_out_joins_within_its_source_alone(settings: Settings, tmp_path: Path) -> None:
    items = '[item]\nid = "id"\nname = "name"\n[item.identifiers]\nean = "code"\n'
    for source in ("m", "n"):
        put(settings, tmp_path, mapped(source, items), f"id,name,code\na,{source},2000000000022\n", f"{source}.csv")
    feed = '[item]\nid = "key"\njoin_by = "gtin"\n'
    rows = "key,day,shop,price\n2000000000022,2026-07-01,S,1\n4006381333932,2026-07-01,S,1\n"
    with pytest.raises(LoadRefused, match="be used; nothing is loaded"):
        put(settings, tmp_path, mapped("feed", feed + PRICES_LANGUAGE), rows, "feed.csv")
    assert [(row[1], row[4]) for row in rejected(settings)] == [
        (2, "its gtin is a code that shops give out themselves: name whose it is by `join_source`"),
        (3, "its gtin has a wrong check digit; the correct one is 1"),
    ]
    put(settings, tmp_path, mapped("feed", feed + 'join_source = "n"\n' + PRICES_LANGUAGE), rows, "feed.csv")
    assert execute(settings, "SELECT i.name, price_minor FROM observations JOIN items i ON i.id = item_id") == [
        ("n", 100)
    ]


def test_an_id_whose_iid_another_source_has_given_away_refuses_the_load_by_name(
    settings: Settings, tmp_path: Path
) -> None:
    given = mint("m", "7").iid
    put(settings, tmp_path, mapped("other", '[item]\nid = "id"\niid = "iid"\nname = "id"\n'), f"id,iid\na,{given}\n")
    with pytest.raises(LoadRefused, match=f"^id '7' would get {given}, and an item of another source has it: "):
        put(settings, tmp_path, mapped("m", '[item]\nid = "id"\nname = "id"\n'), "id\n6\n7\n", "m.csv")
    assert execute(settings, "SELECT iid, name FROM items") == [(given, "a")]


def test_a_name_of_several_items_joins_none(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, text=SHOP.replace('sku = "sku"', 'model = "kind"'))
    put(
        settings,
        tmp_path,
        mapped("feed", '[item]\nid = "key"\njoin_by = "model"\n' + PRICES_LANGUAGE),
        "key,day,shop,price\nSoy milk,2026-07-09,WEST,7\nCustard,2026-07-09,WEST,7\n",
    )
    assert [(row[1], row[4]) for row in rejected(settings)] == [(2, "names several items of the index")]


def test_times_in_the_key_keep_each_scrape_of_a_day(settings: Settings, tmp_path: Path) -> None:
    text = mapped("m", '[item]\nid = "id"\nname = "id"\n' + PRICES_LANGUAGE + 'event_key = ["time"]\n')
    content = "id,day,shop,price,time\n" + "".join(
        f"a,2026-07-01,S,{price},{time}\n" for price, time in ((3, "08:00"), (1, "12:00"), (2, "18:00"))
    )
    put(settings, tmp_path, text, content)
    assert execute(settings, "SELECT price_minor FROM observations ORDER BY 1") == [(100,), (200,), (300,)]
    once = put(settings, tmp_path, text.replace('event_key = ["time"]\n', "").replace('"m"', '"n"'), content, "b.csv")
    assert (once.counts["observations_new"], once.counts["observations_superseded"]) == (1, 2)
