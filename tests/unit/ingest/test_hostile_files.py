"""Files made to end the process that reads them: each is read or refused with a sentence, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared.errors import LoadRefused
from workers.ingest.read_json import DIGITS_MAX, json_rows

MAPPING = """source = "shop"
title = "A shop"
license = "unknown"
RECORDS
[item]
id = "sku"
name = "name"
[observation]
day = { load_day = true }
channel = { constant = "N" }
currency = { constant = "EUR" }
price = "price"
"""
# Reads a file as a guess and as a preview do, and prints what came of each.
PROGRAM = """
import sys
from pathlib import Path
from shared.errors import ItemIndexError
from workers.ingest.guess import guess
from workers.ingest.mapping import parse
from workers.ingest.preview import Previewer
from workers.ingest.transform import Transformer
path, mapping = Path(sys.argv[1]), parse(sys.argv[2])
for read in (
    lambda: guess(path),
    lambda: Previewer(mapping, shown=10).of_items([path], Transformer(mapping, {})),
):
    try:
        read()
    except ItemIndexError as error:
        print(" ".join(str(error).split()))
    else:
        print("read")
"""


def outcomes(path: Path, records: str = "") -> list[str]:
    """Return what a guess and a preview of a file end with; fails where the process dies or raises another error."""
    mapping = MAPPING.replace("RECORDS", f'records = "{records}"' if records else "")
    done = subprocess.run([sys.executable, "-c", PROGRAM, path, mapping], capture_output=True, text=True)
    assert done.returncode == 0, (path.name, done.returncode, done.stderr[-2_000:])
    return done.stdout.splitlines()


def rows(price: str) -> str:
    return f'[{{"sku": "1", "name": "Tea", "price": {price}}}]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (rows("9" * 4_301), f"has a number of more than {DIGITS_MAX} digits"),
        (rows("-" + "9" * 50_000), f"has a number of more than {DIGITS_MAX} digits"),
        (rows("1") + "9" * 5_000, f"has a number of more than {DIGITS_MAX} digits"),
        (rows("1e9999999999999999999"), "a number is too large or too small"),
        (rows("1e-9999999999999999999"), "a number is too large or too small"),
    ],
)
def test_a_number_that_no_number_is_does_not_end_the_process(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    guessed, read = outcomes(path)
    assert reason in guessed and reason in read


class Pieces:
    """A stream that gives its bytes in pieces of one size."""

    def __init__(self, text: str, size: int) -> None:
        self._rest, self._size = text.encode(), size

    def read(self, size: int) -> bytes:
        size = min(size, self._size)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def listed(text: str, size: int) -> list[dict[str, object]]:
    return [row for _, row in json_rows("a.json", Pieces(text, size), "", in_list=True)]


@pytest.mark.parametrize("size", [1, 7, 400, DIGITS_MAX, 1 << 16])
def test_digits_are_counted_outside_of_texts_wherever_pieces_end(size: int) -> None:
    long = "1" * (DIGITS_MAX + 1)
    text = rows(f'"{long}", "x": "\\"{long}", "{long}": {long[1:]}, "y": 0.5')
    assert listed(text, size)[0]["x"] == f'"{long}' and listed(text, size)[0][long] == int(long[1:])
    for number in (long, f"-{long}", f"0.{long}", f"1e{long}", f'"{long}\\\\", "x": {long}'):
        with pytest.raises(LoadRefused, match="a number of more than 500 digits"):
            listed(rows(number), size)
