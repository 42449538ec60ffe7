"""Invented articles as two shops describe them: labelled pairs to train on that owe nothing to the data of others.

A world is a few hundred articles in families of siblings (same brand and series; another model number, colour, size,
edition or pack), each sold by one or both of two shops. Each shop writes in its own style: it drops, shortens, reorders
and adds words, spells units and model numbers differently, and sets its own price. Worlds differ in what they sell
(goods with model numbers, software with versions, supplies with packs) and in how careful the shops are.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.support.world_words import (
    ADJECTIVES,
    COLOURS,
    EDITIONS,
    FEATURES,
    FILLERS,
    GOODS,
    PLATFORMS,
    SHORT_FORMS,
    SOFTWARE,
    SOFTWARE_FILLERS,
    SUPPLIES,
    SYLLABLES,
    UNITS,
)
from workers.articles.matching.records import MatchRecord

_SELLERS = 20


@dataclass(frozen=True, slots=True)
class World:
    """Two shops' records and the pairs of keys (left, right) that are one article."""

    left: tuple[MatchRecord, ...]
    right: tuple[MatchRecord, ...]
    matches: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Style:
    """How a shop writes: each number is the probability of its habit.

    `own_number`: it puts a stock number of its own into the name. `distributes`: it names a distributor as the maker.
    """

    brand_in_name: float
    brand_column: float
    code_in_name: float
    code_column: float
    category: float
    price: float
    description: float
    drops: float
    fillers: float
    shortens: float
    scatter: float
    own_number: float
    distributes: float
    distributors: tuple[str, ...]
    fillings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Article:
    brand: str
    noun: str
    category: str
    words: tuple[str, ...]
    code: str
    colour: str
    amount: tuple[str, str]
    pack: int
    features: tuple[str, ...]
    price: float


def worlds(count: int, seed: int, articles: int = 500) -> Iterator[World]:
    """Yield worlds; the same arguments give the same worlds."""
    for number in range(count):
        yield _world(random.Random(f"{seed}/{number}"), articles)


def markets(count: int, seed: int, articles: int = 200) -> Iterator[World]:
    """Yield worlds of two marketplaces, on which many sellers offer an article under as many titles.

    Some offers are on both, as exact copies.
    """
    for number in range(count):
        yield _market(random.Random(f"market/{seed}/{number}"), articles)


def _market(chance: random.Random, articles: int) -> World:
    kind = chance.choice(("goods", "goods", "goods", "software", "supplies"))
    sellers, brands = [_style(chance, kind) for _ in range(_SELLERS)], _brands(chance, articles)
    both, most = chance.choice((0.7, 0.9, 1.0)), chance.choice((1, 2, 4))
    sides: tuple[list[MatchRecord], list[MatchRecord]] = ([], [])
    article_of: dict[str, int] = {}
    for number, article in enumerate(_articles(chance, kind, brands, articles)):
        for _ in range(chance.randint(1, most) + chance.randint(0, 1)):
            offer = _record(chance, article, chance.choice(sellers), "left", len(article_of))
            copied, first = chance.random() < both, chance.random() < 0.5
            for side, listed in (("left", copied or first), ("right", copied or not first)):
                if listed:
                    key = f"{side}/{len(article_of)}"
                    sides[side == "right"].append(replace(offer, key=key, source=side))
                    article_of[key] = number
    left, right = map(tuple, sides)
    of_article: dict[int, list[str]] = {}
    for record in right:
        of_article.setdefault(article_of[record.key], []).append(record.key)
    matches = ((one.key, other) for one in left for other in of_article.get(article_of[one.key], ()))
    return World(left, right, frozenset(matches))


def _world(chance: random.Random, articles: int) -> World:
    kind = chance.choice(("goods", "goods", "software", "software", "supplies"))
    brands = _brands(chance, articles)
    styles = _style(chance, kind), _style(chance, kind)
    made = _articles(chance, kind, brands, articles)
    left, right, matches = [], [], set()
    both, twice = chance.uniform(0.25, 0.8), chance.choice((0.02, 0.06, 0.25))
    for number, article in enumerate(made):
        seen = chance.random()
        if seen < (1 + both) / 2:
            left.append(_record(chance, article, styles[0], "left", number))
        if seen < both or seen >= (1 + both) / 2:
            right.append(_record(chance, article, styles[1], "right", number))
        if seen < both:
            matches.add((left[-1].key, right[-1].key))
            if chance.random() < twice:  # a shop may list an article again
                right.append(_record(chance, article, styles[1], "right", number + 10 * articles))
                matches.add((left[-1].key, right[-1].key))
    return World(tuple(left), tuple(right), frozenset(matches))


