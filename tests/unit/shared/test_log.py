"""Lines of libraries become lines of ours, whatever the libraries give."""

import io
import json
import logging

import pytest

from shared.telemetry.log import LibraryLines, Log


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [("%d items", (3,), "3 items"), ("%d items", ("no number",), "%d items"), ("%s", ("a", "b"), "%s")],
)
def test_a_line_whose_values_do_not_fit_keeps_its_text_and_fails_nothing(
    template: str, values: tuple[object, ...], text: str
) -> None:
    written = io.StringIO()
    record = logging.LogRecord("aiohttp.server", logging.WARNING, __file__, 1, template, values, None)
    LibraryLines(Log("tests", stream=written)).emit(record)
    line = json.loads(written.getvalue())
    assert (line["event"], line["logger"], line["level"], line["text"]) == (
        "library",
        "aiohttp.server",
        "warning",
        text,
    )
