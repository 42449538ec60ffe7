"""Which column of a file holds what, by the names of the columns and by their cells. Pure."""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from shared.errors import LoadRefused
from shared.money import CODES, MARKS
from workers.ingest.habits import (
    HALF,
    MOSTLY,
    all_plain,
    bare_digits,
    day_formats,
    fits_gtin,
    has_figure,
    is_address,
    is_gtin,
    is_shortened,
    is_text,
    share_of,
)
from workers.ingest.sample import Sample, plain

_NAMES = Path(__file__).with_name("column_names.toml")
_RATES = re.compile(r"[0-9]{0,6}\s*[A-Z]{3}", re.ASCII)
_OF_HOLDER = re.compile(r"name|title|label|text|value|main|en|de|fr|es|it|nl|pl|pt|zh|ja")
_PREPOSITION = re.compile(r" (?:in|im|of|for|per|de|du|des|del|della|di|do|da|en|van|za|w|pro|au) ")
# How certain the name of a column is: all of it, its last words, or some of its words.
WHOLE, PART, INSIDE = 300, 200, 100
_LEVELS_MAX = 8
_FIRST_CELLS = 10
_PLAIN_PRICES = frozenset("price preis prix precio prezzo prijs cena preco 价格 価格".split())


@cache
def role_names() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what columns can hold, each with the names that such columns have."""
    return tuple(
        (role, tuple(map(plain, names))) for role, names in tomllib.loads(_NAMES.read_text(encoding="utf-8")).items()
    )


@cache
def _words(column: str) -> str:
    """Return the words of a column's name; of a path such as `maker.name` or `title.en` the words before it."""
    path = re.sub(r"\.\d+(?=\.|$)", "", column)
    holder, _, last = path.rpartition(".")
    words = plain(holder.rpartition(".")[2])
    if _OF_HOLDER.fullmatch(last) and any(words in aliases for _, aliases in role_names()):
        return words
    return plain(path)


def name_score(column: str, aliases: tuple[str, ...]) -> float:
    """Return how well a column's name fits one of a role's names: the whole name, its last or first words, any of them.

    What follows a preposition only describes: an "Artikelnummer im Shop" is no shop.
    """
    words = _words(column)
    head = _PREPOSITION.split(words, maxsplit=1)[0]
    best = 0.0
    for place, alias in enumerate(aliases):
        certain = len(alias) + (1 - place / 1_000)
        if words.replace(" ", "") == alias.replace(" ", ""):
            best = max(best, WHOLE + certain)
        elif not alias.isascii():
            best = max(best, INSIDE + 10 * certain if alias in words else 0)
        elif head == alias:
            best = max(best, WHOLE - 50 + certain)
        elif head.endswith(f" {alias}"):
            best = max(best, PART + certain)
        elif head.startswith(f"{alias} "):
            best = max(best, PART - 50 + certain)
        elif f" {alias} " in f" {head} ":
            best = max(best, INSIDE + certain)
    return best


def by_names(sampled: Sample) -> dict[str, Any]:
    """Return the fields of a mapping with the columns whose names and cells say what they hold."""
    checks: dict[str, Callable[[list[str]], bool]] = {
        **dict.fromkeys(
            ("price", "sale_price", "list_price", "weight"), lambda cells: share_of(cells, has_figure) >= HALF
        ),
        "day": lambda cells: bool(day_formats(cells, HALF)),
        "currency": lambda cells: share_of(cells, lambda text: text.upper() in MARKS or text in MARKS) >= MOSTLY,
        "gtin": lambda cells: share_of(cells, lambda text: fits_gtin(text) or is_shortened(text)) >= HALF,
        "url": lambda cells: share_of(cells, is_address) >= HALF,
        **dict.fromkeys(("name", "description"), lambda cells: share_of(cells, is_text) >= HALF),
        "brand": lambda cells: share_of(cells, is_address) < HALF,
        "id": lambda cells: not any(map(is_shortened, cells)),
    }
    scored = sorted(
        ((score, -place, role, column) for place, column in enumerate(sampled.columns) for role, aliases in role_names()
         if (score := name_score(column, aliases))), reverse=True,
    )  # fmt: skip
    taken: dict[str, str] = {}
    roles: dict[str, list[str]] = {}
    for _, _, role, column in scored:
        cells = sampled.values(column)
        if column in taken or (role in roles and role not in ("category", "price")):
            continue
        # A sale price that no row of the sample has may stand in a later one.
        if checks[role](cells) if cells and role in checks else bool(cells) or role == "sale_price":
            taken[column] = role
            roles.setdefault(role, []).append(column)
    described = roles.pop("description", None)
    if described:
        roles.setdefault("name", described)
    _by_cells(sampled, roles, taken)
    _by_name_alone(sampled, roles, taken)
    if "id" not in roles and "name" not in roles and not {"name", "description"} & set(map(role_of, sampled.twice)):
        raise LoadRefused(_no_items(sampled))
    return _fields(sampled, roles)


