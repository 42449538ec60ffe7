"""No source wipes another: fields come from claims, by rank, then by day; an IID belongs to one source's item."""

from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.shop import MAPPING, load_rows, mapping
from workers.ingest.load import Summary, load
from workers.provenance import item_acts
from workers.provenance.undo import undo

FIRST = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"


def ask(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connect(settings.database_url, application="tests") as connection:
        return connection.execute(query, values or None).fetchall()


def other(settings: Settings, folder: Path, rows: str, *, name: str = "other.csv") -> Summary:
    """Load rows of another source whose first column is its own id and whose last is an IID."""
    text = MAPPING.replace('source = "shop"', 'source = "other"').replace('id = "sku"', 'id = "sku"\niid = "list"')
    return load_rows(settings, folder, rows, text=text.replace('list_price = "list"\n', ""), name=name)


def test_a_field_that_comes_as_null_keeps_the_value_that_is_known(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST)
    load_rows(settings, tmp_path, "1,Soy drink,,,,,2026-07-02,NORTH,11,12\n", name="b.csv")
    rows = ask(
        settings,
        """
        SELECT i.name, b.slug, c.code, i.product_type, i.attributes, i.version FROM items i
        LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id""",
    )
    assert rows == [("Soy drink", "vita", "drinks.soy-milk", "Soy milk", {"weight_kg": "1.0"}, 2)]


def test_an_older_file_that_comes_later_fills_in_and_replaces_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, "1,Newest name,Vita,,,,2026-07-05,NORTH,11,12\n")
    load_rows(settings, tmp_path, FIRST, name="older.csv")
    rows = ask(settings, "SELECT name, product_type, first_seen_on::text FROM items")
    assert rows == [("Newest name", "Soy milk", "2026-07-01")]


def test_a_row_with_the_iid_of_another_sources_item_is_a_reject(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST)
    before = ask(settings, "SELECT * FROM items")
    iid = mint("shop", "1").iid
    summary = other(
        settings, tmp_path, f"i6,Clash,,,,,2026-07-03,NORTH,5,{iid}\ni7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n"
    )
    assert summary.rejects == {"has an IID that belongs to another item": 1}
    assert ask(settings, "SELECT line, reason FROM rejects") == [(2, "has an IID that belongs to another item")]
    assert ask(settings, "SELECT * FROM items WHERE iid = $1", iid) == before
    assert ask(settings, "SELECT count(*) FROM observations WHERE item_id = $1", mint("shop", "1").key) == [(1,)]


def test_a_source_keeps_its_own_iid_and_cannot_change_it(settings: Settings, tmp_path: Path) -> None:
    other(settings, tmp_path, "i7,Own,,,,,2026-07-03,NORTH,6,IID-OWN-1\n")
    again = other(settings, tmp_path, "i7,Renamed,,,,,2026-07-04,NORTH,7,iid-own-1\n", name="again.csv")
    assert (again.rejects, again.counts["items_changed"]) == ({}, 1)
    with pytest.raises(LoadRefused, match="1 × has an IID that belongs to another item"):
        other(settings, tmp_path, "i7,Moved,,,,,2026-07-05,NORTH,7,IID-OWN-2\n", name="moved.csv")
    assert ask(settings, "SELECT iid, name FROM items") == [("IID-OWN-1", "Renamed")]


@pytest.mark.parametrize("value", ["-1", "32768", '"first"', "true", "1.5"])
def test_a_rank_is_a_small_whole_number(settings: Settings, tmp_path: Path, value: str) -> None:
    with pytest.raises(Exception, match="rank must be a whole number"):
        load_rows(settings, tmp_path, FIRST, text=f"rank = {value}\n{MAPPING}")


def test_a_repeated_value_is_kept_as_a_claim_and_a_replaced_one_too(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST)
    load_rows(settings, tmp_path, FIRST + "\n", name="b.csv")
    load_rows(settings, tmp_path, FIRST.replace("10.90", "9"), name="c.csv")
    assert ask(settings, "SELECT price_minor, load_no FROM observations") == [(900, 3)]
    assert ask(settings, "SELECT price_minor, load_no FROM observation_claims ORDER BY 2") == [(1090, 1), (1090, 2)]
    assert ask(settings, "SELECT no FROM item_claims ORDER BY no") == [(1,), (2,), (3,)]
    assert ask(settings, "SELECT kind, load_id IS NOT NULL FROM events WHERE no > 0") == [("load", True)] * 3


