"""Values of files are loaded exactly, in the words and shapes of real files."""

import math
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np
import openpyxl
import pytest

from shared.analytics.footprint import INDICATORS
from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import MAPPING, MEASURED, PRICED, ROWS, load_rows, mapping, undone
from tests.support.shop import MAPPING as SHOP
from workers.ingest.accounting import Summary
from workers.ingest.batches import LoadBuffers
from workers.ingest.clean import NO_FIGURE
from workers.ingest.load import load
from workers.ingest.mapping import read
from workers.ingest.observations import currency_bits
from workers.provenance import events, item_acts

# A value is loaded exactly, or it is a reject with its file, line, column, value and reason.


PROJECT = Path(__file__).parents[3]


def put(settings: Settings, folder: Path, text: str, content: str, name: str = "a.csv", **options: Any) -> Summary:
    """Load a file of any content through a mapping."""
    path = folder / name
    path.write_text(content)
    return load(settings, mapping(folder, text), [path], **options)


def rejected(settings: Settings) -> list[tuple[Any, ...]]:
    """Return what the rejects of all loads name, in the order of lines."""
    return execute(
        settings, "SELECT file, line, column_name, value, reason, scope FROM rejects ORDER BY line, column_name"
    )


def test_a_number_of_any_length_is_loaded_digit_for_digit(settings: Settings, tmp_path: Path) -> None:
    figures = (
        "0.123456789012345",
        "0.1234567890123456",
        "12.12345678901234567",
        "123456789012345678",
        "1.5e-3",
        "0",
        "9" * 60 + "." + "7" * 90,
        ".5",
        "1E+3",
        "000.10",
    )
    rows = "".join(f"{number},{figure}\n" for number, figure in enumerate(figures))
    put(settings, tmp_path, MEASURED, f"id,co2\n{rows}")
    judge = "SELECT per_unit = $1::numeric FROM impacts WHERE item_id = $2"
    for number, figure in enumerate(figures):
        assert execute(settings, judge, figure, mint("lab", str(number)).key) == [(True,)], figure
    assert rejected(settings) == []


def test_a_mapping_may_let_an_error_cost_only_its_field(settings: Settings, tmp_path: Path) -> None:
    text = MEASURED.replace('value = "co2"', 'value = { column = "co2", on_error = "field" }')
    summary = put(settings, tmp_path, text, "id,co2\na,about 5\nb,1\n")
    assert (summary.counts["rejected"], summary.counts["items_new"]) == (0, 2)
    assert execute(settings, "SELECT count(*) FROM impacts") == [(1,)]
    assert rejected(settings) == [("a.csv", 2, "co2", "about 5", NO_FIGURE, "field")]
    assert dict(summary.field_rejects) == {NO_FIGURE: 1}


def test_cells_without_a_value_are_rejects_of_a_load_whose_counts_add_up(settings: Settings, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["id", "name", "day", "shop", "price", "cur", "was"],
        ["A", "Milk", "2026-10-01", "S", "=1+1", "EUR", 3],
        ["B", "Bread", "2026-10-01", "S", 2, "EUR", "#N/A"],
        ["C", "#REF!", "2026-10-01", "S", 2, "EUR", 3],
        ["D", "Oil", "2026-10-01", "S", 2, "EUR", 3],
    ):
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    (tmp_path / "m.toml").write_text(PRICED + 'list_price = { column = "was", on_error = "field" }\n')
    summary = load(settings, read(tmp_path / "m.toml"), [tmp_path / "f.xlsx"])
    assert (summary.counts["rows"], summary.counts["items_new"], summary.counts["observations_new"]) == (4, 2, 2)
    assert [(line, column, value, scope) for _, line, column, value, _, scope in rejected(settings)] == [
        (2, "price", "E2: =1+1", "row"),
        (3, "was", "G3: #N/A", "field"),
        (4, "name", "B4: #REF!", "row"),
    ]


