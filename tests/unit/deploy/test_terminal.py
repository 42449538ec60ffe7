"""What the command line prints of text that others wrote is text."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.ctl import console as ctl
from deploy.terminal import SafeTable, Terminal, safe
from shared.printable import json_line, printable_lines
from shared.telemetry.log import Log
from tests.support.terminal import HOSTILE, acts, rendered


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What reaches a terminal that takes colours."""
    written = io.StringIO()
    terminal = Terminal(file=written, force_terminal=True, color_system=None, highlight=False, width=500)
    monkeypatch.setattr(ctl, "console", terminal)
    return written


@pytest.mark.parametrize("text", HOSTILE)
def test_a_value_in_a_template_is_text(screen: io.StringIO, text: str) -> None:
    ctl.console.say("[bold]name[/]: {name}", name=text)
    assert rendered(text) in screen.getvalue()
    assert acts(screen.getvalue()) == set()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_of_a_table_is_text(screen: io.StringIO, text: str) -> None:
    ctl.show([{text or "x": text, "n": 1_000}], title=text)
    assert screen.getvalue().count(rendered(text)) == 3
    assert acts(screen.getvalue()) == set()
    ctl.show([], title=text)
    assert screen.getvalue().count(rendered(text)) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_lines_of_another_program_are_text(screen: io.StringIO, text: str) -> None:
    ctl.console.pass_on(f"{text}\nend\n")
    assert screen.getvalue() == printable_lines(text) + "\nend\n"
    assert acts(screen.getvalue()) == set()


@given(st.text())
def test_no_text_breaks_a_table_or_a_template(text: str) -> None:
    written = io.StringIO()
    terminal = Terminal(file=written, force_terminal=True, color_system=None, highlight=False, width=10_000)
    table = SafeTable("name")
    table.add_row(text)
    terminal.print(table)
    terminal.say("{a}", a=text)
    terminal.print(safe(text))
    assert acts(written.getvalue()) == set()


@given(st.dictionaries(st.text(), st.text()))
def test_a_line_of_a_log_is_one_line_of_json_that_says_what_was_said(members: dict[str, str]) -> None:
    line = json_line(members)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == members
    assert acts(line.decode()) == set()


def test_a_log_escapes_what_a_terminal_acts_on() -> None:
    for text in HOSTILE:
        written = io.StringIO()
        Log("tests", stream=written).info("started", revision=text)
        assert acts(written.getvalue()) == set(), text
        assert json.loads(written.getvalue())["revision"] == text, text
