"""Prices and list prices: which column, and how its amounts are written."""

import re

from shared.mapping_doubts import Reading
from shared.money import minor_digits
from shared.printable import many
from shared.toml_text import as_toml, quoted
from workers.ingest.column_names import has_word, is_exactly_price, plain, word_list
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.guess.amount_fields import AmountField, amount_field
from workers.ingest.guess.amount_readings import read_numbers
from workers.ingest.guess.cell_kinds import HALF, MOSTLY, is_zero, zeros
from workers.ingest.guess.column_roles import price_spec
from workers.ingest.guess.currency_marks import mark_of
from workers.ingest.guess.currency_said import BEHIND
from workers.ingest.guess.day_formats import day_formats
from workers.ingest.guess.two_amounts import FIRST, FIRST_OF_TWO, LAST, TwoAmounts, two_amounts
from workers.ingest.guess.writer import (
    FieldWriter,
    columns_of,
    has_or_have,
    is_or_are,
    reading,
    share_of_cells,
    short_form,
)

# Shops seldom have nothing but whole prices of a hundred and more in these currencies; marketplaces write cents so.
_RARELY_WHOLE = ("EUR", "USD", "GBP")
_HIGH_AND_WHOLE = re.compile(r"[1-9][0-9]{2,}", re.ASCII)
_WHOLE_MIN = 5
# Of most currencies; the dinars of Kuwait, Tunisia and others have three.
_DECIMALS = 2
_UNIT_BEHIND = re.compile(r"[0-9].*?(?:\s*/\s*|\s(?:per|pro|je|por|za|за)\s)([^\s0-9/-].*)$", re.ASCII)
_BEFORE_UNIT = f"^(.*?){BEHIND}$"


