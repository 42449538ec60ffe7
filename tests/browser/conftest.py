"""The whole stack, and a real browser in front of it. Screenshots of every page are kept in build/screenshots."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.system.conftest import PROJECT, Running, start

SCREENSHOTS = PROJECT / "build" / "screenshots"
# Without these a browser looks for its maker's hosts at every start.
_FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
          "--disable-component-update", "--disable-sync"]  # fmt: skip
_ENTERED: dict[tuple[str, str], Any] = {}
_SERIOUS = {"serious", "critical"}


def _chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and os.getuid() == 0 and shutil.which("apt-get"):
        install = "apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core fonts-noto-cjk"
        subprocess.run(install, shell=True, check=False, capture_output=True, timeout=600)
        found = shutil.which("chromium")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium, and in CI nothing may be skipped")
        pytest.skip("there is no Chromium here: install the package `chromium`")
    return found


@dataclass
class Visitor:
    """A person at a browser. Collects what must never happen: errors of the page, requests to other hosts."""

    stack: Running
    context: BrowserContext
    page: Page
    faults: list[str]

    @property
    def origin(self) -> str:
        """The service's address."""
        return f"http://127.0.0.1:{self.stack.port}"

    def go(self, path: str) -> None:
        """Open a page of the dashboard."""
        self.page.goto(self.origin + path)

    def enter(self, name: str = "ada") -> None:
        """Be signed in, with a session that an earlier test began where there is one."""
        cookies = _ENTERED.get((self.origin, name))
        if cookies is None:
            self.sign_in(name)
            _ENTERED[self.origin, name] = self.context.cookies(f"{self.origin}/dashboard")
        else:
            self.context.add_cookies(cookies)
            self.go("/dashboard")

    def sign_in(self, name: str = "ada") -> None:
        """Sign in with the local provider."""
        passwords = json.loads((self.stack.folder / "identity.json").read_text())["passwords"]
        self.go("/dashboard")
        self.page.fill("input[name=login]", name)
        self.page.keyboard.press("Enter")
        self.page.fill("input[name=password]", passwords[name])
        self.page.keyboard.press("Enter")
        self.page.wait_for_url(f"{self.origin}/dashboard**")

    def shoot(self, name: str) -> None:
        """Keep a picture of the page as it is."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def check_accessibility(self) -> None:
        """Fail where axe-core finds a serious fault."""
        found = Axe().run(self.page).response["violations"]
        told = [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found if v["impact"] in _SERIOUS]
        assert told == [], self.page.url

    def refused(self, status: int) -> None:
        """Take it as meant that one page was refused; the browser tells it as an error."""
        [told] = [fault for fault in self.faults if f"status of {status} " in fault]
        self.faults.remove(told)

    def api(self, path: str, key: str) -> int:
        """Call the API under a key and return the status."""
        answer = self.context.request.get(f"{self.origin}/v1{path}", headers={"Authorization": f"ApiKey {key}"})
        return answer.status


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A real browser. It goes with this folder's last test: its event loop would be in the way of others."""
    executable = _chromium()
    flags = _FLAGS + (["--no-sandbox"] if os.getuid() == 0 else [])
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=flags)
        yield running
        running.close()


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A stack of the browser's own, with the demo data."""
    running = start(tmp_path_factory.mktemp("browser"))
    yield running
    running.ctl("down", check=False)


def _visitor(browser: Browser, stack: Running, **options: object) -> Visitor:
    context = browser.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(10_000)
    page = context.new_page()
    faults: list[str] = []
    ours = f"http://127.0.0.1:{stack.port}"
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console", lambda line: faults.append(line.text) if line.type == "error" and page.url.startswith(ours) else None
    )
    page.on("request", lambda r: faults.append(r.url) if page.url.startswith(f"{ours}/dashboard")
            and not r.is_navigation_request() and not r.url.startswith(ours) else None)  # fmt: skip
    return Visitor(stack, context, page, faults)


@pytest.fixture
def visitor(browser: Browser, stack: Running) -> Iterator[Visitor]:
    """Somebody who has just opened the browser."""
    made = _visitor(browser, stack)
    yield made
    made.context.close()
    assert made.faults == []


@pytest.fixture
def dark_phone(browser: Browser, stack: Running) -> Iterator[Visitor]:
    """Somebody with a phone who likes it dark."""
    made = _visitor(browser, stack, color_scheme="dark", viewport={"width": 360, "height": 740}, has_touch=True)
    yield made
    made.context.close()
    assert made.faults == []


def enter_organization(visitor: Visitor, *, anew: bool = False) -> None:
    """Be signed in as a person with an organization, which is made where there is none."""
    visitor.sign_in() if anew else visitor.enter()
    if visitor.page.get_by_role("link", name="Create an organization").count():
        visitor.page.get_by_role("link", name="Create an organization").click()
        visitor.page.get_by_label("Name").fill("Acme <script>alert(1)</script>")
        visitor.page.get_by_role("button", name="Create it").click()
        expect(visitor.page.get_by_role("heading", name="API key")).to_be_visible()


def new_key(visitor: Visitor) -> str:
    """Have a key of the organization that works."""
    visitor.go("/dashboard/key")
    issue = visitor.page.get_by_role("button", name="Issue a key")
    if issue.count():
        issue.click()
    else:
        visitor.page.get_by_label("one hour").check()
        visitor.page.get_by_role("button", name="Rotate the key").click()
    return visitor.page.locator("[data-secret]").inner_text()


def until(reached: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that pages do not show by themselves."""
    ends = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.1)
