"""The beginning of a file as columns of text, whatever its form: CSV, NDJSON, Parquet; plain, gzip or zstd."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from shared.errors import LoadRefused
from shared.money import CODES
from workers.ingest.calendar_days import parsed
from workers.ingest.text_stream import TextStream

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file as text, and how the file is written."""

    columns: dict[str, list[str]]
    delimiter: str = ","
    encoding: str = "utf-8"


def sample(path: Path) -> Sample:
    """Read the beginning of a file. Raises LoadRefused where it is empty or broken, or nothing can be made of it."""
    try:
        return _sampled(path)
    except (OSError, EOFError, csv.Error, pyarrow.ArrowException) as error:
        raise LoadRefused(f"{path.name}: the file is broken: {str(error).splitlines()[0][:300]}") from None


def _sampled(path: Path) -> Sample:
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if head == b"PAR1":
            batches = pyarrow.parquet.ParquetFile(path).iter_batches(SAMPLE_ROWS)
            batch = next((one for one in batches if one.num_rows), None)
            if batch is None:
                raise LoadRefused(f"{path.name}: the file has no row")
            return Sample(_gathered(batch.to_pylist()))
        raw = _beginning(TextStream(path.name, file, "utf-8", 1 << 30))
        encoding = "utf-8"
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            if error.end < len(raw) - 4:  # not only a character cut in two
                encoding = "cp1252"
        text = raw.decode(encoding, "replace")
    if not text.strip():
        raise LoadRefused(f"{path.name}: the file is empty")
    if text.lstrip().startswith("{"):
        return Sample(_members(text))
    return _cells(text, encoding)


def _beginning(stream: TextStream) -> bytes:
    raw = b""
    while len(raw) < SAMPLE_BYTES and (chunk := stream.read(SAMPLE_BYTES)):
        raw += chunk
    return raw[:SAMPLE_BYTES]


def _members(text: str) -> dict[str, list[str]]:
    rows = []
    for line in io.StringIO(text, newline=None).readlines()[:SAMPLE_ROWS]:
        try:
            row = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            continue
        rows += [row] if isinstance(row, dict) else []
    columns = _gathered(rows)
    if not columns:
        raise LoadRefused("no line of the file's beginning is a JSON object")
    return columns


def _gathered(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the values of rows by the path of their member."""
    columns: dict[str, list[str]] = {}
    for row in rows:
        for name, value in _flat(row):
            columns.setdefault(name, [])
            columns[name] += [] if value is None else [str(value)]
    objects = {name.rpartition(".")[0] for name in columns}  # such a one is null in some rows
    return {name: values for name, values in columns.items() if values or name not in objects}


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the single values of a row with their paths; of a list of objects those of the first."""
    for name, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from _flat(value[0], f"{prefix}{name}.0.")
        elif isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list):
            yield prefix + name, value


def _cells(text: str, encoding: str) -> Sample:
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = next(rows, [])
    columns: dict[str, list[str]] = {name: [] for name in header}
    for _, row in zip(range(SAMPLE_ROWS), rows, strict=False):
        for name, cell in zip(header, row, strict=False):
            if cell.strip():
                columns[name].append(cell.strip())
    return Sample(columns, delimiter, encoding)


# A first mapping from a file: the likely meaning of its columns, as TOML with comments for a person to correct.


