"""Faults in what a load reads: what it is known again by, line ends and encodings, items it joins."""

from tests.sabotage.planted import fault

_INPUTS = "tests/service/ingest/test_load.py"
_READING = "tests/unit/ingest/test_reading.py"

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
        "an item whose source calls its GTIN an EAN is not joined",
        "workers/ingest/known_items.py",
        "values = (SCHEMES[scheme], ",
        "values = (scheme, ",
        "tests/service/ingest/test_values.py::test_an_identifier_joins_whatever_its_source_calls_it",
    ),
    fault(
        "the code of one shop joins the item of another",
        "workers/ingest/known_items.py",
        "elif not source and identifier",
        "elif False and identifier",
        "tests/service/ingest/test_values.py::test_a_code_that_a_shop_gave_out_joins_within_its_source_alone",
    ),
)
