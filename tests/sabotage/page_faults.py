"""Faults in what people read: pictures that hide or mislead, tables without data in sight, pages that lead nowhere."""

from tests.sabotage.planted import fault

_PLOTS = "tests/browser/test_reports.py"
_RESULTS = "tests/service/dashboard/test_results.py"

PAGE_FAULTS = (
    fault(
        "the first reading of a doubt is taken, whichever was chosen",
        "edge/dashboard/doubts.py",
        "            if reading.line == decision:\n                return doubt, reading\n",
        "            if doubt.readings:\n                return doubt, doubt.readings[0]\n",
        "tests/service/dashboard/test_uploads.py::test_doubts_are_decided_by_a_click",
    ),
    fault(
        "a decision that the mapping lacks is ignored",
        "edge/dashboard/uploads.py",
        "        except LookupError:\n",
        "        except ZeroDivisionError:\n",
        "tests/service/dashboard/test_uploads.py::test_doubts_are_decided_by_a_click",
    ),
    fault(
        "the example of a reading is another than what it loads",
        "workers/ingest/guess.py",
        """f'"{text}" is {_day_shown(read[form])}'""",
        """f'"{text}" is {_day_shown(read[forms[0]])}'""",
        "tests/unit/ingest/test_guess.py::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a line lies below another one of equal values",
        "edge/docs/static/plots.js",
        "lines[n][at] = back(middle + ((members.length - 1) / 2 - place) * lane);",
        "lines[n][at] = back(middle);",
        f"{_PLOTS}::test_lines_of_equal_values_are_all_seen",
    ),
    fault(
        "a scale that does not begin at zero is silent",
        "edge/docs/static/plots.js",
        'if (plot.kind !== "bars" && plot.scale !== "log" && min > 0)',
        "if (false)",
        f"{_PLOTS}::test_a_scale_begins_at_zero_or_says_that_it_does_not",
    ),
    fault(
        "an unfinished period is drawn like a whole one",
        "edge/dashboard/charts.py",
        "if reading.periods.is_partial(period)]",
        "if not period]",
        "tests/unit/test_pictures.py::test_a_title_states_the_days_with_data_and_unfinished_periods_are_marked",
    ),
    fault(
        "a title states a day without data",
        "edge/dashboard/periods.py",
        "        if self.granularity is None:\n            return self.span\n",
        "        if self.granularity is None:\n            return period\n",
        "tests/unit/test_dashboard.py::test_a_period_is_never_named_by_a_day_before_its_data",
    ),
    fault(
        "the headline of a footprint is the sum that no picture shows",
        "edge/dashboard/charts.py",
        'return f"{name}_central" if rows',
        "return name if rows",
        "tests/unit/test_pictures.py::test_groups_are_compared_by_bars_with_whiskers_on_one_scale",
    ),
    fault(
        "a row shows every member of its lists",
        "edge/dashboard/tables.py",
        "value[:_LISTED_MAX]",
        "value",
        "tests/unit/test_dashboard.py::test_eight_columns_are_shown_with_units_and_names_and_three_members_of_a_list",
    ),
    fault(
        "cells of a tall row are centred, out of sight",
        "edge/docs/static/dashboard.css",
        "padding: .45rem .8rem; vertical-align: top; }",
        "padding: .45rem .8rem; vertical-align: middle; }",
        "tests/browser/test_reports.py::test_a_report_of_all_brands_shows_its_data_at_first_look",
    ),
    fault(
        "the menu of a phone is open until the script runs",
        "edge/docs/static/dashboard.css",
        "  .sides:not(.shown) { display: none; }",
        "  .js .sides:not(.shown) { display: none; }",
        "tests/browser/test_every_page.py::test_a_phone_does_not_show_the_menu_open_until_the_script_runs",
    ),
    fault(
        "the reference shows regular expressions",
        "edge/docs/code_samples.py",
        'if not (name == "pattern" and isinstance(one, str))',
        "if name",
        "tests/service/http/test_docs.py"
        "::test_customers_read_no_path_of_the_repository_no_decision_and_no_regular_expression",
    ),
    fault(
        "a button of the reference has no name",
        "edge/docs/static/reference.js",
        'button.setAttribute("aria-label", "Copy")',
        'button.setAttribute("title", "")',
        "tests/browser/test_docs.py::test_the_reference_is_accessible_and_its_bar_is_reachable_on_a_phone",
    ),
    fault(
        "a page in an outage has no way on",
        "edge/dashboard/session_guard.py",
        "signed_in=signed_in or visitor is not None,",
        "signed_in=visitor is not None,",
        f"{_RESULTS}::test_a_page_in_an_outage_keeps_the_navigation_says_what_is_down_and_reloads_itself",
    ),
    fault(
        "a filter of requests by status is ignored",
        "edge/dashboard/usage.py",
        'given["status"] in ("", status, f"{status[0]}xx")',
        "bool(status)",
        f"{_RESULTS}::test_requests_are_filtered_and_show_what_was_asked_and_which_problem_it_had",
    ),
)
