"""The day of the prices."""

import re

from shared.toml_text import as_toml, quoted
from workers.ingest.calendar_days import bounds, parsed, shown
from workers.ingest.column_names import WHOLE, name_score, plain, role_names, word_list
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.cell_kinds import HALF
from workers.ingest.guess.day_formats import EITHER_ORDER, counted_once, day_formats
from workers.ingest.guess.writer import FieldWriter, columns_of, has_or_have, is_or_are, reading, share_of_cells

_DAY_IN_TITLE = re.compile(
    r"(?<![0-9.])[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}(?![0-9])|(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
)


class DayWriter(FieldWriter):
    """Writes the day."""

    def _day(self, spec: ColumnSpec | None) -> None:
        if spec is None and self._day_above():
            return
        if spec is None:
            dated = re.search(r"(?<!\d)(?:19|20)\d{2}-?[01]\d-?[0-3]\d(?!\d)", self.path.name)
            if dated:
                form = "%Y-%m-%d" if "-" in dated[0] else "%Y%m%d"
                pattern = re.sub(r"\d{2,4}", lambda digits: f"[0-9]{{{len(digits[0])}}}", dated[0])
                by_name = f'{{ file_name = "({pattern})", format = "{form}" }}'
                self._ask(
                    "day",
                    f'no column is a day, and the file\'s name has one ("{dated[0]}"): is it that of the prices?',
                    (
                        reading(f"day = {by_name}", f"the prices are of {dated[0]}"),
                        reading("day = { load_day = true }", "the prices are of the day on which they are loaded"),
                    ),
                )
            elif not self._parts_of_day():
                self._doubt("day", "the file states no day: its prices are of the day on which it is loaded (UTC)")
                self.lines.append("day = { load_day = true }")
            return
        if not columns_of(spec) or "format" in spec:
            self._line("day", spec)
            return
        numbered = self._numbered(spec)
        texts = [text for _, text in numbered]
        fits = day_formats(texts, 0)
        if sum(counted_once(fits)) < HALF * len(texts):
            named = quoted(columns_of(spec)[0])
            self._ask("day", f"{named} seems to be the day, and no format fits: {self._examples(numbered)}")
            return
        for group in EITHER_ORDER:
            fitting = [form for form in group if form in fits]
            others = [form for form in group if form not in fits]
            unread = [text for text in texts if parsed(text, tuple(fits)) is None]
            doubtful = [text for text in texts if len({parsed(text, (form,)) for form in fitting}) > 1]
            doubtful += [text for text in unread if fitting and parsed(text, tuple(others)) is not None]
            if doubtful:
                self._doubt_of_order(spec, doubtful[0], *(fitting if len(fitting) > 1 else group))
                return
            for form in fitting[1:]:
                del fits[form]
        read = [(text, parsed(text, tuple(fits))) for text in texts]
        days = [day for _, day in read if day is not None]
        total, unread_cells = len(texts), [cell for cell, (_, day) in zip(numbered, read, strict=True) if day is None]
        if unread_cells:
            count, examples = len(unread_cells), self._examples(unread_cells)
            self._doubt(
                "day", f"{count:,} of {total:,} {is_or_are(count)} no day and {is_or_are(count)} rejected: {examples}"
            )
        first, last = bounds("", "")
        if all(day is not None and day > last for _, day in read):
            today = reading("day = { load_day = true }", "the prices are of the day on which they are loaded")
            named = quoted(columns_of(spec)[0])
            self._ask("day", f"all days of {named} are in the future, which no day of a price may be", (today,))
            return
        for outside, where in (
            ([text for text, day in read if day is not None and day > last], "in the future"),
            ([text for text, day in read if day is not None and day < first], f"before {shown(first)}"),
        ):
            if outside:
                some = f"{share_of_cells(len(outside), total, 'day')} {is_or_are(len(outside))} {where}"
                self._doubt("day", f'{some} and {is_or_are(len(outside))} rejected, such as "{outside[0]}"')
        if not self.shape and name_score(columns_of(spec)[0], role_names()["day"]) < WHOLE - 50:
            self._doubt("day", f"is {quoted(columns_of(spec)[0])} the day of the price?")
        span = f", {shown(min(days))} to {shown(max(days))}" if days else ""
        self._rival("day", spec, self._day_of)
        self._line(
            "day",
            _with_formats(spec, list(fits)),
            f"{share_of_cells(len(days), total)} {has_or_have(len(days))} a day{span}",
        )

    def _day_of(self, column: str) -> ColumnSpec:
        return _with_formats({"column": column}, list(day_formats(self.sampled.values(column), HALF)))

    def _day_above(self) -> bool:
        """Take the one day that the lines above the header state."""
        found = {
            day: title
            for title in self.sampled.titles
            for text in _DAY_IN_TITLE.findall(title)
            if (day := parsed(text, ("%d.%m.%Y", "%Y-%m-%d"))) is not None
        }
        if len(found) != 1:
            return False
        [(day, title)] = found.items()
        self._doubt(
            "day",
            f"is {shown(day)} for all prices, as {quoted(title[:80])} above them says? A mapping for later files of "
            "the kind needs another day",
            (
                reading(f'day = {{ constant = "{shown(day)}" }}', "the prices are of that day"),
                reading("day = { load_day = true }", "the prices are of the day on which they are loaded"),
            ),
        )
        self._line("day", {"constant": str(shown(day))})
        return True

    def _doubt_of_order(self, spec: ColumnSpec, text: str, *forms: str) -> None:
        read = {form: parsed(text, (form,)) for form in forms}
        said = " or ".join(str(shown(day)) for day in dict.fromkeys(read.values()) if day is not None)
        choices = (
            reading(f"day = {as_toml(spec | {'format': form})}", f'"{text}" is {_day_shown(read[form])}')
            for form in forms
        )
        self._ask("day", f'"{text}" may be {said}: write the order of day and month', tuple(choices))

    def _parts_of_day(self) -> bool:
        """Leave the day open where a column has weeks or months, and another one the year."""
        named = {plain(column): column for column in self.sampled.columns if self.sampled.values(column)}
        year, week, month = (
            next((named[name] for name in word_list(kind) if name in named), None) for kind in ("year", "week", "month")
        )
        part, join, form = (week, "-W", "%G-W%V") if week else (month, "-", "%Y-%-m")
        if part is None:
            return False
        parts = as_toml({"columns": [year or "?", part], "join": join, "format": form})
        self._ask(
            "day",
            f"{quoted(part)} seems to be a part of the day of the prices. A day needs the year too"
            + (": choose one" if year else f", as in day = {parts}: add a column that has it"),
            (
                *([reading(f"day = {parts}", "the last day of each")] if year else []),
                reading("day = { load_day = true }", "the prices are of the day on which they are loaded"),
            ),
        )
        return True


def _with_formats(spec: ColumnSpec, forms: list[str]) -> ColumnSpec:
    return spec if forms == ["%Y-%m-%d"] else spec | {"format": forms[0] if len(forms) == 1 else forms}


def _day_shown(day: int | None) -> str:
    return "no day" if day is None else str(shown(day))
