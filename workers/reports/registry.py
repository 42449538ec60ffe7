"""Which function makes which report."""

from collections.abc import Callable
from typing import Any

from shared.db.connect import Connection
from workers.reports.answer import Answer

Told = Callable[[str, int, int | None], None]
Make = Callable[[Connection, dict[str, Any], Told], Answer]
MAKERS: dict[str, Make] = {}
