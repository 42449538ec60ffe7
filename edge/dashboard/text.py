"""Sentences of ours as markup. Pure."""

import re

from markupsafe import Markup, escape

_SPAN = re.compile(r"`([^`]+)`")


def code_spans(text: str) -> Markup:
    """Return a sentence with the text between backticks as code; everything in it is escaped."""
    return Markup(_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped in the line itself
