"""No source wipes another: fields come from claims, by rank, then by day; an IID belongs to one source's item."""

from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import MAPPING, load_rows, mapping, undone
from workers.ingest.load.load import load
from workers.ingest.load.summary import Summary
from workers.provenance import item_acts

FIRST = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"


def other(settings: Settings, folder: Path, rows: str, *, name: str = "other.csv") -> Summary:
    """Load rows of another source whose first column is its own id and whose last is an IID."""
    text = MAPPING.replace('source = "shop"', 'source = "other"').replace('id = "sku"', 'id = "sku"\niid = "list"')
    return load_rows(settings, folder, rows, text=text.replace('list_price = "list"\n', ""), name=name)


def first_load(settings: Settings, folder: Path) -> None:
    load_rows(settings, folder, FIRST)


@begins_with(first_load)
def test_a_field_that_comes_as_null_keeps_the_value_that_is_known(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Soy drink,,,,,2026-07-02,NORTH,11,12\n", name="b.csv")
    rows = execute(
        settings,
        """
        SELECT i.name, b.slug, c.code, i.product_type, i.attributes, i.version FROM items i
        LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id""",
    )
    assert rows == [("Soy drink", "vita", "drinks.soy-milk", "Soy milk", {"weight_kg": "1.0"}, 2)]


def test_an_older_file_that_comes_later_fills_in_and_replaces_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Newest name,Vita,,,,2026-07-05,NORTH,11,12\n")
    load_rows(settings, tmp_path, FIRST, name="older.csv")
    rows = execute(settings, "SELECT name, product_type, first_seen_on::text FROM items")
    assert rows == [("Newest name", "Soy milk", "2026-07-01")]


@begins_with(first_load)
def test_a_row_with_the_iid_of_another_sources_item_is_a_reject(settings: Settings, tmp_path: Path) -> None:
    before = execute(settings, "SELECT * FROM items")
    iid = mint("shop", "1").iid
    summary = other(
        settings, tmp_path, f"i6,Clash,,,,,2026-07-03,NORTH,5,{iid}\ni7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n"
    )
    assert summary.rejects == {"has an IID that belongs to another item": 1}
    assert execute(settings, "SELECT line, reason FROM rejects") == [(2, "has an IID that belongs to another item")]
    assert execute(settings, "SELECT * FROM items WHERE iid = $1", iid) == before
    assert execute(settings, "SELECT count(*) FROM observations WHERE item_id = $1", mint("shop", "1").key) == [(1,)]


def test_a_source_keeps_its_own_iid_and_cannot_change_it(settings: Settings, tmp_path: Path) -> None:
    other(settings, tmp_path, "i7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n")
    again = other(settings, tmp_path, "i7,Renamed,,,,,2026-07-04,NORTH,7,iid-own-1\n", name="again.csv")
    assert (again.rejects, again.counts["items_changed"]) == ({}, 1)
    with pytest.raises(LoadRefused, match="1 × has an IID that belongs to another item"):
        other(settings, tmp_path, "i7,Moved,,,,,2026-07-05,NORTH,7,IID-OWN-2\n", name="moved.csv")
    assert execute(settings, "SELECT iid, name FROM items") == [("IID-OWN-1", "Renamed")]


def test_a_rank_is_a_small_whole_number(tmp_path: Path) -> None:
    for value in ("-1", "32768", '"first"', "true", "1.5"):
        with pytest.raises(Exception, match="rank must be a whole number"):
            mapping(tmp_path, f"rank = {value}\n{MAPPING}")


@begins_with(first_load)
def test_a_repeated_value_is_kept_as_a_claim_and_a_replaced_one_too(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST + "\n", name="b.csv")
    load_rows(settings, tmp_path, FIRST.replace("10.90", "9"), name="c.csv")
    assert execute(settings, "SELECT price_minor, load_no FROM observations") == [(900, 3)]
    assert execute(settings, "SELECT price_minor, load_no FROM observation_claims ORDER BY 2") == [(1090, 1), (1090, 2)]
    assert execute(settings, "SELECT no FROM item_claims ORDER BY no") == [(1,), (2,), (3,)]
    assert execute(settings, "SELECT kind, load_id IS NOT NULL FROM events WHERE no > 0") == [("load", True)] * 3


def ranked(source: str, rank: int | None) -> str:
    """The mapping of one of several shops that are merged, with its rank."""
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text if rank is None else f"rank = {rank}\n{text}"


def test_the_rank_decides_between_sources_else_the_survivors_own_and_never_the_order_of_loads(
    settings: Settings, tmp_path: Path
) -> None:
    rows = {
        "a": "1,A's name,Vita,Drinks,,,2026-07-09,NORTH,1,\n",
        "b": "1,B's name,,Drinks,B type,2,2026-07-01,SOUTH,2,\n",
    }
    shown = "SELECT i.name, i.product_type, b.slug, i.field_sources FROM items i LEFT JOIN brands b ON b.id = i.brand_id WHERE i.iid = $1"
    for number, (order, ranks, name) in enumerate(
        (
            ("ab", {"a": None, "b": None}, "B's name"),
            ("ba", {"a": None, "b": None}, "B's name"),
            ("ba", {"a": 1, "b": 2}, "A's name"),
            ("ab", {"a": 1, "b": None}, "A's name"),
            ("ab", {"a": 2, "b": 1}, "B's name"),
        )
    ):
        first, survivor = f"a{number}", f"b{number}"
        for shop in order:
            source = f"{shop}{number}"
            text = ranked(source, ranks[shop]) + "[match]\nnever = true\n"
            load_rows(settings, tmp_path, rows[shop], text=text, name=f"{source}.csv")
        with connect(settings.database_url, application="tests") as connection:
            item_acts.merge(connection, mint(first, "1").iid, mint(survivor, "1").iid, "tests", None)
        [(reported, kind, brand, sources)] = execute(settings, shown, mint(survivor, "1").iid)
        assert (reported, kind, brand) == (name, "B type", "vita"), (order, ranks)
        assert sources["name"] == f"{name[0].lower()}{number}", (order, ranks)
        assert (sources["brand"], sources["attributes.weight_kg"]) == (first, survivor), (order, ranks)


def test_a_new_rank_is_in_force_at_once_and_taken_back_with_its_load(settings: Settings, tmp_path: Path) -> None:
    for source in "ab":
        load_rows(
            settings,
            tmp_path,
            f"1,{source}'s name,,,,,2026-07-01,NORTH,1,\n",
            text=ranked(source, None),
            name=f"{source}.csv",
        )
    survivor = mint("b", "1").iid
    with connect(settings.database_url, application="tests") as connection:
        item_acts.merge(connection, mint("a", "1").iid, survivor, "tests", None)
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]
    load_rows(settings, tmp_path, "2,Another,,,,,2026-07-01,NORTH,1,\n", text=ranked("a", 1), name="ranked.csv")
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("a's name",)]
    undone(settings, "4")
    assert execute(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]


