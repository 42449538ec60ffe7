"""Other names of items, from a JSON file beside the data."""

import json
from pathlib import Path

from shared.errors import LoadRefused
from workers.ingest.mapping import Mapping


def alt_names(mapping: Mapping, files: list[Path]) -> dict[str, str]:
    """Read the other names that lie beside the first file or beside the mapping; empty where the mapping has none."""
    if mapping.item is None or mapping.item.alt_names is None:
        return {}
    spec = mapping.item.alt_names
    for folder in (files[0].parent, mapping.path.parent):
        path = folder / spec.file
        if path.exists():
            try:
                entries = json.loads(path.read_bytes())
                return {
                    str(k): " ".join(str(v[key]).strip() for key in spec.keys if v.get(key)) for k, v in entries.items()
                }
            except (ValueError, AttributeError, TypeError):
                raise LoadRefused(
                    f"{path.name}: must be a JSON object of objects with the members {', '.join(spec.keys)}"
                ) from None
    raise LoadRefused(f"{mapping.path.name}: {spec.file} is neither beside the data nor beside the mapping")
