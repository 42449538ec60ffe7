"""Conditional requests (RFC 9110, section 13). Pure."""


def none_match(field: str | None, etag: str) -> bool:
    """Tell whether `If-None-Match` names this ETag, by weak comparison, so that 304 is the answer.

    A malformed list matches nothing: the caller then simply gets the whole answer.
    """
    if not field:
        return False
    if field.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(tag.strip().removeprefix("W/") == opaque for tag in field.split(","))


def match(field: str | None, etag: str) -> bool:
    """Tell whether `If-Match` lets the request go on: absent, `*`, or naming this ETag by strong comparison."""
    if field is None or field.strip() == "*":
        return True
    return any(tag.strip() == etag for tag in field.split(","))
