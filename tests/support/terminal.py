"""Hostile text for terminals, and what a terminal would act on."""

import unicodedata

from shared.printable import printable

HOSTILE = [
    "\x1b]0;owned\x07",
    "\x1b[31mred",
    "\x9b31mred",
    "[/b]",
    "[/]",
    "[link=http://evil]x[/link]",
    "T-shirt [black]",
    "a\\",
    "\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\",
    "two\nlines",
    "\r2026 [alert] forged",
    "\u202egnp.exe",
    "\u2028",
    "\ud800",
    "{other}",
    "\x7f",
    "[bold]",
    "\\[/x]",
]


def rendered(text: str) -> str:
    return printable(text)


def acts(text: str) -> set[str]:
    """Return the characters on which a terminal acts, but for line breaks of ours."""
    return {
        c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u200e\u200f\u202e\u2066"
    } - {"\n"}
