"""The identifier rule: an equal GTIN, or an equal brand and part number, makes a link of two records that agree."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from shared.gtin import is_restricted
from shared.index.identifiers import brand_key
from workers.articles.matching.quantities import StatedAmounts, agree, amounts_of, contradictions
from workers.articles.matching.records import LinkDecision, LinkEvidence, LinkKind, MatchRecord, RecordLink
from workers.articles.matching.text import normalize, squash, words

# A source that gives an identifier to more items than this fills a column with it.
MOST_RECORDS = 100
# Records whose names share fewer words than this share are named differently.
_LEAST_SHARED = 0.1


@dataclass(frozen=True, slots=True)
class _ComparedRecord:
    record: MatchRecord
    amounts: StatedAmounts
    words: frozenset[str]
    brand: str


def identifier_keys(record: MatchRecord) -> list[str]:
    """Return what identifies a record across sources: `gtin:…` and `mpn:brand/number`."""
    keys = [f"gtin:{gtin}" for gtin in record.gtins if not is_restricted(gtin)]
    number = squash(record.mpn)
    brand = squash(record.brand) if number else ""
    # A short number without letters, as 100, is an article of many makers' and of one maker's many lines.
    if brand and len(number) >= 4 and any(mark.isdigit() for mark in number):
        keys.append(f"mpn:{brand}/{number}")
    return keys


def identifier_links(identifiers: Iterable[str], index: Callable[[str], Iterable[MatchRecord]]) -> list[RecordLink]:
    """Return a link for each pair of records that carry one identifier; `index` gives the records of each.

    What two records say decides about their link, whatever others carry the identifier: the next record of a catalogue
    in another language must not take a link back. A pair waits for a person where the two contradict each other, or
    where their names share no word, as in two languages, and nothing else confirms the identifier.

    Two records of one source have a link only if the source does not list each product once, or if they contradict each
    other, so that a record of another source does not join them.
    """
    links: dict[tuple[str, str], RecordLink] = {}
    for key in sorted(set(identifiers)):
        for link in _links_of(key, sorted(index(key), key=lambda record: record.key)):
            known = links.get(link.pair)
            if known is None or (known.decision is LinkDecision.LINK and link.decision is LinkDecision.REVIEW):
                links[link.pair] = link
    return [links[pair] for pair in sorted(links)]


def filled(records: Iterable[MatchRecord]) -> set[str]:
    """Return the sources that give the identifier of these records to too many items for it to identify one."""
    counts = Counter(record.source for record in records)
    return {source for source, count in counts.items() if count > MOST_RECORDS}


def _links_of(key: str, records: Sequence[MatchRecord]) -> Iterable[RecordLink]:
    without = filled(records)
    said = [_read_identifiers(record) for record in records if record.source not in without and not record.separate]
    field, value = key.split(":", 1)
    joinable = len({one.record.source for one in said}) > 1
    for at, left in enumerate(said):
        for right in said[at + 1 :]:
            one_source = left.record.source == right.record.source
            if one_source and (left.record.one_per_source or _are_declared_one(left.record, right.record)):
                continue
            against = _against(field, left, right)
            if one_source and left.record.one_per_source is None and not (against and joinable):
                continue
            if against and len(said) > MOST_RECORDS:  # nobody looks through the thousands of pairs of a filler
                continue
            evidence = (LinkEvidence(field, value, value, agrees=True), *against)
            decision, score = (LinkDecision.REVIEW, 0.5) if against else (LinkDecision.LINK, 1.0)
            yield RecordLink(left.record.key, right.record.key, LinkKind.IDENTIFIER, score, decision, evidence)


def _against(field: str, left: _ComparedRecord, right: _ComparedRecord) -> list[LinkEvidence]:
    """Return what speaks against a link by an identifier, the names only where nothing else confirms it."""
    names = left.record.name, right.record.name
    against = [LinkEvidence(name, *names, agrees=False) for name in contradictions(left.amounts, right.amounts)]
    if field == "gtin" and _brands_differ(left, right):
        against.append(LinkEvidence("brand", left.record.brand, right.record.brand, agrees=False))
    elif field == "gtin" and part_numbers_differ(squash(left.record.mpn), squash(right.record.mpn)):
        against.append(LinkEvidence("mpn", left.record.mpn, right.record.mpn, agrees=False))
    confirmed = agree(left.amounts, right.amounts) or (field == "gtin" and _one_brand(left, right))
    if not (against or confirmed or _alike(left.words, right.words)):
        against.append(LinkEvidence("name", *names, agrees=False))
    return against


def _are_declared_one(left: MatchRecord, right: MatchRecord) -> bool:
    return left.article == right.article != ""


def part_numbers_differ(left: str, right: str) -> bool:
    """Say whether of two squashed part numbers neither contains the other: shops add a country or a pack to them."""
    return left != "" != right and left not in right and right not in left


def _read_identifiers(record: MatchRecord) -> _ComparedRecord:
    return _ComparedRecord(
        record, amounts_of(record), frozenset(words(normalize(record.name))), brand_key(record.brand)
    )


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Hold names apart only where both have words and share next to none."""
    return not left or not right or len(left & right) >= _LEAST_SHARED * min(len(left), len(right))


def _one_brand(left: _ComparedRecord, right: _ComparedRecord) -> bool:
    """Say whether two records have one brand, also where one of them has it only in its name."""
    if left.brand and right.brand:
        return left.brand.replace(" ", "") == right.brand.replace(" ", "")
    return _in_name(left.brand, right) or _in_name(right.brand, left)


def _brands_differ(left: _ComparedRecord, right: _ComparedRecord) -> bool:
    """Say whether two brands contradict each other: they share no word, and neither is in the other's name.

    In two scripts, as `嘉頓` and `Garden`, they cannot be compared.
    """
    if not (left.brand and right.brand) or left.brand.isascii() != right.brand.isascii():
        return False
    mine, theirs = left.brand.replace(" ", ""), right.brand.replace(" ", "")
    short = {"".join(word[0] for word in brand.split()) for brand in (left.brand, right.brand)}
    if mine in theirs or theirs in mine or short & {mine, theirs}:  # Hewlett-Packard is HP
        return False
    shared = set(left.brand.split()) & set(right.brand.split())
    return not (shared or _in_name(left.brand, right) or _in_name(right.brand, left))


def _in_name(brand: str, other: _ComparedRecord) -> bool:
    return bool(brand) and set(brand.split()) <= set(brand_key(other.record.name).split())
