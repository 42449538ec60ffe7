"""Which column of a file holds what, by the names of the columns and by how their cells are written. Pure."""

import re
from typing import NamedTuple

from shared.currencies import CODES
from shared.errors import LoadRefused
from shared.gtin import is_shortened
from shared.printable import many
from workers.ingest.column_names import (
    PART,
    WHOLE,
    has_word,
    is_price_on_request,
    name_score,
    plain,
    role_names,
    role_of,
    word_list,
)
from workers.ingest.column_specs import ColumnSpec, FieldSpecs, ItemSpecs
from workers.ingest.guess.assignment import assigned
from workers.ingest.guess.candidates import by_cells_alone, candidates_of
from workers.ingest.guess.category_levels import category_levels
from workers.ingest.guess.cell_kinds import (
    HALF,
    MOSTLY,
    all_plain,
    are_gtins,
    are_numbers,
    are_short,
    are_texts,
    has_figure,
    share_of,
)
from workers.ingest.guess.currency_marks import currencies_named, is_called_by_currency
from workers.ingest.guess.day_formats import DAY_CHARACTERS_MAX, day_formats
from workers.ingest.guess.field_guess import ColumnCandidate, FieldGuess
from workers.ingest.guess.rows_of_ids import choose_id_of_rows
from workers.ingest.guess.values_in_texts import id_in_address, price_in_text
from workers.ingest.mapping import SECTION_COLUMN
from workers.ingest.sampling.sample import NOTHING, Sample

# One to three digits are a number of days, such as those until delivery, and no date.
_NUMBER_OF_DAYS = re.compile(r"[0-9]{1,3}", re.ASCII)
# A name is seldom longer; a text that describes mostly is.
_NAME_CHARACTERS_MAX = 150
_RATES = re.compile(r"[0-9]{0,6}\s*[A-Z]{3}", re.ASCII)
_FIRST_CELLS = 10
# So many items with one name at least, on average, make a column rather one of groups.
_ITEMS_MIN = 12
_ITEMS_OF_A_NAME = 4

# Of these another column that is near is said: of the others a mapping has room for several, or asks.
_WITH_RUNNERS_UP = frozenset(
    ("name", "brand", "channel", "day", "currency", "sale_price", "list_price", "gtin", "isbn", "mpn", "size", "colour")
)
# So near in score is another column where neither is called so in full.
_NEAR = 20


class Guessed(NamedTuple):
    """The fields of a mapping, and what is known of each."""

    fields: FieldSpecs
    guesses: dict[str, FieldGuess]
    """By role: the columns that may be a field, those that are, and those near enough to be meant."""


def by_names(sampled: Sample) -> Guessed:
    """Return the fields of a mapping with the columns whose names and cells say what they hold."""
    candidates = candidates_of(sampled)
    roles = assigned(candidates)
    taken = {column: role for role, columns in roles.items() for column in columns}
    near = {role: _near(sampled, candidates[role], roles[role][0]) for role in _WITH_RUNNERS_UP & roles.keys()}
    described = roles.pop("description", None)
    if described:
        roles.setdefault("name", described)
    _by_cells(sampled, roles, taken)
    if SECTION_COLUMN in sampled.columns:
        roles.setdefault("category", [SECTION_COLUMN])
    _by_name_alone(sampled, roles, taken)
    choose_id_of_rows(sampled, roles, taken)
    called = roles.get("name", [])[:1]
    _name_by_cells(sampled, roles, taken)
    if called and called[0] not in roles["name"]:
        near["name"] = [*called, *near.get("name", [])]
    if "id" not in roles and "name" not in roles and not {"name", "description"} & set(map(role_of, sampled.twice)):
        raise LoadRefused(_no_items(sampled))
    fields = _fields(sampled, roles)
    near = {
        role: [column for column in columns if taken.get(column, role) == role and column not in roles[role]]
        for role, columns in near.items()
    }
    near |= {role: roles[role][1:] for role in ("id", "price") if role in roles}
    return Guessed(fields, _guesses(sampled, candidates, roles, near))