class PriceWriter(FieldWriter):
    """Writes the price and the list price."""

    def _price(self, spec: ColumnSpec, marks: list[str], currency: str | None) -> ColumnSpec | Open:
        hundredths = next((column for column in columns_of(spec) if has_word(column, "hundredths")), None)
        if hundredths:
            return self._ask(
                "price",
                f"{quoted(hundredths)} seems to count the hundredths of its currency: write the prices into the file "
                "with decimals, or name the column if it has whole amounts",
            )
        rivals = self._runners_up("price")
        states_tax = any(has_word(column, "tax") for column in rivals)
        plainest = "column" in spec and is_exactly_price(spec["column"]) and not states_tax
        if rivals and "column" in spec and plainest:
            self._rival("price", spec)
        if rivals and "column" in spec and not plainest:
            listed = [spec["column"], *rivals]
            if any(self.sampled.values(column) != self.sampled.values(spec["column"]) for column in rivals):
                retail = _retail_among(listed)
                choices = tuple(line for column in listed for line in self._prices_of(column, marks, currency))
                both = " and ".join(map(quoted, listed))
                if retail is None:
                    return self._ask("price", f"{both} may each be the price: choose one", choices)
                says = f"of {both} the retail price is taken, {quoted(retail)}: is it the one that you mean?"
                self._doubt("price", says, choices)
                spec = price_spec(self.sampled, retail)
        for column in self.sampled.columns:
            units = [text for text in self.sampled.values(column) if text != "1" and text.isdecimal()]
            if units and plain(column).replace(" ", "").endswith(tuple(word_list("unit_of_price"))):
                sentence = f'{quoted(column)} seems to say for how many units a price is, such as "{units[0]}"'
                self._doubt("price", f"{sentence}: the price is loaded as it is written, and is not divided")
        cells = self._cells(spec)
        if twice := two_amounts(spec, cells):
            return self._ask(
                "price", f"{self._twice(twice, len(cells))}: which is the price?", self._first_and_last(spec, twice)
            )
        if currency in _RARELY_WHOLE and len(cells) >= _WHOLE_MIN and all(map(_HIGH_AND_WHOLE.fullmatch, cells)):
            self._doubt(
                "price",
                f"{quoted(columns_of(spec)[0])} has whole amounts alone, such as {quoted(cells[0])}: if these count "
                "hundredths, write the prices into the file with decimals",
            )
        return self._amount_line("price", spec, marks, currency)

    def _reduced(self, specs: dict[str, ColumnSpec]) -> None:
        """Take the last of two amounts in a cell for the price where it is the lower one; the first is the list's."""
        price = specs["price"]
        cells = self._cells(price)
        twice = two_amounts(price, cells)
        if twice is None or not twice.is_reduction or "list_price" in specs:
            return
        self._doubt(
            "price",
            f"{self._twice(twice, len(cells))}: the last is taken for the price, and the first, which is never lower, "
            "for the list price",
            self._first_and_last(price, twice),
        )
        specs["price"], specs["list_price"] = price | {"match": LAST}, price | {"match": FIRST_OF_TWO}
        if twice.currency and "currency" not in specs:
            specs["currency"] = {"constant": twice.currency}

    def _twice(self, twice: TwoAmounts, cells: int) -> str:
        count = len(twice.cells)
        return f"{share_of_cells(count, cells)} {has_or_have(count)} two amounts, such as {quoted(twice.cells[0][:60])}"

    def _first_and_last(self, spec: ColumnSpec, twice: TwoAmounts) -> tuple[Reading, Reading]:
        first, last = (as_toml(spec | {"match": match, "free_form": True}) for match in (FIRST, LAST))
        return (
            reading(f"price = {last}", f"{twice.last}, the last of each"),
            reading(f"price = {first}", f"{twice.first}, the first of each"),
        )

    def _prices_of(self, column: str, marks: list[str], currency: str | None, name: str = "price") -> list[Reading]:
        """Return the lines by which a column is the price: one for each reading of its amounts."""
        made, _, choices = self._amount(price_spec(self.sampled, column), marks, currency)
        if choices:
            text, readings = choices
            return [
                reading(f"{name} = {as_toml(short_form(field))}", f'"{text}" is {value}') for value, field in readings
            ]
        first = next(iter(self.sampled.values(column)), "nothing")
        return [reading(f"{name} = {as_toml(short_form(made))}", f'of the first item "{first}"')]

    def _end_of_sale(self, price: ColumnSpec) -> None:
        """Say which column may end a sale price, which is taken wherever there is one."""
        if self.shape or not isinstance(price, dict) or len(price.get("first_of", ())) < 2:
            return
        for column in self.sampled.columns:
            if has_word(column, "end") and day_formats(self.sampled.values(column), MOSTLY):
                sale = quoted(price["first_of"][0])
                self._doubt("price", f"{sale} is taken wherever there is one; {quoted(column)} may say that it is over")

    def _tax_of(self, price: ColumnSpec, listed: ColumnSpec) -> None:
        """Say that a price without tax and a recommended price, which is mostly with it, are no reduction."""
        net = next((column for column in columns_of(price) if has_word(column, "without_tax")), None)
        if net is not None and not any(has_word(column, "without_tax") for column in columns_of(listed)):
            recommended = " and ".join(map(quoted, columns_of(listed)))
            self._doubt(
                "list_price",
                f"{quoted(net)} seems to be without tax. If {recommended} is with tax, leave out list_price, or all "
                "items would seem to be reduced",
            )

    def _list_price(self, spec: ColumnSpec, marks: list[str], price: ColumnSpec | Open) -> None:
        others = self._runners_up("list_price")[:1]
        if others and "column" in spec and "beside" not in spec:
            columns = [spec["column"], *others]
            choices = tuple(line for column in columns for line in self._prices_of(column, marks, None, "list_price"))
            both = " and ".join(map(quoted, columns))
            self._doubt("list_price", f"{both} may each be the list price: the first is taken", choices)
        nothing = zeros(self._cells(spec))
        if nothing:  # what programs write for none
            spec = spec | {"null": [*spec.get("null", ()), *nothing]}
        stated = {mark_of(text) for text in self._cells(spec)} - {""}
        if stated and (len(marks) > 1 or not stated <= set(marks)):  # one that states another currency is an error
            self._line("list_price", spec | {"free_form": True, "on_error": "field"})
        else:
            self._amount_line("list_price", spec | {"on_error": "field"}, marks, None, self._habit(price))

    def _habit(self, price: ColumnSpec | Open) -> tuple[str, str] | None:
        """Return how the prices are written, where they show it: the marks of thousands and of decimals."""
        if not isinstance(price, dict) or "free_form" in price:
            return None
        marked = any(re.search("[.,]", text) for text in self._cells(price))
        return (price.get("thousands", ""), price.get("decimal", ".")) if marked else None

    def _amount_line(
        self, name: str, spec: ColumnSpec, marks: list[str], currency: str | None, habit: tuple[str, str] | None = None
    ) -> ColumnSpec | Open:
        made, unread, choices = self._amount(spec, marks, currency)
        cells = self._numbered(spec)
        if choices and habit:
            same = [
                field for _, field in choices[1] if (field.get("thousands", ""), field.get("decimal", ".")) == habit
            ]
            made, choices = (same[0], None) if same else (made, choices)
        if choices:
            text, readings = choices
            lines = (
                reading(f"{name} = {as_toml(short_form(field))}", f'"{text}" is {value}') for value, field in readings
            )
            said = " or ".join(value for value, _ in readings if value)
            return self._ask(name, f'"{text}" may be {said}: choose one', tuple(lines))
        if name == "price" and len(unread) > len(cells) / 2:
            most = f"{quoted(columns_of(spec)[0])} seems to be the price, and {share_of_cells(len(unread), len(cells))}"
            return self._ask(name, f"{most} cannot be read: {self._examples(unread)}")
        negative = [(place, text) for place, text in cells if re.match(r"\W*[-\u2212]\s*\W?[0-9]", text)]
        zero = [(place, text) for place, text in cells if is_zero(text)]
        for some, what, end in (
            (unread, "cannot be read", "rejected"),
            (negative if name == "price" else [], f"{is_or_are(len(negative))} negative", "rejected"),
            (zero, f"{is_or_are(len(zero))} zero", "loaded as such"),
        ):
            if some:
                count = share_of_cells(len(some), len(cells))
                self._doubt(name, f"{count} {what} and {is_or_are(len(some))} {end}: {self._examples(some)}")
        if name == "price":
            self._finer(made, cells, currency)
        amounts = len(cells) - len(unread)
        self._line(name, made, f"{share_of_cells(amounts, len(cells))} {has_or_have(amounts)} an amount")
        return made

    def _finer(self, made: ColumnSpec | Open, cells: list[tuple[int, str]], currency: str | None) -> None:
        """Say which prices have more decimals than their currency, and how to round them."""
        if not isinstance(made, dict) or made.keys() & {"free_form", "round"}:
            return
        digits = minor_digits(currency) if currency else _DECIMALS
        values = read_numbers(made, [text for _, text in cells])
        finer = [
            cell
            for cell, value in zip(cells, values, strict=True)
            if value and len(value.partition(".")[2].rstrip("0")) > digits
        ]
        if finer:
            rounded = as_toml({**made, "round": "half-even"})
            self._doubt(
                "price",
                f"{share_of_cells(len(finer), len(cells))} {has_or_have(len(finer))} more decimals than "
                f"{currency or 'most currencies'} and {is_or_are(len(finer))} rejected: {self._examples(finer)}. To "
                "round them, write",
                (reading(f"price = {rounded}", f"{finer[0][1]} is rounded"),),
            )

    def _amount(self, spec: ColumnSpec, marks: list[str], currency: str | None) -> AmountField:
        return amount_field(spec, self._numbered(spec), marks, currency)

    def _sale_above_price(self, specs: dict[str, ColumnSpec]) -> None:
        """Take the usual price where the sale price is the higher one: it is then no reduction."""
        columns = specs["price"].get("first_of", [])
        sale, usual = (columns[-2:]) if len(columns) > 1 else ("", "")
        amounts = {
            column: read_numbers({"column": column}, [row.get(column, "") for row in self.sampled.rows])
            for column in (sale, usual)
            if column
        }
        pairs = [(a, b) for a, b in zip(*amounts.values(), strict=True) if a and b] if amounts else []
        above = [(a, b) for a, b in pairs if float(a) > float(b)]
        if above and len(above) >= HALF * len(pairs):
            self._doubt(
                "price",
                f"{quoted(sale)} is above {quoted(usual)} in {many(len(above), 'row')}, such as {above[0][0]} above "
                f"{above[0][1]}: it is no reduction, and {quoted(usual)} is taken",
            )
            specs["price"] = price_spec(self.sampled, usual)
            if "beside" in specs.get("list_price", {}):
                del specs["list_price"]

    def _other_sale(self, price: ColumnSpec) -> None:
        """Say that another column may have the price of a sale too."""
        columns = [*price.get("first_of", ())[:1], *self._runners_up("sale_price")[:1]]
        if len(set(columns)) > 1:
            one, other = (f"{quoted(column)}, {self._shown('sale_price', column)}" for column in columns)
            self._doubt("price", f"the price of a sale may be that of {one}, or of {other}: the first is taken")

    def _without_unit(self, price: ColumnSpec) -> ColumnSpec:
        """Return the field of a price without the unit behind it, such as "/Stk."."""
        cells = self._cells(price)
        units = [found[1] for text in cells if (found := _UNIT_BEHIND.search(text))]
        if "match" in price or not units or len(units) < HALF * len(cells):
            return price
        other = sorted({unit for unit in units if plain(unit) not in word_list("pieces")})
        if other:
            self._doubt(
                "price",
                f"a unit stands behind prices, such as {quoted(other[0][:40])}: is the price of one item of the file?",
            )
        return price | {"match": _BEFORE_UNIT}

    def _without_zeros(self, price: ColumnSpec, listed: ColumnSpec | None) -> tuple[ColumnSpec, ColumnSpec | None]:
        """Return both fields so that a sale price of zero is none: shops export it where nothing is reduced."""
        if len(price.get("first_of", ())) < 2:
            return price, listed
        nothing = zeros(self.sampled.values(price["first_of"][0]))
        if not nothing:
            return price, listed
        none: ColumnSpec = {"null": nothing}
        return price | none, listed | none if listed is not None and "beside" in listed else listed


def _retail_among(columns: list[str]) -> str | None:
    """Return the one column of a retail price where all others are of wholesale; None where that is not said."""
    retail = [column for column in columns if has_word(column, "retail")]
    others = [column for column in columns if has_word(column, "wholesale") and column not in retail]
    return retail[0] if len(retail) == 1 and len(others) == len(columns) - 1 else None
