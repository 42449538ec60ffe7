"""`make load`: runs a scenario against the service and writes one HTML page of what came of it.

Without `--url` it starts a stack of its own on loopback, with the demo data, and stops it again. Calls arrive at random
moments from many loopback addresses, and every rate is bounded by the scenario. It talks to loopback only.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import uvloop
from rich.console import Console

from deploy.local.paths import free_port
from tests.assurance.perf.load.arrivals import OpenLoop, Request
from tests.assurance.perf.load.outcome import Step, compared, knee
from tests.assurance.perf.load.parts import PARTS, cpu_seconds
from tests.assurance.perf.load.report import page, show
from tests.assurance.perf.load.scenario import Scenario, ScenarioError, read

PROJECT = Path(__file__).parents[4]
_WORDS = ("milk", "soy", "rice", "oil", "tea", "shampoo", "noodle", "coffee", "juice", "chicken")
_CTL = [sys.executable, "-m", "deploy.ctl.main"]
_SEED = 7


@dataclass(frozen=True)
class Service:
    """A running service: its address, the credentials to call it with, and its processes where they are ours."""

    url: str
    key: str
    token: str
    status: Callable[[], dict[str, Any]]


def main() -> None:
    """Run a scenario, print a table, write the page and the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python -m tests.assurance.perf.load tests/assurance/perf/load/scenarios/everyday.toml",
    )
    parser.add_argument("scenario", type=Path, nargs="?", default=Path(__file__).parent / "scenarios" / "everyday.toml")
    parser.add_argument("--url", help="address of a running service with /v1, on 127.0.0.1; needs ITEMINDEX_KEY")
    parser.add_argument("--report", type=Path, default=PROJECT / "build" / "load.html")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    console = Console(stderr=options.json)
    try:
        scenario = read(options.scenario)
    except ScenarioError as error:
        sys.exit(str(error))
    with _service(options.url, console) as service:
        steps = uvloop.run(_run(scenario, service, console))
    verdict = knee(steps, scenario.slow_ms)
    figures = [step.summary() for step in steps]
    changes = compared(figures, _former(options.report.with_suffix(".json"), scenario))
    show(scenario, steps, verdict, changes, console)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(page(scenario, steps, verdict, changes), encoding="utf-8")
    document = {"scenario": scenario.title, "knee": verdict.step.rate if verdict.step else None, "steps": figures}
    options.report.with_suffix(".json").write_text(json.dumps(document, indent=1))
    if options.json:
        print(json.dumps({**document, "verdict": verdict.sentence, "compared": changes}, indent=1))
    console.print(f"the whole of it: {options.report}")
    if any(step.wrong for step in steps if step.kept_up(scenario.slow_ms)):
        sys.exit("some answers were wrong")


def _former(path: Path, scenario: Scenario) -> list[dict[str, Any]]:
    """Return the steps of the former run of this scenario, if there was one."""
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    return list(document["steps"]) if document.get("scenario") == scenario.title else []


@contextmanager
def _service(url: str | None, console: Console) -> Iterator[Service]:
    if url:
        if urlsplit(url).hostname != "127.0.0.1" or "ITEMINDEX_KEY" not in os.environ:
            sys.exit("--url must be on 127.0.0.1, and ITEMINDEX_KEY must hold a key")
        yield Service(
            url.rstrip("/"), os.environ["ITEMINDEX_KEY"], _ctl("tokens", "anonymous"), lambda: {"children": []}
        )
        return
    with tempfile.TemporaryDirectory(prefix="itemindex-load-") as folder:
        place = ("--data-dir", folder)
        console.print("starting a stack …")
        port = str(free_port())
        _ctl("up", "--detach", "--port", port, *place)
        try:
            _ctl("plans", "set", "institutional", "--daily-units", "1000000000", "--burst-units", "1000000", *place)
            organization = _ctl("orgs", "create", "Load", "--plan", "institutional", *place)
            yield Service(
                f"http://127.0.0.1:{port}/v1",
                _ctl("keys", "issue", organization, *place),
                _ctl("tokens", "anonymous", *place),
                lambda: dict(json.loads(_ctl("status", "--json", *place))),
            )
        finally:
            _ctl("down", *place)


def _ctl(*arguments: str) -> str:
    done = subprocess.run([*_CTL, *arguments], capture_output=True, text=True, check=True, cwd=PROJECT)
    return done.stdout.strip()


async def _run(scenario: Scenario, service: Service, console: Console) -> list[Step]:
    port = urlsplit(service.url).port or 80
    loop = OpenLoop("127.0.0.1", port, scenario.addresses, _SEED)
    next_request = _requests(scenario, service)
    steps = []
    with console.status("warming up …") as status:
        await loop.run(Step(scenario.rates[0]), scenario.seconds, next_request)  # reports are made, caches filled
        for number, rate in enumerate(scenario.rates, 1):
            status.update(f"{scenario.title}: step {number} of {len(scenario.rates)}, {rate:,} calls a second …")
            step = Step(rate)
            processes = service.status()
            before = cpu_seconds(processes)
            await loop.run(step, scenario.seconds, next_request)
            after = cpu_seconds(processes)
            step.cpu_seconds = {part: after[part] - before[part] for part in PARTS if processes["children"]}
            steps.append(step)
            if not any(one.kept_up(scenario.slow_ms) for one in steps[-2:]) and len(steps) > 1:
                break  # beyond the knee there is nothing to learn, only queues to fill
    return steps


def _requests(scenario: Scenario, service: Service) -> Callable[[random.Random], Request]:
    """Return what draws the next call of the mix."""
    feed, parts = _feed(service), urlsplit(service.url)
    credentials = {
        "key": f"Authorization: ApiKey {service.key}\r\n",
        "anonymous": f"X-Service-Public-Token: {service.token}\r\n",
        "none": "",
    }
    shares = [call.share for call in scenario.calls]

    def draw(chance: random.Random) -> Request:
        [call] = chance.choices(scenario.calls, shares)
        path = call.path.format(**{name: quote(chance.choice(values), safe="") for name, values in feed.items()})
        head = f"GET {parts.path}{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{credentials[call.credential]}\r\n"
        return Request(call, head.encode())

    return draw


def _feed(service: Service) -> dict[str, list[str]]:
    """Read what the calls name from the index itself."""

    def get(path: str) -> list[dict[str, Any]]:
        request = urllib.request.Request(f"{service.url}{path}", headers={"Authorization": f"ApiKey {service.key}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            listed: list[dict[str, Any]] = json.load(answer)["data"]
            return listed

    iids = [hit["iid"] for word in _WORDS for hit in get(f"/index/search?q={word}&limit=50")]
    return {"iid": iids, "brand": [brand["slug"] for brand in get("/index/brands?limit=200")], "word": list(_WORDS)}
