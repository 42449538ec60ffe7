"""Which column of a file holds what, by the names of the columns and by how their cells are written. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shared.errors import LoadRefused
from shared.gtin import check_digit, is_shortened
from shared.money import CODES, MARKS
from shared.printable import many
from workers.ingest import clean
from workers.ingest.batches import Batch
from workers.ingest.calendar_days import parsed, today
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
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.fields import Field
from workers.ingest.mapping import SECTION_COLUMN
from workers.ingest.sample import NOTHING, Row, Sample

# Shares of the cells of a column that decide what it holds.
MOSTLY = 0.9
HALF = 0.5
_STRAY = 0.02
_DAY_CHARACTERS_MAX = 40

# Formats of days that cannot be taken for one another, and groups of those that can: the same text may be two days.
_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z",
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M%z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f%z", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f UTC",
    "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d-%b-%Y",
    "%d. %B %Y", "%d. %b %Y", "%d de %B de %Y", "%d de %b de %Y", "%Y年%-m月%-d日", "%Y. %-m. %-d.", "%Y. %-m. %-d",
    "%Y-%m", "%Y%m", "%Y", "%G-W%V", "%GW%V", "KW %V/%G",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
EITHER_ORDER = (
    *((f"%d{mark}%m{mark}%Y{time}", f"%m{mark}%d{mark}%Y{time}") for mark in "/-" for time in _TIMES),
    *(
        (f"%d{mark}%m{mark}%y{time}", f"%m{mark}%d{mark}%y{time}", f"%y{mark}%m{mark}%d{time}")
        for mark in "/-"
        for time in _TIMES
    ),
    ("%d.%m.%y", "%y.%m.%d"),
)
# With two digits a year of long ago is rather a day of the month: 26/10/01 is no October of 2001.
_SHORT_YEARS_DAYS = 15 * 366
_SERIAL_YEARS = (20_000, 60_000)  # Excel's days from 1954 to 2064
HABITS = (("", "."), (",", "."), (".", ","), ("", ","), (" ", ","), (" ", "."), ("'", "."), ("'", ","))
# A point between two letters belongs to the mark of a currency, as in "ر.س".
_FIGURE = re.compile(r"(?:[\d\s,'’`\u2013\u2014\u2212\u066b\u066c，．-]|/-|(?<![^\W\d_])\.|\.(?![^\W\d_]))+")
# Bookkeeping writes a negative amount in brackets: "(12.50)".
_IN_BRACKETS = re.compile(r"\((.*)\)")
# What Japanese prices say of tax behind the currency.
_OF_TAX = re.compile(r"[(（]税[^)）]*[)）]")
_EXPONENT = re.compile(r"(?<=[0-9])[eE][+-]?[0-9]+\b")
_DOTTED = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}", re.ASCII)
_FLAGS = frozenset("true false yes no 0 1".split())
_SHORT_FLAGS = frozenset("yn")
# One to three digits are a number of days, such as those until delivery, and no date.
_NUMBER_OF_DAYS = re.compile(r"[0-9]{1,3}", re.ASCII)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|bmp|tiff?)(?:$|[?#&,; ])", re.IGNORECASE)
_TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
# A name is seldom longer; a text that describes mostly is.
_NAME_CHARACTERS_MAX = 150
_VARIANT_CHARACTERS_MAX = 80
COMMON = ("USD", "EUR", "GBP", "CNY", "JPY", "CAD", "AUD", "SEK", "NOK", "DKK", "INR")


def is_gtin(text: str) -> bool:
    """Return whether a text has the length and the check digit of a GTIN (GS1 General Specifications, 7.9)."""
    return len(bare_digits(text)) in (8, 12, 13, 14) and fits_gtin(text)


def fits_gtin(text: str) -> bool:
    """Return whether a text is a GTIN by its check digit, also without the zeros that a program took from it."""
    digits = bare_digits(text)
    return 8 <= len(digits) <= 14 and bool(digits.strip("0")) and check_digit(digits[:-1]) == digits[-1]


def bare_digits(text: str) -> str:
    """Return the digits of a text that has nothing else but what programs put around them; an empty text otherwise."""
    found = re.fullmatch(r"'?([0-9]+)(?:\.0+)?", text, re.ASCII)
    return found[1] if found else ""


def _is_isbn(text: str) -> bool:
    """Return whether a text has the form of an ISBN, of 13 digits or of ten with an X as the last one at most."""
    return bool(re.fullmatch(r"97[89][0-9]{10}|[0-9]{9}[0-9Xx]", text.replace("-", ""), re.ASCII))


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return bool(_ADDRESS.fullmatch(text))


def _is_picture(text: str) -> bool:
    return bool(_PICTURE.search(text))


def _is_json(text: str) -> bool:
    """Return whether a text is an object of JSON, or a list of objects or of lists."""
    return text.startswith(('{"', "[{", "[["))


def is_text(text: str) -> bool:
    """Return whether a text has letters, and is no web address."""
    return not is_address(text) and any(character.isalpha() for character in text)


def has_figure(text: str) -> bool:
    """Return whether a text is an amount with the marks of a currency or a unit at most."""
    rest = _FIGURE.sub("", text)
    return any(character.isdigit() for character in text) and len(rest) <= 6


def share_of(cells: list[str], fits: Callable[[str], bool]) -> float:
    """Return the share of cells for which something holds."""
    return sum(map(fits, cells)) / len(cells) if cells else 0.0


def all_plain(cells: list[str]) -> bool:
    """Return whether cells, but for a total, are digits with separators and no days with points: amounts, or years."""
    plainly = [text for text in cells if re.fullmatch(r"[\d.,]+", text)]
    return len(plainly) >= MOSTLY * len(cells) and not all(map(_DOTTED.fullmatch, plainly))


def day_formats(cells: list[str], share: float) -> dict[str, int]:
    """Return the formats that fit cells, with how many: the fewest that together fit as many as any can.

    Of several orders of a day's parts only the one that fits most; all of them where they fit as many. None where they
    fit a smaller share of the cells than this.
    """
    texts = Counter(cells)
    if share_of(cells, lambda text: len(text) <= _DAY_CHARACTERS_MAX and any(map(str.isdigit, text))) < share:
        return {}
    fits: dict[str, int] = {}
    groups = [*((form,) for form in _FORMATS), *EITHER_ORDER]
    while texts:
        counts = {
            form: sum(count for text, count in texts.items() if _is_day(text, form))
            for group in groups
            for form in group
        }
        best = max(counts.values())
        if not best:
            break
        group = next(group for group in groups if max(counts[form] for form in group) == best)
        fits |= {form: best for form in group if counts[form] == best}
        texts = Counter(
            {text: count for text, count in texts.items() if not any(_is_day(text, form) for form in group)}
        )
    if not fits and cells and all(map(_is_serial, cells)):
        fits["excel"] = len(cells)
    fits = {form: count for form, count in fits.items() if count >= max(1, _STRAY * len(cells))}
    return fits if sum(counted_once(fits)) >= share * len(cells) else {}


def _is_day(text: str, form: str) -> bool:
    day = parsed(text, (form,))
    return day is not None and ("%y" not in form or day > today() - _SHORT_YEARS_DAYS)


def _is_serial(text: str) -> bool:
    found = re.fullmatch(r"([0-9]{5})(?:\.[0-9]+)?", text, re.ASCII)
    return found is not None and _SERIAL_YEARS[0] <= int(found[1]) <= _SERIAL_YEARS[1]


def counted_once(fits: dict[str, int]) -> list[int]:
    """Return the counts of formats, of several orders of a day's parts only one."""
    group_of = {form: group for group in EITHER_ORDER for form in group}
    return list({group_of.get(form, form): count for form, count in fits.items()}.values())


