"""`python -m tests.support.mapping_keys`: every key of a mapping, as the guide has them, from the code."""

from shared.analytics.footprint import INDICATORS
from workers.ingest.mapping import TABLES, keys


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
