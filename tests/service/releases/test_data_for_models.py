"""Data for models: cards and pairs, with DuckDB as their judge."""

import hashlib
import json
from pathlib import Path

import duckdb

from shared.bulk.schema import key_of
from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.articles.support import gtins, row, shop
from tests.service.releases.test_releases import read
from tests.support.database import execute
from tests.support.releases import cut
from tests.support.servers import begins_with
from tests.support.shop import MAPPING, load_rows
from workers.provenance import item_acts, standing

SOY = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-{:02d},{},{},\n"


def committed_on(settings: Settings, day: str) -> None:
    execute(settings, "UPDATE data_versions SET committed_at = $1::date + time '22:00'", day)


def test_a_card_says_what_the_index_says(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, name="first.csv")
    load_rows(settings, tmp_path, "4,Nameless,,,,,2026-07-01,NORTH,7,\n", name="second.csv")
    cut(settings)
    cards = {one["name"]: one for one in read(settings, "cards").to_pylist()}
    assert {one["iid"] for one in cards.values()} == set(read(settings, "items").column("iid").to_pylist())
    soy = cards["Soy milk 1L"]
    assert soy["text"].splitlines() == [
        "Soy milk 1L",
        "Brand: Vita",
        "Category: Drinks > Soy milk",
        "weight_kg: 1.0",
        "Price in HKD: 9.00 on 2026-07-02, 9.00 to 11.50 in 3 observations",
    ]
    assert (soy["brand"], soy["category"], soy["category_path"]) == ("Vita", "drinks.soy-milk", ["Drinks", "Soy milk"])
    assert json.loads(soy["prices"]) == [
        {
            "currency": "HKD",
            "kind": "listing",
            "observations": 3,
            "low": "9.00",
            "high": "11.50",
            "last": "9.00",
            "last_day": "2026-07-02",
        }
    ]
    bare = cards["Nameless"]
    assert (bare["brand"], bare["category"], bare["category_path"]) == (None, None, [])
    assert bare["text"].startswith("Nameless\nPrice in HKD: 7.00")


def test_a_card_keeps_sales_and_listings_apart(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, SOY.format(1, "NORTH", "10") + SOY.format(2, "NORTH", "12"), name="offers.csv")
    sold = MAPPING + 'kind = "sale"\nidentity = "event"\n'
    load_rows(
        settings, tmp_path, SOY.format(3, "OUTLET", "4") + SOY.format(4, "OUTLET", "5"), text=sold, name="sold.csv"
    )
    cut(settings)
    [card] = read(settings, "cards").to_pylist()
    assert card["text"].splitlines()[-2:] == [
        "Price in HKD: 12.00 on 2026-07-02, 10.00 to 12.00 in 2 observations",
        "Sale price in HKD: 5.00 on 2026-07-04, 4.00 to 5.00 in 2 observations",
    ]
    assert [(one["kind"], one["low"], one["high"], one["last"]) for one in json.loads(card["prices"])] == [
        ("listing", "10.00", "12.00", "12.00"),
        ("sale", "4.00", "5.00", "5.00"),
    ]


def test_a_card_knows_nothing_of_later_days(settings: Settings, tmp_path: Path) -> None:
    """Observations of days after a release's own change no byte of its cards, also if they are loaded before it."""
    cards = "SELECT sha256 FROM release_files WHERE dataset = 'cards' AND data_version = $1"
    load_rows(settings, tmp_path, SOY.format(1, "NORTH", "10.90"), name="first.csv")
    committed_on(settings, "2026-07-01")
    cut(settings)
    load_rows(settings, tmp_path, SOY.format(2, "NORTH", "12") + SOY.format(3, "SOUTH", "9"), name="later.csv")
    committed_on(settings, "2026-07-01")
    cut(settings)
    load_rows(settings, tmp_path, SOY.format(4, "NORTH", "11"), name="last.csv")
    committed_on(settings, "2026-07-03")
    cut(settings)
    first, second, third = (execute(settings, cards, version) for version in (1, 2, 3))
    assert first == second != third
    found = duckdb.sql(f"SELECT prices FROM '{settings.results_dir / key_of(third[0][0])}'").fetchall()
    assert [json.loads(prices)[0]["last_day"] for (prices,) in found] == ["2026-07-03"]
    assert [json.loads(one["prices"])[0]["high"] for one in read(settings, "cards", 1).to_pylist()] == ["10.90"]


