"""Believable items by the million, always the same ones: what the search benchmark builds its index from."""

import random
from collections.abc import Iterator
from itertools import accumulate

from shared.gtin import check_digit
from shared.search.model import Brand, Category, Document, Item, Market

SEED = 20_261_121
BRANDS = 20_000
_SYLLABLES = """ba be bo da de do fi ga ka ki la le li lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te to va vi
za""".split()
NOUNS = """
shirt jacket trousers dress shoes boots sandals sneakers socks hat scarf gloves belt bag backpack wallet watch
ring necklace earrings lamp chair table sofa shelf bed mattress pillow blanket curtain carpet mirror clock vase kettle
toaster blender oven fridge freezer dishwasher washer dryer iron vacuum fan heater phone tablet laptop monitor keyboard
mouse printer scanner router speaker headphones camera lens tripod drone console game puzzle doll train blocks ball
racket bicycle helmet tent stove rope knife pan pot plate bowl cup glass spoon fork towel soap shampoo lotion cream
perfume toothpaste brush razor vitamins coffee tea juice milk yogurt cheese butter bread biscuits cereal pasta rice
noodles sauce soup oil vinegar sugar salt honey jam chocolate candy nuts chips beer wine""".split()
ADJECTIVES = """
classic modern vintage slim wide soft light heavy portable wireless electric solar organic natural premium
basic deluxe compact large small medium mini double single long short black white red blue green yellow brown grey pink
purple orange silver golden cotton wool leather linen silk steel wooden bamboo ceramic plastic rubber waterproof
insulated foldable adjustable reusable outdoor indoor summer winter kids women men unisex sport travel office kitchen
garden""".split()
_CHANNELS = [f"SHOP{number}" for number in range(40)]
_SHELVES = "clothing home electronics sport beauty food toys garden".split()


def documents(count: int) -> Iterator[Document]:
    """Make items in the order of their IIDs; a few brands, nouns and adjectives are in most of them (Zipf)."""
    rng, observing = random.Random(SEED), random.Random(SEED + 1)
    brands = [_brand(number, rng) for number in range(BRANDS)]
    brand_weights = _zipf(BRANDS)
    noun_weights, adjective_weights = _zipf(len(NOUNS)), _zipf(len(ADJECTIVES))
    for number in range(count):
        brand = rng.choices(brands, cum_weights=brand_weights)[0]
        noun = rng.choices(NOUNS, cum_weights=noun_weights)[0]
        adjectives = dict.fromkeys(rng.choices(ADJECTIVES, cum_weights=adjective_weights, k=3))
        name = f"{brand.name} {' '.join(adjectives)} {noun} {_model(rng)}"
        shelf = _SHELVES[NOUNS.index(noun) * len(_SHELVES) // len(NOUNS)]
        category = Category(
            f"{shelf}.{noun}.{noun}-{number % 7}", [shelf.title(), noun.title(), f"{noun.title()} {number % 7}"]
        )
        item = Item(f"IID-{number:07X}-BENCH-{number % 997:05X}", name, brand, noun, category)
        description = _description(rng, adjectives, noun) if number % 4 == 0 else None
        yield Document(item, [], description, _identifiers(number), _market(observing))


def _market(rng: random.Random) -> Market:
    """Return what was observed of an item: nothing of one in five, a price of most others, of some for each kilogram."""
    observations = int(rng.paretovariate(0.5)) - 1 if rng.random() < 0.8 else 0
    if not observations:
        return Market()
    channels = sorted(rng.sample(_CHANNELS, min(observations, rng.randint(1, 4))))
    price = float(rng.randint(100, 100_000))
    unit_price = price * rng.choice((1, 2, 4, 10)) if rng.random() < 0.5 else None
    return Market(min(observations, 10_000), channels, 20_500 - rng.randint(0, 400), "HKD", price, unit_price)


def _identifiers(number: int) -> list[tuple[str, str]]:
    """Return a barcode, a part number and the number of a source: as many as a source with all of them names."""
    body = f"0400{number:09}"
    return [("gtin", body + check_digit(body)), ("mpn", f"BENCH{number:07}"), ("sku", f"{number:07}-{number % 7}")]


def _brand(number: int, rng: random.Random) -> Brand:
    name = "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))).title()
    return Brand(number + 1, name, f"{name.lower()}-{number}")


def _model(rng: random.Random) -> str:
    return f"{''.join(rng.choices('abcdefghjkmnpqrstuvwxyz', k=2))}{rng.randint(10, 9_999)}"


def _description(rng: random.Random, adjectives: dict[str, None], noun: str) -> str:
    return f"A {' and '.join(adjectives)} {noun}. " + " ".join(rng.choices(ADJECTIVES + NOUNS, k=15))


def _zipf(count: int) -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, count + 1)))
