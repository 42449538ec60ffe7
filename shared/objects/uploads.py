"""Where files that operators upload are stored until they are loaded. Pure."""

PREFIX = "uploads/"
FILES_KEPT_DAYS = 7
ROWS_KEPT_DAYS = 90


def key_of(upload_id: str) -> str:
    """Return the key of an upload's file in the object store."""
    return f"{PREFIX}{upload_id}"
