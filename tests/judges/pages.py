"""`python -m tests.judges.pages`: Lighthouse over every page, on a stack of its own; a score below 95 fails.

It needs Chromium, and npm for Lighthouse. It is not part of `make test` or `make judge`: scores of performance depend on
how busy the machine is. The dashboard is closed to search engines, so it has no score for them; of the reference only what
does not depend on its size is judged, since its program alone is 3 MB.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from tests.browser.conftest import chromium, sign_in
from tests.browser.test_every_page import OPEN, SIGNED_IN, addresses
from tests.system.conftest import Running, start

LIGHTHOUSE = "lighthouse@13.5.0"
SCORE_MIN = 95
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
REFERENCE = "/v1/docs/reference"


def session(stack: Running, executable: str) -> str:
    """Sign in, and return the cookies as a browser sends them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        sign_in(page, stack, "ada")
        cookies = page.context.cookies(f"http://127.0.0.1:{stack.port}")
        browser.close()
    return "; ".join(f"{one['name']}={one['value']}" for one in cookies)


def scores(url: str, cookie: str, executable: str, folder: Path) -> dict[str, int]:
    """Return the scores of a page, in per cent."""
    head = folder / "head.json"
    head.write_text(json.dumps({"Cookie": cookie} if cookie else {}))
    command = ["npx", "--yes", LIGHTHOUSE, url, "--quiet", "--output=json", f"--extra-headers={head}"]
    command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu", f"--only-categories={','.join(CATEGORIES)}"]
    environment = {**os.environ, "CHROME_PATH": executable}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
    found = json.loads(done.stdout)["categories"]
    return {name: round(found[name]["score"] * 100) for name in CATEGORIES}


def judged(address: str, signed_in: bool) -> tuple[str, ...]:
    """Return the categories in which a page must reach the score."""
    if signed_in:
        return CATEGORIES[:3]
    return CATEGORIES[1:] if address == REFERENCE else CATEGORIES


def main() -> int:
    """Print the scores of every page; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.judges.pages", description=__doc__)
    parser.add_argument("--only", default="", help="only addresses that contain this text")
    options = parser.parse_args()
    table, low, executable = Table("page", *CATEGORIES), 0, chromium()
    with tempfile.TemporaryDirectory() as scratch:
        stack = start(Path(scratch) / "stack")
        try:
            cookie_of_ada = session(stack, executable)
            pages = [(one, "") for one in [*addresses(OPEN), REFERENCE]]
            pages += [(one, cookie_of_ada) for one in addresses(SIGNED_IN)]
            for address, cookie in pages:
                if options.only not in address:
                    continue
                found = scores(f"http://127.0.0.1:{stack.port}{address}", cookie, executable, Path(scratch))
                low += any(found[name] < SCORE_MIN for name in judged(address, bool(cookie)))
                table.add_row(address, *(str(found[name]) for name in CATEGORIES))
        finally:
            stack.ctl("down", check=False)
    Console().print(table)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
