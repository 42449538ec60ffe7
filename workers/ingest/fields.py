"""The fields of a mapping for an item, an observation or a factor, as frozen values.

Each key carries its sentence and an example: the tables of the guide are generated from them.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal


def key(sentence: str, example: str, *, needed: bool = False, exact_parts: bool = False, **options: Any) -> Any:
    """Declare a key of the mapping language with its sentence and one line of TOML that uses it.

    Of a field: `needed`: an empty value is an error; `exact_parts`: so is an empty part of several columns.
    """
    of_field = {"needed": needed, "exact_parts": exact_parts}
    return dataclasses.field(metadata={"sentence": sentence, "example": example, "of_field": of_field}, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where one value comes from and how its text is cleaned, in the order of these keys."""

    column: str | None = key(
        "The column or member with the value; in NDJSON and Parquet, `a.b.0` is a path. A plain text in place"
        " of the table is short for this key.",
        'name = { column = "title" }',
        default=None,
    )
    columns: tuple[str, ...] = key(
        "Several columns whose texts are joined. In an `id` every part needs a value; elsewhere empty parts "
        "are skipped.",
        'name = { columns = ["maker", "model"] }',
        default=(),
    )
    first_of: tuple[str, ...] = key(
        "Several columns; the first that is not empty provides the value.",
        'price = { first_of = ["sale_price", "price"] }',
        default=(),
    )
    beside: str = key(
        "The value is used only in rows where this other column is not empty.",
        'list_price = { column = "price", beside = "sale_price" }',
        default="",
    )
    constant: str | None = key("The same value in every row.", 'channel = { constant = "MY-SHOP" }', default=None)
    file_name: str | None = key(
        "A regular expression with one group; the value is what the group matches in the file name.",
        'day = { file_name = "prices-([0-9-]{10})" }',
        default=None,
    )
    load_day: bool = key(
        "Use the day (UTC) on which the mapping is read, for files that state no day.",
        "day = { load_day = true }",
        default=False,
    )
    join: str = key(
        'Separator between the texts of `columns`; default: a space, "|" in an `id`.',
        'id = { columns = ["shop", "sku"], join = "/" }',
        default="",
    )
    gaps: bool = key(
        "For an `id` of several `columns`: only the first needs a value.",
        'id = { columns = ["Handle", "Option1 Value", "Option2 Value"], gaps = true }',
        default=False,
    )
    trim: bool = key(
        "Whether to remove white space at both ends; default: true.",
        'name = { column = "title", trim = false }',
        default=True,
    )
    match: str = key(
        "A regular expression (RE2). The value is what its only group, or the one named by `group`, matches; "
        "text that does not match counts as empty.",
        'brand = { column = "title", match = "^([A-Z]+) " }',
        default="",
    )
    group: str = key(
        "The named group of `match` to use, if there are several.",
        'brand = { column = "title", match = "(?P<maker>[A-Z]+) (?P<model>.*)", group = "maker" }',
        default="",
    )
    replace: tuple[tuple[str, str], ...] = key(
        "Parts of the text and their replacements, applied in order.",
        'name = { column = "title", replace = { "-" = " " } }',
        default=(),
    )
    case: Literal["", "lower", "upper"] = key(
        'Converts the text to "lower" or "upper" case.', 'channel = { column = "shop", case = "upper" }', default=""
    )
    null: tuple[str, ...] = key(
        'Texts that mean "no value"; the empty text always does.',
        'brand = { column = "maker", null = ["n/a", "-"] }',
        default=("",),
    )
    crosswalk: tuple[tuple[str, str], ...] | None = key(
        "A table that maps whole texts to values; a text that is not in it counts as empty.",
        'kind = { column = "type", crosswalk = { "offer" = "listing", "sold" = "sale" } }',
        default=None,
    )
    split: str = key(
        "For categories: the separator between two levels in one value.",
        'category = { column = "path", split = " > " }',
        default="",
    )
    pad: int = key(
        "For identifiers: pad a value of digits with leading zeros to this length, because programs that "
        "treat it as a number drop them. A trailing `.0` is removed.",
        'gtin = { column = "barcode", pad = 14 }',
        default=0,
    )
    free_form: bool = key(
        "For prices: parse each amount as people write it, with a currency sign or code, a decimal point or "
        "comma, and grouped digits. An ambiguous amount, such as `1.234 €`, is an error, and so is one in "
        "another currency than its row's.",
        'price = { column = "price", free_form = true }',
        default=False,
    )
    strip: str = key(
        "For numbers: characters to remove, such as currency signs.",
        'price = { column = "price", strip = "€" }',
        default="",
    )
    thousands: str = key(
        "For numbers: the separator between groups of three digits. Other groupings are an error.",
        'price = { column = "price", thousands = "," }',
        default="",
    )
    decimal: str = key(
        "For numbers: the decimal separator; default: a point.",
        'price = { column = "price", decimal = "," }',
        default=".",
    )
    round: Literal["", "half-even"] = key(
        "For prices: round amounts that are finer than their currency allows, ties to even; without it they "
        "are an error.",
        'price = { column = "price", round = "half-even" }',
        default="",
    )
    multiply: str = key(
        "For figures: an exact factor to convert the unit.",
        'value = { column = "water_m3", multiply = 1000 }',
        default="",
    )
    unit: Literal["", "kg", "l"] = key(
        "The weight (`kg`) or volume (`l`) at the end of a text, including multipacks: `3 × 250 ml` is 0.75. "
        "A text without one counts as empty, as do sums, ranges and fractions (`1kg+200g`, `800-1000g`, `1/2 "
        "kg`) and `2,500 g`, whose comma may separate thousands or decimals.",
        'weight_kg = { column = "title", unit = "kg" }',
        default="",
    )
    format: tuple[str, ...] = key(
        "For days: one format or several, tried in order, as in `strptime`. `%-d` and `%-m` accept numbers "
        "without a leading zero. `%Y`, `%Y-%m` or `%G-W%V` alone means the last day of that year, month or ISO week. "
        "A time with a zone gives the day in UTC. `%B` and `%b` are long and short month names in 25 languages. "
        "`excel` is a spreadsheet's serial number, in which day 1 is 1900-01-01.",
        'day = { column = "date", format = ["%Y-%m-%d", "%d.%m.%Y"] }',
        default=("%Y-%m-%d",),
    )
    min: str = key(
        "For days: the earliest allowed, 1000-01-01 or later; default: 1900-01-01.",
        'day = { column = "date", min = "1850-01-01" }',
        default="",
    )
    max: str = key(
        "For days: the latest allowed, 9998-12-31 or earlier; default: tomorrow (UTC).",
        'day = { column = "date", max = "2030-12-31" }',
        default="",
    )
    required: bool = key(
        "Whether an empty value is an error. Always true for the required values: an item's id and name, and "
        "an observation's day, channel and currency.",
        'brand = { column = "maker", required = true }',
        default=False,
    )
    sparse: bool = key(
        "For NDJSON: rows may lack the member. Without it, a member that no row has is an error, because its "
        "name is probably misspelt.",
        'brand = { column = "maker.name", sparse = true }',
        default=False,
    )
    on_error: Literal["", "row", "field"] = key(
        "Whether an error in this field rejects the whole `row` or only the `field`. An error in a required "
        "field of an observation drops the observation but keeps the item. Either way the value is kept as a "
        "reject.",
        'brand = { column = "maker", required = true, on_error = "field" }',
        default="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AltNames:
    """A JSON file beside the data: by the source's id an object, whose members under `keys` make the other name."""

    file: str = key("The file's name, in the folder of the data or of the mapping.", 'file = "names.json"')
    keys: tuple[str, ...] = key(
        "The members whose values form the name, joined by spaces; default: `name`.",
        'keys = ["brand", "name"]',
        default=("name",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """One indicator of an item's own figures, per unit of the item."""

    indicator: str = key("The indicator's code.", 'indicator = "co2e_kg"')
    value: Field = key("The figure, in the indicator's unit.", 'value = { column = "footprint_g", multiply = "0.001" }')
    basis: Literal["measured", "modelled"] = key("`measured` or `modelled`.", 'basis = "modelled"')
    method: str = key("The method behind the figure, in one sentence.", 'method = "cradle to gate, ISO 14067"')
    stage: Field | None = key(
        "The life-cycle stage of the figure; without it the figure is the total. Figures of the same item and"
        " stage in a file are added up. A figure may be negative (a credit).",
        'stage = "Stage"',
        default=None,
        needed=True,
    )
    low: Field | None = key("The lower bound of the 95 % interval; requires `high`.", 'low = "ci_low"', default=None)
    high: Field | None = key("The upper bound of the 95 % interval; requires `low`.", 'high = "ci_high"', default=None)
    deviation: Field | None = key("The standard deviation, in the same unit.", 'deviation = "sd"', default=None)

    @property
    def has_spread(self) -> bool:
        """Whether the source states how wide the figure is."""
        return self.low is not None or self.deviation is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFields:
    """The fields that make an item, or find one of the index."""

    id: Field = key(
        "The source's own id of the item. Together with `source` it determines the IID: never change either.",
        'id = "sku"',
        needed=True,
        exact_parts=True,
    )
    name: Field | None = key(
        "The item's name, at most 1,000 characters. Required unless `join_by` is given.",
        'name = "title"',
        default=None,
        needed=True,
    )
    iid: Field | None = key(
        "Your own IID, if you have one. It is an error if two ids in the file have the same IID.",
        'iid = "iid"',
        default=None,
    )
    join_by: str = key(
        "The file adds observations or impacts to existing items and creates none. Items are found by the "
        'source\'s `"id"`, by `"iid"`, or by an identifier scheme. A row that matches no item, or several, is '
        "an error.",
        'join_by = "gtin"',
        default="",
    )
    join_source: str = key(
        'The source of the ids in `join_by = "id"`; default: this source. With an identifier: the source '
        "whose items are matched; codes that shops assign themselves (02, 04, 2…) require it.",
        'join_source = "my_shop"',
        default="",
    )
    brand: Field | None = key(
        "The brand. Spellings that fold to the same letters are one brand.", 'brand = "maker"', default=None
    )
    category: tuple[Field, ...] = key(
        "One to eight levels, the broadest first.", 'category = ["department", "group"]', default=()
    )
    product_type: Field | None = key("The product type.", 'product_type = "group"', default=None)
    first_seen_on: Field | None = key(
        "The day from which the item is known; default: the day of its first observation, or else the day of the load.",
        'first_seen_on = { column = "listed", format = "%Y" }',
        default=None,
        needed=True,
    )
    alt_names: AltNames | None = key(
        "Other names, from a separate file.",
        'alt_names = { file = "names.json", keys = ["name"] }',
        default=None,
    )
    identifiers: tuple[tuple[str, Field], ...] = key(
        "The field of each scheme. `gtin`, `ean`, `upc`, `isbn`, `mpn` (with the brand), `sku` and `url` can "
        "be used to find the item; others are only shown. An identifier with a wrong check digit is shown and"
        " kept as a reject, but finds nothing.",
        'identifiers = { gtin = "ean" }',
        default=(),
    )
    attributes: tuple[tuple[str, Field], ...] = key(
        "The field of each attribute. Factors per kilogram are multiplied by `weight_kg`.",
        'attributes = { colour = "colour", weight_kg = "kg" }',
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFields:
    """The fields of an observation of a price. `[[observation]]` may be repeated: a row then gives several."""

    day: Field = key("The day (UTC) of the price.", 'day = { column = "date", format = "%d.%m.%Y" }', needed=True)
    channel: Field = key(
        "The shop or marketplace. Spellings that fold to the same letters are one channel.",
        'channel = "shop"',
        needed=True,
    )
    price: Field = key("The price. If it is empty, the row adds no observation but keeps its item.", 'price = "price"')
    currency: Field = key(
        "An ISO 4217 currency code, current or withdrawn; any other is rejected.",
        'currency = { constant = "EUR" }',
        needed=True,
    )
    kind: Field = key(
        '`"listing"` (an asking price) or `"sale"`, or a field with these values.',
        'kind = "sale"',
        default=Field(constant="listing"),
        needed=True,
    )
    identity: Literal["state", "event"] = key(
        "`state`: one observation per item, day, channel, kind and currency; the last row of a day replaces "
        "the others. `event`: each row counts, even if equal to another, as for individual sales.",
        'identity = "event"',
        default="state",
    )
    list_price: Field | None = key(
        "The price before any reduction, in the same currency.", 'list_price = "rrp"', default=None
    )
    units: Field | None = key(
        "The number of units, a positive whole number; default: 1.",
        'units = "quantity"',
        default=None,
        needed=True,
    )
    event_key: tuple[Field, ...] = key(
        "Additional columns that distinguish observations of one day, for either identity. The time of a "
        "scrape, for example, keeps each scrape of a day.",
        'event_key = ["time"]',
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFields:
    """Impact factors: per kilogram, by category code or product type; the rows of one code are averaged."""

    code: Field = key(
        "The code to which a row's figures apply; a crosswalk may give several, separated by spaces.",
        'code = { column = "group", crosswalk = { "Bread" = "bakery.breads" } }',
        needed=True,
    )
    indicators: tuple[tuple[str, Field], ...] = key(
        "The field of each indicator's figure.", 'indicators = { co2e_kg = "gwp" }'
    )
    method: str = key("The method behind the figures, in one sentence.", 'method = "mean of the food group"')
    scope: Literal["category", "product_type"] = key(
        "What the codes are: categories or product types.", 'scope = "product_type"', default="category"
    )
