"""The name of a browser, from its header `User-Agent`. Pure."""

import re

# The first that is named counts: most browsers also name those that they descend from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("HeadlessChrome", "Chrome"),
    ("Chrome", "Chrome"),
    ("Version", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
_SHOWN_MAX = 60


def browser_of(agent: str) -> str:
    """Return the browser and its system, as `Firefox 128 on Linux`; of other programs the beginning of the header."""
    browser = next(
        (f"{name} {version[1]}" for token, name in _BROWSERS if (version := re.search(rf"\b{token}/(\d+)", agent))),
        None,
    )
    if browser is None:
        return agent[:_SHOWN_MAX] or "unknown"
    system = next((name for token, name in _SYSTEMS if token in agent), None)
    return f"{browser} on {system}" if system else browser
