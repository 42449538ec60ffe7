"""The whole stack, and a real browser in front of it. With SCREENSHOTS=1 pictures of all pages go to build/screenshots."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.system.conftest import PATIENT, PROJECT, Running, start

SCREENSHOTS = PROJECT / "build" / "screenshots"
_WIDE, _NARROW_WIDTH = {"width": 1280, "height": 720}, 360
# The first is Chromium without the windows around its pages: the tests take a quarter less processor time with it.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Without these a browser looks for its maker's hosts at every start.
_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_Scheme = Literal["light", "dark"]
_JUDGED: tuple[tuple[int, _Scheme], ...] = ((1440, "light"), (390, "dark"))
_SHOWN: tuple[tuple[int, _Scheme], ...] = (*_JUDGED, (1440, "dark"), (390, "light"))
_SERIOUS = {"serious", "critical"}
# Of elements that look the same, axe-core judges the contrast until one passes: each element costs it a millisecond or
# more, and a page has hundreds. The same look is the same text on the same backgrounds of all ancestors. One that is
# positioned may lie on anything, so it has a look of its own.
_JUDGE_EACH_LOOK_ONCE = """() => {
  const check = axe._audit.checks["color-contrast"], passed = new Set(), backgrounds = new Map();
  const background = (element) => {
    if (!element) return "";
    if (!backgrounds.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.mixBlendMode];
      if (["absolute", "fixed"].includes(style.position)) own.push(backgrounds.size);
      backgrounds.set(element, [background(element.parentElement), ...own].join());
    }
    return backgrounds.get(element);
  };
  check.evaluateEach ??= check.evaluate;
  check.evaluate = function (element, ...others) {
    const style = getComputedStyle(element);
    const look = [background(element), style.color, style.fontSize, style.fontWeight, style.textShadow].join();
    const result = passed.has(look) || check.evaluateEach.call(this, element, ...others);
    if (result === true) passed.add(look);
    return result;
  };
}"""
# The reference alone is 3 MB of script: where other work occupies the machine, a page takes many seconds.
_PATIENCE_SECONDS = 60
expect.set_options(timeout=_PATIENCE_SECONDS * 1_000)


def chromium() -> str:
    """Return the path of a Chromium, installed if it is missing and may be."""
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None and os.getuid() == 0 and shutil.which("apt-get"):
        install = "apt-get install -y -q --no-install-recommends fonts-dejavu-core fonts-noto-cjk"
        either = f"apt-get update -q && {{ {install} {_BROWSERS[0]} || {install} {_BROWSERS[1]}; }}"
        subprocess.run(either, shell=True, check=False, capture_output=True, timeout=600)
        found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium, and in CI nothing may be skipped")
        pytest.skip(f"there is no Chromium here: install the package `{_BROWSERS[0]}` or `{_BROWSERS[1]}`")
    return found


def sign_in(page: Page, stack: Running, name: str) -> None:
    """Sign in at a stack with its local provider."""
    passwords = json.loads((stack.folder / "identity.json").read_text())["passwords"]
    page.goto(f"http://127.0.0.1:{stack.port}/dashboard")
    page.fill("input[name=login]", name)
    page.keyboard.press("Enter")
    page.fill("input[name=password]", passwords[name])
    page.keyboard.press("Enter")
    page.wait_for_url(f"http://127.0.0.1:{stack.port}/dashboard**")


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

    def sign_in(self, name: str = "ada") -> None:
        """Sign in with the local provider."""
        sign_in(self.page, self.stack, name)

    def shoot(self, name: str) -> None:
        """Keep a picture of the page as it is, where pictures are wanted: no test looks at them."""
        if not os.environ.get("SCREENSHOTS"):
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        # As PNG a long page would take the browser seconds.
        self.page.screenshot(path=SCREENSHOTS / f"{name}.jpg", type="jpeg", quality=80, full_page=True)

    def check_accessibility(self) -> None:
        """Fail where axe-core finds a serious fault."""
        assert self.accessibility_faults() == [], self.page.url

    def accessibility_faults(self) -> list[tuple[str, list[str]]]:
        """Return each rule of axe-core that the page seriously violates, with the elements that do."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        self.page.evaluate(_JUDGE_EACH_LOOK_ONCE)
        judged = "axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)"
        found = self.page.evaluate(judged)
        return [(v["id"], [n["html"][:200] for n in v["nodes"]]) for v in found if v["impact"] in _SERIOUS]

    def check_width(self) -> None:
        """Fail where the page is wider than its window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{self.page.url} scrolls sideways"

    def check_acts(self) -> None:
        """Fail where something that can be clicked in a list is beside the window."""
        beside = self.page.evaluate(
            """[...document.querySelectorAll(".stacks :is(a, button, select, summary)")]
            .filter((act) => act.checkVisibility() && act.getBoundingClientRect().right > innerWidth + 1)
            .map((act) => act.textContent)"""
        )
        assert beside == [], self.page.url

    def check_every_form(self, name: str) -> None:
        """Check the page in a wide window that is light and on a phone that is dark: widths do not depend on colours.

        Where pictures are wanted, one is kept of each width in each scheme.
        """
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        for width, scheme in _SHOWN if os.environ.get("SCREENSHOTS") else _JUDGED:
            self._hold(width, scheme)
            self.shoot(f"{plain}-{width}-{scheme}")
            self.check_width()
            self.check_acts()
            if (width, scheme) in _JUDGED:
                self.check_accessibility()
        self.hold_wide_light()

    def _hold(self, width: int, scheme: _Scheme) -> None:
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size({"width": width, "height": 844})
        # Not `wait_for_function`: its second look is an `eval` by the page, which the page's own policy forbids.
        taken_in = f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {scheme})').matches"
        until(lambda: self.page.evaluate(taken_in), _PATIENCE_SECONDS)
        self.page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")

    def hold_dark_phone(self) -> None:
        """See the same page on a phone that is set to dark, once the page has taken it in."""
        self._hold(_NARROW_WIDTH, "dark")

    def hold_wide_light(self) -> None:
        """See the page in a wide window that is set to light again."""
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(_WIDE)

    def refused(self, status: int) -> None:
        """Take it as meant that one page was refused; the browser tells it as an error."""
        [reported] = [fault for fault in self.faults if f"status of {status} " in fault]
        self.faults.remove(reported)

    def api(self, path: str, key: str) -> int:
        """Call the API under a key and return the status."""
        answer = self.context.request.get(f"{self.origin}/v1{path}", headers={"Authorization": f"ApiKey {key}"})
        return answer.status


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A real browser. It goes with this folder's last test: its event loop would be in the way of others."""
    executable = chromium()
    flags = _FLAGS + (["--no-sandbox"] if os.getuid() == 0 else [])
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=flags)
        yield running
        running.close()


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A stack of the browser's own, with the demo data. It may send webhooks to receivers on loopback."""
    running = start(tmp_path_factory.mktemp("browser"), environment={**PATIENT, "WEBHOOK_PRIVATE_ADDRESSES": "true"})
    yield running
    running.ctl("down", check=False)


