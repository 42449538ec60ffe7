"""`make load`: runs a scenario against the service and writes one HTML page of what came of it.

Without `--url` it starts a stack of its own on loopback, with the demo data, and stops it again. The callers are
Locust's; the ramp is bounded by the scenario. It talks to loopback only.
"""

# Locust changes the standard library's sockets as it is imported, which must come before anything that uses them.
from locust import FastHttpUser, LoadTestShape, constant, task  # isort: skip
from locust.env import Environment  # isort: skip

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader
from rich.console import Console
from rich.table import Table

from deploy.local.paths import free_port
from tests.perf.scenario import Call, Scenario, ScenarioError, SpanContext, knee, read

PROJECT = Path(__file__).parents[2]
VENDOR = PROJECT / "edge" / "site" / "static" / "vendor"
_WORDS = ("milk", "soy", "rice", "oil", "tea", "shampoo", "noodle", "coffee", "juice", "chicken")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_CTL = [sys.executable, "-m", "deploy.ctl.main"]


def main() -> None:
    """Run a scenario, print a table, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python -m tests.perf.run tests/perf/scenarios/everyday.toml",
    )
    parser.add_argument("scenario", type=Path, nargs="?", default=Path(__file__).parent / "scenarios" / "everyday.toml")
    parser.add_argument("--url", help="address of a running service with /v1, on loopback; needs ITEM_INDEX_KEY")
    parser.add_argument("--report", type=Path, default=PROJECT / "build" / "load.html")
    options = parser.parse_args()
    console = Console()
    try:
        scenario = read(options.scenario)
    except ScenarioError as error:
        sys.exit(str(error))
    with _service(options.url, console) as (url, key, token):
        steps = _run(
            scenario,
            url,
            {"key": ("Authorization", f"ApiKey {key}"), "anonymous": ("X-Service-Public-Token", token)},
            console,
        )
    _print(scenario, steps, console)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(_page(scenario, steps), encoding="utf-8")
    console.print(f"the whole of it: {options.report}")
    if sum(sum(step.wrong.values()) for step in steps):
        sys.exit("some answers were wrong")


@contextmanager
def _service(url: str | None, console: Console) -> Iterator[tuple[str, str, str]]:
    if url:
        if urlsplit(url).hostname not in _LOOPBACK or "ITEM_INDEX_KEY" not in os.environ:
            sys.exit("--url must be on loopback, and ITEM_INDEX_KEY must hold a key")
        yield url.rstrip("/"), os.environ["ITEM_INDEX_KEY"], _ctl("tokens", "anonymous")
        return
    with tempfile.TemporaryDirectory(prefix="itemindex-load-") as folder:
        place = ("--data-dir", folder)
        port = str(free_port())
        console.print("starting a stack …")
        _ctl("up", "--detach", "--port", port, *place)
        try:
            _ctl("plans", "set", "institutional", "--daily-units", "1000000000", "--burst-units", "1000000", *place)
            organization = _ctl("orgs", "create", "Load", "--plan", "institutional", *place)
            yield (
                f"http://127.0.0.1:{port}/v1",
                _ctl("keys", "issue", organization, *place),
                _ctl("tokens", "anonymous", *place),
            )
        finally:
            _ctl("down", *place)


def _ctl(*arguments: str) -> str:
    done = subprocess.run([*_CTL, *arguments], capture_output=True, text=True, check=True, cwd=PROJECT)
    return done.stdout.strip()


def _run(scenario: Scenario, url: str, credentials: dict[str, tuple[str, str]], console: Console) -> list[SpanContext]:
    steps = [SpanContext(callers) for callers in scenario.callers]
    feed = _feed(url, credentials["key"])
    began = time.monotonic()

    def step_now() -> SpanContext | None:
        place = int((time.monotonic() - began) / scenario.seconds)
        return steps[place] if place < len(steps) else None

    class Caller(FastHttpUser):  # type: ignore[misc]  # Locust has no types
        """Asks, and asks again as soon as it has its answer."""

        host = url
        wait_time = constant(0)

        @task
        def call(self) -> None:
            _ask(
                self.client,
                random.choices(scenario.calls, [c.share for c in scenario.calls])[0],
                feed,
                credentials,
                step_now,
            )

    class Ramp(LoadTestShape):  # type: ignore[misc]
        """The scenario's steps."""

        def tick(self) -> tuple[int, float] | None:
            step = step_now()
            return (step.callers, 100.0) if step else None

    environment = Environment(user_classes=[Caller], shape_class=Ramp())
    environment.create_local_runner()
    with console.status(f"{scenario.title}: {len(steps)} steps of {scenario.seconds} s …"):
        environment.runner.start_shape()
        environment.runner.shape_greenlet.join()
    environment.runner.quit()
    for step in steps:
        step.seconds = scenario.seconds
    return steps


