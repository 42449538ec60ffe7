"""The demo: a small real data set, its mappings, and where it comes from (SOURCES.md)."""

from rich.console import Console

from shared.config import Settings


def load_demo(settings: Settings, console: Console) -> None:
    """Load the demo data where the index is still empty."""