def _brands(chance: random.Random, articles: int) -> list[str]:
    return [_word(chance, 2, 3) for _ in range(max(5, articles // chance.choice((4, 10, 25))))]


def _articles(chance: random.Random, kind: str, brands: list[str], least: int) -> list[_Article]:
    """Make articles in families of siblings."""
    made: list[_Article] = []
    while len(made) < least:
        first = _article(chance, kind, brands)
        made.append(first)
        for _ in range(min(int(chance.expovariate(0.6)), 6)):
            made.append(_sibling(chance, kind, chance.choice((first, made[-1]))))
    return made


def _style(chance: random.Random, kind: str) -> _Style:
    coded = {"goods": 0.75, "software": 0.08, "supplies": 0.4}[kind]
    return _Style(
        brand_in_name=chance.choice((0.95, 0.6, 0.3)),
        brand_column=chance.choice((0.0, 0.95, 0.95)),
        code_in_name=min(1.0, coded * chance.choice((0.4, 1.0, 1.3))),
        code_column=chance.choice((0.0, 0.0, coded)),
        category=chance.choice((0.0, 0.9)),
        price=chance.choice((0.4, 0.9, 1.0)),
        description=chance.choice((0.0, 0.0, 0.6, 1.0)),
        drops=chance.uniform(0.05, 0.35),
        fillers=chance.uniform(0.0, 0.6),
        shortens=chance.uniform(0.0, 0.3),
        scatter=chance.choice((0.02, 0.08, 0.2, 0.35)),
        own_number=chance.choice((0.0, 0.0, 0.3, 0.6)),
        distributes=chance.choice((0.0, 0.0, 0.2, 0.35)),
        distributors=tuple(_word(chance, 2, 3) for _ in range(3)),
        fillings=FILLERS + SOFTWARE_FILLERS if kind == "software" else FILLERS,
    )


def _article(chance: random.Random, kind: str, brands: list[str]) -> _Article:
    nouns = {"goods": GOODS, "software": SOFTWARE, "supplies": SUPPLIES}[kind]
    category = chance.choice(sorted(nouns))
    # Brands differ in size as they do everywhere: the first ones have most articles.
    brand = brands[min(int(chance.expovariate(3.0) * len(brands)), len(brands) - 1)]
    words = [_word(chance, 2, 3)] if chance.random() < 0.6 else []
    words += chance.sample(ADJECTIVES, chance.choice((0, 1, 1, 2)))
    if kind == "software":
        words += [_word(chance, 2, 3) for _ in range(chance.choice((0, 0, 1, 2)))]
        words += [chance.choice(EDITIONS)] * (chance.random() < 0.6)
        words += [chance.choice(PLATFORMS)] * (chance.random() < 0.5)
        words += [_version(chance)] * (chance.random() < 0.7)
    return _Article(
        brand=brand,
        noun=chance.choice(nouns[category]),
        category=category,
        words=tuple(words),
        code=_code(chance),
        colour=chance.choice(COLOURS) if kind != "software" and chance.random() < 0.5 else "",
        amount=_amount(chance) if kind != "software" and chance.random() < 0.6 else ("", ""),
        pack=chance.choice((1, 1, 2, 3, 4, 5, 6, 10, 12, 24)) if kind == "supplies" or chance.random() < 0.1 else 1,
        features=tuple(chance.sample(FEATURES, chance.randint(1, 5))),
        price=round(chance.lognormvariate(3.6, 1.1), 2),
    )


def _sibling(chance: random.Random, kind: str, article: _Article) -> _Article:
    """Change what distinguishes siblings: one or two of model number, colour, amount, pack, edition and version."""
    ways = ["code", "words"] if kind == "software" else ["colour", "amount", "pack", "code", "words"]
    changed = replace(article, code=_near_code(chance, article.code))
    for way in chance.sample(ways, chance.choice((1, 1, 2))):
        if way == "colour":
            changed = replace(changed, colour=chance.choice(COLOURS))
        elif way == "amount":
            changed = replace(changed, amount=_amount(chance, article.amount[1]))
        elif way == "pack":
            changed = replace(changed, pack=chance.choice((1, 2, 3, 5, 6, 10, 12, 20)))
        elif way == "words":
            new = [chance.choice(EDITIONS), _version(chance)] if kind == "software" else [chance.choice(ADJECTIVES)]
            changed = replace(changed, words=(*article.words[: -len(new)], *new))
        else:
            changed = replace(changed, code=_code(chance), features=tuple(chance.sample(FEATURES, 3)))
    return replace(changed, price=round(article.price * chance.lognormvariate(0.1, 0.3), 2))


def _record(chance: random.Random, article: _Article, style: _Style, shop: str, number: int) -> MatchRecord:
    code = _spelled_code(chance, article.code)
    parts = [_thinned(chance, word, style) for word in (*article.words, *article.noun.split())]
    most = 1 if article.category in SOFTWARE else 3
    parts += [_thinned(chance, feature, style) for feature in article.features[: chance.randint(0, most)]]
    if article.amount[0] and chance.random() > style.drops:
        parts.append(_spelled_amount(chance, article.amount))
    if article.colour and chance.random() > style.drops:
        parts.insert(chance.randint(0, len(parts)), article.colour)
    if article.pack > 1 and chance.random() > style.drops / 2:
        form = chance.choice(("pack of {}", "{} pack", "{}pk", "{}/pack", "{} pcs", "box of {}"))
        parts.append(form.format(article.pack))
    if chance.random() < style.code_in_name:
        parts.insert(chance.choice((0, len(parts), len(parts))), code)
    if chance.random() < style.own_number:
        parts.insert(0, str(chance.randint(10_000, 99_999)))
    brand = chance.choice(style.distributors) if chance.random() < style.distributes else article.brand
    if chance.random() < style.brand_in_name:
        parts.insert(0, brand)
    if chance.random() < style.fillers:
        parts += chance.sample(style.fillings, chance.choice((1, 1, 2, 3)))
    said = [
        article.brand,
        article.noun,
        *article.words,
        *article.features,
        article.colour,
        _code_or_nothing(chance, code),
    ]
    chance.shuffle(said)
    return MatchRecord(
        key=f"{shop}/{number}",
        source=shop,
        name=" ".join(part for part in parts if part) or article.noun,
        brand=brand if chance.random() < style.brand_column else "",
        mpn=code if chance.random() < style.code_column else "",
        category=article.category if chance.random() < style.category else "",
        description=" ".join(said) if chance.random() < style.description else "",
        price=max(0.01, round(article.price * chance.lognormvariate(0, style.scatter), 2))
        if chance.random() < style.price
        else None,
    )


def _thinned(chance: random.Random, word: str, style: _Style) -> str:
    if chance.random() < style.drops:
        return ""
    if chance.random() < style.shortens:
        return SHORT_FORMS.get(word, word[: max(4, len(word) // 2)] if chance.random() < 0.2 else word)
    return word


def _code_or_nothing(chance: random.Random, code: str) -> str:
    return code if chance.random() < 0.4 else ""


def _word(chance: random.Random, least: int, most: int) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(least, most)))


def _version(chance: random.Random) -> str:
    return chance.choice(
        (f"{chance.randint(1, 12)}.{chance.randint(0, 5)}", str(chance.randint(1, 12)), str(chance.randint(2001, 2012)))
    )


def _code(chance: random.Random) -> str:
    letters = "".join(chance.choice("abcdefghklmnprstvwxz") for _ in range(chance.randint(1, 4)))
    digits = str(chance.randint(10, 99999))
    tail = "".join(chance.choice("abcdehklnrstx") for _ in range(chance.choice((0, 0, 1, 2))))
    return chance.choice(
        (
            f"{letters}-{digits}{tail}",
            f"{letters}{digits}{tail}",
            f"{letters}{digits}-{tail or 'b'}",
            str(chance.randint(10000, 9999999)),
        )
    )


def _near_code(chance: random.Random, code: str) -> str:
    """Change one digit or the ending, as makers number siblings."""
    at = [position for position, mark in enumerate(code) if mark.isdigit()]
    if chance.random() < 0.3:
        return code + chance.choice("abkswr")
    position = chance.choice(at[-2:])
    return code[:position] + str((int(code[position]) + chance.randint(1, 9)) % 10) + code[position + 1 :]


def _spelled_code(chance: random.Random, code: str) -> str:
    way = chance.random()
    if way < 0.3:
        return code.replace("-", "")
    if way < 0.4:
        return code.replace("-", " ")
    if way < 0.5:
        return code + chance.choice(("na", "/b", "us", "-eu", "a"))
    if way < 0.55 and len(code) > 5:
        return code[:-1]
    return code


def _amount(chance: random.Random, unit: str = "") -> tuple[str, str]:
    unit = unit or chance.choice(sorted(UNITS))
    return str(chance.choice((1, 2, 4, 5, 8, 10, 12, 16, 20, 22, 32, 40, 46, 50, 64, 100, 250, 320, 500, 750))), unit


def _spelled_amount(chance: random.Random, amount: tuple[str, str]) -> str:
    return amount[0] + chance.choice(("", " ", " ", "-")) + chance.choice(UNITS[amount[1]])