def _ask(client: Any, call: Call, feed: dict[str, list[str]], credentials: Any, step_now: Any) -> None:
    path = call.path.format(**{name: quote(random.choice(values), safe="") for name, values in feed.items()})
    head = dict([credentials[call.credential]]) if call.credential in credentials else {}
    began = time.perf_counter()
    with client.get(path, name=call.name, headers=head, catch_response=True) as answer:
        answer.success()
        step = step_now()
        if step is not None:
            step.took_ms[call.name].append(1000 * (time.perf_counter() - began))
            if answer.status_code not in call.expect:
                step.wrong[f"{call.name}: {answer.status_code}"] += 1


def _feed(url: str, credential: tuple[str, str]) -> dict[str, list[str]]:
    """Read what the calls name from the index itself."""

    def get(path: str) -> list[dict[str, Any]]:
        request = urllib.request.Request(f"{url}{path}", headers=dict([credential]))
        with urllib.request.urlopen(request, timeout=10) as answer:
            listed: list[dict[str, Any]] = json.load(answer)["data"]
            return listed

    iids = [hit["iid"] for word in _WORDS for hit in get(f"/index/search?q={word}&limit=50")]
    return {"iid": iids, "brand": [brand["slug"] for brand in get("/index/brands?limit=200")], "word": list(_WORDS)}


def _print(scenario: Scenario, steps: list[SpanContext], console: Console) -> None:
    found = knee(steps)
    table = Table(title=scenario.title, title_justify="left")
    for name in ("callers", "answers/s", "p50 ms", "p95 ms", "p99 ms", "wrong"):
        table.add_column(name, justify="right")
    for step in steps:
        figures = (f"{step.per_second:,.0f}", *(f"{step.percentile(p):.1f}" for p in (50, 95, 99)))
        style = "bold green" if step is found else "red" if step.wrong else None
        table.add_row(str(step.callers), *figures, str(sum(step.wrong.values())), style=style)
    console.print(table)
    console.print(_verdict(found))


def _verdict(found: SpanContext | None) -> str:
    if found is None:
        return "The knee was not reached: more callers still brought more answers. Let the ramp go on further."
    return f"The knee is at {found.callers} callers, {found.per_second:,.0f} answers a second: more callers only wait longer."


def _page(scenario: Scenario, steps: list[SpanContext]) -> str:
    templates = Templates(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    return templates.get_template("report.html").render(
        scenario=scenario,
        steps=steps,
        verdict=_verdict(knee(steps)),
        percentiles=(50, 95, 99),
        script=(VENDOR / "uplot.min.js").read_text(),
        style=(VENDOR / "uplot.min.css").read_text(),
        plots=[
            {"title": "Answers a second", "series": [{"label": "all", "values": [s.per_second for s in steps]}]},
            {
                "title": "Milliseconds",
                "series": [{"label": f"p{p}", "values": [s.percentile(p) for s in steps]} for p in (50, 95, 99)],
            },
            {
                "title": "p99 of each call, milliseconds",
                "series": [
                    {"label": c.name, "values": [s.percentile(99, c.name) for s in steps]} for c in scenario.calls
                ],
            },
        ],
        callers=[s.callers for s in steps],
    )


if __name__ == "__main__":
    main()
