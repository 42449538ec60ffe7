"""Identifiers of an item."""

import re

from shared.gtin import is_shortened
from shared.toml_text import quoted
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.cell_kinds import bare_digits, fits_gtin
from workers.ingest.guess.writer import FieldWriter, columns_of, share_of_cells


class IdentifierWriter(FieldWriter):
    """Writes the identifiers."""

    def _identifiers(self, specs: dict[str, ColumnSpec]) -> None:
        if specs:
            self._begin("item.identifiers")
        for name, spec in specs.items():
            self._rival(name, spec)
            if name == "gtin" and "match" not in spec and self._cells(spec):
                self._gtin(spec)
            elif name in ("sku", "mpn") and any(map(is_shortened, self._cells(spec))):
                cut = [cell for cell in self._numbered(spec) if is_shortened(cell[1])]
                self._doubt(
                    name,
                    f"a spreadsheet has cut numbers of {quoted(columns_of(spec)[0])} ({self._examples(cut)}): the "
                    "column is left out, because another item may have the same. Export it again as text",
                )
            else:
                self._line(name, spec | {"on_error": "field"} if name == "url" else spec)

    def _gtin(self, spec: ColumnSpec) -> None:
        """Write the field of a GTIN, with the zeros that a program took for none of a number's."""
        numbered = self._numbered(spec)
        texts = [text for _, text in numbered]
        lengths = {len(bare_digits(text)) for text in texts if fits_gtin(text)}
        floats = any(re.fullmatch(r"[0-9]+\.0+", text, re.ASCII) for text in texts)
        keys: ColumnSpec = {"replace": {"'": ""}} if any(text.startswith("'") for text in texts) else {}
        keys |= {"pad": 14} if lengths - {8, 12, 13, 14} or floats else {}
        wrong = [(place, text) for place, text in numbered if not fits_gtin(text) and not is_shortened(text)]
        if wrong:
            self._doubt(
                "gtin", f"the check digit of {len(wrong):,} of {len(texts):,} does not fit: {self._examples(wrong)}"
            )
        fit = sum(map(fits_gtin, texts))
        self._line("gtin", spec | keys, f"the check digits of {share_of_cells(fit, len(texts))} fit")
