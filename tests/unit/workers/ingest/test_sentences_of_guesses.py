"""What a guess says of all files of the tests, and of those that it refuses: short, in the words of their form."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from shared.errors import LoadRefused
from tests.unit.workers.ingest.guessing import FILES
from workers.ingest.guess.guess import Guess, guess

SENTENCE_MAX = 300
# What a file has is in quotation marks; a place in it has a line and a column, whatever its form.
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|line [0-9]+, column [0-9]+')
WITHOUT_COLUMNS = (".xml", ".json", ".ndjson", ".jsonl")
# What a person may do next: a command, or an imperative.
NEXT = re.compile(
    r"`itemindex |`xmllint |\b(?:export|save|add|name|write|unpack|correct|leave|put|delete|open) (?:it|the|a|an|one|each|out|all)\b"
)
REFUSED = {
    "blank.csv": "  \n\n",
    "header_alone.csv": "id,name,price\n",
    "no_names.csv": "1,2,3\n4,5,6\n",
    "people.csv": "first_name,last_name,email\nAnn,Example,a@example.com\nBob,Example,b@example.com\n",
    "rates.csv": "Date,USD,JPY,GBP\n2026-10-01,1.1,160,0.8\n2026-10-02,1.1,161,0.8\n",
    "people.json": '[{"first_name": "Ann", "email": "a@example.com"}, {"first_name": "Bob", "email": "b@example.com"}]',
    "people.ndjson": '{"first_name": "Ann", "email": "a@example.com"}\n{"first_name": "Bob", "email": "b@example.com"}\n',
    "people_in_a_list.json": '{"users": [{"first_name": "Ann", "mail": "a"}, {"first_name": "Bob", "mail": "b"}]}',
    "lines.ndjson": "one\ntwo\n",
    "people.xml": "<a><b><first_name>A</first_name><mail>a</mail></b><b><first_name>B</first_name><mail>b</mail></b></a>",
    "text.xml": "<a><b>only a text</b></a>",
    "open.xml": "<a><b><id>1</id><name>Jug</name>",
    "entities.xml": '<!DOCTYPE a [<!ENTITY k "Kiln">]><a><b><id>1</id><name>&k;</name></b></a>',
    "page.csv": "<!DOCTYPE html><html><body>Not found</body></html>",
    "document.pdf": "%PDF-1.7\n",
}


def unquoted(text: str) -> str:
    return QUOTED.sub("", text)


@pytest.fixture(scope="module")
def guesses() -> dict[str, Guess]:
    """Return the guess of each file of the tests that has one."""
    made = {}
    for path in sorted(FILES.glob("[0-9]*")):
        with suppress(LoadRefused):
            made[path.name] = guess(path)
    return made


def test_no_doubt_is_longer_than_can_be_read_at_once(guesses: dict[str, Guess]) -> None:
    doubts = [doubt for made in guesses.values() for doubt in made.doubts]
    assert len({doubt.of for doubt in doubts}) > 12  # the catalogue is not of a few kinds alone
    assert max(len(doubt.sentence) for doubt in doubts) <= SENTENCE_MAX
    readings = [reading for doubt in doubts for reading in doubt.readings]
    assert max(len(reading.statement) for reading in readings) <= 2 * SENTENCE_MAX
    assert max(len(reading.example) for reading in readings) <= SENTENCE_MAX


def test_documents_are_not_told_of_columns(guesses: dict[str, Guess]) -> None:
    documents = {name: made for name, made in guesses.items() if name.endswith(WITHOUT_COLUMNS)}
    assert len(documents) > 20
    for name, made in documents.items():
        said = [unquoted(doubt.sentence) for doubt in made.doubts]
        comments = [unquoted(line) for line in made.text.splitlines() if line.startswith("#")]
        assert not [text for text in (*said, *comments) if re.search(r"\bcolumns?\b(?! =)", text)], name
    tables = [made for name, made in guesses.items() if name.endswith(".csv")]
    assert any("column" in doubt.sentence for made in tables for doubt in made.doubts)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_file_and_what_to_do_next(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(REFUSED[name])
    with pytest.raises(LoadRefused) as refused:
        guess(path)
    said = str(refused.value)
    assert name in said
    assert NEXT.search(said), said
    if name.endswith(WITHOUT_COLUMNS):
        assert not re.search(r"\bcolumns?\b", unquoted(said)), said


def test_a_refusal_of_rows_that_are_no_items_says_what_was_looked_for_and_where(tmp_path: Path) -> None:
    for name in ("people.csv", "people.json", "people.xml"):
        (tmp_path / name).write_text(REFUSED[name])
        with pytest.raises(LoadRefused, match=r"2 rows are looked at, .* \"first_name\", .* item's id or name"):
            guess(tmp_path / name)
