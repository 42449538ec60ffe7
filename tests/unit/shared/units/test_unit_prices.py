"""A price for a unit of the content is exact and rounded once; contents of real names are those that DuckDB reads."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from deploy.ctl.demo import DATA
from edge.analytics.price_history import unit_prices
from shared.units.names import Content, contents
from tests.support.engine import single_threaded

# Names that end with their one amount, as `500ml`, or with a pack of it, as `330ml x 6 cans`, and have no other number.
_PLAIN_NAMES = r"""
WITH names AS (SELECT DISTINCT trim("Product Name") AS name FROM read_csv(?, header = true, all_varchar = true)),
matched AS (
    SELECT name, regexp_extract(
        lower(name), '^[^0-9]* ([0-9]+(?:\.[0-9]+)?) ?(kg|g|ml|l)s?(?: ?x ?([0-9]+) ?(?:pcs|packs|cans|bottles|s)?)?$',
        ['amount', 'unit', 'packs']) AS part
    FROM names)
SELECT name, if(part.unit IN ('kg', 'g'), 'kg', 'l'), part.amount, if(part.unit IN ('g', 'ml'), 1000, 1),
       if(part.packs = '', 1, try_cast(part.packs AS integer))
FROM matched WHERE part.unit <> ''
"""


@given(
    minor=st.integers(0, 10**12),
    numerator=st.integers(1, 4000),
    denominator=st.sampled_from([1, 2, 3, 8, 16, 1000]),
)
def test_a_unit_price_is_the_rounded_fraction(minor: int, numerator: int, denominator: int) -> None:
    amount, content = f"{minor // 1000}.{minor % 1000:03}", Fraction(numerator, denominator)
    row = {"days": 7, "currency": "BHD", "kind": "sale", "low": amount, "median": None, "high": amount}
    [found] = unit_prices([row], [Content("kg", content, "name")])
    assert Fraction(found["low"]) == Fraction(round(Fraction(amount) / content * 10**6), 10**6)
    assert (found["median"], len(found["low"].partition(".")[2])) == (None, 6)


def test_contents_of_real_names_are_those_that_another_reader_finds() -> None:
    with single_threaded() as db:
        found = db.execute(_PLAIN_NAMES, [str(DATA / "hk_pricewatch.csv.gz")]).fetchall()
    assert len(found) > 1_500
    for name, per, amount, divisor, packs in found:
        assert {one.per: one.amount for one in contents(name, {})}[per] == Fraction(amount) * packs / divisor, name


# By eye: the names with other numbers than one amount, and those without any that say how many there are.
_READ_BY_EYE = {
    "Breakfast drink 250ml 6 pack": [("l", "3/2"), ("piece", "6")],
    "Yoghurt - flavoured 150g pottle (supermarket only) pk of 6": [("kg", "9/10"), ("piece", "6")],
    "Bread rolls hamburger buns 6 pack": [("piece", "6")],
    "Eggs free range 6 pack": [("piece", "6")],
    "Eggs dozen": [("piece", "12")],
    "Fried and other takeaway chicken 5 pieces": [("piece", "5")],
    "Tea bags (supermarket only) box of 100": [("piece", "100")],
    "Tea bags flavoured or herbal box of 25": [("piece", "25")],
    # Of two sizes none is the content; a number of poultry's grades, or one behind a word, is no amount.
    "Chilled fruit juice or smoothies 1 to 1.5 litre": [],
    "Chocolate blocks convenience stores 100g to 250g": [],
    "Dried mixed herbs 10g to 15g": [],
    "Fruit flavoured drink powder multipack of 3 to 5": [],
    "Meat pies chilled 6 or 8 pack - Cheapest Available": [],
    "Chicken cooked whole No. 15 - Cheapest Available": [],
    "Chicken whole frozen No. 15 - Cheapest Available": [],
    "Two minute noodles multipack5": [],
}
_ONE_AMOUNT = r"""
SELECT DISTINCT food, if(part.unit IN ('kg', 'g'), 'kg', 'l'), part.amount, if(part.unit IN ('g', 'ml'), 1000, 1)
FROM (SELECT food, regexp_extract(
        food, '^[^0-9]* ([0-9]+(?:\.[0-9]+)?) ?(kg|g|ml|litre)s?(?: - Cheapest Available| pottle)?$', ['amount', 'unit']) AS part
      FROM read_csv(?, header = true, all_varchar = true))"""


def test_the_size_of_every_food_of_new_zealand_is_read_as_its_name_states_it() -> None:
    with single_threaded() as db:
        found = db.execute(_ONE_AMOUNT, [str(DATA / "stats_nz_food_prices.csv.gz")]).fetchall()
    assert len(found) == 155
    stated = 0
    for name, per, amount, divisor in found:
        expected = _READ_BY_EYE.get(name, [(per, str(Fraction(amount) / divisor))] if amount else [])
        assert [(one.per, str(one.amount)) for one in contents(name, {})] == expected, name
        assert amount or name in _READ_BY_EYE or not any(letter.isdigit() for letter in name), name
        stated += bool(expected)
    assert stated == 127


def test_a_length_is_a_content_where_it_is_stated_in_metres_feet_or_yards() -> None:
    for name, metres in {
        "Dental Floss - Waxed 50m": "50",
        "CLING WRAP 200FT": "1524/25",
        "Fabric cotton 3 yards": "3429/1250",
        "HDMI cable 2-meter": "2",
    }.items():
        assert [(one.per, str(one.amount)) for one in contents(name, {})] == [("m", metres)], name
    for name in ("Frying pan 28 cm", "TV 55 inch", "Kitchen towel 9INCH", "Foil 30cm x 10m"):
        assert contents(name, {}) == [], name
    assert [one.per for one in contents("Air-Dry Pad 24cm 10pcs", {})] == ["piece"]
