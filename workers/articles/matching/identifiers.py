"""The identifier rule: an equal GTIN, or an equal brand and part number, makes a link unless a guard objects."""

import re
from collections.abc import Callable, Iterable, Sequence

from shared.index.identifiers import is_restricted
from workers.articles.matching.quantities import amounts, contradictions
from workers.articles.matching.records import Decision, Evidence, Kind, Link, Record
from workers.articles.matching.text import squash

# An identifier that more records than this carry is a filler value; comparing all its pairs would take too long, too.
MOST_RECORDS = 100
# Records of one identifier whose names share fewer words than this share are named differently.
_LEAST_SHARED = 0.1
# From so many different names on, an identifier identifies nothing.
_DIFFERENT_NAMES = 3
_WORDS = re.compile(r"[^\W_]+")


def identifier_keys(record: Record) -> list[str]:
    """Return what identifies a record across sources: `gtin:…` and `mpn:brand/number`."""
    keys = [f"gtin:{gtin}" for gtin in record.gtins if not is_restricted(gtin)]
    brand, number = squash(record.brand), squash(record.mpn)
    # A short number without letters, as 100, is an article of many makers' and of one maker's many lines.
    if brand and len(number) >= 4 and any(mark.isdigit() for mark in number):
        keys.append(f"mpn:{brand}/{number}")
    return keys


def identifier_links(identifiers: Iterable[str], index: Callable[[str], Iterable[Record]]) -> list[Link]:
    """Return a link for each pair of records that carry one identifier; `index` gives the records of each.

    A pair waits for a person where the two contradict each other in pack, measure or colour, or have names without a
    common word. An identifier of more than a hundred records, or of three names without a common word, joins nothing.
    """
    links: dict[tuple[str, str], Link] = {}
    for key in sorted(set(identifiers)):
        for link in _links_of(key, sorted(index(key), key=lambda record: record.key)):
            known = links.get(link.pair)
            if known is None or (known.decision is Decision.REVIEW and link.decision is Decision.LINK):
                links[link.pair] = link
    return [links[pair] for pair in sorted(links)]


def identifies(records: Sequence[Record]) -> bool:
    """Say whether an identifier of these records means one thing: they are not too many, and not of three names."""
    return len(records) <= MOST_RECORDS and not _many_names(records)


def _links_of(key: str, records: Sequence[Record]) -> Iterable[Link]:
    if len(records) < 2 or not identifies(records):
        return
    said = [(record, amounts(_text(record)), _name_words(record)) for record in records]
    field, value = key.split(":", 1)
    for at, (left, left_amounts, left_words) in enumerate(said):
        for right, right_amounts, right_words in said[at + 1 :]:
            if left.source == right.source or left.separate or right.separate:
                continue
            against = [
                Evidence(name, left.name, right.name, agrees=False)
                for name in contradictions(left_amounts, right_amounts)
            ]
            if not _alike(left_words, right_words):
                against.append(Evidence("name", left.name, right.name, agrees=False))
            evidence = (Evidence(field, value, value, agrees=True), *against)
            decision = Decision.REVIEW if against else Decision.LINK
            yield Link(left.key, right.key, Kind.IDENTIFIER, 0.5 if against else 1.0, decision, evidence)


def _many_names(records: Sequence[Record]) -> bool:
    different: list[frozenset[str]] = []
    for record in records:
        words = _name_words(record)
        if words and not any(_alike(words, other) for other in different):
            different.append(words)
    return len(different) >= _DIFFERENT_NAMES


def _name_words(record: Record) -> frozenset[str]:
    return frozenset(_WORDS.findall(record.name.lower()))


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Hold names apart only where both have words and share next to none."""
    return not left or not right or len(left & right) >= _LEAST_SHARED * min(len(left), len(right))


def _text(record: Record) -> str:
    return " ".join((record.name, *(value for _, value in record.attributes)))
