"""The sets of data that the judge knows: their files, the mapping that loads them and the recipe that reads them."""

import gzip
from dataclasses import dataclass, replace
from pathlib import Path

_HERE = Path(__file__).parent
_PROJECT = _HERE.parents[2]
SHIPPED = _PROJECT / "deploy" / "demo" / "data"
_MAPPINGS = (_PROJECT / "deploy" / "mappings", _HERE / "mappings")
# Files of evaluation data below their folder, and the recipe where it is not named like the set.
_EVALUATION = {
    "stockx_2019": (("stockx_2019.csv.gz",), ""),
    "crowdflower_relevance": (("crowdflower_train_merged.csv.gz",), ""),
    "er_abt_buy": (("left.csv", "right.csv"), ""),
    "er_amazon_google": (("left.csv", "right.csv"), ""),
    "er_walmart_amazon": (("left.csv", "right.csv"), ""),
    "er_walmart_amazon_dirty": (("left.csv", "right.csv"), "er_walmart_amazon"),
    "er_wdc_cameras": (("left.csv", "right.csv"), "er_wdc"),
    "er_wdc_computers": (("left.csv", "right.csv"), "er_wdc"),
    "er_wdc_shoes": (("left.csv", "right.csv"), "er_wdc"),
    "er_wdc_watches": (("left.csv", "right.csv"), "er_wdc"),
}


@dataclass(frozen=True)
class Set:
    """Files that are loaded by one mapping, in their order; the recipe reads the same files without the product."""

    name: str
    files: tuple[Path, ...]
    mapping: Path
    recipe: Path


@dataclass(frozen=True)
class World:
    """Everything that an index is made of: sets in the order of loading, then the operator's acts on items."""

    sets: tuple[Set, ...]
    withdrawn: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()

    def with_also(self, other: "World") -> "World":
        """Return this world with another one after it."""
        return World(self.sets + other.sets, self.withdrawn + other.withdrawn, self.merged + other.merged)


def shipped() -> World:
    """Return the demo data, in the order in which `itemindex up` loads it."""
    return World(
        (
            set_of("hk_pricewatch", SHIPPED / "hk_pricewatch.csv.gz"),
            set_of("carbon_catalogue", SHIPPED / "carbon_catalogue.csv.gz"),
            set_of("rivm_food_footprints", SHIPPED / "rivm_food_footprints.csv"),
            set_of("stats_nz_food_prices", SHIPPED / "stats_nz_food_prices.csv.gz"),
        )
    )


def recent(world: World, folder: Path, first_year: int) -> World:
    """Return a world whose food prices begin with a year: a release has a file a month, and 16 years have 193."""
    return replace(world, sets=tuple(_recent(one, folder, str(first_year)) for one in world.sets))


def _recent(one: Set, folder: Path, first_year: str) -> Set:
    if one.name != "stats_nz_food_prices":
        return one
    [file], copy = one.files, folder / "recent_food_prices.csv"
    with gzip.open(file, "rt", encoding="utf-8") as lines, copy.open("w", encoding="utf-8") as kept:
        kept.writelines(line for number, line in enumerate(lines) if not number or line >= first_year)
    return replace(one, files=(copy,))


def evaluation(data: Path) -> World:
    """Return the sets of a folder of evaluation data that are there."""
    return World(
        tuple(
            set_of(name, *(data / name / file for file in files), recipe=recipe)
            for name, (files, recipe) in _EVALUATION.items()
            if all((data / name / file).is_file() for file in files)
        )
    )


def set_of(name: str, *files: Path, recipe: str = "") -> Set:
    """Return the set of a name: its mapping is shipped or the judge's own, its recipe is named like it by default."""
    mapping = next(path for folder in _MAPPINGS if (path := folder / f"{name}.toml").is_file())
    return Set(name, files, mapping, _HERE / "recipes" / f"{recipe or name}.sql")
