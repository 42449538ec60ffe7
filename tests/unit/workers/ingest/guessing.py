"""A guessed mapping and what a load would read by it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.ingest.guess.guess import Guess, guess
from workers.ingest.load.preview import Preview, Previewer
from workers.ingest.mapping import Mapping, read
from workers.ingest.transform import Transformer

FILES = Path(__file__).parents[3] / "data/files"


@dataclass
class Tried:
    """A guess, the mapping that it makes once what no file says is written, and the rows that would load."""

    guess: Guess
    mapping: Mapping
    found: Preview

    @property
    def prices(self) -> list[tuple[Any, ...]]:
        """Return the name, the price, the list price and the currency of each observation."""
        names = ("item", "price", "list_price", "currency")
        return [tuple(row[name] for name in names) for row in self.found.observations]

    def doubts(self, of: str) -> str:
        """Return what is said of a field."""
        return " ".join(doubt.sentence for doubt in self.guess.doubts if doubt.of == of)


def tried(
    path: Path, folder: Path, *, currency: str = "", marks: dict[str, str] | None = None, **options: str
) -> Tried:
    """Guess a mapping, write the currency that no file says, and read the file by it."""
    made = guess(path, **options)
    text = made.text
    if currency:
        text, edited = re.subn(r'^currency = "\?"', f'currency = {{ constant = "{currency}" }}', text, flags=re.M)
        assert edited == 1, text
    for mark, code in (marks or {}).items():
        text = text.replace(f'"{mark}" = "?"', f'"{mark}" = "{code}"')
    written = folder / "guessed.toml"
    written.write_text(text)
    mapping = read(written)
    return Tried(made, mapping, Previewer(mapping, shown=50).of_items([path], Transformer(mapping, {})))
