"""Faults in what a load reads: what it is known again by, line ends and encodings, guessed currencies, items it joins."""

from tests.sabotage.planted import fault

_INPUTS = "tests/service/ingest/test_inputs.py"
_READING = "tests/unit/ingest/test_reading.py"
_GUESS = "tests/unit/ingest/test_guess.py"

READING_FAULTS = (
    fault(
        "a file is known again whatever its name",
        "workers/ingest/inputs.py",
        "return InputFile(path.name, path.stat()",
        'return InputFile("", path.stat()',
        f"{_INPUTS}::test_the_same_bytes_under_the_name_of_another_day_are_of_that_day",
    ),
    fault(
        "a corrected file of other names is not noticed",
        "workers/ingest/inputs.py",
        "others = [] if beside is None else [input_file(beside)]",
        "others = [] if beside is None else [beside.name]",
        f"{_INPUTS}::test_a_corrected_file_of_other_names_is_read",
    ),
    fault(
        "rows that were rejected for what the index lacked are never read again",
        "workers/ingest/load.py",
        "return None if summary.rejects or summary.field_rejects or joins or self._dayless else self._inputs",
        "return self._inputs",
        f"{_INPUTS}::test_prices_that_found_no_item_are_loaded_when_it_is_there",
    ),
    fault(
        "other terms of the same exchange rates are dropped",
        "workers/ingest/rates.py",
        "if changed or row[1]:",
        "if changed:",
        "tests/service/ingest/test_exchange_rates.py::test_the_same_rates_under_other_terms_change_what_answers_cite",
    ),
    fault(
        "a header ends at a line feed alone",
        "workers/ingest/read_csv.py",
        're.compile(rb"\\r\\n|\\n|\\r")',
        're.compile(rb"\\n")',
        f"{_READING}::test_lines_may_end_in_each_way_that_pandas_reads",
    ),
    fault(
        "a file without a row is loaded in silence",
        "workers/ingest/readers.py",
        "        if not rows:\n",
        "        if False:\n",
        f"{_READING}::test_a_file_with_bytes_and_no_row_is_refused",
    ),
    fault(
        "UTF-32 is read as UTF-16",
        "workers/ingest/text_stream.py",
        '    codecs.BOM_UTF32_LE: "utf-32-le",\n',
        "",
        f"{_READING}::test_a_byte_order_mark_of_each_encoding_is_heeded",
    ),
    fault(
        "the currency that one price states is that of all",
        "workers/ingest/guess.py",
        "< _MOSTLY * total:",
        "< 0:",
        f"{_GUESS}::test_what_some_prices_state_is_not_the_currency_of_all",
    ),
    fault(
        "a price whose currency is another is read without its mark",
        "workers/ingest/guess.py",
        "return _of_each_price(name, known, sorted(stated.keys() - known)), list(known)",
        "return f'{{ constant = \"{max(known.values())}\" }}', list(known)",
        f"{_GUESS}::test_each_price_has_the_currency_that_its_cell_states",
    ),
    fault(
        "an item whose source calls its GTIN an EAN is not joined",
        "workers/ingest/known_items.py",
        "values = (SCHEMES[scheme], ",
        "values = (scheme, ",
        "tests/service/ingest/test_language.py::test_an_identifier_joins_whatever_its_source_calls_it",
    ),
    fault(
        "the code of one shop joins the item of another",
        "workers/ingest/known_items.py",
        "elif not source and identifier",
        "elif False and identifier",
        "tests/service/ingest/test_language.py::test_a_code_that_a_shop_gave_out_joins_within_its_source_alone",
    ),
)
