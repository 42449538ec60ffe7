"""A price for a unit of the content is exact and rounded once; contents of real names are those that DuckDB reads."""

from fractions import Fraction

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from deploy.ctl.demo import DATA
from edge.analytics.unit_prices import unit_prices
from shared.units.names import Content, contents

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
    with duckdb.connect() as db:
        found = db.execute(_PLAIN_NAMES, [str(DATA / "hk_pricewatch.csv.gz")]).fetchall()
    assert len(found) > 1_500
    for name, per, amount, divisor, packs in found:
        assert {one.per: one.amount for one in contents(name, {})}[per] == Fraction(amount) * packs / divisor, name
