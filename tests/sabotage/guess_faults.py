"""Faults in a guessed mapping: what it chooses silently where two readings are possible, and what it takes for another."""

from tests.sabotage.planted import fault

_GUESS = "tests/unit/ingest/test_guess.py"
_CASES = "tests/unit/ingest/test_guess.py"
_FILES = "tests/unit/ingest/test_guess.py"
_ROLES = "workers/ingest/column_roles.py"
_WRITER = "workers/ingest/guess.py"

GUESS_FAULTS = (
    fault(
        "a description is taken for the name beside it",
        "workers/ingest/column_roles.py",
        '        roles.setdefault("name", described)\n',
        '        roles["name"] = described\n',
        "tests/unit/ingest/test_guess.py::test_a_description_is_the_name_only_where_no_column_is",
    ),
    fault(
        "the currency that one price states is that of all",
        _WRITER,
        "elif not stated or bare > total - bare:",
        "elif not stated:",
        f"{_GUESS}::test_what_some_prices_state_is_not_the_currency_of_all",
    ),
    fault(
        "a price whose currency is another is read without its mark",
        _WRITER,
        'return _toml(spec), [mark for mark, code in table.items() if code == "?"]',
        'return _toml({"constant": "USD"}), []',
        f"{_GUESS}::test_each_price_has_the_currency_that_its_cell_states",
    ),
    fault(
        "a sign of several currencies is taken for one of them",
        "workers/ingest/habits.py",
        "else MARKS.get(mark, frozenset())\n",
        "else frozenset(sorted(MARKS.get(mark, ()))[:1])\n",
        f"{_CASES}::test_a_sign_of_several_currencies_is_a_question",
    ),
    fault(
        "the day stands before the month, whatever the file",
        _WRITER,
        "if doubtful:",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a mark before three digits is always the same",
        _WRITER,
        "if count == best and differing:",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "a mapping loads before a person has chosen",
        "workers/ingest/mapping_tables.py",
        "if _is_undecided(spec):",
        "if False:",
        f"{_CASES}::test_what_can_be_read_in_two_ways_is_refused_until_a_person_has_chosen",
    ),
    fault(
        "of two columns that may be the price the first is taken",
        _WRITER,
        'if rivals and "column" in spec and',
        'if False and "column" in spec and',
        f"{_CASES}::test_two_columns_that_may_each_be_the_price_are_a_question",
    ),
    fault(
        "ids are taken from a column that a spreadsheet has shortened",
        _ROLES,
        'whole = [column for column in roles["gtin"] if not any(map(is_shortened, sampled.values(column)))]',
        'whole = list(roles["gtin"])',
        f"{_CASES}::test_no_id_is_taken_from_a_column_that_a_spreadsheet_has_shortened",
    ),
    fault(
        "a price that cannot be read is left out",
        _ROLES,
        "    _by_name_alone(sampled, roles, taken)\n",
        "",
        f"{_CASES}::test_a_price_or_a_day_that_cannot_be_read_is_not_left_out",
    ),
    fault(
        "a column is what any word of its name means",
        _ROLES,
        "head = _PREPOSITION.split(words, maxsplit=1)[0]",
        "head = words",
        f"{_CASES}::test_a_column_is_not_taken_for_what_another_word_of_its_name_means",
    ),
    fault(
        "a list price in another currency than the price is loaded",
        "workers/ingest/clean.py",
        "pc.if_else(_states_another(given, currency), ",
        "pc.if_else(pa.scalar(False), ",
        f"{_CASES}::test_a_list_price_of_another_currency_than_its_row_is_not_read",
    ),
    fault(
        "the price without a sale is a list price too",
        "workers/ingest/clean.py",
        "if not field.beside:",
        "if True:",
        f"{_CASES}::test_a_sale_price_is_the_price_in_the_currency_of_its_cell",
    ),
    fault(
        "quotation marks always open a cell",
        "workers/ingest/sample.py",
        "quotes = ['\"', \"\"] if '\"' in begun else ['\"']",
        "quotes = ['\"']",
        f"{_CASES}::test_quotation_marks_may_be_plain_characters",
    ),
    fault(
        "a file with a few common columns is of a known shape",
        "workers/ingest/shapes.py",
        'if all(found) and len(further) >= rule.get("at_least", 0):',
        "if all(found):",
        f"{_FILES}::test_a_shape_is_known_by_its_columns_and_not_by_the_name_of_the_file",
    ),
)
