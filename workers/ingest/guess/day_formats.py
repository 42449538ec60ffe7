"""The formats of days that fit the cells of a column. Pure."""

import re
from collections import Counter

from workers.ingest.calendar_days import parsed, today
from workers.ingest.guess.cell_kinds import share_of

_STRAY = 0.02
DAY_CHARACTERS_MAX = 40

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


def day_formats(cells: list[str], share: float) -> dict[str, int]:
    """Return the formats that fit cells, with how many: the fewest that together fit as many as any can.

    Of several orders of a day's parts only the one that fits most; all of them where they fit as many. None where they
    fit a smaller share of the cells than this.
    """
    texts = Counter(cells)
    if share_of(cells, lambda text: len(text) <= DAY_CHARACTERS_MAX and any(map(str.isdigit, text))) < share:
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
