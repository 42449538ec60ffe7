"""The currency of the prices."""

import re
from collections import Counter
from collections.abc import Iterable

from shared.money import CODES, MARKS
from shared.printable import many
from workers.ingest.column_names import PART, name_score, role_names
from workers.ingest.column_roles import (
    COMMON,
    MOSTLY,
    commonest,
    currencies_named,
    mark_of,
    may_be,
    meant_by,
    meant_together,
)
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.writer import BEHIND, FieldWriter, columns_of, is_or_are, reading_line, short_form
from workers.ingest.toml_text import as_toml, quoted

_UNIT_OF_AMOUNT = re.compile(BEHIND + "$")


class CurrencyWriter(FieldWriter):
    """Writes the currency."""

    def _currency(self, price: ColumnSpec, given: ColumnSpec | None) -> tuple[list[str], list[str], str | None]:
        """Return the lines of the currency, the marks in prices that say the same, and the one currency of all prices.

        A currency that only some prices state is not that of all, and a sign of several is a question.
        """
        if isinstance(given, dict) and "constant" in given:
            return [f"currency = {as_toml(given)}"], [], given["constant"]
        numbered = [(place, text) for place, text in self._numbered(price) if any(map(str.isdigit, text))]
        stated = Counter(mark_of(text) for _, text in numbered)
        for mark in [
            mark for mark, count in stated.items() if mark not in MARKS and count < (1 - MOSTLY) * len(numbered)
        ]:
            stated[""] += stated.pop(mark)  # a few odd cells, which cannot be read, say nothing of the others
        bare, total = stated.pop("", 0), len(numbered)
        before = len(self.lines)
        marks: list[str] = []
        fixed = None
        if given is not None:
            cells = self._cells(given)
            codes = set(cells)
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
                        reading_line(f"currency = {as_toml(short_form(given))}", f"line {line} is in {of_row}"),
                        reading_line(f"currency = {of_each}", f"line {line} is in {mark}"),
                    ),
                )
            else:
                self._line("currency", given)
            marks = list(stated)
        elif not stated or bare > total - bare:
            named = self._currency_of_name(price)
            if not named and not stated:
                named = self._currency_of_other_amounts(price)
            titled = {code: title for title in self.sampled.titles for code in currencies_named(title)}
            if len(titled) == 1 and not stated and not named:
                [(fixed, title)] = titled.items()
                self._doubt("currency", f"is {fixed} for all prices, as the line {quoted(title[:80])} above them says?")
                self._line("currency", {"constant": fixed})
            elif named and not stated:
                column, fixed = named
                self._line("currency", {"constant": fixed}, f"the column {quoted(column)} says so")
            else:
                seen = ", ".join(map(quoted, stated))
                some = f"{total - bare:,} of {total:,} prices have {seen}, and the others nothing"
                sentence = some if stated else "neither a column nor the prices say it"
                examples = tuple(
                    reading_line(f'currency = {{ constant = "{code}" }}', f"all prices are in {code}")
                    for code in COMMON[:3]
                )
                self._ask("currency", f"{sentence}: in which currency are the prices (any ISO 4217 code)?", examples)
        else:
            of_each, of_mark = self._of_each_price(price, stated)
            for mark in (mark for mark, code in of_mark.items() if code == "?"):
                example = next(text for _, text in numbered if mark_of(text) == mark)
                sentence = f'"{mark}", as in "{example}", {may_be(meant_by(mark))}: write its code in place of "?"'
                self._doubt("currency", sentence, _codes_of(mark, meant_by(mark)))
            self._pounds(stated)
            if bare:
                without = [(place, text) for place, text in numbered if not mark_of(text)]
                some = f"not stated by {bare:,} of {many(total, 'price')}, which {is_or_are(bare)} rejected"
                self._doubt("currency", f"{some}: {self._examples(without)}")
            self.lines.append(f"currency = {of_each}  # stated by {total - bare:,} of {many(total, 'price')}")
            marks = list(stated)
            codes = set(of_mark.values())
            fixed = codes.pop() if len(codes) == 1 and "?" not in codes and not bare else None
        lines, self.lines = self.lines[before:], self.lines[:before]
        return lines, marks, fixed

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
            self._doubt("currency", sentence, _codes_of(code, meant[code]))
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

    def _currency_of_name(self, price: ColumnSpec) -> tuple[str, str] | None:
        """Return the column whose name states the currency, and that: one of a price, or one of eBay's files."""
        columns = [*columns_of(price), *self.fields.get("rivals", {}).get("price", [])]
        columns += [column for column in self.sampled.columns if "Currency=" in column]
        found = {code: column for column in reversed(columns) for code in currencies_named(column)}
        return (*found.values(), *found) if len(found) == 1 else None

    def _currency_of_other_amounts(self, price: ColumnSpec) -> tuple[str, str] | None:
        """Return the column of other amounts, such as of prices per kilogram, that states a currency, and that one."""
        found: dict[str, str] = {}
        for column in self.sampled.columns:
            if column in columns_of(price) or not any(
                name_score(column, role_names()[role]) >= PART for role in ("no_price", "list_price", "sale_price")
            ):
                continue
            amounts = [text for text in self.sampled.values(column) if any(map(str.isdigit, text))]
            marks = {mark_of(_UNIT_OF_AMOUNT.sub("", text)) for text in amounts} - {""}
            meant = [meant_by(mark) for mark in marks]
            if meant and all(len(codes) == 1 for codes in meant):
                found |= {code: column for codes in meant for code in codes}
        if len(found) != 1:
            return None
        [(code, column)] = found.items()
        self._doubt("currency", f"only {quoted(column)} states one, {code}: are all prices in it?")
        return column, code

    def _of_each_price(self, price: ColumnSpec, stated: Counter[str]) -> tuple[str, dict[str, str]]:
        """Return a field that reads the currency out of each price, and the currency of each mark: "?" if open."""
        meant = meant_together(stated)
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


def _codes_of(mark: str, currencies: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a crosswalk that a mark may have, the commonest first."""
    return tuple(
        reading_line(f"{as_toml({mark: code})[2:-2]}", f"{mark} is {code}") for code in commonest(currencies)[:4]
    )