def ranked(source: str, rank: int | None) -> str:
    """The mapping of one of several shops that are merged, with its rank."""
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text if rank is None else f"rank = {rank}\n{text}"


ORDERS = (("a", "b"), ("b", "a"))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("ranks", "name", "product_type"),
    [
        ({"a": None, "b": None}, "B's name", "B type"),
        ({"a": 1, "b": 2}, "A's name", "B type"),
        ({"a": 1, "b": None}, "A's name", "B type"),
        ({"a": 2, "b": 1}, "B's name", "B type"),
    ],
)
def test_the_rank_decides_between_sources_else_the_survivors_own_and_never_the_order_of_loads(
    settings: Settings,
    tmp_path: Path,
    order: tuple[str, str],
    ranks: dict[str, int | None],
    name: str,
    product_type: str,
) -> None:
    rows = {
        "a": "1,A's name,Vita,Drinks,,,2026-07-09,NORTH,1,\n",
        "b": "1,B's name,,Drinks,B type,2,2026-07-01,SOUTH,2,\n",
    }
    for source in order:
        load_rows(settings, tmp_path, rows[source], text=ranked(source, ranks[source]), name=f"{source}.csv")
    with connect(settings.database_url, application="tests") as connection:
        item_acts.merge(connection, mint("a", "1").iid, mint("b", "1").iid, "tests", None)
    shown = "SELECT i.name, i.product_type, b.slug, i.field_sources FROM items i LEFT JOIN brands b ON b.id = i.brand_id WHERE i.iid = $1"
    [(reported, kind, brand, sources)] = ask(settings, shown, mint("b", "1").iid)
    assert (reported, kind, brand) == (name, product_type, "vita")
    assert (sources["name"], sources["brand"], sources["attributes.weight_kg"]) == (name[0].lower(), "a", "b")


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
    assert ask(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]
    load_rows(settings, tmp_path, "2,Another,,,,,2026-07-01,NORTH,1,\n", text=ranked("a", 1), name="ranked.csv")
    assert ask(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("a's name",)]
    with connect(settings.database_url, application="tests") as connection:
        undo(connection, "4", "tests", None)
    assert ask(settings, "SELECT name FROM items WHERE iid = $1", survivor) == [("b's name",)]


FACTORS = (
    'source = "{source}"\ntitle = "L"\nlicense = "CC0-1.0"\n[factors]\nmethod = "mean"\n[factors.code]\ncolumn = "group"\n'
    '[factors.indicators]\nco2e_kg = "gwp"\n'
)


def factors(settings: Settings, folder: Path, source: str, rows: str) -> None:
    path = folder / f"{source}-{abs(hash(rows))}.csv"
    path.write_text("group,gwp\n" + rows)
    load(settings, mapping(folder, FACTORS.format(source=source)), [path])


@pytest.mark.parametrize(
    ("undone", "kept"),
    [
        ("2", [("desserts", 9, "lab_b"), ("drinks", 3, "lab_a")]),
        ("3", [("drinks", 3, "lab_a")]),
        ("4", [("desserts", 9, "lab_b"), ("drinks", 2, "lab_b")]),
    ],
)
def test_undoing_a_load_of_factors_restores_the_former_factors(
    settings: Settings, tmp_path: Path, undone: str, kept: list[tuple[str, int, str]]
) -> None:
    load_rows(settings, tmp_path, FIRST)
    factors(settings, tmp_path, "lab_a", "drinks,1\n")
    factors(settings, tmp_path, "lab_b", "drinks,2\ndesserts,9\n")
    factors(settings, tmp_path, "lab_a", "drinks,3\n")
    version = "SELECT version FROM items"
    assert ask(settings, version) == [(4,)]
    with connect(settings.database_url, application="tests") as connection:
        undo(connection, undone, "tests", None)
    held = "SELECT f.code, f.per_kg::int, s.name FROM impact_factors f JOIN sources s ON s.id = f.source_id ORDER BY 1"
    assert ask(settings, held) == kept
    assert ask(settings, version) == [(3,)]


def test_new_terms_of_a_source_are_a_change_that_answers_show(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, FIRST)
    summary = load_rows(settings, tmp_path, FIRST, text=MAPPING.replace("CC0-1.0", "CC-BY-4.0"))
    assert (summary.state, summary.data_version) == ("committed", 2)
    with connect(settings.database_url, application="tests") as connection:
        undo(connection, "2", "tests", None)
    assert ask(settings, "SELECT license FROM sources") == [("CC0-1.0",)]