_MOSTLY = 0.9
_HALF = 0.5
_FORMATS = (
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y%m%d",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%z",
    "%B %d, %Y",
    "%d %b %Y",
    "%Y-%m",
    "%Y",
)
_MARK = r"(?:[^\w\s.,-]{1,2}|[A-Z]{2,3}|[A-Z]{1,3}\$)?"
_NUMBER = re.compile(rf"{_MARK}\s?-?\d[\d.,' ]*\s?{_MARK}")
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
# Taken out of a price, it leaves the mark of its currency.
_FIGURE = re.compile(r"[\d\s.,'-]+")
# What prices write for a currency; $ has its usual meaning where nothing says which dollar it is.
_SIGNS = {
    "$": "USD",
    "A$": "AUD",
    "AU$": "AUD",
    "C$": "CAD",
    "CA$": "CAD",
    "HK$": "HKD",
    "MX$": "MXN",
    "NT$": "TWD",
    "NZ$": "NZD",
    "R$": "BRL",
    "S$": "SGD",
    "US$": "USD",
    "£": "GBP",
    "฿": "THB",
    "₡": "CRC",
    "₦": "NGN",
    "₩": "KRW",
    "₪": "ILS",
    "₫": "VND",
    "€": "EUR",
    "₱": "PHP",
    "₴": "UAH",
    "₸": "KZT",
    "₹": "INR",
    "₺": "TRY",
    "₽": "RUB",
}
# Signs of several currencies: beside a column of the currency they may mean any of these.
_SHARED = {
    "$": frozenset(
        "ARS AUD BBD BMD BND BSD BZD CAD CLP COP FJD HKD JMD LRD MXN NAD NZD SGD TTD TWD USD UYU XCD".split()
    ),
    "¥": frozenset(("CNY", "JPY")),
    "£": frozenset(("EGP", "FKP", "GBP", "GIP", "LBP", "SDG", "SHP", "SYP")),
}
_NAMES = {
    "id": r"(^|_|\b)(id|sku|code|product.?code|article|asin)$",
    "name": r"name|title|bezeichnung|description$",
    "brand": r"brand|maker|manufacturer|marke|company",
    "category": r"categor|department|group|kategorie|^cat\b",
    "price": r"price|preis|amount|cost",
    "list_price": r"list|rrp|msrp|retail|was",
    "day": r"date|day|datum|time",
    "channel": r"shop|store|channel|market|retailer",
    "currency": r"currency|^curr?$",
    "units": r"units|quantity|qty",
}


def guess(path: Path) -> str:
    """Return a mapping for a file as TOML, with a comment on each column and on all that a person must decide."""
    sampled = sample(path)
    chosen = _roles(sampled.columns)
    source = re.sub(r"[^a-z0-9]+", "_", path.name.split(".")[0].lower()).strip("_") or "source"
    source = source if source[0].isalpha() else f"s_{source}"
    lines = [
        "# A first mapping, guessed from the beginning of the file. Correct it, then try it with --dry-run.",
        f"source = {_quoted(source[:60])}  # with an item's id it makes the IID: keep it for ever",
        f"title = {_quoted(path.name)}  # as answers show it",
        'license = "unknown"  # say under which terms the data is',
    ]
    lines += [f"encoding = {_quoted(sampled.encoding)}"] if sampled.encoding != "utf-8" else []
    lines += [f"delimiter = {_quoted(sampled.delimiter)}"] if sampled.delimiter != "," else []
    lines += [
        "",
        *_item(sampled.columns, chosen),
        *_observation(sampled.columns, chosen),
        "",
        "# The columns of the file, and what they hold:",
    ]
    lines += [f"# {_quoted(name)}: {_described(values)}" for name, values in sampled.columns.items()]
    return "\n".join(lines) + "\n"


def _roles(columns: dict[str, list[str]]) -> dict[str, str]:
    """Choose a column for each part of an item and an observation, by its name and its values."""
    checks: dict[str, Callable[[list[str]], bool]] = {
        "price": _are_numbers,
        "list_price": _are_numbers,
        "units": _are_numbers,
        "day": lambda values: bool(_formats(values, _HALF)),
        "currency": lambda values: _mostly(values, lambda text: bool(_CURRENCY.fullmatch(text))),
    }
    chosen: dict[str, str] = {}
    for role in ("currency", "day", "list_price", "price", "units", "id", "name", "brand", "category", "channel"):
        for name, values in columns.items():
            named = name not in chosen.values() and re.search(_NAMES[role], name, re.IGNORECASE)
            if named and values and (role not in checks or checks[role](values)):
                chosen[role] = name
                break
    free = [name for name in columns if name not in chosen.values()]
    if "id" not in chosen and free:
        chosen["id"] = max(free, key=lambda name: len(set(columns[name])))
    days = [name for name in free if _formats(columns[name]) and not _are_numbers(columns[name])]
    if "day" not in chosen and days:
        chosen["day"] = days[0]
    return chosen


