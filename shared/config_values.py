"""The text of an environment variable as the value of a setting. Pure."""

from pathlib import Path
from typing import Any

from shared.errors import ConfigurationError

LOG_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
"""The values of LOG_LEVEL, from the least severe one."""
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def convert(name: str, text: str, default: Any) -> Any:
    """Return the text in the type of the setting's default. Raises ConfigurationError that names the variable."""
    if isinstance(default, bool):
        if text.lower() not in _BOOLEANS:
            raise ConfigurationError(f"{name} must be true or false")
        return _BOOLEANS[text.lower()]
    try:
        if isinstance(default, int | float):
            return type(default)(text)
    except ValueError:
        raise ConfigurationError(f"{name} must be a number") from None
    return Path(text) if isinstance(default, Path) or name in ("METRICS_DIR", "HEARTBEAT_FILE") else text