def test_a_day_beyond_tomorrow_is_rejected_unless_the_mapping_allows_it(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS.splitlines()[0].replace("2026-07-01", "2099-02-01") + "\n"
    with pytest.raises(LoadRefused, match="be used; nothing is loaded"):
        load_rows(settings, tmp_path, rows)
    assert [(row[2], row[3]) for row in rejected(settings)] == [("day", "2099-02-01")]
    text = MAPPING.replace('day = "day"', 'day = { column = "day", max = "2099-12-31" }')
    assert load_rows(settings, tmp_path, rows, text=text).counts["observations_new"] == 1


def test_no_day_is_put_in_the_place_of_one_that_cannot_be_read(settings: Settings, tmp_path: Path) -> None:
    text = MEASURED.replace(
        "[[impacts]]", 'first_seen_on = { column = "since", format = ["%Y-%m-%d", "%B %d %Y", "%Y"] }\n[[impacts]]'
    )
    content = "id,co2,since\na,1,2020-05-06\nb,1,January 17 2023\nc,1,2013\nd,1,2022-2-6\ne,1,\nf,1,soon\n"
    put(settings, tmp_path, text, content)
    days = execute(settings, "SELECT first_seen_on::text FROM items ORDER BY 1")
    assert days == [("2013-12-31",), ("2020-05-06",), ("2023-01-17",)]
    assert execute(settings, "SELECT as_of::text FROM impacts ORDER BY 1") == days
    assert [(row[1], row[2], row[3]) for row in rejected(settings)] == [
        (5, "since", "2022-2-6"),
        (6, "since", ""),
        (7, "since", "soon"),
    ]


def test_text_and_price_of_an_item_come_from_the_same_newest_row(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\n"
        + "".join(f"a,Title of day {day},2026-07-{day:02d},S1,{day}.00,USD\n" for day in (3, 9, 5, 1))
        + "a,Last title of day 9,2026-07-09,S2,9.50,USD\n"
        + "a,Title of day 2,2026-07-02,S1,2.00,USD\n" * 40
    )
    put(settings, tmp_path, PRICED, content, buffers=LoadBuffers(block_bytes=100))
    assert execute(settings, "SELECT name FROM items") == [("Last title of day 9",)]
    # Rows of all lengths in many batches leave room on many pages of the staged tables: the last row counts all the same.
    names = [f"Title {n} {'x' * (n * 37 % 900)}" for n in range(600)]
    rows = "".join(f"{n % 20},{name},2026-07-09,S1,{n}.00,USD\n" for n, name in enumerate(names))
    more = "id,name,day,shop,price,cur\n" + rows
    put(settings, tmp_path, PRICED, more, "more.csv", buffers=LoadBuffers(block_bytes=5_000, kept_bytes=3_000))
    last = "SELECT i.name, o.price_minor / 100 FROM items i JOIN observations o ON o.item_id = i.id WHERE i.name ~ 'x$' ORDER BY 2"
    assert execute(settings, last) == list(zip(names[-20:], range(580, 600), strict=True))


def test_what_the_names_of_files_say_of_an_item_is_that_of_its_newest_row(settings: Settings, tmp_path: Path) -> None:
    header, paths = "id,name,day,shop,price,cur\n", []
    for name, day in (("alpha-1.csv", 3), ("beta-2.csv", 9), ("gamma-3.csv", 1)):
        paths.append(tmp_path / name)
        paths[-1].write_text(f"{header}a,Tea,2026-07-{day:02d},S1,2.00,USD\n")
    branded = PRICED.replace('name = "name"', 'name = "name"\nbrand = { file_name = "([a-z]+)-" }')
    load(settings, mapping(tmp_path, branded), paths)
    assert execute(settings, "SELECT b.name FROM items i JOIN brands b ON b.id = i.brand_id") == [("beta",)]


def test_currencies_of_one_day_and_channel_do_not_replace_each_other(settings: Settings, tmp_path: Path) -> None:
    content = "id,name,day,shop,price,cur\na,A,2026-07-01,S1,100.00,USD\na,A,2026-07-01,S1,90.00,EUR\n"
    assert put(settings, tmp_path, PRICED, content).counts["observations_new"] == 2
    prices = execute(settings, "SELECT currency, price_minor FROM observations ORDER BY 1")
    assert prices == [("EUR", 9000), ("USD", 10000)]


def test_spellings_that_fold_to_the_same_text_are_one_channel(settings: Settings, tmp_path: Path) -> None:
    header = "id,name,day,shop,price,cur\n"
    put(settings, tmp_path, PRICED, header + "a,A,2026-07-01,S1,1.00,USD\na,A,2026-07-02,s1,2.00,USD\n")
    put(settings, tmp_path, PRICED, header + "a,A,2026-07-02,ｓ1,2.00,USD\na,A,2026-07-01,s1,3.00,USD\n", "b.csv")
    assert execute(settings, "SELECT code FROM channels") == [("S1",)]
    assert execute(settings, "SELECT day::text, price_minor FROM observations ORDER BY 1") == [
        ("2026-07-01", 300),
        ("2026-07-02", 200),
    ]


def test_migration_adds_to_marks_what_a_load_adds(settings: Settings, tmp_path: Path) -> None:
    content = (
        "id,name,day,shop,price,cur\na,A,2026-07-01,S1,1.00,USD\nb,B,2026-07-01,S1,2.00,EUR\nc,C,2026-07-01,S1,3,JPY\n"
    )
    put(settings, tmp_path, PRICED, content)
    query = "SELECT currency, mark FROM observations ORDER BY currency"
    before = execute(settings, query)
    [step] = list((PROJECT / "shared/db/migrations").glob("0017_*.sql"))
    execute(settings, step.read_bytes())
    bits = currency_bits(np.array([currency for currency, _ in before], "S3")).tolist()
    assert len(set(bits)) == 3
    assert execute(settings, query) == [(row[0], row[1] ^ added) for row, added in zip(before, bits, strict=True)]


# What real files need: composite ids, several prices a row, kinds by column, groups, stages, files joined to known
# items.


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


# The indicators of the code are those of the database.


def test_code_and_table_name_the_same_indicators(settings: Settings) -> None:
    rows = execute(settings, "SELECT code, unit, title FROM indicators ORDER BY place")
    assert rows == list(map(tuple, INDICATORS))


# How wide a source says that its figures are, and how wide the samples of a factor lie apart.


BOUNDS = (
    MEASURED + 'low = { column = "lo", multiply = 1000 }\nhigh = { column = "hi", multiply = 1000 }\ndeviation = "sd"\n'
)

BOUNDS = BOUNDS.replace('value = "co2"', 'value = { column = "co2", multiply = 1000 }')

FACTORS = """
source = "food"
title = "F"
license = "CC0-1.0"
[factors]
code = "group"
method = "mean"
indicators = { co2e_kg = "gwp" }
"""


def test_bounds_and_deviations_are_loaded_exactly_in_the_unit_of_the_figure(settings: Settings, tmp_path: Path) -> None:
    rows = "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\nb,0.5,,,90\nc,0.5,0.4,,\nd,0.5,,,\n"
    put(settings, tmp_path, BOUNDS, rows)
    found = execute(
        settings,
        "SELECT source_item_id, low::text, high::text, deviation::text FROM impacts JOIN item_sources USING (item_id)"
        " ORDER BY 1",
    )
    assert found == [
        ("a", "400.0", "700.0", None),
        ("b", None, None, "90"),
        ("c", None, None, None),
        ("d", None, None, None),
    ]
    assert rejected(settings) == []


def test_another_spread_is_another_content_and_replaces_the_figure(settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.4,0.7,\n")
    summary = put(settings, tmp_path, BOUNDS, "id,co2,lo,hi,sd\na,0.5,0.3,0.7,\n")
    assert summary.counts["impacts_replaced"] == 1
    assert execute(settings, "SELECT low::text FROM impacts") == [("300.0",)]


def test_a_factor_keeps_the_spread_of_its_samples_that_are_above_0(settings: Settings, tmp_path: Path) -> None:
    values = [1.5, 2.5, 9.75]
    rows = "group,gwp\n" + "".join(f"bread,{value}\nrolls,{value}\n" for value in values)
    put(settings, tmp_path, FACTORS, rows + "rolls,0\nmilk,1\ntea,0\ntea,2\nwater,0\n")
    statement = "SELECT code, per_kg::float8, samples, log_samples, log_deviation FROM impact_factors"
    found = {row[0]: row[1:] for row in execute(settings, statement)}
    deviation = pytest.approx(stdev(map(math.log, values)))
    assert found["bread"] == (pytest.approx(13.75 / 3), 3, 3, deviation)
    assert found["rolls"] == (pytest.approx(13.75 / 4), 4, 3, deviation)
    assert found["milk"] == (1, 1, 1, None)
    assert found["tea"] == (1, 2, 1, None)
    assert found["water"] == (0, 1, 0, None)
