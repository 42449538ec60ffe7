"""`python -m tests.support.mapping_keys`: every key of a mapping, as the guide has them, from the code."""

import dataclasses
from collections.abc import Iterator

from shared.analytics.footprint import INDICATORS
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields
from workers.ingest.mapping import FillDown, Mapping, MatchRules

TABLES: tuple[tuple[str, type], ...] = (
    ("The mapping itself", Mapping),
    ("`[item]`", ItemFields),
    ("`[observation]`, or several times `[[observation]]`", ObservationFields),
    ("`[[impacts]]`", Impact),
    ("`[match]`", MatchRules),
    ("`[factors]`", FactorFields),
    ("A field", Field),
    ("`alt_names`", AltNames),
    ("`fill_down`", FillDown),
)


def keys(kind: type) -> Iterator[tuple[str, bool, str, str]]:
    """Yield the keys of a table: name, whether it is needed, its sentence, an example."""
    for declared in dataclasses.fields(kind):
        if declared.metadata:
            needed = declared.default is dataclasses.MISSING
            yield declared.name, needed, declared.metadata["sentence"], declared.metadata["example"]


def markdown() -> str:
    """Return all keys, and the indicators, as the tables of the guide."""
    parts = []
    for title, kind in TABLES:
        parts += [f"### {title}\n", "| key | meaning | example |\n|---|---|---|"]
        for name, needed, sentence, example in keys(kind):
            shown = example.replace("|", "\\|")
            parts.append(
                f"| `{name}`{' (required)' if needed else ''} | {sentence.replace('|', chr(92) + '|')} | `{shown}` |"
            )
        parts.append("")
    parts += ["### Indicators\n", "| code | unit | meaning |\n|---|---|---|"]
    parts += [f"| `{indicator.code}` | {indicator.unit} | {indicator.title} |" for indicator in INDICATORS]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
