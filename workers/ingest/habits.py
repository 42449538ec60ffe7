"""How the cells of a column are written: identifiers, days, amounts and the marks of currencies. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from shared.gtin.number import check_digit
from shared.money import MARKS
from workers.ingest import clean
from workers.ingest.batches import Batch
from workers.ingest.calendar_days import parsed, today
from workers.ingest.fields import Field

# Shares of the cells of a column that decide what it holds.
MOSTLY = 0.9
HALF = 0.5
_STRAY = 0.02
_DAY_CHARACTERS_MAX = 40

# Formats of days that cannot be taken for one another, and groups of those that can: the same text may be two days.
_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z",
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M%z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d-%b-%Y",
    "%d. %B %Y", "%d. %b %Y", "%d de %B de %Y", "%d de %b de %Y", "%Y年%-m月%-d日", "%Y-%m", "%Y",
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
_FIGURE = re.compile(r"[\d\s.,'’`\u2013\u2014-]+")
_EXPONENT = re.compile(r"(?<=[0-9])[eE][+-]?[0-9]+\b")
_SPREADSHEET = re.compile(r"[0-9](?:[.,][0-9]+)?E\+?[0-9]{1,2}", re.IGNORECASE | re.ASCII)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
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


def is_shortened(text: str) -> bool:
    """Return whether a text is a number as a spreadsheet shows it: without most of its digits."""
    return bool(_SPREADSHEET.fullmatch(text))


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return bool(_ADDRESS.fullmatch(text))


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
    """Return whether all cells are digits with separators: amounts, or years."""
    return all(re.fullmatch(r"[\d.,]+", text) for text in cells)


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
    return _FIGURE.sub("", _EXPONENT.sub("", text)) if any(map(str.isdigit, text)) else ""


def meant_by(mark: str) -> frozenset[str]:
    """Return the currencies that a mark may mean; £ alone is pounds sterling, as $ alone is of no one country."""
    return frozenset(("GBP",)) if mark == "£" else MARKS.get(mark, frozenset())


def commonest(currencies: Iterable[str]) -> list[str]:
    """Return currencies, the commonest first."""
    return sorted(currencies, key=lambda code: (COMMON.index(code) if code in COMMON else len(COMMON), code))


def may_be(currencies: Iterable[str]) -> str:
    """Say which currencies a sign may mean, the commonest first."""
    ordered = commonest(currencies)
    if not ordered:
        return "is no currency that is known"
    return f"may be {', '.join(ordered[:4])}{' or another' if len(ordered) > 4 else ''}"


def read_numbers(spec: dict[str, Any], texts: list[str]) -> list[str | None]:
    """Read numbers as a load does."""
    read = clean.numbers(_field(spec), Batch({"": pa.array(texts, pa.string())}, []), Path(), signed=True)
    return [str(value) if value is not None else None for value in read.values.to_pylist()]


def free_amounts(spec: dict[str, Any], texts: list[str]) -> list[int | None]:
    """Read amounts as a load does, each in the currency that it states."""
    read: list[int | None] = []
    for text in texts:
        meant = sorted(meant_by(mark_of(text)))
        batch = Batch({"": pa.array([text], pa.string())}, [])
        read += clean.amounts(_field(spec), batch, Path(), meant[0] if meant else "").values.to_pylist()
    return read


def _field(spec: dict[str, Any]) -> Field:
    keys = {name: spec[name] for name in ("strip", "thousands", "decimal", "free_form") if name in spec}
    return Field(column="", replace=tuple(spec.get("replace", {}).items()), **keys)


def differ(one: str, other: str) -> bool:
    """Return whether two readings of an amount are not the same amount."""
    return float(one) != float(other)
