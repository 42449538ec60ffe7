"""The values of matching: records, the evidence for a pair, links."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """The claims of one source about one of its items, as far as they distinguish articles.

    `key` is unique in the index and the same in every load, such as `source/own id`. `gtins` are in 14-digit form with
    a correct check digit. Records of one source with the same `article` are declared by it to be one article.
    A record with `separate` is never linked. `one_per_source`: whether its source lists each product once. Of a source
    that does, no two records are one article; of one that does not, records are also compared with each other; where it
    is unknown (None), two are one article only by identifiers or a person.
    """

    key: str
    source: str
    name: str
    brand: str = ""
    mpn: str = ""
    category: str = ""
    description: str = ""
    price: float | None = None
    gtins: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    article: str = ""
    separate: bool = False
    one_per_source: bool | None = None


class LinkKind(StrEnum):
    """The kind of evidence for a link."""

    IDENTIFIER = "identifier"
    LIKENESS = "likeness"


class LinkDecision(StrEnum):
    """The consequence of a link: it is made at once, or it waits for a person."""

    LINK = "link"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """One thing that two records say: `field` is its name, `agrees` whether it speaks for the link."""

    field: str
    left: str
    right: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class RecordLink:
    """Two records that are, or may be, one article. `left` is the smaller key; `score` is a probability, 0 to 1."""

    left: str
    right: str
    kind: LinkKind
    score: float
    decision: LinkDecision
    evidence: tuple[LinkEvidence, ...] = ()

    @property
    def pair(self) -> tuple[str, str]:
        """Return both keys, the smaller one first."""
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Linkage:
    """The links of every record in `touched`, sorted by pair.

    A link that was stored before, with an end in `touched`, and that is not among `links`, no longer holds.
    `likenesses`: of pairs that an identifier links, what their likeness alone says.
    """

    touched: frozenset[str]
    links: tuple[RecordLink, ...]
    likenesses: Mapping[tuple[str, str], RecordLink]