PAIRS = 30


def iids(number: int) -> tuple[str, str]:
    return mint("shop_a", f"a{number}").iid, mint("shop_b", f"b{number}").iid


def with_pairs(settings: Settings, folder: Path) -> None:
    """Thirty items that two shops have. A person takes the first apart, and says of neighbours that they differ."""
    rows = [(code, f"Item of kind {number} 1L") for number, code in enumerate(gtins(PAIRS))]
    shop(settings, folder, "shop_a", "".join(row(f"a{n}", code, name) for n, (code, name) in enumerate(rows)))
    other = "".join(row(f"b{n}", code, name) for n, (code, name) in enumerate(rows))
    shop(settings, folder, "shop_b", other, merges_allowed=True)
    different = [iids(0), *((iids(number)[0], iids(number + 1)[0]) for number in range(1, PAIRS - 1))]
    with connect(settings.database_url, application="tests") as connection:
        ids = dict(connection.execute("SELECT iid, id FROM items").fetchall())
        standing.lock(connection)
        decided = [(ids[one], ids[other], False) for one, other in different]
        item_acts.decide_all(connection, decided, {}, "Jane Doe", "a reason of Acme Ltd")
    cut(settings)


@begins_with(with_pairs)
def test_pairs_are_labelled_by_what_people_decided_and_by_links(settings: Settings) -> None:
    found = read(settings, "training_pairs")
    assert {
        (frozenset((one["left_iid"], one["right_iid"])), one["label"], one["known_by"]) for one in found.to_pylist()
    } == {
        (frozenset(iids(0)), "no_match", "review"),
        *((frozenset(iids(number)), "match", "identifier") for number in range(1, PAIRS)),
        *((frozenset((iids(n)[0], iids(n + 1)[0])), "no_match", "review") for n in range(1, PAIRS - 1)),
    }
    assert found.num_rows == 2 * PAIRS - 2
    with connect(settings.database_url, application="tests") as connection:
        linked = "SELECT count(*) FROM links WHERE decision = 'link'"
        counted = f"SELECT (SELECT count(*) FROM events WHERE kind = 'separation'), ({linked}) - 1"
        assert connection.execute(counted).fetchone() == (PAIRS - 1, PAIRS - 1)
    assert "Jane" not in str(found.to_pylist()) and "Acme" not in str(found.to_pylist())


@begins_with(with_pairs)
def test_no_item_is_in_two_splits_and_its_split_follows_from_its_iid(settings: Settings) -> None:
    pairs, cards = read(settings, "training_pairs"), read(settings, "cards")  # DuckDB finds them by name
    assert pairs.num_rows and cards.num_rows
    said = duckdb.sql("""
        SELECT survivor, list(DISTINCT split) FROM (
            SELECT left_survivor_iid AS survivor, split FROM pairs UNION ALL SELECT right_survivor_iid, split FROM pairs
            UNION ALL SELECT iid, split FROM cards) WHERE split IS NOT NULL GROUP BY survivor""").fetchall()
    assert len(said) == cards.num_rows == PAIRS + 1
    for survivor, splits in said:
        first = hashlib.sha256(survivor.encode()).digest()[0]
        assert splits == ["train" if first < 204 else "validation" if first < 230 else "test"]
    crossing = """
        SELECT bool_and((p.split IS NULL) = (l.split <> r.split)), count(p.split), count(*) FROM pairs p
        JOIN cards l ON l.iid = p.left_survivor_iid JOIN cards r ON r.iid = p.right_survivor_iid"""
    [(right, within, every)] = duckdb.sql(crossing).fetchall()
    assert right and 0 < within < every == pairs.num_rows


@begins_with(with_pairs)
def test_a_merged_item_takes_the_split_of_its_survivor(settings: Settings) -> None:
    survivors = {one["iid"]: one["survivor_iid"] for one in read(settings, "items").to_pylist()}
    for one in read(settings, "training_pairs").to_pylist():
        for side in ("left", "right"):
            assert one[f"{side}_survivor_iid"] == (survivors[one[f"{side}_iid"]] or one[f"{side}_iid"])
    assert all(survivors[iid] is None for iid in read(settings, "cards").column("iid").to_pylist())
