"""A question in plain words is one of a report: its days exist, its periods can be seen, and it can be asked again."""

from datetime import date
from urllib.parse import parse_qs

import pytest
from multidict import MultiDict

from edge.dashboard.question_presets import (
    ALL,
    OWN,
    PRESETS,
    PRESETS_BY_NAME,
    AskedQuestion,
    QuestionPreset,
    Subject,
    address_of,
    keys_in_address,
    preset_of,
)
from edge.dashboard.reports import FORMS

VITASOY = Subject("brand", "vitasoy", "Vitasoy", 11, date(2026, 7, 15), date(2026, 7, 24))
FOOD = Subject("category", "food", "Food", 155, date(2006, 6, 1), date(2022, 5, 1))


def asked(name: str, *subjects: Subject, when: str = ALL, by: str = "", **days: str) -> AskedQuestion:
    return AskedQuestion(PRESETS_BY_NAME[name], subjects, when, by, **days)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_each_question_fills_in_the_form_of_its_report(preset: QuestionPreset) -> None:
    for comparison in preset.comparisons or (None,):
        subject = VITASOY if "brand" in preset.kinds else FOOD
        question = AskedQuestion(preset, (subject,), ALL, comparison.name if comparison else "")
        given = MultiDict[str]()
        for name, value in question.parameters().items():
            given.extend((name, one) for one in (value if isinstance(value, list) else [value]))
        FORMS[preset.report].form.sent(given).load()


def test_only_days_that_hold_data_are_offered() -> None:
    assert [(span.name, span.days) for span in asked("change", VITASOY).spans] == [
        ("all", "15 to 24 Jul 2026"),
        ("7", "18 to 24 Jul 2026"),
    ]
    assert [span.name for span in asked("change", FOOD).spans] == ["all", "365", "1825"]
    assert asked("change", Subject("brand", "new", "New", 1)).spans == []


def test_the_periods_are_the_shortest_that_can_be_seen() -> None:
    assert asked("change", VITASOY).parameters()["granularity"] == "day"
    assert asked("change", FOOD, when="365").parameters()["granularity"] == "week"
    assert asked("change", FOOD, when="1825").parameters()["granularity"] == "quarter"
    assert asked("change", FOOD).parameters()["granularity"] == "year"


def test_own_days_need_both_ends_in_their_order() -> None:
    assert asked("change", FOOD, when=OWN, first="2010-01-01", last="2009-01-01").span is None
    assert asked("change", FOOD, when=OWN, first="2010-01-01", last="").span is None
    own = asked("change", FOOD, when=OWN, first="2010-01-01", last="2010-12-31")
    assert own.parameters()["from"] == "2010-01-01" and own.parameters()["to"] == "2010-12-31"


def test_a_finished_report_leads_back_to_its_question() -> None:
    for question in (asked("cheaper", VITASOY), asked("cost", VITASOY, FOOD, by="brand"), asked("change", FOOD)):
        parameters = question.parameters()
        stored = {name: [value] if name == "group_by" else value for name, value in parameters.items()}
        assert preset_of(question.preset.report, stored) == question.preset
        address = parse_qs(address_of(question.preset.report, stored) or "")
        assert address["question"] == [question.preset.name]
        assert address["what"] == [one.key for one in question.subjects]
        assert address["from"] == [parameters["from"]]
        if question.by:
            assert address["by"] == [question.by]


def test_a_report_grouped_as_no_question_groups_it_answers_none() -> None:
    assert preset_of("cohorts", {"group_by": ["brand", "channel"]}) is None
    assert preset_of("cohorts", {"group_by": ["channel"]}) == PRESETS_BY_NAME["cost"]


def test_an_example_is_what_shows_the_answer() -> None:
    longest, widest = FOOD, Subject("category", "pantry", "Pantry", 436, date(2026, 7, 15), date(2026, 7, 24))
    examples = {name: preset.example((longest, widest, VITASOY)) for name, preset in PRESETS_BY_NAME.items()}
    assert examples["change"] == examples["cost"] == longest
    assert examples["cheaper"] == examples["genuine"] == examples["footprint"] == widest, "one shop has no rival"
    assert examples["brand"] == VITASOY
    assert PRESETS_BY_NAME["brand"].example((longest, widest)) is None


def test_a_report_of_everything_answers_no_question() -> None:
    assert address_of("category-insights", {"code": None}) is None
    assert address_of("sustainability-rollup", {"brand": [], "category": []}) is None


def test_an_address_names_each_subject_once_and_only_what_the_question_takes() -> None:
    texts = ["brand:vitasoy", "brand:vitasoy", "category:food", "item:x", "brand:", "nonsense", "brand:a\0b"]
    assert keys_in_address(texts, PRESETS_BY_NAME["cost"]) == [("brand", "vitasoy"), ("category", "food")]
    assert keys_in_address(texts, PRESETS_BY_NAME["brand"]) == [("brand", "vitasoy")]


def test_the_address_keeps_the_question_and_changes_one_part() -> None:
    question = asked("cost", VITASOY, FOOD, by="brand")
    assert parse_qs(question.address(when="7")) == {
        "question": ["cost"],
        "what": ["brand:vitasoy", "category:food"],
        "when": ["7"],
        "by": ["brand"],
    }
    assert question.words() == "What does it cost? Vitasoy and Food, 1 Jun 2006 to 24 Jul 2026"
