"""Documents of S3: elements and texts, without attributes."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def xml_document(name: str, members: Iterable[tuple[str, object]], namespace: str = _NAMESPACE) -> bytes:
    """Return a document of S3; a member whose value is a list of members encloses them."""
    inner = "".join(_element(*member) for member in members)
    at = f' xmlns="{namespace}"' if namespace else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}{at}>{inner}</{name}>'.encode()


def _element(name: str, value: object) -> str:
    inner = "".join(_element(*member) for member in value) if isinstance(value, list) else escape(str(value))
    return f"<{name}>{inner}</{name}>"
