"""The fields of a mapping for an item, an observation or a factor, as frozen values.

Each key carries its sentence and an example: the tables of the guide are generated from them.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal


def key(sentence: str, example: str, **options: Any) -> Any:
    """Declare a key of the mapping language with its sentence and one line of TOML that uses it."""
    return dataclasses.field(metadata={"sentence": sentence, "example": example}, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where one value comes from and how its text is cleaned, in the order of these keys."""

    column: str | None = key(
        "The column or member that holds the value; in NDJSON and Parquet `a.b.0` is a path. A field that is a plain "
        "text is this key.",
        'name = { column = "title" }',
        default=None,
    )
    columns: tuple[str, ...] = key(
        "Several columns whose texts are joined. In an `id` every part must have a value; elsewhere empty "
        "parts are left out.",
        'name = { columns = ["maker", "model"] }',
        default=(),
    )
    first_of: tuple[str, ...] = key(
        "Several columns, of which the first that is not empty has the value.",
        'price = { first_of = ["sale_price", "price"] }',
        default=(),
    )
    beside: str = key(
        "The value counts only in rows in which this other column is not empty.",
        'list_price = { column = "price", beside = "sale_price" }',
        default="",
    )
    constant: str | None = key("The same value in every row.", 'channel = { constant = "MY-SHOP" }', default=None)
    file_name: str | None = key(
        "A regular expression; the value is what its one group finds in the name of the file.",
        'day = { file_name = "prices-([0-9-]{10})" }',
        default=None,
    )
    load_day: bool = key(
        "The value is the day (UTC) on which the mapping is read: for files that state no day.",
        "day = { load_day = true }",
        default=False,
    )
    join: str = key(
        'Text between the texts of `columns`; a space unless given, "|" in an `id`.',
        'id = { columns = ["shop", "sku"], join = "/" }',
        default="",
    )
    trim: bool = key(
        "Whether white space is taken off both ends; true unless given.",
        'name = { column = "title", trim = false }',
        default=True,
    )
    match: str = key(
        "A regular expression (RE2). The value is what its one group finds, or what `group` names; text that it does "
        "not match counts as empty.",
        'brand = { column = "title", match = "^([A-Z]+) " }',
        default="",
    )
    group: str = key(
        "The named group of `match` that is the value, where it has several.",
        'brand = { column = "title", match = "(?P<maker>[A-Z]+) (?P<model>.*)", group = "maker" }',
        default="",
    )
    replace: tuple[tuple[str, str], ...] = key(
        "Parts of the text and what replaces each, in order.",
        'name = { column = "title", replace = { "-" = " " } }',
        default=(),
    )
    case: Literal["", "lower", "upper"] = key(
        'Turns the text to "lower" or "upper" case.', 'channel = { column = "shop", case = "upper" }', default=""
    )
    null: tuple[str, ...] = key(
        "Texts that mean that there is no value; the empty text always does.",
        'brand = { column = "maker", null = ["n/a", "-"] }',
        default=("",),
    )
    crosswalk: tuple[tuple[str, str], ...] | None = key(
        "A table from whole texts to values; a text that is not in it counts as empty.",
        'kind = { column = "type", crosswalk = { "offer" = "listing", "sold" = "sale" } }',
        default=None,
    )
    split: str = key(
        "Of a category: the text between two levels of one value.",
        'category = { column = "path", split = " > " }',
        default="",
    )
    pad: int = key(
        "Of identifiers: digits alone are filled up with zeros at the left to so many, because programs that take them "
        "for a number lose those zeros; `.0` at the end is left out.",
        'gtin = { column = "barcode", pad = 14 }',
        default=0,
    )
    free_form: bool = key(
        "Of prices: reads amounts as people write them, each cell by itself: with the sign or code of a currency, a "
        "point or a comma before decimals, and groups of digits. One that can be read in two ways, as `1.234 €`, is "
        "an error, and so is one that states another currency than its row has.",
        'price = { column = "price", free_form = true }',
        default=False,
    )
    strip: str = key(
        "Of numbers: characters that are taken out, as signs of currencies.",
        'price = { column = "price", strip = "€" }',
        default="",
    )
    thousands: str = key(
        "Of numbers: the text between groups of three digits. Digits that are grouped otherwise are an error.",
        'price = { column = "price", thousands = "," }',
        default="",
    )
    decimal: str = key(
        "Of numbers: the decimal separator; a point unless given.",
        'price = { column = "price", decimal = "," }',
        default=".",
    )
    round: Literal["", "half-even"] = key(
        "Of prices: amounts finer than their currency are rounded, ties to the even unit; without it they are "
        "an error.",
        'price = { column = "price", round = "half-even" }',
        default="",
    )
    multiply: str = key(
        "Of figures: an exact factor, to change the unit.",
        'value = { column = "water_m3", multiply = 1000 }',
        default="",
    )
    unit: Literal["", "kg", "l"] = key(
        "The weight (`kg`) or volume (`l`) at the end of a text, multipacks included: `3 × 250 ml` is 0.75. A text "
        "that ends with none counts as empty, as do sums, ranges and fractions (`1kg+200g`, `800-1000g`, `1/2 kg`) "
        "and `2,500 g`, whose comma may separate thousands or decimals.",
        'weight_kg = { column = "title", unit = "kg" }',
        default="",
    )
    format: tuple[str, ...] = key(
        "Of days: one format or several, tried in order, as in `strptime`. `%-d` and `%-m` allow numbers without a "
        "leading zero; `%Y` or `%Y-%m` alone means the last day of that year or month; a time with a zone gives "
        "the day in UTC; `%B` and `%b` are a month's name, long or short, in English, German, French, Spanish, "
        "Italian, Dutch, Polish or Portuguese; `excel` is a spreadsheet's serial number, whose day 1 is 1900-01-01.",
        'day = { column = "date", format = ["%Y-%m-%d", "%d.%m.%Y"] }',
        default=("%Y-%m-%d",),
    )
    min: str = key(
        "Of days: the earliest that is allowed; 1900-01-01 unless given.",
        'day = { column = "date", min = "1850-01-01" }',
        default="",
    )
    max: str = key(
        "Of days: the latest that is allowed; tomorrow (UTC) unless given.",
        'day = { column = "date", max = "2030-12-31" }',
        default="",
    )
    required: bool = key(
        "Whether an empty value is an error. Always true for what is needed (an item's id and name, an observation's "
        "day, channel and currency).",
        'brand = { column = "maker", required = true }',
        default=False,
    )
    sparse: bool = key(
        "Of NDJSON: no row of a file need have the member. Without it, a member that no row has is an error: its name "
        "is misspelt.",
        'brand = { column = "maker.name", sparse = true }',
        default=False,
    )
    on_error: Literal["", "row", "field"] = key(
        "An error in this field rejects the whole `row`, or only the `field`. A needed field of an observation "
        "takes the observation with it, and the item stays. Either way the value is kept as a reject.",
        'brand = { column = "maker", required = true, on_error = "field" }',
        default="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AltNames:
    """A JSON file beside the data: by the source's id an object, whose members under `keys` make the other name."""

    file: str = key("The file's name, in the folder of the data or of the mapping.", 'file = "names.json"')
    keys: tuple[str, ...] = key("The members that make the name, joined by spaces.", 'keys = ["brand", "name"]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """One indicator of an item's own figures, per unit of the item."""

    indicator: str = key("A code of the table of indicators.", 'indicator = "co2e_kg"')
    value: Field = key("The figure, in the indicator's unit.", 'value = { column = "footprint_g", multiply = "0.001" }')
    basis: str = key("`measured` or `modelled`.", 'basis = "modelled"')
    method: str = key("The method behind the figure, in one sentence.", 'method = "cradle to gate, ISO 14067"')
    stage: Field | None = key(
        "The stage of the life cycle that the figure is of; without it the figure is the total. Figures of one item "
        "and stage within a file are added up. A stage's figure may be negative (a credit).",
        'stage = "Stage"',
        default=None,
    )
    low: Field | None = key("The lower bound of its middle 95 %; needs `high`.", 'low = "ci_low"', default=None)
    high: Field | None = key("The upper bound of its middle 95 %; needs `low`.", 'high = "ci_high"', default=None)
    deviation: Field | None = key("Its standard deviation, in the same unit.", 'deviation = "sd"', default=None)

    @property
    def has_spread(self) -> bool:
        """Whether the source states how wide the figure is."""
        return self.low is not None or self.deviation is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFields:
    """The fields that make an item, or find one of the index."""

    id: Field = key(
        "The source's own id of the item. With `source` it makes the IID: keep both for ever.", 'id = "sku"'
    )
    name: Field | None = key(
        "Its name, 1,000 characters at most. Needed unless `join_by` is given.", 'name = "title"', default=None
    )
    iid: Field | None = key(
        "An IID of your own, where you have one. A row whose IID another id of the file has is an error.",
        'iid = "iid"',
        default=None,
    )
    join_by: str = key(
        "The file brings observations or impacts for items that the index has, and makes none: they are found by the "
        'source\'s `"id"`, by `"iid"`, or by an identifier scheme. A row with no such item, or several, is an error.',
        'join_by = "gtin"',
        default="",
    )
    join_source: str = key(
        'The source of the ids in `join_by = "id"`; this source unless given. With an identifier, the source whose '
        "items are found; codes that shops give out themselves (02, 04, 2…) find none without it.",
        'join_source = "my_shop"',
        default="",
    )
    brand: Field | None = key(
        "Its brand. Spellings that fold to the same letters are one brand.", 'brand = "maker"', default=None
    )
    category: tuple[Field, ...] = key(
        "One to eight levels, from the widest.", 'category = ["department", "group"]', default=()
    )
    product_type: Field | None = key("The kind of article.", 'product_type = "group"', default=None)
    first_seen_on: Field | None = key(
        "The day from which the item is known. Without it, the day of its first observation, else the day of the load.",
        'first_seen_on = { column = "listed", format = "%Y" }',
        default=None,
    )
    alt_names: AltNames | None = key(
        "Other names, from a file beside the data.",
        'alt_names = { file = "names.json", keys = ["name"] }',
        default=None,
    )
    identifiers: tuple[tuple[str, Field], ...] = key(
        "By scheme the field that holds it. `gtin`, `ean`, `upc`, `isbn`, `mpn` (with the brand), `sku` and `url` find "
        "the item; others are only shown. One with a wrong check digit is shown, kept as a reject, and finds nothing.",
        'identifiers = { gtin = "ean" }',
        default=(),
    )
    attributes: tuple[tuple[str, Field], ...] = key(
        "By name the field that holds it. Factors per kilogram are multiplied by `weight_kg`.",
        'attributes = { colour = "colour", weight_kg = "kg" }',
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationFields:
    """The fields of an observation of a price. `[[observation]]` may be repeated: a row then gives several."""

    day: Field = key("The day (UTC) of the price.", 'day = { column = "date", format = "%d.%m.%Y" }')
    channel: Field = key(
        "The shop or marketplace. Spellings that fold to the same letters are one channel.",
        'channel = "shop"',
    )
    price: Field = key(
        "The price. An empty one is no error: the row gives no observation, and its item stays.", 'price = "price"'
    )
    currency: Field = key(
        "A code of ISO 4217, current or withdrawn; any other is rejected.", 'currency = { constant = "EUR" }'
    )
    kind: Field = key(
        '`"listing"` (an offer seen) or `"sale"`, or a field whose values are these two.',
        'kind = "sale"',
        default=Field(constant="listing"),
    )
    identity: Literal["state", "event"] = key(
        "`state`: item, day, channel, kind and currency make it the same observation; the last row of a day stays. "
        "`event`: each row counts, also an equal one, as single sales do.",
        'identity = "event"',
        default="state",
    )
    list_price: Field | None = key(
        "The price without reduction, in the same currency.", 'list_price = "rrp"', default=None
    )
    units: Field | None = key(
        "The number of units, a positive whole number; 1 unless given.", 'units = "quantity"', default=None
    )
    event_key: tuple[Field, ...] = key(
        "Further columns that distinguish observations of one day, for either identity: with the time of a scrape each "
        "scrape of a day stays.",
        'event_key = ["time"]',
        default=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFields:
    """Impact factors: per kilogram, by category code or product type; the rows of one code are averaged."""

    code: Field = key(
        "The code that a row's figures are of; a crosswalk may give several, separated by spaces.",
        'code = { column = "group", crosswalk = { "Bread" = "bakery.breads" } }',
    )
    indicators: tuple[tuple[str, Field], ...] = key(
        "By code of an indicator the field that holds its figure.", 'indicators = { co2e_kg = "gwp" }'
    )
    method: str = key("The method behind the figures, in one sentence.", 'method = "mean of the food group"')
    scope: Literal["category", "product_type"] = key(
        "The meaning of the codes.", 'scope = "product_type"', default="category"
    )
