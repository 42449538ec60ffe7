"""Conditional requests: `If-Match` and `If-None-Match`."""


def none_match(field: str | None, etag: str) -> bool:
    """Return whether `If-None-Match` names this ETag, by weak comparison; the response is then 304.

    A malformed list matches nothing: the caller then simply gets the whole answer.
    """
    if not field:
        return False
    if field.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(tag.strip().removeprefix("W/") == opaque for tag in field.split(","))


def match(field: str | None, etag: str) -> bool:
    """Return whether `If-Match` allows the request: absent, `*`, or naming this ETag by strong comparison."""
    if field is None or field.strip() == "*":
        return True
    return any(tag.strip() == etag for tag in field.split(","))