def _item(columns: dict[str, list[str]], chosen: dict[str, str]) -> list[str]:
    lines = [
        "[item]",
        f'id = {_quoted(chosen.get("id", ""))}  # what the source itself knows it by; two columns: ["shop", "sku"]',
    ]
    name = chosen.get("name", chosen.get("id", ""))
    lines.append(f"name = {_quoted(name)}" + ("" if "name" in chosen else "  # no column seems to be a name"))
    lines += [f"brand = {_quoted(chosen['brand'])}"] if "brand" in chosen else []
    taken = {column for role, column in chosen.items() if role != "category"}
    levels = [name for name in columns if name not in taken and re.search(_NAMES["category"], name, re.IGNORECASE)][:8]
    lines += [f"category = [{', '.join(map(_quoted, levels))}]  # from the widest"] if levels else []
    gtins = [column for column, values in columns.items() if _mostly(values, is_gtin)]
    if gtins:
        lines += ["", "[item.identifiers]", f"gtin = {_quoted(gtins[0])}  # the check digits fit"]
    return lines


def _observation(columns: dict[str, list[str]], chosen: dict[str, str]) -> list[str]:
    if "price" not in chosen:
        return ["", "# No column seems to be a price: the mapping brings items alone."]
    prices = columns[chosen["price"]]
    channel = (
        _quoted(chosen["channel"]) if "channel" in chosen else '{ constant = "SHOP" }  # where the prices are from'
    )
    day = _day(columns, chosen.get("day"))
    currency, marks = _currency(columns, chosen)
    price = _amount(chosen["price"], prices, marks)
    lines = ["", "[observation]", f"day = {day}", f"channel = {channel}", f"price = {price}", f"currency = {currency}"]
    if "list_price" in chosen:
        lines.append(_list_price(chosen["list_price"], columns[chosen["list_price"]], marks))
    lines += [f"units = {_quoted(chosen['units'])}"] if "units" in chosen else []
    lines += [
        'kind = "listing"  # or "sale"',
        'identity = "state"  # or "event", where each row counts, as single sales do',
    ]
    return lines


def _day(columns: dict[str, list[str]], name: str | None) -> str:
    """Return the field of the day; where none is known, one that refuses the file until a person has chosen."""
    if name is None:
        return '"?"  # no column seems to be a day; perhaps { file_name = "prices-([0-9-]{10})" }'
    first, *others = _formats(columns[name]) or [""]
    if not first:  # two formats share the column, or many days are unreadable: its name says that it holds days
        several = ", ".join(map(_quoted, _formats(columns[name], _HALF)))
        return f"{{ column = {_quoted(name)}, format = [{several}] }}  # does not fit all rows: see the rejects"
    return f"{{ column = {_quoted(name)}, format = {_quoted(first)} }}" + (
        f"  # {' and '.join(others)} would fit as well" if others else ""
    )


def _currency(columns: dict[str, list[str]], chosen: dict[str, str]) -> tuple[str, list[str]]:
    """Return the field of the currency, and the marks of currencies that amounts may be written with.

    Where the prices state their currency it is read from each of them. What only some of them state is not the currency
    of all, and a mark is taken out of amounts only where it says the same as the currency that is read.
    """
    name = chosen["price"]
    stated = Counter(_FIGURE.sub("", text) for text in columns[name])
    bare, total = stated.pop("", 0), len(columns[name])
    if "currency" in chosen and len(stated) <= 1:
        [mark] = stated or [""]
        meant = _SHARED.get(mark, {_of_mark(mark)})
        if not mark or meant.issuperset(columns[chosen["currency"]]):
            return _quoted(chosen["currency"]), list(stated)
    if not stated:
        return '"?"  # no column seems to be one: { constant = "EUR" }?', []
    seen = ", ".join(map(_quoted, stated))
    known = {mark: currency for mark in stated if (currency := _of_mark(mark)) is not None}
    if "currency" in chosen and set(known.values()) != set(columns[chosen["currency"]]):
        return f"{_quoted(chosen['currency'])}  # or {seen} of the prices? Until one is chosen these are rejected", []
    if sum(stated[mark] for mark in known) < _MOSTLY * total:
        return f'"?"  # no column seems to be one; {total - bare} of {total} prices with {seen}: of which currency?', []
    return _of_each_price(name, known, sorted(stated.keys() - known)), list(known)


