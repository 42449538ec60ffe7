"""What columns are called: the words of their names, and how well those fit what a column may hold. Pure."""

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from shared.text import ACCENT, WORD, without_points

_LANGUAGE = re.compile(r"\([a-z]{2}(?:[-_][a-z]{2})?\)$", re.IGNORECASE)
# "Bezeichnung 1" and "name1" are the first of several.
_FIRST_OF_SEVERAL = re.compile(r"(?<=[^\W\d]) ?1$")
_OF_HOLDER = re.compile(r"name|title|label|text|value|main|en|de|fr|es|it|nl|pl|pt|zh|ja")
_PREPOSITION = re.compile(r" (?:in|im|of|for|per|de|du|des|del|della|di|do|da|en|van|za|w|pro|au) ")
# How certain the name of a column is: all of it, its last words, or some of its words.
WHOLE, PART, INSIDE = 300, 200, 100
# "Group/ Article/ Property" is a column of three levels; "Price/kg" has a unit.
_LEVELS = re.compile(r"(?<=\S)/ +")
_OF_A_LEVEL_MAX = WHOLE - 51
# Greek and Cyrillic, which separate words by spaces.
_SPACED_SCRIPT = re.compile(r"[\u0370-\u052f]")
# Of several columns that are called by a role's names in full, the one with its most certain name is meant.
_WHOLE_NAMES_MAX = 200


def plain(name: str) -> str:
    """Return a column's name as lower-case words without accents: `Variant SKU`, `variant_sku` and `variantSku`."""
    apart = re.sub(r"(?<=[a-z])(?<!Mw)(?=[A-Z])", " ", re.sub("[#№]", " no ", name))  # "MwSt" is one word
    letters = unicodedata.normalize("NFKD", apart.casefold().replace("ł", "l").replace("ß", "ss").replace("ı", "i"))
    return " ".join(WORD.findall(without_points(unicodedata.normalize("NFKC", ACCENT.sub("", letters)))))


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("column_names.toml").read_text(encoding="utf-8"))


@cache
def role_names() -> dict[str, tuple[str, ...]]:
    """Return what columns can hold, each with the names that such columns have."""
    return {role: tuple(map(plain, names)) for role, names in _lists().items() if role != "words"}


def word_list(kind: str) -> list[str]:
    """Return the words of a kind that names of columns may have, such as those of a `month`."""
    listed: list[str] = _lists()["words"][kind]
    return listed


@cache
def _words(column: str) -> str:
    """Return the words of a column's name; of a path such as `maker.name` or `title.en` the words before it."""
    path = _LANGUAGE.sub("", re.sub(r"\.\d+(?=\.|$)", "", column))
    holder, _, last = path.rpartition(".")
    words = plain(holder.rpartition(".")[2])
    if _OF_HOLDER.fullmatch(last) and any(words in aliases for aliases in role_names().values()):
        return words
    return _FIRST_OF_SEVERAL.sub("", plain(path))


@cache
def _has_preposition(alias: str) -> bool:
    return _PREPOSITION.search(alias) is not None


@cache
def _without_tax(words: str) -> str:
    """Return the words of a column's name without those at its end that say whether tax is in it."""
    kept = words.split()
    tax_words = set(word_list("said_of_tax"))
    while kept and (kept[-1] in tax_words or kept[-1].isdecimal()):
        kept.pop()
    dropped = words.split()[len(kept) :]
    return " ".join(kept) if kept and not set(word_list("tax")).isdisjoint(dropped) else words


def name_score(column: str, aliases: tuple[str, ...]) -> float:
    """Return how well a column's name fits one of a role's names: the whole name, its last or first words, any of them.

    What follows a preposition only describes: an "Artikelnummer im Shop" is no shop. So does what is said of tax. A
    column of several levels, as "Group/ Article/ Property", is what any of them is, a little less certainly.
    """
    levels = _LEVELS.split(column)
    if len(levels) > 1:
        return min(_OF_A_LEVEL_MAX, max(_score(_words(level), aliases) for level in levels))
    return _score(_words(column), aliases)


def _score(words: str, aliases: tuple[str, ...]) -> float:
    bare = _without_tax(words)
    head = _PREPOSITION.split(bare, maxsplit=1)[0]
    best, unspaced = 0.0, words.replace(" ", "")
    for place, alias in enumerate(aliases):
        certain = len(alias) + (1 - place / 1_000)
        described = " " in alias and _has_preposition(alias)
        compared = bare if described else head
        if unspaced == alias.replace(" ", ""):
            best = max(best, WHOLE + _WHOLE_NAMES_MAX - place)
        elif not alias.isascii() and not _SPACED_SCRIPT.match(alias):
            best = max(best, INSIDE + 10 * certain if alias in words else 0)
        elif compared == alias or (described and compared.startswith(f"{alias} ")):
            best = max(best, WHOLE - 50 + certain)
        elif compared.endswith(f" {alias}"):
            best = max(best, PART + certain)
        elif compared.startswith(f"{alias} "):
            best = max(best, PART - 50 + certain)
        elif f" {alias} " in f" {compared} ":
            best = max(best, INSIDE + certain)
        elif not alias.isascii() and alias in words:  # the beginning of a word with another ending
            best = max(best, INSIDE - 50 + certain)
    return best


def role_of(column: str) -> str:
    """Return what a column holds by its name alone; an empty text where that says nothing."""
    score, role = max((name_score(column, aliases), role) for role, aliases in role_names().items())
    return role if score else ""


def has_word(column: str, kind: str) -> bool:
    """Return whether a column's name has a word of a kind, such as of `tax` or of `hundredths`."""
    return not set(word_list(kind)).isdisjoint(plain(column).split())


def is_of_codes(column: str) -> bool:
    """Return whether a column's name ends with the word for a code, as `retailer_sku` and `categoryId` do."""
    return plain(column).rpartition(" ")[2] in word_list("of_codes")


def is_exactly_price(column: str) -> bool:
    """Return whether a column has the plainest name of a price, so that no other column is meant."""
    return plain(column) in word_list("plain_price")


def is_price_on_request(text: str) -> bool:
    """Return whether a cell says in the place of a price that it depends, such as "on request"."""
    return plain(text) in word_list("price_depends")
