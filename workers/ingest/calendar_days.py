"""Days as sources write them, to days since 2000-01-01 (PostgreSQL's epoch). Only days that exist. Pure."""

import calendar
import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache

from babel import Locale

from shared.clock import utc_now
from shared.db.copy_binary import EPOCH
from shared.text import in_ascii

_EARLIEST = date(1900, 1, 1)
_ISO = "%Y-%m-%d"
EXCEL = "excel"
# Day 0 of the serial numbers from March 1900 on: Excel has a 29 February 1900, which never was (ECMA-376, 18.17.4.1).
_EXCEL_EPOCH = date(1899, 12, 30)
_SERIAL = re.compile(r"([0-9]{2,6})(?:\.[0-9]+)?", re.ASCII)
_SERIAL_MIN = 61
_ISO_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DIRECTIVE = re.compile(r"%-?(.)")
# Directives of C's strptime that Python's lacks, by others.
_SPELLED = {"%F": _ISO, "%T": "%H:%M:%S", "%R": "%H:%M", "%D": "%m/%d/%y", "%e": "%d"}
# Python's parser lets day 366 of 2025 or week 53 of a shorter year begin the next one, and guesses where digits of
# directives without a separator belong: in such formats the day is written back and compared.
_COUNTED = re.compile(r"%[jUWGV]")
_ADJACENT = re.compile(r"%[YmdyjHMSGVUW]%[YmdyjHMSGVUW]")
_TIME = re.compile(r"%[HIMSfpzZX]")
_MONTH_NAME = re.compile(r"%-?([bB])")
_WIDTHS = {"B": "wide", "b": "abbreviated"}
# Not Croatian, whose October is called as the November of Czech and Polish.
_LANGUAGES = tuple("en de fr es it nl pl pt cs sk sv da nb fi hu ro tr ru uk el bg sl id ar he".split())
# A month's name, with the point that many languages put behind a short one.
_WORD = re.compile(r"[^\W\d_]+\.?")
# The first of a month in French, Italian and Portuguese: 1er mars, 1º marzo.
_FIRST = re.compile(r"^1(?:er|º|°)(?= )")
_YEAR_DIRECTIVES = set("YyGxc")
_DAY_DIRECTIVES = set("djaAuwxc")
_MONTH_DIRECTIVES = set("mbB")
_SUNDAY = " %u"


def number(day: date) -> int:
    """Return days since 2000-01-01."""
    return (day - EPOCH).days


def today() -> int:
    """Return today (UTC) in days since 2000-01-01."""
    return number(utc_now().date())


def bounds(earliest: str, latest: str) -> tuple[int, int]:
    """Return the first and last day that are allowed, from ISO texts; empty means 1900-01-01 and tomorrow (UTC)."""
    first = date.fromisoformat(earliest) if earliest else _EARLIEST
    return number(first), number(date.fromisoformat(latest)) if latest else today() + 1


def is_format(form: str) -> bool:
    """Return whether a format can be used: a day without a year would be one of 1900."""
    if form == EXCEL:
        return True
    if not _YEAR_DIRECTIVES & set(_DIRECTIVE.findall(_of_python(form))):
        return False
    try:
        datetime.strptime("", _of_python(form))
    except ValueError as error:
        return "does not match" in str(error)
    except re.error:  # a repeated directive
        return False
    return True


@lru_cache(maxsize=65_536)
def parsed(text: str | None, formats: tuple[str, ...]) -> int | None:
    """Return the day of a text by the first format that it fits, in days since 2000-01-01; None where it fits none."""
    if text is None:
        return None
    plain = in_ascii(text)
    for form in formats:
        day = _day(plain, form)
        if day is not None:
            return number(day)
    return None


def _day(text: str, form: str) -> date | None:
    if form == EXCEL:
        serial = _SERIAL.fullmatch(text)
        return _EXCEL_EPOCH + timedelta(days=int(serial[1])) if serial and int(serial[1]) >= _SERIAL_MIN else None
    # Python's own parser would also take 2026-2-3 and, for %Y, years of fewer digits.
    if form == _ISO and not _ISO_TEXT.fullmatch(text):
        return None
    named = _MONTH_NAME.search(form)
    if named:
        text = _in_english(text, named[1])
    try:
        python = _of_python(form)
        # A week alone means its last day, Sunday.
        moment = datetime.strptime(f"{text} 7" if python.endswith(_SUNDAY) else text, python)
        if not _reads_back(text, moment, python.removesuffix(_SUNDAY)):
            return None
        return _last_day(moment.astimezone(UTC).date() if moment.tzinfo else moment.date(), form)
    except (ValueError, OverflowError):
        return None


def _in_english(text: str, directive: str) -> str:
    """Return the text of a day with the month's name as Python's parser knows it."""
    whole = unicodedata.normalize("NFC", _FIRST.sub("1", text))
    # The names of all languages take longer to load than most files to guess: only a text with a word needs them.
    return _WORD.sub(lambda word: _month_names(directive).get(_bare(word[0]), word[0]), whole)


@cache
def _month_names(directive: str) -> dict[str, str]:
    """Return the months of all languages, without accents, with their English names: no name is that of two months."""
    width, english = _WIDTHS[directive], calendar.month_name if directive == "B" else calendar.month_abbr
    return {
        _bare(name): english[number]
        for language in _LANGUAGES
        for use in ("format", "stand-alone")
        for number, name in Locale(language).months[use][width].items()
    }


def _bare(word: str) -> str:
    """Return a word in lower case, without its accents and the point behind it: files leave these out."""
    letters = unicodedata.normalize("NFKD", word.casefold().rstrip("."))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _reads_back(text: str, moment: datetime, form: str) -> bool:
    """Return whether the day, written in its format, is the text again, where the format allows a wrong reading."""
    if not (_COUNTED.search(form) or _ADJACENT.search(form)):
        return True
    written = moment.strftime(_TIME.split(form, maxsplit=1)[0])
    if _ADJACENT.search(form):
        return text.casefold().startswith(written.casefold())
    return _without_zeros(text).startswith(_without_zeros(written))


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text).casefold()


def _last_day(day: date, form: str) -> date:
    """A year or a month alone means its last day, when it is complete."""
    directives = set(_DIRECTIVE.findall(_of_python(form)))
    if directives & _DAY_DIRECTIVES:
        return day
    month = day.month if directives & _MONTH_DIRECTIVES else 12
    return day.replace(month=month, day=calendar.monthrange(day.year, month)[1])


@lru_cache(maxsize=256)
def _of_python(form: str) -> str:
    for short, spelled in _SPELLED.items():
        form = form.replace(short, spelled)
    form = form.replace("%-", "%")
    directives = set(_DIRECTIVE.findall(form))
    return form + _SUNDAY if "V" in directives and not directives & _DAY_DIRECTIVES else form


def shown(day: int) -> date:
    """Return the date of a number of days since 2000-01-01."""
    return EPOCH + timedelta(days=day)
