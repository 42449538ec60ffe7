"""What real files need: composite ids, several prices a row, kinds by column, groups, stages, files joined to known items."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.contents import ask
from tests.service.ingest.test_exact import put, rejected
from tests.support.shop import MAPPING as SHOP
from tests.support.shop import load_rows
from workers.ingest.load import load
from workers.ingest.mapping import read
from workers.provenance import events, item_acts
from workers.provenance.undo import undo

HEAD = 'source = "{source}"\ntitle = "T"\nlicense = "CC0-1.0"\n'
PRICES = '[observation]\nday = "day"\nchannel = "shop"\nprice = "price"\ncurrency = {{ constant = "HKD" }}\n'.replace(
    "{{", "{"
).replace("}}", "}")


def mapped(source: str, rest: str) -> str:
    return HEAD.format(source=source) + rest


def test_an_id_of_several_columns_is_one_only_where_all_parts_are_the_same(settings: Settings, tmp_path: Path) -> None:
    text = mapped("m", '[item]\nid = ["a", "b"]\nname = { columns = ["a", "b"], join = "-" }\n')
    put(settings, tmp_path, text, "a,b\nx|y,z\nx,y|z\nx,\n x ,y\nx,y\n")
    assert ask(settings, "SELECT source_item_id FROM item_sources ORDER BY 1") == [("x\\|y|z",), ("x|y",), ("x|y\\|z",)]
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(4, "a, b", "x|")]
    assert ask(settings, "SELECT count(*) FROM items") == [(3,)]


def test_a_row_may_hold_two_prices(settings: Settings, tmp_path: Path) -> None:
    two = PRICES.replace("[observation]", "[[observation]]").replace('"shop"', '{ constant = "ONLINE" }')
    text = mapped(
        "m", '[item]\nid = "id"\nname = "id"\n' + two + two.replace("ONLINE", "STORE").replace('"price"', '"store"')
    )
    summary = put(settings, tmp_path, text, "id,day,price,store\na,2026-07-01,1,2\nb,2026-07-01,,3\nc,2026-07-01,x,4\n")
    rows = ask(
        settings, "SELECT code, price_minor FROM observations o JOIN channels c ON c.id = o.channel_id ORDER BY 1, 2"
    )
    assert rows == [("ONLINE", 100), ("STORE", 200), ("STORE", 300)]
    assert (summary.counts["observations_absent"], summary.counts["rejected"]) == (1, 1)


def test_the_kind_may_stand_in_a_column(settings: Settings, tmp_path: Path) -> None:
    kind = 'kind = { column = "type", crosswalk = { "offer" = "listing", "sold" = "sale" } }\n'
    text = mapped("m", '[item]\nid = "id"\nname = "id"\n' + PRICES + kind)
    put(
        settings,
        tmp_path,
        text,
        "id,day,shop,price,type\na,2026-07-01,S,1,offer\na,2026-07-01,S,2,sold\na,2026-07-01,S,3,gift\n",
    )
    assert ask(settings, "SELECT kind::text, price_minor FROM observations ORDER BY 2") == [("l", 100), ("s", 200)]
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(4, "type", "gift")]


def test_named_groups_of_one_pattern_fill_several_fields(settings: Settings, tmp_path: Path) -> None:
    pattern = "match = '^(?P<maker>[A-Z][a-z]+) (?P<model>.*?) (?P<size>[0-9]+ ?ml)$'"
    item = f'[item]\nid = "t"\nname = {{ column = "t", {pattern}, group = "model" }}\nbrand = {{ column = "t", {pattern}, group = "maker" }}\n'
    attributes = f'[item.attributes]\nsize = {{ column = "t", {pattern}, group = "size" }}\nvolume_l = {{ column = "t", unit = "l" }}\n'
    put(settings, tmp_path, mapped("m", item + attributes), "t\nAcme Cola Zero 330 ml\n")
    rows = ask(settings, "SELECT i.name, b.name, attributes FROM items i JOIN brands b ON b.id = i.brand_id")
    assert rows == [("Cola Zero", "Acme", {"size": "330 ml", "volume_l": "0.33"})]


def test_stages_of_a_life_cycle_are_added_up_and_undone_with_their_load(settings: Settings, tmp_path: Path) -> None:
    text = mapped(
        "m",
        '[item]\nid = "id"\nname = "id"\n[[impacts]]\nindicator = "co2e_kg"\nvalue = "co2"\nbasis = "modelled"\nmethod = "m"\nstage = "stage"\n',
    )
    content = "id,stage,co2\na,Upstream,1.15\na,Operations,0.6\na,Upstream,0.15\na,End of life,-0.504\nb,,1\nb,Use,much\nb,Use,\n"
    summary = put(settings, tmp_path, text, content)
    query = "SELECT stage, per_unit::text FROM impact_stages ORDER BY 1"
    assert ask(settings, query) == [("End of life", "-0.504"), ("Operations", "0.6"), ("Upstream", "1.30")]
    assert ask(settings, "SELECT count(*) FROM impacts") == [(0,)]
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [(6, "stage", ""), (7, "co2", "much")]
    assert (summary.counts["impacts_read"], summary.counts["impacts_new"], summary.counts["impacts_superseded"]) == (
        4,
        3,
        1,
    )
    put(settings, tmp_path, text, content.replace("0.6", "0.7"), "b.csv")
    assert ask(settings, query)[1] == ("Operations", "0.7")
    _undo_last(settings)
    assert ask(settings, query)[1] == ("Operations", "0.6")
    _undo_last(settings)
    assert ask(settings, query) == []


def test_stages_of_two_sources_are_never_mixed(settings: Settings, tmp_path: Path) -> None:
    text = mapped(
        "m",
        '[item]\nid = "id"\nname = "id"\niid = "iid"\n[[impacts]]\nindicator = "co2e_kg"\nvalue = "co2"\nbasis = "modelled"\n'
        'method = "m"\nstage = "stage"\n',
    )
    put(settings, tmp_path, text, "id,iid,stage,co2\na,IID-STAGES,Upstream,1\na,IID-STAGES,Use,2\n")
    put(settings, tmp_path, text, "id,iid,stage,co2\na,IID-STAGES,Use,3\na,IID-STAGES,End of life,4\n", "b.csv")
    query = "SELECT stage, per_unit::text FROM impact_stages ORDER BY 1"
    assert ask(settings, query) == [("End of life", "4"), ("Upstream", "1"), ("Use", "3")], "one source, two loads"
    other = text.replace('source = "m"', 'source = "n"\nrank = 1')
    merged = "id,iid,stage,co2\nz,IID-OTHERS,Use,9\nz,IID-OTHERS,Transport,5\n"
    put(settings, tmp_path, other, merged, "c.csv")
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        item_acts.merge(connection, "IID-OTHERS", "IID-STAGES", "tests", None)
    assert ask(settings, query) == [("Transport", "5"), ("Use", "9")], "the lowest rank decides, for all stages"


def _undo_last(settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        [(last,)] = connection.execute(
            "SELECT max(no) FROM events WHERE kind = 'load' AND undone_by IS NULL"
        ).fetchall()
        undo(connection, str(last), "tests", None)
        connection.commit()


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
    load_rows(settings, tmp_path)
    before = ask(settings, "SELECT iid, name, brand_id, category_id, identifiers, attributes FROM items ORDER BY iid")
    summary = put(
        settings,
        tmp_path,
        mapped("feed", f"[item]\n{join}\n" + PRICES),
        f"key,day,shop,price\n{name},2026-07-09,WEST,7\nnone,2026-07-09,WEST,7\n",
    )
    assert summary.counts["observations_new"] == 1
    assert [(row[1], row[2], row[3], row[4]) for row in rejected(settings)] == [
        (3, "key", "none", "names no item that the index has")
    ]
    prices = "SELECT price_minor FROM observations WHERE item_id = $1 AND day = '2026-07-09'"
    assert ask(settings, prices, mint("shop", "1").key) == [(700,)]
    impact = '[[impacts]]\nindicator = "water_l"\nvalue = "w"\nbasis = "measured"\nmethod = "m"\n'
    put(settings, tmp_path, mapped("lab", f"[item]\n{join}\n" + impact), f"key,w\n{name},1.50\n", "w.csv")
    assert ask(settings, "SELECT item_id, per_unit::text FROM impacts") == [(mint("shop", "1").key, "1.50")]
    assert (
        ask(settings, "SELECT iid, name, brand_id, category_id, identifiers, attributes FROM items ORDER BY iid")
        == before
    )


def test_a_gtin_joins_with_and_without_leading_zeros(settings: Settings, tmp_path: Path) -> None:
    items = mapped("m", '[item]\nid = "id"\nname = "id"\n[item.identifiers]\ngtin = "ean"\nmpn = "mpn"\n')
    put(settings, tmp_path, items, "id,ean,mpn\na,0012345600012,007\nb,4006381333931,7\nc,04006381333931,8\n")
    feed = mapped("feed", '[item]\nid = "key"\njoin_by = "gtin"\n' + PRICES)
    rows = ("012345600012,2026-07-01,S,1", "00012345600012,2026-07-02,S,2", "4006381333931,2026-07-03,S,3")
    put(settings, tmp_path, feed, "\n".join(("key,day,shop,price", *rows)) + "\n", "feed.csv")
    prices = "SELECT i.name, price_minor FROM observations JOIN items i ON i.id = item_id ORDER BY 2"
    assert ask(settings, prices) == [("a", 100), ("a", 200)]
    assert [(row[1], row[4]) for row in rejected(settings)] == [(4, "names several items of the index")]
    by_mpn = mapped("parts", '[item]\nid = "key"\njoin_by = "mpn"\n' + PRICES)
    put(settings, tmp_path, by_mpn, "key,day,shop,price\n7,2026-07-04,S,4\n", "parts.csv")
    assert ask(settings, prices)[2:] == [("b", 400)]


@pytest.mark.parametrize(
    ("scheme", "text", "join", "given"),
    [
        ("ean", "4006381333931", "gtin", "4006381333931"),
        ("upc", "036000291452", "gtin", "0036000291452"),
        ("upc", "036000291452", "gtin", "36000291452"),  # a spreadsheet ate the zero
        ("isbn", "0-306-40615-2", "gtin", "9780306406157"),
        ("gtin", "9780306406157", "isbn", "0306406152"),
        ("mpn", "AB-12/3", "mpn", "ab123"),
        ("style", "x-1", "style", "x-1"),
    ],
)
def test_an_identifier_joins_whatever_its_source_calls_it(
    settings: Settings, tmp_path: Path, scheme: str, text: str, join: str, given: str
) -> None:
    items = mapped("m", f'[item]\nid = "id"\nname = "id"\n[item.identifiers]\n{scheme} = "code"\n')
    put(settings, tmp_path, items, f"id,code\na,{text}\n")
    feed = mapped("feed", f'[item]\nid = "key"\njoin_by = "{join}"\n' + PRICES)
    put(settings, tmp_path, feed, f"key,day,shop,price\n{given},2026-07-01,S,1\n", "feed.csv")
    assert ask(settings, "SELECT i.name, price_minor FROM observations JOIN items i ON i.id = item_id") == [("a", 100)]
    assert rejected(settings) == []


def test_a_code_that_a_shop_gave_out_joins_within_its_source_alone(settings: Settings, tmp_path: Path) -> None:
    items = '[item]\nid = "id"\nname = "name"\n[item.identifiers]\nean = "code"\n'
    for source in ("m", "n"):
        put(settings, tmp_path, mapped(source, items), f"id,name,code\na,{source},2000000000022\n", f"{source}.csv")
    feed = '[item]\nid = "key"\njoin_by = "gtin"\n'
    rows = "key,day,shop,price\n2000000000022,2026-07-01,S,1\n4006381333932,2026-07-01,S,1\n"
    with pytest.raises(LoadRefused, match="none of them can be used"):
        put(settings, tmp_path, mapped("feed", feed + PRICES), rows, "feed.csv")
    assert [(row[1], row[4]) for row in rejected(settings)] == [
        (2, "its gtin is a code that shops give out themselves: name whose it is by `join_source`"),
        (3, "its gtin ends with a wrong check digit; expected is 1"),
    ]
    put(settings, tmp_path, mapped("feed", feed + 'join_source = "n"\n' + PRICES), rows, "feed.csv")
    assert ask(settings, "SELECT i.name, price_minor FROM observations JOIN items i ON i.id = item_id") == [("n", 100)]


def test_an_id_whose_iid_another_source_has_given_away_refuses_the_load_by_name(
    settings: Settings, tmp_path: Path
) -> None:
    given = mint("m", "7").iid
    put(settings, tmp_path, mapped("other", '[item]\nid = "id"\niid = "iid"\nname = "id"\n'), f"id,iid\na,{given}\n")
    with pytest.raises(LoadRefused, match=f"^id '7' would get {given}, and an item of another source has it: "):
        put(settings, tmp_path, mapped("m", '[item]\nid = "id"\nname = "id"\n'), "id\n6\n7\n", "m.csv")
    assert ask(settings, "SELECT iid, name FROM items") == [(given, "a")]


def test_a_name_of_several_items_joins_none(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, text=SHOP.replace('sku = "sku"', 'model = "kind"'))
    put(
        settings,
        tmp_path,
        mapped("feed", '[item]\nid = "key"\njoin_by = "model"\n' + PRICES),
        "key,day,shop,price\nSoy milk,2026-07-09,WEST,7\nCustard,2026-07-09,WEST,7\n",
    )
    assert [(row[1], row[4]) for row in rejected(settings)] == [(2, "names several items of the index")]


def test_times_in_the_key_keep_each_scrape_of_a_day(settings: Settings, tmp_path: Path) -> None:
    text = mapped("m", '[item]\nid = "id"\nname = "id"\n' + PRICES + 'event_key = ["time"]\n')
    content = "id,day,shop,price,time\n" + "".join(
        f"a,2026-07-01,S,{price},{time}\n" for price, time in ((3, "08:00"), (1, "12:00"), (2, "18:00"))
    )
    put(settings, tmp_path, text, content)
    assert ask(settings, "SELECT price_minor FROM observations ORDER BY 1") == [(100,), (200,), (300,)]
    once = put(settings, tmp_path, text.replace('event_key = ["time"]\n', "").replace('"m"', '"n"'), content, "b.csv")
    assert (once.counts["observations_new"], once.counts["observations_superseded"]) == (1, 2)


def test_times_of_parquet_are_days_in_utc(settings: Settings, tmp_path: Path) -> None:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    zone = datetime.timezone(datetime.timedelta(hours=8))
    moments = [datetime.datetime(2026, 8, 5, 1, tzinfo=zone), datetime.datetime(2026, 8, 5, 9, tzinfo=zone)]
    pq.write_table(
        pa.table({"id": [1, 2], "day": moments, "shop": ["S", "S"], "price": [1.5, 2.25]}), tmp_path / "a.parquet"
    )
    path = tmp_path / "m.toml"
    path.write_text(mapped("m", '[item]\nid = "id"\nname = "id"\n' + PRICES))
    load(settings, read(path), [tmp_path / "a.parquet"])
    assert ask(settings, "SELECT day::text, price_minor FROM observations ORDER BY 1") == [
        ("2026-08-04", 150),
        ("2026-08-05", 225),
    ]