def _visitor(context: BrowserContext, stack: Running) -> Visitor:
    context.set_default_timeout(_PATIENCE_SECONDS * 1_000)
    page = context.new_page()
    faults: list[str] = []
    ours = f"http://127.0.0.1:{stack.port}"
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console", lambda line: faults.append(line.text) if line.type == "error" and page.url.startswith(ours) else None
    )
    page.on(
        "request",
        lambda r: (
            faults.append(r.url)
            if page.url.startswith((f"{ours}/dashboard", f"{ours}/v1/"))
            and not r.is_navigation_request()
            and not r.url.startswith((ours, "data:", "blob:"))
            else None
        ),
    )
    return Visitor(stack, context, page, faults)


@pytest.fixture
def visitor(browser: Browser, stack: Running) -> Iterator[Visitor]:
    """A visitor who has just opened the browser."""
    made = _visitor(browser.new_context(viewport=_WIDE), stack)
    yield made
    made.context.close()
    assert made.faults == []


@pytest.fixture(scope="package")
def founder(browser: Browser, stack: Running) -> Iterator[Visitor]:
    """A visitor who is signed in and has made an organization."""
    made = _visitor(browser.new_context(viewport=_WIDE), stack)
    made.sign_in()
    made.go("/dashboard/organizations/new")
    made.page.get_by_label("Name").fill("Acme <script>alert(1)</script>")
    made.page.get_by_role("button", name="Create organization").click()
    expect(made.page.get_by_role("heading", name="API key")).to_be_visible()
    assert made.faults == []
    yield made
    made.context.close()


@pytest.fixture
def member(founder: Visitor) -> Iterator[Visitor]:
    """A member of an organization. It is one tab for all tests: a new one begins with an engine that knows no script."""
    yield from _of_one_test(founder)


@pytest.fixture(scope="package")
def newcomer(browser: Browser, stack: Running) -> Iterator[Visitor]:
    """A visitor who has never signed in."""
    made = _visitor(browser.new_context(viewport=_WIDE), stack)
    yield made
    made.context.close()


@pytest.fixture
def reader(newcomer: Visitor) -> Iterator[Visitor]:
    """A visitor who reads what is open to everyone, in one tab for all tests as a member has it."""
    yield from _of_one_test(newcomer)


def _of_one_test(visitor: Visitor) -> Iterator[Visitor]:
    visitor.hold_wide_light()
    yield visitor
    reported, visitor.faults[:] = list(visitor.faults), []
    assert reported == []


def new_key(visitor: Visitor) -> str:
    """Have a key of the organization that works."""
    visitor.go("/dashboard/key")
    issue = visitor.page.get_by_role("button", name="Issue key")
    if issue.count():
        issue.click()
    else:
        visitor.page.get_by_label("one hour").check()
        visitor.page.get_by_role("button", name="Rotate key").click()
    return visitor.page.locator("[data-secret]").inner_text()


def used_today(visitor: Visitor) -> int:
    """The units that the overview counts today."""
    visitor.go("/dashboard")
    return int(visitor.page.locator("[data-figure=used]").inner_text().replace(",", ""))


def until(reached: Callable[[], bool], seconds: float = _PATIENCE_SECONDS) -> None:
    """Wait for something that pages do not show by themselves."""
    ends = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.1)
