"""Shops of several sources whose items have GTINs."""

from pathlib import Path

from shared.gtin import check_digit
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.shop import MAPPING, load_rows
from workers.ingest.load.summary import Summary

HEADER = "sku,ean,name,brand,group,kind,weight,day,store,price,list\n"
SOY, OAT, TEA = "4006381333931", "9780201379624", "5901234123457"
A, B = mint("shop_a", "1").iid, mint("shop_b", "x").iid


def text_of(source: str, more: str = "") -> str:
    """Return a shop's mapping; `more` follows it, such as a `[match]` section."""
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text.replace('sku = "sku"\n', 'sku = "sku"\ngtin = "ean"\n') + more


def shop(
    settings: Settings, folder: Path, source: str, rows: str, more: str = "", *, merges_allowed: bool = False
) -> Summary:
    """Load a shop's rows."""
    name, text = f"{source}.csv", text_of(source, more)
    return load_rows(settings, folder, rows, text=text, name=name, header=HEADER, merges_allowed=merges_allowed)


def row(sku: str, ean: str, name: str = "Soy milk 1L", day: str = "2026-07-01", price: str = "10") -> str:
    """Return one row of a shop's file."""
    return f"{sku},{ean},{name},Vita,Drinks,Soy milk,1.0,{day},NORTH,{price},\n"


def gtins(count: int) -> list[str]:
    """Return so many GTINs of 13 digits."""
    bodies = (f"40063813{number:04}" for number in range(count))
    return [body + check_digit(body) for body in bodies]


def articles(settings: Settings) -> dict[str, str]:
    """Return every IID with the IID that answers for it."""
    return dict(execute(settings, "SELECT iid, coalesce(survivor_iid, iid) FROM items"))
