"""What operators order in the console, done as the process beside the edge does it."""

import asyncio
import io
from typing import Any

from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.support.database import execute
from workers.operators.acts import account_acts, load_acts

HOME = "/dashboard/operator"
FINDINGS = [
    {"part": "database", "ok": True, "found": "answers", "remedy": ""},
    {"part": "disk", "ok": False, "found": "1 GiB free", "remedy": "free some space"},
]


async def serve(browser: Browser) -> None:
    """Do what was ordered, as the process beside the edge does."""
    settings, log = browser.edge.settings, Log("feeds", stream=io.StringIO())
    for acts in (account_acts(settings, log, lambda: FINDINGS), load_acts(settings, log)):
        await asyncio.to_thread(acts.serve)


async def ordered(browser: Browser, page: str, path: str = "", **fields: str) -> str:
    """Send a form of a page, have done what it orders, and return the page that is shown then."""
    assert await browser.send(HOME + page, HOME + (path or page), **fields) == 303, browser.text
    location = str(browser.last.headers["Location"])
    assert await browser.ask("GET", location) == 200
    assert 'data-state="waiting"' in browser.text and 'hx-trigger="every 1s"' in browser.text
    await serve(browser)
    assert await browser.ask("GET", location) == 200
    return browser.text


def recorded(browser: Browser) -> list[Any]:
    """Return what is recorded of operators' acts."""
    return execute(browser.edge.settings, "SELECT person, act, subject, state FROM operator_acts ORDER BY id")