def _by_name_alone(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Find the price and the day also where the cells are none that can be read: a question, and not left out."""
    free = [column for column in sampled.columns if column not in taken and sampled.values(column)]
    missing = [] if "day" in roles else ["day"]
    missing += [] if {"price", "sale_price", "list_price"} & roles.keys() else ["price"]
    for role in missing:
        named = [column for column in free if name_score(column, dict(role_names())[role]) >= PART - 50]
        if named:
            roles[role] = named[:1]


def _by_cells(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Find what the cells alone say: check digits, days, an id in each row."""
    free = [column for column in sampled.columns if column not in taken and sampled.values(column)]
    if "gtin" not in roles:
        gtins = [column for column in sampled.columns if _are_gtins(sampled.values(column))]
        roles["gtin"] = gtins[:1] if gtins and taken.get(gtins[0], "id") == "id" else []
    if "day" not in roles:
        cells = {column: sampled.values(column) for column in free}
        # The first cells of most columns show at once that they are no days; to try all of a wide file takes a minute.
        likely = [c for c in free if not all_plain(cells[c]) and day_formats(cells[c][:_FIRST_CELLS], MOSTLY)]
        roles["day"] = [column for column in likely if day_formats(cells[column], MOSTLY)][:1]
    if "id" not in roles:
        whole = [column for column in roles["gtin"] if not any(map(is_shortened, sampled.values(column)))]
        whole += [column for column in roles.get("mpn", []) if len(set(sampled.values(column))) == len(sampled.rows)]
        roles["id"] = whole[:1] or roles.get("name", [])[:1]
    for role in [role for role, columns in roles.items() if not columns]:
        del roles[role]


def role_of(column: str) -> str:
    """Return what a column holds by its name alone; an empty text where that says nothing."""
    score, role = max((name_score(column, aliases), role) for role, aliases in role_names())
    return role if score else ""


def _no_items(sampled: Sample) -> str:
    """Say why a file has no items."""
    named = ", ".join(f'"{column}"' for column in sampled.columns)[:200]
    rates = [column for column in sampled.columns if _RATES.fullmatch(column) and column.strip()[-3:] in CODES]
    if 2 * len(rates) >= len(sampled.columns):
        return (
            f"no items here: the columns {named} are exchange rates. `itemindex rates load` reads the forms of the "
            "European Central Bank: eurofxref.csv, eurofxref-hist.csv, and the XML of both"
        )
    return (
        f"no items here: no column of {named} seems to hold an item's id or its name. If one does, write the mapping "
        "by hand (deploy/guides/bring-your-own-data.md); `itemindex rates load` reads the forms of exchange rates"
    )


def _fields(sampled: Sample, roles: dict[str, list[str]]) -> dict[str, Any]:
    """Return the fields of a mapping, by table, for columns by role."""
    one = {role: {"column": columns[0]} for role, columns in roles.items()}
    levels = sorted(roles.get("category", []), key=sampled.columns.index)[:_LEVELS_MAX]
    item: dict[str, Any] = {"id": one.get("id", "?"), "name": one.get("name", "?")}
    item |= {"brand": one["brand"]} if "brand" in one else {}
    item |= {"category": [{"column": column} for column in levels]} if levels else {}
    item["identifiers"] = {role: one[role] for role in ("gtin", "isbn", "mpn", "url") if role in one}
    item["attributes"] = {role: one[role] for role in ("weight", "size", "colour") if role in one}
    fields: dict[str, Any] = {"item": item}
    if "price" in one or "sale_price" in one or "list_price" in one:
        prices = [roles[role][0] for role in ("sale_price", "price", "list_price") if role in roles]
        seen: dict[str, Any] = {role: one.get(role) for role in ("day", "channel", "currency", "units")}
        if "sale_price" in roles and len(prices) > 1:
            seen["price"] = {"first_of": prices[:2]}
            seen["list_price"] = {"column": prices[-1]} | ({} if len(prices) > 2 else {"beside": prices[0]})
        else:
            seen["price"] = {"column": prices[0]}
            seen |= {"list_price": one["list_price"]} if "list_price" in one and "price" in one else {}
        fields["observation"] = {name: spec for name, spec in seen.items() if spec is not None}
        fields["rivals"] = {"price": roles.get("price", [])[1:]}
    return fields


def _are_gtins(cells: list[str]) -> bool:
    """Return whether the check digits alone say so: of other numbers one in ten would fit."""
    return len(cells) >= 3 and share_of(cells, lambda text: len(bare_digits(text)) >= 12 and is_gtin(text)) >= MOSTLY


def is_exactly_price(column: str) -> bool:
    """Return whether a column has the plainest name of a price, so that no other column is meant."""
    return plain(column) in _PLAIN_PRICES
