"""Which column is which field: decided for all fields at once, with the evidence and the columns that are near."""

import itertools
import random
from pathlib import Path

from tests.unit.workers.ingest.test_guess import put
from workers.ingest.guess.assignment import assigned
from workers.ingest.guess.field_guess import ColumnCandidate, ColumnEvidence, FieldGuess
from workers.ingest.guess.guess import Guess, guess

_SINGLE = ("id", "name", "brand", "channel", "url", "currency")


def _candidates(scores: dict[str, dict[str, float]]) -> dict[str, list[ColumnCandidate]]:
    return {
        role: [ColumnCandidate(column, (ColumnEvidence("name", score, ""),)) for column, score in those.items()]
        for role, those in scores.items()
    }


def _best_sum(scores: dict[str, dict[str, float]], columns: list[str]) -> float:
    """Return the highest sum of scores that any choice gives, by trying all."""
    padded = [*columns, *(f"none {role}" for role in scores)]
    return max(
        sum(scores[role].get(column, 0) for role, column in zip(scores, chosen, strict=True))
        for chosen in itertools.permutations(padded, len(scores))
    )


def test_the_scores_of_all_fields_together_are_the_highest() -> None:
    seeded = random.Random(7)
    for _ in range(60):
        columns = [f"c{n}" for n in range(seeded.randint(1, 4))]
        roles = _SINGLE[: seeded.randint(1, 4)]
        scores = {
            role: {column: float(seeded.randint(1, 400)) for column in columns if seeded.random() < 0.6}
            for role in roles
        }
        found = assigned(_candidates(scores))
        taken = [column for those in found.values() for column in those]
        assert len(taken) == len(set(taken))
        assert sum(scores[role][column] for role, [column] in found.items()) == _best_sum(scores, columns)


def test_a_role_of_several_columns_takes_those_that_fit_it_best() -> None:
    found = assigned(_candidates({"category": {"a": 205, "b": 204, "c": 90}, "brand": {"b": 150, "c": 204}}))
    assert found == {"brand": ["c"], "category": ["a", "b"]}


def test_a_column_that_may_be_two_fields_is_the_one_that_leaves_the_other_a_column(tmp_path: Path) -> None:
    path = put(tmp_path, "sku,Title,Store Brand,Main Brand,price\n1,Oat,North,Oatly,1.50\n2,Soy,South,Alpro,2.50\n")
    found = guess(path)
    assert 'brand = "Main Brand"' in found.mapping
    assert 'channel = "Store Brand"' in found.mapping


def _field(found: Guess, name: str) -> FieldGuess:
    return next(one for one in found.fields if one.field == name)


def test_a_field_has_its_candidates_with_evidence_and_what_a_person_should_look_at(tmp_path: Path) -> None:
    path = put(tmp_path, "sku,Name,Title,price\n1,Oat,Oat drink,1.50\n2,Soy,Soy drink,2.50\n")
    name = _field(guess(path), "name")
    assert (name.chosen, name.runners_up) == (("Title",), ("Name",))
    assert [one.column for one in name.candidates] == ["Title", "Name"]
    assert name.candidates[0].said == "is called so, 2 of 2 cells, 2 distinct"
    assert name.candidates[0].score > name.candidates[1].score > 0
    assert "may each be it" in name.doubts[0].sentence


def _checks(folder: Path, content: str, of: str) -> list[tuple[str, list[str]]]:
    """Return the doubts of a field that name two columns: the sentence, and the statements with their examples."""
    return [
        (doubt.sentence, [f"{one.statement}  # {one.example}" for one in doubt.readings])
        for doubt in guess(put(folder, content)).doubts
        if doubt.of == of and "the first is taken" in doubt.sentence
    ]


def test_another_column_that_may_be_the_field_is_said_with_both_readings(tmp_path: Path) -> None:
    head, rows = "sku,name,price,", ("1,Oat,1.50,", "2,Soy,2.50,")
    for of, columns, cells, statements in (
        (
            "day",
            "date,order date",
            ("2026-01-02,03.01.2026", "2026-01-03,13.01.2026"),
            [
                'day = "date"  # as in "2026-01-02"; 2 of 2 cells, 2 distinct',
                'day = { column = "order date", format = "%d.%m.%Y" }  # as in "03.01.2026"; 2 of 2 cells, 2 distinct',
            ],
        ),
        (
            "currency",
            "currency,currency code",
            ("EUR,USD", "EUR,USD"),
            [
                'currency = "currency"  # as in "EUR"; 2 of 2 cells, 1 distinct',
                'currency = "currency code"  # as in "USD"; 2 of 2 cells, 1 distinct',
            ],
        ),
        (
            "list_price",
            "list price,msrp",
            ('"2.00","3.00"', '"4.00","5.00"'),
            [
                'list_price = "list price"  # of the first item "2.00"',
                'list_price = "msrp"  # of the first item "3.00"',
            ],
        ),
        (
            "gtin",
            "gtin,upc",
            ("4006381333931,036000291452", "4006381333948,036000291469"),
            [
                'gtin = "gtin"  # as in "4006381333931"; 2 of 2 cells, 2 distinct',
                'gtin = "upc"  # as in "036000291452"; 2 of 2 cells, 2 distinct',
            ],
        ),
        (
            "colour",
            "colour,color",
            ("red,rot", "blue,blau"),
            [
                'colour = "colour"  # as in "red"; 2 of 2 cells, 2 distinct',
                'colour = "color"  # as in "rot"; 2 of 2 cells, 2 distinct',
            ],
        ),
    ):
        content = f"{head}{columns}\n" + "".join(f"{row}{own}\n" for row, own in zip(rows, cells, strict=True))
        [(sentence, said)] = _checks(tmp_path, content, of)
        assert len(sentence) <= 300
        assert sorted(said) == sorted(statements)


def test_another_price_of_a_sale_is_said_with_an_example_of_each(tmp_path: Path) -> None:
    content = "sku,name,price,sale price,promo price\n1,Oat,2.50,2.00,1.90\n2,Soy,3.50,3.00,2.90\n"
    [(sentence, _)] = _checks(tmp_path, content, "price")
    assert '"sale price", as in "2.00"' in sentence
    assert '"promo price", as in "1.90"' in sentence


def test_a_column_that_says_the_same_as_the_one_taken_is_no_question(tmp_path: Path) -> None:
    content = "sku,name,price,date,order date\n1,Oat,1.50,2026-01-02,2026-01-02\n2,Soy,2.50,2026-01-03,2026-01-03\n"
    assert _checks(tmp_path, content, "day") == []


def test_of_two_names_that_say_nearly_the_same_the_filled_column_is_taken(tmp_path: Path) -> None:
    rows = "".join(f"{n},{'' if n % 4 else 'T'},Drink {n},{n}.50\n" for n in range(1, 9))
    name = _field(guess(put(tmp_path, f"sku,title,name,price\n{rows}")), "name")
    assert name.chosen == ("name",)
    assert name.candidates[0].score - name.candidates[1].score < 10