def _guesses(
    sampled: Sample,
    candidates: dict[str, list[ColumnCandidate]],
    roles: dict[str, list[str]],
    near: dict[str, list[str]],
) -> dict[str, FieldGuess]:
    """Return what is known of each role, also of columns that have it by their cells alone."""
    made = {}
    for role, columns in roles.items():
        known = candidates.get(role, [])
        named = {one.column for one in known}
        by_cells = [by_cells_alone(sampled, column, role) for column in columns if column not in named]
        chosen = columns if role not in near else columns[:1]
        made[role] = FieldGuess(role, (*known, *by_cells), tuple(chosen), tuple(near.get(role, ())))
    return made


def _near(sampled: Sample, candidates: list[ColumnCandidate], taken: str) -> list[str]:
    """Return the columns that are called so in full, or nearly as the one that is taken, and say something else."""
    score = next(one.score for one in candidates if one.column == taken)
    return [
        one.column
        for one in candidates
        if one.column != taken
        and (one.is_called_so or one.score >= max(score - _NEAR, PART))
        and _may_be_too(sampled, one.column, taken)
    ]


def _may_be_too(sampled: Sample, column: str, taken: str) -> bool:
    """Return whether a column that is called as another one is may be meant as well: where it says something else."""
    return 2 * len(sampled.values(column)) >= len(sampled.values(taken)) > 0 and any(
        row.get(column) not in (None, row.get(taken)) for row in sampled.rows
    )


