"""Model numbers of records: which are alike."""

from workers.articles.matching import features
from workers.articles.matching.profiles import Profile
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.text import digit_runs
from workers.articles.matching.vocabulary import Vocabulary

_WORDS = Vocabulary()


def _features(left: str, right: str) -> dict[str, float]:
    """Compare two mice with these part numbers."""
    made = tuple(Profile(MatchRecord(name, name, "Razer mouse pink", mpn=name), _WORDS) for name in (left, right))
    return {**features.codes(*made), **features.fields(*made)}


def test_part_numbers_of_one_article_are_alike_though_neither_contains_the_other() -> None:
    same, other = _features("rp01-050106r1m1", "rp01-00050106-r1m1"), _features("rp01-050106r1m1", "zx9-7714")
    assert same["mpn_left_found"] == same["mpn_right_found"] == 0
    assert same["code_likeness"] > 0.75
    assert other["code_likeness"] == 0


def test_the_digits_of_part_numbers_are_compared_without_the_letters_around_them() -> None:
    same, inside = _features("pe209780", "edgdm-0209780-pe"), _features("pe209780", "edgdm-1209780-pe")
    assert same["code_digits_shared"] == 6
    assert inside["code_digits_shared"] == 0
    assert (inside["code_digits_left_found"], inside["code_digits_right_found"]) == (6, 0)


def test_records_without_model_numbers_have_none_that_are_alike() -> None:
    assert _features("", "zx9-7714")["code_likeness"] == -1


def test_runs_of_digits_do_not_begin_with_zeros_and_have_two_digits() -> None:
    assert digit_runs(["rp01", "x00050106r1", "a7"]) == {"50106"}


def test_the_generation_of_a_network_is_no_weight_that_contradicts_another() -> None:
    left, right = (Profile(MatchRecord(name, name, name), _WORDS) for name in ("Galaxy A52 5G", "Galaxy A52 189 g"))
    assert features.amounts(left, right)["amounts_against"] == 0


def test_an_amount_is_read_in_whatever_width_its_letters_are_written() -> None:
    left, right = (Profile(MatchRecord(name, name, name), _WORDS) for name in ("Juice ５００ｍｌ", "JUICE 500 ML"))
    assert features.amounts(left, right)["amounts_agree"] == 1