FACTORS = (
    'source = "{source}"\ntitle = "L"\nlicense = "CC0-1.0"\n[factors]\nmethod = "mean"\n[factors.code]\ncolumn = "group"\n'
    '[factors.indicators]\nco2e_kg = "gwp"\n'
)


def factors(settings: Settings, folder: Path, source: str, rows: str) -> None:
    path = folder / f"{source}-{abs(hash(rows))}.csv"
    path.write_text("group,gwp\n" + rows)
    load(settings, mapping(folder, FACTORS.format(source=source)), [path])


def four_loads(settings: Settings, folder: Path) -> None:
    """Load an item, and factors of two laboratories."""
    load_rows(settings, folder, FIRST)
    factors(settings, folder, "lab_a", "drinks,1\n")
    factors(settings, folder, "lab_b", "drinks,2\ndesserts,9\n")
    factors(settings, folder, "lab_a", "drinks,3\n")


@begins_with(four_loads)
@pytest.mark.parametrize(
    ("load", "kept"),
    [
        ("2", [("desserts", 9, "lab_b"), ("drinks", 3, "lab_a")]),
        ("3", [("drinks", 3, "lab_a")]),
        ("4", [("desserts", 9, "lab_b"), ("drinks", 2, "lab_b")]),
    ],
)
def test_undoing_a_load_of_factors_restores_the_former_factors(
    settings: Settings, load: str, kept: list[tuple[str, int, str]]
) -> None:
    version = "SELECT version FROM items"
    assert execute(settings, version) == [(4,)]
    undone(settings, load)
    held = "SELECT f.code, f.per_kg::int, s.name FROM impact_factors f JOIN sources s ON s.id = f.source_id ORDER BY 1"
    assert execute(settings, held) == kept
    assert execute(settings, version) == [(3,)]


@begins_with(first_load)
def test_new_terms_of_a_source_are_a_change_that_answers_show(settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path, FIRST, text=MAPPING.replace("CC0-1.0", "CC-BY-4.0"))
    assert (summary.state, summary.data_version) == ("committed", 2)
    undone(settings, "2")
    assert execute(settings, "SELECT license FROM sources") == [("CC0-1.0",)]
