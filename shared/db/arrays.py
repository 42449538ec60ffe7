"""Arrays as PostgreSQL's text. Pure."""

from collections.abc import Iterable


def text_array(texts: Iterable[str]) -> str:
    """Return texts as the literal of an array.

    Each is quoted, so that none is read as NULL. Format: PostgreSQL, "Array Input and Output Syntax".
    """
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join([f'"{text}"' for text in quoted]) + "}"
