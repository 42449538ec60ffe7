"""Sentences and names of the product and of its tests are plain English: the words of its former private dialect do not return."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
# Each with the word to use in its place.
WORDS = {
    "told": "reported, sent, named",
    "whoever": "the caller, a holder, an operator",
    "nobody": "no caller, no part, none",
    "lies": "is, is stored",
    "doorbell": "message",
    "goes on": "continues",
    "in hand": "running",
    "is away": "is unavailable",
    "are away": "are unavailable",
    "was away": "was unavailable",
    "somebody": "a person, a caller, a process",
    "anybody": "any caller, any person",
    "everybody": "every caller, all people",
    "stranger": "another organization, an unknown caller",
    "strangers": "other organizations, unknown callers",
    "stands still": "is blocked",
    "stood still": "was blocked",
    "by hand": "by an operator, with a command",
    "at hand": "available",
    "to and fro": "back and forth",
    "as ever": "as usual",
    "in sight": "shown",
    "janitor": "retention",
    "watchpost": "metrics server",
    "lend_hand": "help_export",
    "STANDS_STILL_SECONDS": "BLOCKED_SECONDS",
}
_DIALECT = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
# A term that stands between backticks is quoted, such as the user `nobody` of Unix.
_QUOTED = re.compile(r"`[^`\n]*`")
_KINDS = {".py", ".sql", ".lua", ".toml", ".md", ".yml", ".yaml", ".conf", ".html"}
# Migrations that have been applied are never edited; this file lists the words.
_EXCLUDED = (PROJECT / "shared/db/migrations", Path(__file__))
_FOLDERS = ("edge", "workers", "shared", "deploy", "tests")
FILES = sorted(
    path
    for folder in _FOLDERS
    for path in (PROJECT / folder).rglob("*")
    if path.suffix in _KINDS and not any(path == fixed or fixed in path.parents for fixed in _EXCLUDED)
) + sorted(PROJECT.glob("*.md"))


def dialect(text: str) -> list[str]:
    """Return each word of the list that a text has, with its line."""
    plain = _QUOTED.sub("``", text)
    return [f"line {plain.count(chr(10), 0, one.start()) + 1}: {one[0]}" for one in _DIALECT.finditer(plain)]


def test_no_sentence_or_name_is_of_the_former_dialect() -> None:
    found = {str(path.relative_to(PROJECT)): dialect(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: words for path, words in found.items() if words} == {}, WORDS


@pytest.mark.parametrize("text", ["what it told us", "The store\nIs away.", "(nobody)"])
def test_the_law_bites(text: str) -> None:
    assert len(dialect(text)) == 1


@pytest.mark.parametrize("text", ["becomes `nobody`", "untold", "it lied", "running away"])
def test_the_law_leaves_quoted_terms_and_other_words(text: str) -> None:
    assert dialect(text) == []