def mark_of(text: str) -> str:
    """Return what a price states besides its figure: the mark of a currency."""
    text = _IN_BRACKETS.sub(r"\1", text) if _IN_BRACKETS.fullmatch(text) else text
    mark = _FIGURE.sub("", _EXPONENT.sub("", text)) if any(map(str.isdigit, text)) else ""
    return f"{mark}." if f"{mark}." in MARKS and f"{mark}." in text else mark


def meant_by(mark: str) -> frozenset[str]:
    """Return the currencies that a mark may mean; £ alone is pounds sterling, as $ alone is of no one country."""
    return frozenset(("GBP",)) if mark == "£" else MARKS.get(_OF_TAX.sub("", mark), frozenset())


def meant_together(marks: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the currencies that marks of one column may mean: where 円 stands in others, ¥ is yen too.

    Not so the dollar: where some prices state CA$, a plain $ is that of another country.
    """
    alone = {mark: meant_by(mark) for mark in marks}
    certain = frozenset().union(*(codes for codes in alone.values() if len(codes) == 1))
    return {
        mark: codes & certain if mark != "$" and len(codes & certain) == 1 else codes for mark, codes in alone.items()
    }


def commonest(currencies: Iterable[str]) -> list[str]:
    """Return currencies, the commonest first."""
    return sorted(currencies, key=lambda code: (COMMON.index(code) if code in COMMON else len(COMMON), code))


def currencies_named(column: str) -> set[str]:
    """Return the currencies that a column's name states, by a code or else by a sign of one alone."""
    codes = {word.upper() for word in re.findall(r"[A-Za-z]+", column) if _is_code(word, column)}
    signs = (
        code
        for sign, meant in MARKS.items()
        if len(meant) == 1 and not sign.isalnum() and sign in column
        for code in meant
    )
    worded = (code for word, code in _worded() if f" {word} " in f" {plain(column)} ")
    return codes or set(signs) or set(worded)


@cache
def _worded() -> tuple[tuple[str, str], ...]:
    """Return the words of currencies, each with its code."""
    pairs = (entry.split("=") for entry in word_list("currencies"))
    return tuple((word, code) for word, code in pairs)


def _is_code(word: str, column: str) -> bool:
    """Return whether a word of a column's name is the code of a currency, and no other word, as `all` or `top` are."""
    written_as_code = word.isupper() and not column.isupper()
    return word.upper() in CODES and (written_as_code or word.upper() in COMMON)


def may_be(currencies: Iterable[str]) -> str:
    """Say which currencies a sign may mean, the commonest first."""
    ordered = commonest(currencies)
    if not ordered:
        return "is no currency that is known"
    return f"may be {', '.join(ordered[:4])}{' or another' if len(ordered) > 4 else ''}"


def read_numbers(spec: ColumnSpec, texts: list[str]) -> list[str | None]:
    """Read the numbers of amounts as a load does, which takes none with an exponent for a price."""
    read = clean.numbers(_field(spec), Batch({"": pa.array(texts, pa.string())}, []), Path(), signed=True)
    values = zip(texts, read.values.to_pylist(), strict=True)
    return [None if value is None or _EXPONENT.search(text) else str(value) for text, value in values]


def free_amounts(spec: ColumnSpec, texts: list[str]) -> list[int | None]:
    """Read amounts as a load does, each in the currency that it states."""
    by_currency: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        by_currency.setdefault(min(meant_by(mark_of(text)), default=""), []).append(place)
    read: list[int | None] = [None] * len(texts)
    # One batch for each currency: Arrow costs as much for one row as for a thousand.
    for currency, places in by_currency.items():
        batch = Batch({"": pa.array([texts[place] for place in places], pa.string())}, [])
        values = clean.amounts(_field(spec), batch, Path(), currency).values.to_pylist()
        for place, value in zip(places, values, strict=True):
            read[place] = value
    return read


def _field(spec: ColumnSpec) -> Field:
    return Field(
        column="",
        replace=tuple(spec.get("replace", {}).items()),
        strip=spec.get("strip", ""),
        thousands=spec.get("thousands", ""),
        decimal=spec.get("decimal", "."),
        free_form=spec.get("free_form", False),
    )


def differ(one: str, other: str) -> bool:
    """Return whether two readings of an amount are not the same amount."""
    return float(one) != float(other)


_RATES = re.compile(r"[0-9]{0,6}\s*[A-Z]{3}", re.ASCII)
_LEVELS_MAX = 8
_PATH_MARKS = (">", "›", "|", "»", "::", "/")
_KEYS_OF_PRODUCTS = frozenset(("", "id", "mpn", "url"))
_FIRST_CELLS = 10
# So many items with one name at least, on average, make a column rather one of groups.
_ITEMS_MIN = 12
_ITEMS_OF_A_NAME = 4


class _Rule(NamedTuple):
    """When a column whose name fits a role has that role."""

    fits: Callable[[list[str]], bool] = bool
    """Whether its cells can be that, where it has any."""
    least: float = 0
    """The score that its name needs; the other one counts where all rows have the same cell."""
    least_of_one_value: float = 0
    is_not: str = ""
    """A role that its name must not fit."""
    is_several: bool = False
    may_be_empty: bool = False


def _are_amounts(cells: list[str]) -> bool:
    return share_of(cells, has_figure) >= HALF


def _are_words(cells: list[str]) -> bool:
    """Return whether cells are neither addresses nor objects of JSON."""
    return share_of(cells, lambda text: is_address(text) or _is_json(text)) < HALF


def _are_short(cells: list[str]) -> bool:
    return share_of(cells, lambda text: len(text) <= _VARIANT_CHARACTERS_MAX) >= MOSTLY


def _are_texts(cells: list[str]) -> bool:
    return share_of(cells, is_text) >= HALF and not _are_flags(cells, _SHORT_FLAGS)


_RULES = {
    "id": _Rule(lambda cells: not any(map(is_shortened, cells)), least_of_one_value=WHOLE - 50),  # no country's code
    "name": _Rule(_are_texts, least_of_one_value=PART),  # no unit of an item's weight
    "description": _Rule(_are_texts),
    "brand": _Rule(lambda cells: share_of(cells, is_address) < HALF),
    "category": _Rule(lambda cells: _are_words(cells) and not _are_flags(cells), is_several=True),
    "variant": _Rule(lambda cells: _are_words(cells) and _are_short(cells), least=WHOLE - 50, is_several=True),
    "gtin": _Rule(lambda cells: share_of(cells, lambda text: fits_gtin(text) or is_shortened(text)) >= HALF),
    "isbn": _Rule(lambda cells: share_of(cells, _is_isbn) >= HALF),
    "url": _Rule(lambda cells: share_of(cells, is_address) >= HALF and share_of(cells, _is_picture) < HALF),
    "price": _Rule(_are_amounts, is_several=True),
    "sale_price": _Rule(_are_amounts, may_be_empty=True),  # a row behind the sample may have one
    "list_price": _Rule(_are_amounts),
    "currency": _Rule(lambda cells: share_of(cells, lambda text: text.upper() in MARKS or text in MARKS) >= MOSTLY),
    "day": _Rule(lambda cells: bool(day_formats(cells, HALF))),
    "channel": _Rule(lambda cells: not _are_flags(cells), is_not="no_stock"),  # the stock of an outlet
    "weight": _Rule(_are_amounts),
    "units": _Rule(_are_amounts),
}
# What a column that counts, such as one of reviews, is never taken for, whatever else its name says.
_NOT_COUNTED = frozenset(("name", "brand", "category", "channel", "url"))


def by_names(sampled: Sample) -> dict[str, Any]:
    """Return the fields of a mapping with the columns whose names and cells say what they hold."""
    named = (
        (name_score(column, aliases), -place, role, column)
        for role, aliases in role_names().items()
        for place, column in enumerate(sampled.columns)
    )
    scored = sorted((one for one in named if one[0]), reverse=True)
    in_full: dict[str, str] = {}
    for score, _, role, column in scored:
        if score >= WHOLE - 50:
            in_full.setdefault(column, role)
    taken: dict[str, str] = {}
    roles: dict[str, list[str]] = {}
    for score, _, role, column in scored:
        rule = _RULES.get(role, _Rule(is_several=role.startswith("no_")))
        if column in taken or (role in roles and not rule.is_several):
            continue
        if in_full.get(column, role) != role:  # a "seller SKU" is no seller, also where another column is the id
            continue
        if rule.is_not and name_score(column, role_names()[rule.is_not]):
            continue
        if role in _NOT_COUNTED and has_word(column, "count"):
            continue
        if role == "category" and column.rpartition(".")[2].startswith(("_", "@")):  # of what kind an object is
            continue
        cells = sampled.values(column)
        is_one_value = len(cells) > 1 and len(set(cells)) == 1
        if score < max(rule.least, is_one_value and rule.least_of_one_value):
            continue
        if rule.fits(cells) if cells else rule.may_be_empty:
            taken[column] = role
            roles.setdefault(role, []).append(column)
    described = roles.pop("description", None)
    if described:
        roles.setdefault("name", described)
    _by_cells(sampled, roles, taken)
    if SECTION_COLUMN in sampled.columns:
        roles.setdefault("category", [SECTION_COLUMN])
    _by_name_alone(sampled, roles, taken)
    _id_of_rows(sampled, roles, taken)
    _name_by_cells(sampled, roles, taken)
    if "id" not in roles and "name" not in roles and not {"name", "description"} & set(map(role_of, sampled.twice)):
        raise LoadRefused(_no_items(sampled))
    return _fields(sampled, roles)


def _name_by_cells(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Take another column for the name where the first one has long texts, or one text for many items."""
    if "name" not in roles or not is_no_name(sampled, roles["name"][0], roles.get("id", [])):
        return
    aliases = (*role_names()["name"], *role_names()["description"])
    scores = {
        column: name_score(column, aliases)
        for column in sampled.columns
        if taken.get(column, "name") in ("name", "description") and _are_texts(sampled.values(column))
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
        if role == "day":
            named = [column for column in named if not all(map(_NUMBER_OF_DAYS.fullmatch, sampled.values(column)))]
        named = [column for column in named if share_of(sampled.values(column), _may_be_value) >= HALF]
        if named:
            roles[role] = named[:1]


def _may_be_value(text: str) -> bool:
    """Return whether a text can be an amount or a day, or says that a price depends."""
    return len(text) <= _DAY_CHARACTERS_MAX and (any(map(str.isdigit, text)) or is_price_on_request(text))


def _by_cells(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Find what the cells alone say: check digits, days, an id in each row."""
    free = [column for column in sampled.columns if column not in taken and sampled.values(column)]
    if "gtin" not in roles:
        gtins = [column for column in sampled.columns if _are_gtins(sampled.values(column))]
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


def _id_of_rows(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Take an id that each row has where the first one is that of a product with several, or some rows have none."""
    if "id" not in roles:
        return
    cells, each = sampled.values(roles["id"][0]), sampled.form.get("each", "")
    if each:  # members of a list, such as variants, would be one item with that of the object around them
        needed = "price" in roles and replaced(sampled, [roles["id"][0], *_apart(roles)]) is not None
        own = [column for column in sampled.columns if column.startswith(f"{each}.")]
    else:
        has_gaps = len(cells) < len(sampled.rows) and len(set(cells)) == len(cells)
        needed = has_gaps or _are_variants(sampled, roles)
        own = [column for column in sampled.columns if taken.get(column, "id") == "id"]
    scores = {column: name_score(column, role_names()["id"]) for column in own if _tells_rows_apart(sampled, column)}
    best = max(scores, key=lambda column: scores[column], default="")
    if needed:
        roles["id"] = [best, *roles["id"]] if scores.get(best) and best not in roles["id"] else roles["id"]
    elif not _tells_rows_apart(sampled, roles["id"][0]) and scores.get(best, 0) >= WHOLE - 50:
        roles["id"].append(best)  # a question where rows would replace one another


def _tells_rows_apart(sampled: Sample, column: str) -> bool:
    cells = sampled.values(column)
    whole = len(set(cells)) == len(cells) >= MOSTLY * len(sampled.rows)
    return whole and column not in sampled.repeated


def _are_variants(sampled: Sample, roles: dict[str, list[str]]) -> bool:
    """Return whether rows with one id mostly have several names or variants at a time, or several GTINs at any."""
    [column, *_] = roles["id"]
    at_a_time = [column, *_apart(roles)]
    keys = {"name": at_a_time, "variant": at_a_time, "gtin": [column]}
    return any(
        _mostly_differ(sampled, key, roles[role][0])
        for role, key in keys.items()
        if role in roles and roles[role][0] != column
    )


def _mostly_differ(sampled: Sample, key: list[str], column: str) -> bool:
    """Return whether rows that are alike in the columns of a key mostly differ in another column."""
    groups: dict[tuple[str | None, ...], list[str | None]] = {}
    for row in sampled.rows:
        groups.setdefault(tuple(map(row.get, key)), []).append(row.get(column))
    repeated = [cells for cells in groups.values() if len(cells) > 1]
    differing = sum(len(set(cells)) > 1 for cells in repeated)
    return differing > 0 and differing >= HALF * len(repeated)


def _apart(roles: dict[str, list[str]]) -> list[str]:
    """Return the columns that keep apart the prices of an item."""
    return [roles[role][0] for role in ("day", "channel", "currency") if role in roles]


def fill_down_of(sampled: Sample, item: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a name that only the first of several rows has is that of all, such as of a product's variants."""
    name, others = item["name"], [item.get("brand"), *item.get("category", [])]
    if not isinstance(name, dict) or "column" not in name or len(sampled.values(name["column"])) == len(sampled.rows):
        return None
    whole = [column for column in sampled.columns if len(sampled.values(column)) == len(sampled.rows)]
    for within in whole:
        # Equal stocks or prices in two rows do not make them one product.
        if within != name["column"] and role_of(within) in _KEYS_OF_PRODUCTS:
            groups = [list(rows) for _, rows in groupby(sampled.rows, key=itemgetter(within))]
            if all(_cells(rows, name["column"]) == {rows[0].get(name["column"])} for rows in groups):
                columns = [spec["column"] for spec in others if spec is not None]
                alike = [c for c in columns if all(_cells(rows, c) <= {rows[0].get(c)} for rows in groups)]
                return {"within": within, "columns": [name["column"], *alike]}
    variants = [c for c in sampled.columns if name_score(c, role_names()["variant"]) >= WHOLE - 50]
    nameless = [row for row in sampled.rows if name["column"] not in row]
    if name["column"] in sampled.rows[0] and all(not row.keys().isdisjoint(variants) for row in nameless):
        columns = [spec["column"] for spec in others if spec is not None and not _cells(nameless, spec["column"])]
        return {"within": name["column"], "columns": [name["column"], *columns]}
    return None


def _cells(rows: list[Row], column: str) -> set[str]:
    return {row[column] for row in rows if column in row}


def replaced(sampled: Sample, columns: list[str]) -> Row | None:
    """Return the first row that has in these columns what an earlier row has; None where none does."""
    met = set()
    for row in sampled.rows:
        key = tuple(row.get(column) for column in columns)
        if key in met:
            return row
        met.add(key)
    return None


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
    searched = (
        f"no items here: {looked_at} are looked at, and no column of {named} seems to hold an item's id or name. "
    )
    if "records" in sampled.form:
        return (
            f'{searched}These are the parts of the elements at "{sampled.form["records"]}". If others are the items, '
            "write a mapping by hand with their path in `records` (deploy/guides/bring-your-own-data.md), and try it "
            "with `itemindex ingest --mapping MAPPING --dry-run FILE`"
        )
    return (
        f"{searched}They are the columns of line {sampled.header}. If these are cells of an item, add a line with the "
        "names of the columns above them; if one of these columns does, write the mapping by hand "
        "(deploy/guides/bring-your-own-data.md); `itemindex rates load` reads the forms of exchange rates"
    )


def _fields(sampled: Sample, roles: dict[str, list[str]]) -> dict[str, Any]:
    """Return the fields of a mapping, by table, for columns by role."""
    if {"price", "list_price"} <= roles.keys():
        named = [currencies_named(roles[role][0]) for role in ("price", "list_price")]
        if all(named) and named[0].isdisjoint(named[1]):  # the same price in another currency
            roles["price"] += roles.pop("list_price")
    one = {role: _spec(sampled, columns[0]) for role, columns in roles.items()}
    levels = _levels(sampled, roles.get("category", []))
    item: dict[str, Any] = {"id": one.get("id", "?"), "name": one.get("name", "?")}
    if variants := _variants(sampled, roles):
        item["name"] = {"columns": [roles["name"][0], *variants], "join": " – "}
    item |= {"brand": one["brand"]} if "brand" in one else {}
    item |= {"category": [_spec(sampled, column) for column in levels]} if levels else {}
    item["identifiers"] = {role: one[role] for role in ("gtin", "isbn", "mpn", "url") if role in one}
    item["attributes"] = {role: one[role] for role in ("weight", "size", "colour") if role in one}
    fields: dict[str, Any] = {"item": item, "rivals": {"id": roles.get("id", [])[1:]}}
    if "price" in one or "sale_price" in one or "list_price" in one:
        prices = [roles[role][0] for role in ("sale_price", "price", "list_price") if role in roles]
        seen: dict[str, Any] = {role: one.get(role) for role in ("day", "channel", "currency", "units")}
        if "sale_price" in roles and len(prices) > 1:
            seen["price"] = {"first_of": prices[:2]}
            seen["list_price"] = {"column": prices[-1]} | ({} if len(prices) > 2 else {"beside": prices[0]})
        else:
            seen["price"] = price_spec(sampled, prices[0])
            seen |= {"list_price": one["list_price"]} if "list_price" in one and "price" in one else {}
        fields["observation"] = {name: spec for name, spec in seen.items() if spec is not None}
        fields["rivals"]["price"] = roles.get("price", [])[1:]
    return fields


def _variants(sampled: Sample, roles: dict[str, list[str]]) -> list[str]:
    """Return the columns that tell items with one name apart, such as a size; none where no two have one name."""
    if not {"name", "variant"} <= roles.keys() or not all(roles["name"][0] in row for row in sampled.rows):
        return []
    columns = sorted(roles["variant"], key=sampled.columns.index)
    whole = {tuple(row.get(column) for column in (roles["name"][0], *columns)) for row in sampled.rows}
    return columns if len(whole) > len(set(sampled.values(roles["name"][0]))) else []


def _spec(sampled: Sample, column: str) -> ColumnSpec:
    """Return the field of a column, with the texts that stand in it for no value."""
    nothing = sorted(NOTHING.intersection(sampled.values(column)))
    spec: ColumnSpec = {"column": column}
    return spec | {"null": nothing} if nothing else spec


def nothing_words(role: str) -> list[str]:
    """Return the words that stand in a column of a role for no value, such as "unknown" for a brand."""
    if role in ("brand", "size", "colour", "channel"):
        return word_list("nothing")
    return [*word_list("nothing"), *word_list("no_category_text")] if role == "category" else []


def price_spec(sampled: Sample, column: str) -> ColumnSpec:
    """Return the field of a column of prices, with what stands in it for a price that depends, as "on request" does."""
    cells = sampled.values(column)
    depends = set(filter(is_price_on_request, cells))
    spec = _spec(sampled, column)
    if not depends or share_of(cells, has_figure) < HALF:
        return spec
    nothing: list[str] = spec.get("null", [])
    return spec | {"null": sorted(depends.union(nothing))}


def _levels(sampled: Sample, columns: list[str]) -> list[str]:
    """Return the columns that are levels of a category: none twice, and a type only where no column is a category.

    Of the members of an object, such as id, name and slug, its name is the level.
    """
    named = {column.removesuffix(".name") for column in columns if column.endswith(".name")}
    columns = [column for column in columns if column.endswith(".name") or column.rpartition(".")[0] not in named]
    kinds = [column for column in columns if plain(column).endswith("type")]
    levels = sorted((column for column in columns if column not in kinds), key=sampled.columns.index) or kinds
    whole = [column for column in levels if _is_whole_path(sampled, column, levels)]
    levels = whole[:1] or _widest_first(sampled, levels)
    cells = [[text.casefold() for text in sampled.values(column)] for column in levels]
    kept = [column for place, column in enumerate(levels) if cells[place] not in cells[:place]]
    return [_as_people_write(sampled, column, levels) for column in kept][:_LEVELS_MAX]


def is_list(text: str) -> bool:
    """Return whether a text is a list of texts as JSON writes it."""
    return text.startswith('["') and text.endswith('"]')


def _is_whole_path(sampled: Sample, column: str, levels: list[str]) -> bool:
    """Return whether a column has the whole path of which other levels have the parts: as a list, or joined."""
    cells = sampled.values(column)
    if len(levels) < 2 or not cells:
        return False
    if share_of(cells, is_list) >= HALF:
        return True
    longer = [row for row in sampled.rows if column in row]
    others = [one for one in levels if one != column]
    joined = sum(
        any(row[column] != row.get(one) and len(row.get(one, "")) > 1 and row[one] in row[column] for one in others)
        and any(mark in row[column] for mark in _PATH_MARKS)
        for row in longer
    )
    return joined >= MOSTLY * len(longer) and joined >= HALF * len(sampled.rows)


def _widest_first(sampled: Sample, levels: list[str]) -> list[str]:
    """Return levels with the widest first, where the cells say so: each text of a narrower one has one wider text."""
    if len(levels) != 2:
        return levels
    first, second = levels
    pairs = {(row[first], row[second]) for row in sampled.rows if first in row and second in row}
    narrow, wide = ({pair[place] for pair in pairs} for place in (0, 1))
    return [second, first] if len(pairs) == len(narrow) > len(wide) > 1 else levels


def _as_people_write(sampled: Sample, column: str, levels: list[str]) -> str:
    """Return the level that has a column's texts with capital letters, as `Rings` beside `rings`."""
    cells = sampled.values(column)
    same = (one for one in levels if [*map(str.casefold, sampled.values(one))] == [*map(str.casefold, cells)])
    return max(same, key=lambda one: sum(text != text.lower() for text in sampled.values(one)))


def _are_flags(cells: list[str], further: frozenset[str] = frozenset()) -> bool:
    return (_FLAGS | further).issuperset(map(str.casefold, cells))


def gtin_by_cells(sampled: Sample) -> str:
    """Return the first column whose cells are GTINs by their check digits; an empty text where there is none."""
    others = role_names()["no_gtin"]
    return next(
        (c for c in sampled.columns if not name_score(c, others) and _are_gtins(sampled.values(c))),
        "",
    )


def _are_gtins(cells: list[str]) -> bool:
    """Return whether the check digits alone say so: of other numbers one in ten would fit."""
    return len(cells) >= 3 and share_of(cells, lambda text: len(bare_digits(text)) >= 12 and is_gtin(text)) >= MOSTLY
