"""Values as a mapping writes them: TOML without any character that a terminal would obey. Pure."""

import re

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def as_toml(value: object) -> str:
    """Return a value as TOML writes it, without any character that a terminal would obey."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and value == "\t":
        return '"\\t"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{toml_key(name)} = {as_toml(one)}' for name, one in value.items())} }}"
    return quoted(str(value))


def toml_key(name: str) -> str:
    """Return a key as TOML writes it: bare where it may be."""
    return name if _BARE_KEY.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Return a text between quotation marks."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def shown_text(text: str) -> str:
    """Return a text on one line, without any character that a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)
