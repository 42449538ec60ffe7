"""From records to links: identifiers first, then likeness."""

from collections.abc import Iterable

from workers.matching.identifiers import identifier_keys, identifier_links
from workers.matching.index import MatchIndex
from workers.matching.model import Model
from workers.matching.records import Decision, Kind, Link, Linkage, Record


class Matcher:
    """Judges pairs of records of an index with a model."""

    def __init__(self, model: Model, index: MatchIndex) -> None:
        self._model, self._index = model, index

    def link(self, keys: Iterable[str]) -> Linkage:
        """Return the links of the records with these keys and of all that compete with them."""
        records = [self._index.record(key) for key in sorted(set(keys))]
        near = [other for record in records for other in self._near(record)]
        touched = {record.key: record for record in (*records, *near)}
        records = [touched[key] for key in sorted(touched)]
        links = {link.pair: link for link in identifier_links(records, self._index.by_identifier)}
        for record in records:
            for other in () if record.separate else self._index.candidates(record):
                link = None if other.separate else self._likeness(record, other)
                if link:
                    links.setdefault(link.pair, link)
        return Linkage(frozenset(touched), tuple(links[pair] for pair in sorted(links)))

    def _near(self, record: Record) -> list[Record]:
        same = [other for key in identifier_keys(record) for other in self._index.by_identifier(key)]
        return [*self._index.candidates(record), *same]

    def _likeness(self, one: Record, other: Record) -> Link | None:
        left, right = sorted((one, other), key=lambda record: record.key)
        score = self._model.score(left, right)
        if score < self._model.review:
            return None
        decision = Decision.LINK if score >= self._model.link else Decision.REVIEW
        return Link(left.key, right.key, Kind.LIKENESS, score, decision, self._model.evidence(left, right))
