"""Where a file says its currency other than in its prices: names of columns, number formats, titles, other amounts."""

import re
from pathlib import Path
from typing import NamedTuple

from shared.currencies import CODES, SIGNS
from shared.printable import many
from shared.toml_text import quoted
from workers.ingest.column_names import PART, name_score, role_names, word_list
from workers.ingest.guess.cell_kinds import HALF, has_figure
from workers.ingest.guess.currency_marks import COMMON, currencies_named, currencies_of_format, mark_of, meant_by
from workers.ingest.sampling.sample import Sample

# The unit of a price behind it: "2,50 € / kg", "15,50 €/ud.", "3.20 per piece". "12/-" has none.
BEHIND = r"(?:\s*/\s*[^\s0-9/-].*|\s(?:per|pro|je|por|za|за)\s.+)?"
_UNIT_OF_AMOUNT = re.compile(BEHIND + "$")
_RULES_OF_TABLES = "|:~ "
_CODE_IN_NAME = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
# So many cells of a column show that its marks are those of a currency.
_AMOUNTS_MIN = 3
# Any code may stand beside what is called a price; of other columns "5 KGS" and "2 CUP" are weights and cups.
_PRICES = ("price", "sale_price", "list_price", "no_price")


_DOMAIN = re.compile(r"https?://[^/?#:]+\.([a-z]{2,})(?:[/?#:]|$)")


class Said(NamedTuple):
    """A currency, and which part of the file says it; `is_sure` where that says it of the prices themselves."""

    code: str
    why: str
    is_sure: bool


def currency_said(sampled: Sample, path: Path, prices: list[str], others: list[str]) -> Said | None:
    """Return the currency of prices that have none beside them; None where no part of the file says one alone.

    `others` are columns that may be the price too.
    """
    return (
        _of_names(sampled, [*prices, *others])
        or _of_formats(sampled, prices)
        or _of_titles(sampled)
        or _of_other_amounts(sampled, prices)
        or _of_file_name(path)
        or _of_addresses(sampled)
    )


def _of_names(sampled: Sample, columns: list[str]) -> Said | None:
    """Return what the names of columns of prices say, or one such as eBay's files have."""
    columns = [*columns, *(column for column in sampled.columns if "Currency=" in column)]
    found = {code: column for column in reversed(columns) for code in currencies_named(column)}
    return _only({code: f"the column {quoted(column)} says so" for code, column in found.items()}, is_sure=True)


def _of_formats(sampled: Sample, columns: list[str]) -> Said | None:
    found = {
        code: f"the cells of {quoted(column)} are shown with it"
        for column in columns
        for form in sampled.formats.get(column, ())
        for code in currencies_of_format(form)
    }
    return _only(found, is_sure=True)


def _of_titles(sampled: Sample) -> Said | None:
    return _only(
        {
            code: f"is {code} for all prices, as {quoted(title[:80])} above them says?"
            for title in sampled.titles
            for code in currencies_named(title)
        }
    )


def _of_other_amounts(sampled: Sample, prices: list[str]) -> Said | None:
    """Return the currency that other amounts state, such as list prices or prices per kilogram."""
    found: dict[str, str] = {}
    for column in sampled.columns:
        amounts = [
            text for cell in sampled.values(column) if has_figure(text := _bare(cell)) and any(map(str.isdigit, text))
        ]
        is_price = any(name_score(column, role_names()[role]) >= PART for role in _PRICES)
        if column in prices or not amounts or (len(amounts) < _AMOUNTS_MIN and not is_price):
            continue
        marks = [mark for text in amounts if meant_by(mark := mark_of(text))]
        if len(marks) < HALF * len(amounts):
            continue
        if not is_price and not {*marks} <= {*COMMON, *SIGNS}:
            continue
        meant = {meant_by(mark) for mark in marks}
        if all(len(codes) == 1 for codes in meant):
            found |= {
                code: f"only {quoted(column)} states one, {code}, in {many(len(marks), 'cell')}: are all prices in it?"
                for codes in meant
                for code in codes
            }
    return _only(found)


def _bare(cell: str) -> str:
    """Return an amount without its unit, and without the rule of a table before it."""
    return _UNIT_OF_AMOUNT.sub("", cell.strip(_RULES_OF_TABLES))


def _of_file_name(path: Path) -> Said | None:
    codes = [code for code in _CODE_IN_NAME.findall(path.name) if code in CODES]
    return _only({code: f"is {code} for all prices, as the name of the file says?" for code in codes if code in COMMON})


def _of_addresses(sampled: Sample) -> Said | None:
    """Return the currency of the one country in whose domain all addresses of the file are."""
    domains = {
        match[1]
        for column in sampled.columns
        if name_score(column, role_names()["url"]) >= PART
        for text in sampled.values(column)
        if (match := _DOMAIN.match(text.lower()))
    }
    of_country = dict(entry.split("=") for entry in word_list("domains"))
    found = {of_country[domain]: domain for domain in domains if domain in of_country} if len(domains) == 1 else {}
    return _only({code: f"is {code} for all prices, as the addresses end in .{end}?" for code, end in found.items()})


def _only(found: dict[str, str], *, is_sure: bool = False) -> Said | None:
    if len(found) != 1:
        return None
    [(code, why)] = found.items()
    return Said(code, why, is_sure)
