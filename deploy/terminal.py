"""Text for a terminal: templates of ours, filled in with text that is never read as markup.

Names, rows and messages may hold escape sequences or what rich would take for markup. All that the command line prints
comes through here; tests/laws/test_printed_text.py checks that nothing bypasses it.
"""

from string import Formatter
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.style import StyleType
from rich.table import Table
from rich.text import Text

from shared.printable import printable, printable_lines


class Styled(NamedTuple):
    """A cell of a table in a style of ours."""

    text: str
    style: str


class SafeTable(Table):
    """A table whose cells are text, never markup."""

    def add_row(self, *cells: RenderableType | None, style: StyleType | None = None, end_section: bool = False) -> None:
        """Add a row of strings and Text; control characters in strings are escaped."""
        shown = (Text(printable(cell)) if isinstance(cell, str) else cell for cell in cells)
        super().add_row(*shown, style=style, end_section=end_section)


class _SafeFormatter(Formatter):
    """Fills a template of ours with values of others."""

    def format_field(self, value: object, format_spec: str) -> str:
        return safe(format(value, format_spec))


class Terminal(Console):
    """A console that prints templates of ours, `say`, with values that are never read as markup."""

    def say(self, template: str, *, soft_wrap: bool = False, **values: object) -> None:
        """Print a literal template, its `{names}` replaced by the values."""
        self.print(_SafeFormatter().vformat(template, (), values), soft_wrap=soft_wrap)

    def pass_on(self, text: str) -> None:
        """Print lines that another program wrote, as they are but for control characters."""
        self.print(Text(printable_lines(text.rstrip("\n"))), soft_wrap=True)


def safe(value: object) -> str:
    """Return a value as it may stand inside markup: one printable line, brackets escaped."""
    return escape(printable(str(value)))
