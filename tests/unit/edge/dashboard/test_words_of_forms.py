"""Forms speak of shops and prices, which the API calls channels and observations."""

from edge.dashboard.exports import FORMS as EXPORTS
from edge.dashboard.reports import FORMS as REPORTS


def test_no_form_of_a_report_offers_a_channel_by_that_word() -> None:
    [grouping] = [field for field in REPORTS["cohorts"].form.fields if field.name == "group_by"]
    assert ("brand,channel", "brand and shop") in grouping.choices
    shown = [text for choice in REPORTS.values() for text in (choice.title, choice.sentence)]
    shown += [words for choice in REPORTS.values() for field in choice.form.fields for _, words in field.choices]
    assert [text for text in shown if "channel" in text.lower()] == []


def test_an_export_is_chosen_by_what_it_holds_and_asks_of_what_before_which_columns() -> None:
    assert {name: EXPORTS[name].title for name in ("observations", "impacts", "items")} == {
        "observations": "Prices",
        "impacts": "Footprints",
        "items": "Items",
    }
    names = [field.name for field in EXPORTS["observations"].form.fields]
    assert names.index("brand") < names.index("columns") < names.index("format")
