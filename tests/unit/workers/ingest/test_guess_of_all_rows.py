"""What rows behind the first thousand decide: the currencies of prices, and the words that stand for no value."""

from pathlib import Path

import pyarrow as pa
import pytest

from tests.unit.workers.ingest.test_guess import put
from workers.ingest.batches import Batch
from workers.ingest.fields import Field
from workers.ingest.guess.guess import Guess, guess
from workers.ingest.read_amounts import amounts

_ROWS = 1_010


def _guessed(folder: Path, head: str, first: str, last: str) -> Guess:
    """Guess of a file whose rows are alike but for the last one; `n` in a row is its number."""
    rows = "".join(f"{first.replace('n', str(n), 1)}\n" for n in range(_ROWS))
    return guess(put(folder, f"{head}\n{rows}{last.replace('n', 'last', 1)}\n"))


def test_a_currency_that_only_a_later_price_states_is_read(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,price", "n,Oat,US$1.50", "n,Soy,€2.00")
    assert 'crosswalk = { "US$" = "USD", "€" = "EUR" }' in found.mapping
    assert '"€" = ""' in next(line for line in found.mapping.splitlines() if line.startswith("price = "))


def test_a_sign_of_several_currencies_further_down_is_a_question(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,price", "n,Oat,EUR 1.50", "n,Soy,$2.00")
    [doubt] = [doubt for doubt in found.doubts if doubt.of == "currency"]
    assert doubt.is_open
    assert '"$", as in "$2.00"' in doubt.sentence


def test_a_later_price_may_state_what_the_name_of_its_column_says(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,Price (EUR)", "n,Oat,1.50", "n,Soy,€2.00")
    assert 'currency = { constant = "EUR" }' in found.mapping
    assert 'replace = { "€" = "" }' in found.mapping


def test_a_later_price_that_states_another_currency_than_the_column_is_a_question(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,Price (EUR)", "n,Oat,1.50", "n,Soy,US$2.00")
    [doubt] = [doubt for doubt in found.doubts if doubt.of == "currency"]
    assert doubt.is_open
    assert 'further down there is "US$2.00"' in doubt.sentence


def test_a_later_sign_in_a_column_of_currencies_is_read(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,price,currency", "n,Oat,1.50,USD", "n,Soy,2.00,€")
    assert 'crosswalk = { USD = "USD", "€" = "EUR" }' in found.mapping


@pytest.mark.parametrize("nothing", ["n/a", "N.A.", "Не указана", "未定", "미정", "Senza marca"])
def test_a_later_word_for_nothing_is_none(tmp_path: Path, nothing: str) -> None:
    found = _guessed(tmp_path, "sku,title,brand,price", "n,Oat,North,1.50", f"n,Soy,{nothing},2.00")
    assert f'brand = {{ column = "brand", null = ["{nothing}"] }}' in found.mapping


def test_a_later_price_that_depends_is_none(tmp_path: Path) -> None:
    found = _guessed(tmp_path, "sku,title,price", "n,Oat,1.50", "n,Soy,auf Anfrage")
    assert 'price = { column = "price", null = ["auf Anfrage"] }' in found.mapping


def test_francs_of_two_central_banks_are_a_question(tmp_path: Path) -> None:
    path = put(tmp_path, "sku,title,price\n1,Riz,1 500 FCFA\n2,Mil,900 FCFA\n")
    [doubt] = [doubt for doubt in guess(path).doubts if doubt.of == "currency"]
    assert [one.statement for one in doubt.readings] == ['FCFA = "XAF"', 'FCFA = "XOF"']
    text = guess(path).text.replace('FCFA = "?"', 'FCFA = "XOF"')
    assert 'crosswalk = { FCFA = "XOF" }' in text
    mixed = put(tmp_path, 'sku,title,price,currency\n1,Riz,1.50 €,EUR\n2,Mil,"1,500 FCFA",EUR\n3,Sel,"3,50 EUR",EUR\n')
    [doubt] = [doubt for doubt in guess(mixed).doubts if doubt.of == "currency"]
    assert doubt.is_open
    assert doubt.readings[0].example == "line 3 is in EUR"


@pytest.mark.parametrize("mark", ["FCFA", "F CFA", "CFA"])
def test_an_amount_in_francs_is_none_in_euros(mark: str) -> None:
    cells = Batch({"": pa.array([f"1 500 {mark}"])}, [])
    found = [
        amounts(Field(column="", free_form=True), cells, Path(), currency).values.to_pylist()
        for currency in ("XOF", "XAF", "EUR")
    ]
    assert found == [[1500], [1500], [None]]
