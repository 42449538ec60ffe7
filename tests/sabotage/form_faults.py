"""Faults in how files of each form are read."""

from tests.sabotage.planted import fault

_FORMS = "tests/unit/ingest/test_reading.py"

FORM_FAULTS = (
    fault(
        "XML is decoded a second time by what it declares",
        "workers/ingest/read_xml.py",
        '    "encoding": "utf-8",\n',
        "",
        f"{_FORMS}::test_xml_is_decoded_once_by_what_it_declares",
    ),
    fault(
        "months have English names alone",
        "workers/ingest/calendar_days.py",
        '_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt")',
        '_LANGUAGES = ("en",)',
        "tests/unit/ingest/test_guess.py::test_months_have_their_names_in_each_language",
    ),
    fault(
        "XML expands entities",
        "workers/ingest/read_xml.py",
        'if b"<!ENTITY" in seen:',
        'if b"<!NOTHING" in seen:',
        f"{_FORMS}::test_documents_that_cannot_be_read_are_refused_with_a_sentence",
    ),
    fault(
        "a path without a row fills the memory",
        "workers/ingest/text_stream.py",
        "if self.read_since_row > self._bytes_max:",
        "if False:",
        f"{_FORMS}::test_a_path_without_a_row_does_not_fill_the_memory",
    ),
    fault(
        "a second element of a name replaces the first",
        "workers/ingest/read_xml.py",
        'path = f"{prefix}{own}.{times}" if times else prefix + own',
        "path = prefix + own",
        f"{_FORMS}::test_parts_of_xml_are_columns_by_their_path",
    ),
    fault(
        "numbers of JSON lose digits",
        "workers/ingest/read_json.py",
        "ijson.items(source, prefix, multiple_values=True)",
        "ijson.items(source, prefix, multiple_values=True, use_float=True)",
        f"{_FORMS}::test_numbers_of_json_keep_every_digit",
    ),
    fault(
        "whole numbers of a sheet have a decimal point",
        "workers/ingest/read_sheet.py",
        "str(int(cell)) if cell.is_integer() and abs(cell) < _WHOLE_MAX else repr(cell)",
        "repr(cell)",
        f"{_FORMS}::test_cells_keep_their_type",
    ),
    fault(
        "the first file of an archive is taken, whichever it is",
        "workers/ingest/forms.py",
        "    if len(fitting) == 1:\n",
        "    if fitting:\n",
        f"{_FORMS}::test_an_archive_gives_its_one_file",
    ),
    fault(
        "an escaped quotation mark ends a cell",
        "workers/ingest/read_csv.py",
        "            quotes = quotes[~_escaped(data, quotes, ord(self._escape))]\n",
        "            pass\n",
        f"{_FORMS}::test_escaped_quotation_marks_are_read_as_duckdb_reads_them",
    ),
    fault(
        "cells are filled down beyond their group",
        "workers/ingest/readers.py",
        "if own or own_group != group:",
        "if own:",
        f"{_FORMS}::test_cells_are_filled_down_within_their_group",
    ),
    fault(
        "an amount that can be read in two ways is read in one",
        "workers/ingest/clean.py",
        "    doubtful = thousand if minor not in (0, 3) else None\n",
        "    doubtful = None\n",
        f"{_FORMS}::test_an_amount_is_read_as_people_write_it_or_not_at_all",
    ),
    fault(
        "a file with the day of its load is known again on another day",
        "workers/ingest/inputs.py",
        "mapping.loaded_on, ",
        "None, ",
        f"{_FORMS}::test_the_day_of_the_load_is_part_of_what_a_load_is_known_by",
    ),
)
