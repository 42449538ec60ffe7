"""The mapping language as tables, made from the dataclasses that declare its keys. Pure."""

import dataclasses
from collections.abc import Iterator

from shared.indicators import INDICATORS
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields
from workers.ingest.mapping import Mapping
from workers.ingest.match_rules import MatchRules

TABLES: tuple[tuple[str, type], ...] = (
    ("The mapping itself", Mapping),
    ("`[item]`", ItemFields),
    ("`[observation]`, or several times `[[observation]]`", ObservationFields),
    ("`[[impacts]]`", Impact),
    ("`[match]`", MatchRules),
    ("`[factors]`", FactorFields),
    ("A field", Field),
    ("`alt_names`", AltNames),
)


def keys(kind: type) -> Iterator[tuple[str, bool, str, str]]:
    """Yield the keys of a table: name, whether it is needed, its sentence, an example."""
    for field in dataclasses.fields(kind):
        if field.metadata:
            needed = field.default is dataclasses.MISSING
            yield field.name, needed, field.metadata["sentence"], field.metadata["example"]


def markdown() -> str:
    """Return all keys, and the indicators, as the tables of the guide."""
    parts = []
    for title, kind in TABLES:
        parts += [f"### {title}\n", "| key | meaning | example |\n|---|---|---|"]
        for name, needed, sentence, example in keys(kind):
            shown = example.replace("|", "\\|")
            parts.append(
                f"| `{name}`{' (needed)' if needed else ''} | {sentence.replace('|', chr(92) + '|')} | `{shown}` |"
            )
        parts.append("")
    parts += ["### Indicators\n", "| code | unit | meaning |\n|---|---|---|"]
    parts += [f"| `{one.code}` | {one.unit} | {one.title} |" for one in INDICATORS]
    return "\n".join(parts) + "\n"