def _of_each_price(name: str, known: dict[str, str], unknown: list[str]) -> str:
    """Return a field that reads the currency out of each price: the one mark that it has."""
    signs = "".join(sorted({character for mark in known for character in mark if not character.isalpha()}))
    others = f"[^A-Za-z{re.escape(signs)}]*"
    either = "|".join(re.escape(mark) for mark in sorted(known, key=len, reverse=True))
    keys = [f"column = {_quoted(name)}", f"match = {_quoted(f'^{others}({either}){others}$')}"]
    if any(mark != currency for mark, currency in known.items()):
        table = ", ".join(f"{_quoted(mark)} = {_quoted(currency)}" for mark, currency in known.items())
        keys.append(f"crosswalk = {{ {table} }}")
    comments = ["each price states its own; one that states none of these is rejected"]
    comments += ["$ is taken for USD"] if "$" in known else []
    comments += [f"not known: {', '.join(map(_quoted, unknown))}"] if unknown else []
    return f"{{ {', '.join(keys)} }}  # {'; '.join(comments)}"


def _of_mark(mark: str) -> str | None:
    """Return the currency of a mark; None where it is of none, or of several that are as likely, as ¥ is."""
    return mark if mark in CODES else _SIGNS.get(mark)


def _list_price(name: str, values: list[str], marks: list[str]) -> str:
    """Return the line of the list price, whose currency is that of its row's price: none where it may state another."""
    stated = {_FIGURE.sub("", text) for text in values} - {""}
    if not stated or (len({_of_mark(mark) for mark in marks}) == 1 and stated <= set(marks)):
        return f"list_price = {_amount(name, values, marks)}"
    seen = ", ".join(map(_quoted, sorted(stated)))
    return f"# list_price: {_quoted(name)} holds {seen}, and a list price must have the currency of its row's price"


def _amount(name: str, values: list[str], marks: list[str]) -> str:
    """Return a field of an amount with the separators that its texts have, and without these marks of currencies."""
    spaces = "".join(sorted({character for text in values for character in text if character.isspace()} - {" "}))
    comma, point = (sum(bool(re.search(rf"\{mark}\d{{1,2}}\D*$", text)) for text in values) for mark in ",.")
    decimal = "," if comma > point else "."
    grouped = [
        mark for mark in ".,'" if mark != decimal and any(re.search(rf"\d\{mark}\d{{3}}", text) for text in values)
    ]
    keys = [f"column = {_quoted(name)}"]
    taken_out = ", ".join(f'{_quoted(mark)} = ""' for mark in sorted(marks, key=len, reverse=True))
    keys += [f"replace = {{ {taken_out} }}"] if taken_out else []
    keys += [f"strip = {_quoted(spaces)}"] if spaces else []
    keys += [f"thousands = {_quoted(grouped[0])}"] if grouped else []
    keys += ['decimal = ","'] if decimal == "," else []
    return f"{{ {', '.join(keys)} }}" if len(keys) > 1 else _quoted(name)


def _formats(values: list[str], share: float = _MOSTLY) -> list[str]:
    """Return the formats of days that such a share of the texts fits."""
    fit = {form: sum(parsed(text, (form,)) is not None for text in values) for form in _FORMATS if values}
    return [form for form, count in fit.items() if count >= share * len(values)]


def _are_numbers(values: list[str]) -> bool:
    return _mostly(values, lambda text: bool(_NUMBER.fullmatch(text)))


def _mostly(values: list[str], fits: Callable[[str], bool]) -> bool:
    return bool(values) and sum(map(fits, values)) >= _MOSTLY * len(values)


def is_gtin(text: str) -> bool:
    """Return whether a text has the length and the check digit of a GTIN (GS1 General Specifications, 7.9)."""
    if not re.fullmatch(r"[0-9]{8}|[0-9]{12,14}", text, re.ASCII):
        return False
    digits = [int(digit) for digit in reversed(text)]
    return sum(digit * (3 if position % 2 else 1) for position, digit in enumerate(digits)) % 10 == 0


def _described(values: list[str]) -> str:
    distinct = list(dict.fromkeys(values))
    kind = "days" if _formats(values, _HALF) else "numbers" if _are_numbers(values) else "texts"
    shown = ", ".join(_quoted(text[:40]) for text in distinct[:3])
    return f"{kind}, {len(distinct)} distinct of {len(values)} given: {shown}" if values else "always empty"


def _quoted(text: str) -> str:
    """Return a text as TOML writes it, without any character that a terminal would obey."""
    return '"' + "".join(_written(character) for character in text) + '"'


def _written(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
