"""Other names of items, from a JSON file beside the data."""

import json
from pathlib import Path

from shared.errors import LoadRefused
from workers.ingest.mapping import Mapping


def alt_names(mapping: Mapping, files: list[Path]) -> dict[str, str]:
    """Read the other names; empty where the mapping has none. Raises LoadRefused where their file cannot be used."""
    path = alt_names_file(mapping, files)
    if path is None or mapping.alt_names is None:
        return {}
    keys = mapping.alt_names.keys
    try:
        entries = json.loads(path.read_bytes())
        return {str(k): " ".join(str(v[key]).strip() for key in keys if v.get(key)) for k, v in entries.items()}
    except (ValueError, AttributeError, TypeError):
        raise LoadRefused(f"{path.name}: must be a JSON object of objects with the members {', '.join(keys)}") from None


def alt_names_file(mapping: Mapping, files: list[Path]) -> Path | None:
    """Find the file of other names beside the first file or beside the mapping; None where the mapping has none."""
    if mapping.alt_names is None:
        return None
    name = mapping.alt_names.file
    for folder in (files[0].parent, mapping.path.parent):
        if (folder / name).exists():
            return folder / name
    raise LoadRefused(f"{mapping.path.name}: {name} is neither beside the data nor beside the mapping")
