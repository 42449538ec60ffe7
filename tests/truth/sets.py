"""The sets of data that the judge knows: their files, the mapping that loads them and the recipe that reads them."""

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_PROJECT = _HERE.parents[1]
SHIPPED = _PROJECT / "deploy" / "demo" / "data"
_MAPPINGS = _PROJECT / "deploy" / "mappings"


@dataclass(frozen=True)
class Set:
    """Files that are loaded by one mapping, in their order; the recipe reads the same files without the product."""

    name: str
    files: tuple[Path, ...]
    mapping: Path
    recipe: Path


def shipped() -> list[Set]:
    """Return the demo data, in the order in which `itemindex up` loads it."""
    return [
        _set("hk_pricewatch", SHIPPED / "hk_pricewatch.csv.gz"),
        _set("carbon_catalogue", SHIPPED / "carbon_catalogue.csv.gz"),
        _set("rivm_food_footprints", SHIPPED / "rivm_food_footprints.csv"),
    ]


def _set(name: str, *files: Path) -> Set:
    shipped_mapping, own = (_MAPPINGS / f"{name}.toml"), (_HERE / "mappings" / f"{name}.toml")
    mapping = shipped_mapping if shipped_mapping.exists() else own
    return Set(name, files, mapping, _HERE / "recipes" / f"{name}.sql")


def found(data: Path) -> list[Set]:
    """Return the shipped sets and those of a folder of evaluation data that are there."""
    return shipped()
