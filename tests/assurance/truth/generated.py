"""A set of odd data on purpose: long decimals, currencies of 0 to 4 digits, spellings that fold, sales beside listings.

The same seed gives the same files. Rows that no load may take are among them; the recipes find them by rules of their own.
"""

import csv
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from random import Random

from tests.assurance.truth.naming import minor, mint
from tests.assurance.truth.sets import World, set_of

_ITEMS, _REDUCED, _SOLD = 90, 20, 40
_BRANDS = ("Café Noir", "CAFE NOIR", "cafe-noir", "Ærø & Søn", "豆奶屋", "O’Brien", "OBrien", "ÅNGSTRÖM", "x", "")
_PATHS = (
    "Généré > Tee & Kaffee > Grün",
    "généré > tee  kaffee > schwarz",
    "Généré > 豆奶",
    "Werkzeug",
    "Werkzeug > Säge",
    "",
)
_SHOPS = ("Nord", "NORD", "Süd", "sud", "東", "West-1")
_DAYS = tuple(map(date.fromisoformat, ("1990-01-02", "1999-12-31", "2000-02-29", "2024-02-29", "2025-12-31")))
_CURRENCIES = ("USD", "EUR", "JPY", "KWD", "CLF", "KRW")
# A price, and the one that is crossed out beside it.
_SHOWN = (("10", ""), ("10", ""), ("9", "10"), ("8", "10"), ("9", "12"), ("10", "12"))
_BAD_LISTINGS = (
    {"day": "31.02.2026"},
    {"day": "2026-02-01"},
    {"day": ""},
    {"currency": "JPY", "price": "1000.5"},
    {"price": "-5"},
    {"price": "about 5"},
    {"price": "1,234.50"},
    {"currency": "dollars"},
    {"name": " "},
    {"id": ""},
    {"co2": "n/a 5"},
    {"water": "-1"},
    {"quality": "(2,3,1,2)"},
    {"quality": "(2,3,1,2,6)"},
    {"year": "1850"},
    {"shop": ""},
    {"currency": "KWD", "price": "1.2345"},
)


def generated(folder: Path, seed: int = 1) -> World:
    """Write the files into a folder."""
    random = Random(seed)
    _write(folder / "generated_listings.csv", [*_listings(random), *_reduced(random)])
    _write(folder / "generated_sales.csv", list(_sales(random)))
    _write(folder / "generated_factors.csv", list(_factors(random)))
    names = ("generated_listings", "generated_sales", "generated_factors")
    listed = [mint("generated_listings", f"g{n}") for n in range(_ITEMS)]
    # Sales of even numbers bring an IID of their own, the others get one.
    sold = [mint("generated_sales", f"s{n}") for n in range(1, _SOLD, 2)]
    return World(
        tuple(set_of(name, folder / f"{name}.csv") for name in names),
        withdrawn=(listed[0], listed[1], sold[0], "IID-GENERATED-0"),
        merged=(
            (sold[1], listed[2]),
            (sold[2], listed[2]),
            (sold[3], listed[3]),
            ("IID-GENERATED-2", listed[4]),
            (listed[5], listed[6]),
        ),
    )


def _listings(random: Random) -> Iterator[dict[str, str]]:
    for n in range(_ITEMS):
        item = {
            "id": f"g{n}",
            "name": f"Gegenstand {n} №{random.randrange(999)} 測試",
            "maker": random.choice(_BRANDS),
            "path": random.choice(_PATHS),
            "kind": random.choice(("Tee", "Säge", "", "豆奶")),
            "weight": random.choice(("", "0.12345678901234567", "1.5", "250", "0", "heavy")),
            "co2": random.choice(
                ("", "12.12345678901234567", "0.1234567890123456", "0", "1.5e-3", "123456789012345678")
            ),
            "water": random.choice(("", "", "0.000000000123456789", "7")),
            "quality": random.choice(("", "(2,3,1,2,4)", "1;1; 1;1;1", "5, 5,5, 5,5")),
            "year": random.choice(("", "1999", "2024")),
        }
        for _ in range(random.randint(1, 14)):
            currency = random.choice(_CURRENCIES[: 1 + n % 6])
            price = _amount(random, currency)
            row = {
                **item,
                "day": f"{_day(random):%d.%m.%Y}",
                "shop": random.choice(_SHOPS),
                "price": price,
                "was": random.choice(("", price, _amount(random, currency))),
                "currency": currency,
            }
            yield row
            if random.random() < 0.15:
                yield {
                    **row,
                    "name": f"{row['name']} (neu)",
                    "price": _amount(random, currency),
                }  # the same state again
            if random.random() < 0.1:
                yield {**row, **random.choice(_BAD_LISTINGS)}


def _reduced(random: Random) -> Iterator[dict[str, str]]:
    """Yield listings of almost every day of some months, now and then below a price that is crossed out."""
    for n in range(_REDUCED):
        item = {"id": f"r{n}", "name": f"Angebot {n}", "maker": random.choice(_BRANDS), "path": random.choice(_PATHS)}
        unknown = dict.fromkeys(("kind", "weight", "co2", "water", "quality", "year"), "")
        unchanged = random.choice((10, 31, 31, 40))
        for day in range(160):
            if day % unchanged == 0:
                price, was = random.choice(_SHOWN)
            if random.random() < 0.998:
                seen = f"{date(2026, 6, 1) + timedelta(days=day):%d.%m.%Y}"
                yield {**item, **unknown, "day": seen, "shop": "Nord", "price": price, "was": was, "currency": "EUR"}


def _sales(random: Random) -> Iterator[dict[str, str]]:
    for n in range(_SOLD):
        own = f"iid-generated-{n}" if n % 2 == 0 else ""
        for _ in range(random.randint(1, 9)):
            paid = f"{random.randint(1, 2000):,}".replace(",", ".") + f",{random.randint(0, 99):02d} €"
            row = {
                "order": str(random.randrange(10)),
                "sku": f"s{n}",
                "iid": own,
                "title": f"Ware {n}",
                "maker": random.choice(_BRANDS) if n % 3 else "",
                "sold": f"{_day(random):%Y/%m/%d}",
                "qty": str(random.choice((1, 1, 2, 12, 1000))),
                "paid": paid,
                "full": random.choice(("", "2.500,00 €")),
            }
            yield from [row] * random.choice((1, 1, 1, 2))  # equal sales each count
            if random.random() < 0.1:
                yield {
                    **row,
                    **random.choice(
                        ({"qty": "0"}, {"qty": "1.5"}, {"iid": "BAD"}, {"paid": ""}, {"sold": "2026/13/01"})
                    ),
                }


def _factors(random: Random) -> Iterator[dict[str, str]]:
    for code in ("genere.tee-kaffee", "genere.tee-kaffee.grun", "genere", "werkzeug.sage"):
        for _ in range(random.randint(1, 7)):
            yield {"code": code, "co2": f"0.{random.randrange(10**19):019d}", "water": f"{random.randrange(10**6)}.5"}
    yield {"code": "genere", "co2": "many", "water": "1"}


def _day(random: Random) -> date:
    return random.choice(_DAYS) if random.random() < 0.2 else date(2026, 6, 1) + timedelta(days=random.randrange(120))


def _amount(random: Random, currency: str) -> str:
    digits = minor(currency)
    whole = random.choice((0, 1, 9, 99, 12_345, 999_999_999))
    return f"{whole}.{random.randrange(10**digits):0{digits}d}" if digits else str(whole)


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
