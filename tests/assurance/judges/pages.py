"""`python -m tests.assurance.judges.pages`: Lighthouse over every page of the routes, on a stack of its own; below 95 fails.

It needs Chromium, and Lighthouse from the judges' package-lock.json. It is not part of `make test` or `make judge`: scores of performance depend on
how busy the machine is. The dashboard is closed to search engines, so it has no score for them.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright
from rich.console import Console

from tests.assurance.judges.programs import script
from tests.browser.conftest import chromium, sign_in, until
from tests.browser.test_every_page import OPEN, SIGNED_IN, addresses
from tests.system.conftest import Running, start

SCORE_MIN = 95
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
# Search engines may list the public pages here, and the judge opens more of them than a visitor may.
_ENVIRONMENT = {
    "WEBHOOK_PRIVATE_ADDRESSES": "true",
    "PUBLIC_PAGES_INDEXED": "true",
    "PUBLIC_PAGES_A_DAY": "1000",
}
# Open to everyone too; tests/browser checks them beside what they lead to.
ALSO_OPEN = ["/v1/docs/reference", "/dashboard/sign-in"]


def session(stack: Running, executable: str) -> tuple[str, list[str]]:
    """Sign in and create what pages are about; return the cookies as a browser sends them, and those pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(base_url=f"http://127.0.0.1:{stack.port}")
        sign_in(page, stack, "ada")
        made = created(page, stack)
        cookies = page.context.cookies(f"http://127.0.0.1:{stack.port}")
        browser.close()
    return "; ".join(f"{one['name']}={one['value']}" for one in cookies), made


def created(page: Page, stack: Running) -> list[str]:
    """Create an organization with a report, an export, a webhook and an upload; return the addresses of their pages."""
    page.goto("/dashboard/organizations/new")
    page.get_by_label("Name").fill("Acme")
    page.get_by_role("button", name="Create organization").click()
    page.wait_for_url(lambda address: not address.endswith("/new"))
    [acme] = [one["id"] for one in json.loads(stack.ctl("orgs", "list", "--json")) if one["name"] == "Acme"]
    stack.ctl("orgs", "set", acme, "--plan", "institutional")
    page.goto("/dashboard/reports?kind=cohorts&brand=vitasoy&granularity=week&group_by=channel")
    page.get_by_role("button", name="Run report").click()
    job = ended(page, "jobs")

    def offered() -> bool:
        page.goto("/dashboard/exports")
        return page.get_by_role("link", name="New export").count() > 0

    until(offered)
    page.goto("/dashboard/exports/new?dataset=brands")
    page.get_by_role("button", name="Create export").click()
    export = ended(page, "exports")
    page.goto("/dashboard/webhooks")
    page.get_by_label("URL").fill("http://127.0.0.1:9/")
    page.get_by_role("button", name="Add webhook").click()
    webhook = str(page.get_by_role("link", name="http://127.0.0.1:9/").get_attribute("href"))
    page.goto("/dashboard/data")
    prices = b"id,name,price,date,shop\n1,Soap,2.50,2026-07-01,N\n"
    page.set_input_files("#file", {"name": "prices.csv", "mimeType": "text/csv", "buffer": prices})
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(re.compile("/dashboard/data/."))
    expect(page.get_by_role("button", name="Preview")).to_be_visible()
    return [job, f"{job}/rows/1", export, webhook, path_of(page)]


def ended(page: Page, kind: str) -> str:
    """Follow a page of a job to its end; return its address."""
    page.wait_for_url(re.compile(f"/dashboard/{kind}/[0-9a-f-]{{36}}$"))
    expect(page.locator("#job [data-state=succeeded]")).to_be_visible()
    return path_of(page)


def path_of(page: Page) -> str:
    """Return the address of the page within the service."""
    return "/" + page.url.split("/", 3)[3]


def scores(url: str, cookie: str, executable: str, folder: Path) -> dict[str, int]:
    """Return the scores of a page, in per cent."""
    head = folder / "head.json"
    head.write_text(json.dumps({"Cookie": cookie} if cookie else {}))
    command = [*script("lighthouse"), url, "--quiet", "--output=json", f"--extra-headers={head}"]
    command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu", f"--only-categories={','.join(CATEGORIES)}"]
    environment = {**os.environ, "CHROME_PATH": executable}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
    found = json.loads(done.stdout)["categories"]
    return {name: round(found[name]["score"] * 100) for name in CATEGORIES}


def main() -> int:
    """Print the scores of every page; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance.judges.pages", description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="only addresses that contain one of these texts")
    parser.add_argument(
        "--no-performance", action="store_true", help="judge without the score that depends on how busy the machine is"
    )
    options = parser.parse_args()
    low, executable, console = 0, chromium(), Console()
    with tempfile.TemporaryDirectory() as scratch:
        stack = start(Path(scratch) / "stack", environment=_ENVIRONMENT)
        try:
            cookie_of_ada, made = session(stack, executable)
            pages = [(one, "") for one in [*addresses(OPEN), *ALSO_OPEN]]
            pages += [(one, cookie_of_ada) for one in [*addresses(SIGNED_IN), *made]]
            for address, cookie in pages:
                if options.only and not any(text in address for text in options.only):
                    continue
                found = scores(f"http://127.0.0.1:{stack.port}{address}", cookie, executable, Path(scratch))
                left_out = {"seo"} if address.startswith("/dashboard") else set[str]()
                left_out |= {"performance"} if options.no_performance else set()
                judged = [name for name in CATEGORIES if name not in left_out]
                low += any(found[name] < SCORE_MIN for name in judged)
                console.print(address, *(f"{name} {found[name]}" for name in judged), soft_wrap=True)
        finally:
            stack.ctl("down", check=False)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