def _name_by_cells(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Take another column for the name where the first one has long texts, or one text for many items."""
    if "name" not in roles or not is_no_name(sampled, roles["name"][0], roles.get("id", [])):
        return
    named = roles["name"][0]
    if name_score(named, role_names()["name"]) >= WHOLE and are_short(sampled.values(named)):
        return  # several items of a series have one name, and a person is asked
    aliases = (*role_names()["name"], *role_names()["description"])
    scores = {
        column: name_score(column, aliases)
        for column in sampled.columns
        if taken.get(column, "name") in ("name", "description") and are_texts(sampled.values(column))
    }
    fitting = [
        column
        for column in scores
        if scores[column]
        and column not in roles.get("id", [])
        and not has_word(column, "count")
        and len(sampled.values(column)) >= MOSTLY * len(sampled.values(roles["name"][0]))
        and not is_no_name(sampled, column, roles.get("id", []))
    ]
    if fitting:
        roles["name"] = [max(fitting, key=lambda column: scores[column])]


def is_no_name(sampled: Sample, column: str, ids: list[str]) -> str:
    """Return why the cells of a column are hardly names of items; an empty text where they may be."""
    cells = sampled.values(column)
    if not cells:
        return ""
    if share_of(cells, lambda text: len(text) > _NAME_CHARACTERS_MAX) >= HALF:
        return "has long texts"
    items = {row[name] for name in ids[:1] if name != column for row in sampled.rows if name in row}
    if len(items) >= _ITEMS_MIN and len(set(cells)) * _ITEMS_OF_A_NAME <= len(items):
        return f"has {len(set(cells)):,} distinct texts for {len(items):,} items"
    return ""


def _by_name_alone(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Find the price and the day also where the cells are none that can be read: a question, and not left out."""
    free = [column for column in sampled.columns if column not in taken and sampled.values(column)]
    missing = [] if "day" in roles else ["day"]
    missing += [] if {"price", "sale_price", "list_price"} & roles.keys() else ["price"]
    for role in missing:
        named = [column for column in free if name_score(column, role_names()[role]) >= PART - 50]
        named += [column for column in free if role == "price" and plain(column) in word_list("price_in_full")]
        named += [column for column in free if role == "price" and is_called_by_currency(column)]
        if role == "day":
            named = [column for column in named if not all(map(_NUMBER_OF_DAYS.fullmatch, sampled.values(column)))]
        named = [column for column in named if share_of(sampled.values(column), _may_be_value) >= HALF]
        if named:
            of_tax = [column for column in named if role == "price" and has_word(column, "tax")]
            roles[role] = of_tax if named[0] in of_tax else named[:1]


def _may_be_value(text: str) -> bool:
    """Return whether a text can be an amount or a day, or says that a price depends."""
    return len(text) <= DAY_CHARACTERS_MAX and (any(map(str.isdigit, text)) or is_price_on_request(text))


def _by_cells(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Find what the cells alone say: check digits, days, an id in each row."""
    free = [column for column in sampled.columns if column not in taken and sampled.values(column)]
    if "gtin" not in roles:
        gtins = [column for column in sampled.columns if are_gtins(sampled.values(column))]
        roles["gtin"] = gtins[:1] if gtins and taken.get(gtins[0], "id") == "id" else []
    if "day" not in roles:
        # The day of a price stands in each row, unlike those between which one is reduced.
        cells = {c: texts for c in free if len(texts := sampled.values(c)) >= HALF * len(sampled.rows)}
        # The first cells of most columns show at once that they are no days; to try all of a wide file takes a minute.
        likely = [c for c in cells if not all_plain(cells[c]) and day_formats(cells[c][:_FIRST_CELLS], MOSTLY)]
        roles["day"] = [column for column in likely if day_formats(cells[column], MOSTLY)][:1]
    if "id" not in roles:
        whole = [column for column in roles["gtin"] if not any(map(is_shortened, sampled.values(column)))]
        whole += [column for column in roles.get("mpn", []) if len(set(sampled.values(column))) == len(sampled.rows)]
        roles["id"] = whole[:1] or roles.get("name", [])[:1]
    for role in [role for role, columns in roles.items() if not columns]:
        del roles[role]


def prices_not_taken(sampled: Sample) -> list[str]:
    """Return the columns of amounts that are prices, but not those that a consumer pays for an item."""
    return [
        column
        for column in sampled.columns
        if name_score(column, role_names()["no_price"]) >= PART
        and any(word in plain(column) for word in word_list("plain_price"))
        and share_of(sampled.values(column), has_figure) >= MOSTLY
        and sampled.values(column)
    ]


def _no_items(sampled: Sample) -> str:
    """Say why a file has no items."""
    if not sampled.columns:
        return (
            "no items here: the file has lists alone. `records` of a mapping names the list that has the rows; if its "
            "rows are lists, the first one names the columns"
        )
    named = ", ".join(f'"{column}"' for column in sampled.columns)[:200]
    rates = [column for column in sampled.columns if _RATES.fullmatch(column) and column.strip()[-3:] in CODES]
    if 2 * len(rates) >= len(sampled.columns):
        return (
            f"no items here: the columns {named} are exchange rates. `itemindex rates load` reads the forms of the "
            "European Central Bank: eurofxref.csv, eurofxref-hist.csv, and the XML of both"
        )
    looked_at = many(len(sampled.rows), "row")
    nothing = f"no {sampled.part} of {named} seems to hold an item's id or name"
    searched = f"no items here: {looked_at} are looked at, and {nothing}. "
    by_hand = "write a mapping by hand%s (docs/guides/bring-your-own-data.md), and try it with "
    by_hand += "`itemindex ingest --mapping MAPPING --dry-run FILE`"
    if "records" in sampled.form:
        what = "elements" if sampled.part == "part" else "objects"
        return (
            f'{searched}These are the {sampled.part}s of the {what} at "{sampled.form["records"]}". If others are the '
            f"items, {by_hand % ' with their path in `records`'}"
        )
    if sampled.part == "member":
        return f"{searched}If one of these members does, or a list in another one has the items, {by_hand % ''}"
    return (
        f"{searched}They are the columns of line {sampled.header}. If these are cells of an item, add a line with the "
        f"names of the columns above them; if one of these columns does, {by_hand % ''}; `itemindex rates load` reads "
        "the forms of exchange rates"
    )


def _fields(sampled: Sample, roles: dict[str, list[str]]) -> FieldSpecs:
    """Return the fields of a mapping, by table, for columns by role."""
    if {"price", "list_price"} <= roles.keys():
        named = [currencies_named(roles[role][0]) for role in ("price", "list_price")]
        if all(named) and named[0].isdisjoint(named[1]):  # the same price in another currency
            roles["price"] += roles.pop("list_price")
    one = {role: _spec(sampled, columns[0]) for role, columns in roles.items()}
    levels = category_levels(sampled, [c for c in roles.get("category", []) if not are_numbers(sampled.values(c))])
    if "url" in one and roles.get("id") == roles.get("name", [])[:1]:
        one["id"] = id_in_address(sampled, roles["url"][0]) or one["id"]
    item: ItemSpecs = {"id": one.get("id", "?"), "name": one.get("name", "?")}
    if variants := _variants(sampled, roles):
        item["name"] = {"columns": [roles["name"][0], *variants], "join": " – "}
    item |= {"brand": one["brand"]} if "brand" in one else {}
    item |= {"category": [_level(sampled, column) for column in levels]} if levels else {}
    item["identifiers"] = {role: one[role] for role in ("gtin", "isbn", "mpn", "url") if role in one}
    item["attributes"] = {role: one[role] for role in ("weight", "size", "colour") if role in one}
    fields: FieldSpecs = {"item": item}
    if "price" in one or "sale_price" in one or "list_price" in one:
        prices = [roles[role][0] for role in ("sale_price", "price", "list_price") if role in roles]
        seen: dict[str, ColumnSpec | None] = {role: one.get(role) for role in ("day", "channel", "currency", "units")}
        if "sale_price" in roles and len(prices) > 1:
            seen["price"] = {"first_of": prices[:2]}
            listed: ColumnSpec = {"column": prices[-1]}
            seen["list_price"] = listed if len(prices) > 2 else listed | {"beside": prices[0]}
        else:
            seen["price"] = price_spec(sampled, prices[0])
            seen |= {"list_price": one["list_price"]} if "list_price" in one and "price" in one else {}
        fields["observation"] = {name: spec for name, spec in seen.items() if spec is not None}
    elif found := price_in_text(sampled, _descriptions(sampled)):
        fields["observation"] = {"day": one["day"], **found} if "day" in one else found
    return fields


def _descriptions(sampled: Sample) -> list[str]:
    return [column for column in sampled.columns if name_score(column, role_names()["description"]) >= PART - 50]


def _variants(sampled: Sample, roles: dict[str, list[str]]) -> list[str]:
    """Return the columns that tell items with one name apart, such as a size; none where no two have one name."""
    if not {"name", "variant"} <= roles.keys() or not all(roles["name"][0] in row for row in sampled.rows):
        return []
    columns = sorted(roles["variant"], key=sampled.columns.index)
    whole = {tuple(row.get(column) for column in (roles["name"][0], *columns)) for row in sampled.rows}
    return columns if len(whole) > len(set(sampled.values(roles["name"][0]))) else []


def _spec(sampled: Sample, column: str) -> ColumnSpec:
    """Return the field of a column, with the texts that stand in it for no value."""
    nothing = sorted(NOTHING.intersection((*sampled.values(column), *sampled.further.get(column, ()))))
    spec: ColumnSpec = {"column": column}
    return spec | {"null": nothing} if nothing else spec


def _level(sampled: Sample, column: str) -> ColumnSpec:
    """Return the field of a level of a category; not each path that a list has is as long as the longest."""
    spec = _spec(sampled, column)
    return spec | {"sparse": True} if column.rpartition(".")[2].isdecimal() and "." in column else spec


def nothing_words(role: str) -> list[str]:
    """Return the words that stand in a column of a role for no value, such as "unknown" for a brand."""
    if role in ("brand", "size", "colour", "channel"):
        return word_list("nothing")
    return [*word_list("nothing"), *word_list("no_category_text")] if role == "category" else []


def price_spec(sampled: Sample, column: str) -> ColumnSpec:
    """Return the field of a column of prices, with what stands in it for a price that depends, as "on request" does."""
    cells = sampled.values(column)
    depends = set(filter(is_price_on_request, (*cells, *sampled.further.get(column, ()))))
    spec = _spec(sampled, column)
    if not depends or share_of(cells, has_figure) < HALF:
        return spec
    nothing: list[str] = spec.get("null", [])
    return spec | {"null": sorted(depends.union(nothing))}
