"""The currency of the prices."""

import re
from collections import Counter
from collections.abc import Iterable

from shared.currencies import CODES, MARKS
from shared.mapping_doubts import Doubt, Reading
from shared.printable import many
from shared.toml_text import as_toml, quoted
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.cell_kinds import MOSTLY
from workers.ingest.guess.currency_marks import (
    COMMON,
    commonest,
    mark_of,
    may_be,
    meant_by,
    meant_together,
)
from workers.ingest.guess.currency_said import BEHIND, Said, currency_said
from workers.ingest.guess.writer import FieldWriter, columns_of, is_or_are, reading, short_form


class CurrencyWriter(FieldWriter):
    """Writes the currency."""

    def _currency(self, price: ColumnSpec, given: ColumnSpec | None) -> tuple[list[str | Doubt], list[str], str | None]:
        """Return the lines of the currency, the marks in prices that say the same, and the one currency of all prices.

        A currency that only some prices state is not that of all, and a sign of several is a question.
        """
        if isinstance(given, dict) and "constant" in given:
            return [f"currency = {as_toml(given)}"], [], given["constant"]
        numbered = [(place, text) for place, text in self._numbered(price) if any(map(str.isdigit, text))]
        stated = Counter(mark_of(text) for _, text in numbered)
        for mark in [
            mark for mark, count in stated.items() if not meant_by(mark) and count < (1 - MOSTLY) * len(numbered)
        ]:
            stated[""] += stated.pop(mark)  # a few odd cells, which cannot be read, say nothing of the others
        bare, total = stated.pop("", 0), len(numbered)
        further = self._stated_further_down(price, stated)
        before = len(self.lines)
        marks: list[str] = []
        fixed = None
        if given is not None:
            cells = self._cells(given)
            codes = {*cells, *(text for text in self._further(given) if meant_by(text) or meant_by(text.upper()))}
            given = self._of_column(given, codes)
            fixed = next(iter(codes)) if len(codes) == 1 and codes <= CODES else None
            apart = self._disagreement(price, given, stated)
            if apart is not None:
                line, of_row, mark = apart
                seen = ", ".join(map(quoted, stated))
                of_each, _ = self._of_each_price(price, stated)
                self._ask(
                    "currency",
                    f"the prices state {seen}, and {quoted(columns_of(given)[0])} says otherwise: which is right?",
                    (
                        reading(f"currency = {as_toml(short_form(given))}", f"line {line} is in {of_row}"),
                        reading(f"currency = {of_each}", f"line {line} is in {mark}"),
                    ),
                )
            else:
                self._rival("currency", given)
                self._line("currency", given)
            marks = [*stated, *further]
        elif not stated or bare > total - bare:
            said = None if stated else self._currency_said(price)
            said = None if said and any(said.code not in meant_by(mark) for mark in further) else said
            marks = [*further] if said else []
            if said is not None and said.is_sure:
                fixed = said.code
                self._line("currency", {"constant": fixed}, said.why)
            elif said is not None:
                fixed = said.code
                offered = dict.fromkeys((said.code, *COMMON[:2]))
                self._doubt("currency", said.why, tuple(map(_constant, offered)))
                self._line("currency", {"constant": fixed})
            else:
                seen = ", ".join(map(quoted, stated))
                some = f"{total - bare:,} of {total:,} prices have {seen}, and the others nothing"
                below = ", ".join(map(quoted, list(further.values())[:3]))
                some = some if stated else f"of the first rows no price states one, and further down there is {below}"
                sentence = some if stated or further else "neither a column nor the prices say it"
                examples = tuple(map(_constant, COMMON[:3]))
                self._ask("currency", f"{sentence}: in which currency are the prices (any ISO 4217 code)?", examples)
        else:
            stated.update(dict.fromkeys(further, 1))
            of_each, of_mark = self._of_each_price(price, stated)
            if certain := self._said_elsewhere(price, of_mark):
                of_each, of_mark = self._of_each_price(price, stated, certain)
            for mark in (mark for mark, code in of_mark.items() if code == "?"):
                example = next((text for _, text in numbered if mark_of(text) == mark), further.get(mark, ""))
                sentence = f'"{mark}", as in "{example}", {may_be(meant_by(mark))}: write its code in place of "?"'
                self._doubt("currency", sentence, _codes_of(mark, meant_by(mark)), is_open=True)
            self._pounds(stated)
            if bare:
                without = [(place, text) for place, text in numbered if mark_of(text) not in stated]
                some = f"not stated by {bare:,} of {many(total, 'price')}, which {is_or_are(bare)} rejected"
                self._doubt("currency", f"{some}: {self._examples(without)}")
            self.lines.append(f"currency = {of_each}  # stated by {total - bare:,} of {many(total, 'price')}")
            marks = list(stated)
            codes = set(of_mark.values())
            fixed = codes.pop() if len(codes) == 1 and "?" not in codes and not bare else None
        lines, self.lines = self.lines[before:], self.lines[:before]
        return lines, marks, fixed

    def _stated_further_down(self, price: ColumnSpec, stated: Counter[str]) -> dict[str, str]:
        """Return the marks of currencies that only prices behind the first rows have, each with such a price."""
        texts = {mark_of(text): text for text in self._further(price) if any(map(str.isdigit, text))}
        return {mark: text for mark, text in texts.items() if mark and mark not in stated and meant_by(mark)}

    def _of_column(self, spec: ColumnSpec, codes: set[str]) -> ColumnSpec:
        """Return the field of a column of currencies, whose cells may be signs, or codes in small letters."""
        if codes <= CODES or not isinstance(spec, dict):
            return spec
        if {code.upper() for code in codes} <= CODES:
            return spec | {"case": "upper"}
        meant = {code: meant_by(code) or meant_by(code.upper()) for code in sorted(codes)}
        table = {code: next(iter(found)) if len(found) == 1 else "?" for code, found in meant.items()}
        for code in (code for code, one in table.items() if one == "?"):
            sentence = (
                f'"{code}" {may_be(meant[code])}: write its code in place of "?", or leave it out to reject its rows'
            )
            self._doubt("currency", sentence, _codes_of(code, meant[code]), is_open=True)
        self._pounds(table)
        return spec | {"crosswalk": table}

    def _pounds(self, marks: Iterable[str]) -> None:
        if "£" in marks:
            self._doubt("currency", '"£" is taken for GBP: Egypt, Lebanon and others write it too')

    def _disagreement(self, price: ColumnSpec, given: ColumnSpec, stated: Counter[str]) -> tuple[int, str, str] | None:
        """Return the first line whose price states another currency than its row: the line and both of them."""
        table = given.get("crosswalk", {})
        of_row = {place: table.get(text, text.upper()) for place, text in self._numbered(given)}
        for place, text in self._numbered(price):
            mark, code = mark_of(text), of_row.get(place)
            if mark in stated and code not in MARKS.get(mark, frozenset()):
                return self.sampled.lines[place], code or "no currency", mark
        return None

    def _currency_said(self, price: ColumnSpec) -> Said | None:
        return currency_said(self.sampled, self.path, columns_of(price), [*self._runners_up("price")])

    def _said_elsewhere(self, price: ColumnSpec, of_mark: dict[str, str]) -> dict[str, str]:
        """Return the currency of a mark of several, such as the dollar, which another part of the file names."""
        said = self._currency_said(price) if "?" in of_mark.values() else None
        mark = next(
            (mark for mark, code in of_mark.items() if code == "?" and said and said.code in meant_by(mark)), None
        )
        if said is None or mark is None:
            return {}
        if said.is_sure:
            self._doubt("currency", f'"{mark}" is {said.code}, because {said.why}')
        else:
            self._doubt("currency", f'"{mark}" is taken for {said.code}: {said.why}', _codes_of(mark, meant_by(mark)))
        return {mark: said.code}

    def _of_each_price(
        self, price: ColumnSpec, stated: Counter[str], certain: dict[str, str] | None = None
    ) -> tuple[str, dict[str, str]]:
        """Return a field that reads the currency out of each price, and the currency of each mark: "?" if open.

        `certain`: the currencies of marks that another part of the file names.
        """
        meant = meant_together(stated) | {mark: frozenset((code,)) for mark, code in (certain or {}).items()}
        signs = "".join(
            sorted({character for mark in stated for character in mark if not character.isalpha()} - set(" ."))
        )
        others = f"[^A-Za-z{re.escape(signs)}]*"
        either = "|".join(re.escape(mark) for mark in sorted(stated, key=len, reverse=True))
        table = {mark: next(iter(codes)) if len(codes) == 1 else "?" for mark, codes in meant.items()}
        spec = {name: value for name, value in price.items() if name in ("column", "first_of", "null")}
        behind = BEHIND if "match" in price else ""
        spec["match"] = f"^{others}({either}){others}{behind}$"
        if any(mark != code for mark, code in table.items()):
            spec["crosswalk"] = table
        return as_toml(spec), table


def _constant(code: str) -> Reading:
    return reading(f'currency = {{ constant = "{code}" }}', f"all prices are in {code}")


def _codes_of(mark: str, currencies: Iterable[str]) -> tuple[Reading, ...]:
    """Return the entries of a crosswalk that a mark may have, the commonest first."""
    return tuple(reading(f"{as_toml({mark: code})[2:-2]}", f"{mark} is {code}") for code in commonest(currencies)[:4])
