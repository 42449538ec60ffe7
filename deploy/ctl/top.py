"""`itemindex top`: what each process of a stack does, refreshed on the terminal."""

import http.client
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click
from prometheus_client.parser import text_string_to_metric_families
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from deploy.ctl.console import FiniteRange, console, data_dir, data_dir_option
from deploy.local import tls
from deploy.local.paths import Paths
from deploy.local.process import PROC, read_state, running
from deploy.terminal import SafeTable
from shared.errors import ItemIndexError
from shared.printable import printable


class Effort(NamedTuple):
    """The memory that a part holds and the CPU time that it has used."""

    processes: int
    resident_bytes: int
    cpu_seconds: float
    at: float


def efforts(parts: Mapping[str, int], proc: Path = PROC) -> dict[str, Effort]:
    """Return the effort of each part, named by its first process; one that has ended, or no /proc, is left out."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    processes = dict(running(proc))
    children: dict[int, list[int]] = {}
    for pid, fields in processes.items():
        children.setdefault(int(fields[1]), []).append(pid)
    result = {}
    for name, root in parts.items():
        family, queue = [], [root] if root in processes else []
        while queue:
            pid = queue.pop()
            family.append(processes[pid])
            queue.extend(children.get(pid, ()))
        if family:
            memory = sum(int(fields[21]) for fields in family) * page
            cpu = sum(int(fields[11]) + int(fields[12]) for fields in family) / tick
            result[name] = Effort(len(family), memory, cpu, time.monotonic())
    return result


# One reading of the metrics, and what happened between two of them. Pure but for the fetching.


_TIMEOUT_SECONDS = 5.0
Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Scrape:
    """All samples at one moment, by name and labels."""

    at: float
    samples: dict[str, dict[Labels, float]]

    @classmethod
    def fetch(cls, url: str) -> "Scrape":
        """Read the metrics of an address. Raises ItemIndexError if none are served there."""
        try:
            parts = urlsplit(url)
            line = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
            status, body = tls.get(line, parts.path or "/metrics")
            if status != 200:
                raise ItemIndexError(f"{url} answered {status}")
            return cls.of(body.decode(), time.monotonic())
        except (OSError, http.client.HTTPException) as error:
            raise ItemIndexError(f"{url} is not responding ({type(error).__name__})") from None
        except ValueError:
            raise ItemIndexError(f"{url} is not the address of metrics") from None

    @classmethod
    def of(cls, text: str, at: float) -> "Scrape":
        """Read the text format of Prometheus."""
        samples: dict[str, dict[Labels, float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                samples.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
        return cls(at, samples)

    def get(self, name: str, **labels: str) -> float:
        """Return one gauge or counter; 0 where there is none."""
        return self.samples.get(f"itemindex_{name}", {}).get(frozenset(labels.items()), 0.0)

    def each(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Go through all samples of a name."""
        for labels, value in self.samples.get(f"itemindex_{name}", {}).items():
            yield dict(labels), value


@dataclass(frozen=True, slots=True)
class Between:
    """The changes between two scrapes, per second."""

    before: Scrape
    after: Scrape

    @property
    def seconds(self) -> float:
        """How far they are apart."""
        return max(1e-3, self.after.at - self.before.at)

    def rates(self, name: str, *by: str) -> dict[tuple[str, ...], float]:
        """Return a counter's increase per second, summed by some of its labels; what did not move is left out."""
        rates: dict[tuple[str, ...], float] = {}
        earlier = self.before.samples.get(f"itemindex_{name}", {})
        for labels, value in self.after.samples.get(f"itemindex_{name}", {}).items():
            had = earlier.get(labels, 0.0)
            moved = value - had if value >= had else value  # a process that began anew counts from zero
            if moved > 0:
                named = dict(labels)
                key = tuple(named[label] for label in by)
                rates[key] = rates.get(key, 0.0) + moved / self.seconds
        return rates

    def quantile(self, share: float, name: str, **labels: str) -> float | None:
        """Return a histogram's quantile of what came in between, as PromQL estimates it; None where nothing came."""
        buckets: dict[float, float] = {}
        for (bound, *rest), rate in self.rates(f"{name}_bucket", "le", *labels).items():
            if tuple(rest) == tuple(labels.values()):
                buckets[float(bound)] = buckets.get(float(bound), 0.0) + rate
        return quantile_of(share, sorted(buckets.items()))


def quantile_of(share: float, buckets: list[tuple[float, float]]) -> float | None:
    """Return a quantile of cumulative buckets; the last finite bound if it is beyond them."""
    if not buckets or not buckets[-1][1]:
        return None
    wanted, low, below = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= wanted:
            if bound == float("inf"):
                return low
            inside = count - below
            return low + (bound - low) * ((wanted - below) / inside if inside else 0.0)
        low, below = bound, count
    return low


# One frame of `itemindex top`.


_NOTHING = "–"


def frame(between: Between, before: Mapping[str, Effort], after: Mapping[str, Effort]) -> RenderableType:
    """Draw what happened between two readings."""
    beside = [_quota(between), _reads(between), _stores(between), _queues(between)]
    parts: list[Any] = [_head(between), _routes(between), Columns(beside, padding=(0, 3))]
    if after:
        parts.append(_processes(before, after))
    return Group(*parts)


def _head(between: Between) -> Text:
    after = between.after
    running = ", ".join(
        f"{int(value)} {labels['part']} {labels['revision']}"
        for labels, value in sorted(after.each("processes"), key=lambda item: sorted(item[0].items()))
        if value
    )
    rate = sum(between.rates("requests_total", "route").values())
    lag = _time(between.quantile(0.99, "loop_lag_seconds"))
    text = Text.assemble(
        ("Item Index  ", "bold cyan"),
        f"data_version {int(after.get('data_version', part='edge'))}  ",
        f"{printable(running) or 'no process'}\n",
    )
    text.append(f"{rate:,.1f} requests/s", style="bold")
    text.append(f"   in flight {int(after.get('requests_in_flight'))}   loop lag p99 {lag}\n")
    return text


def _routes(between: Between) -> SafeTable:
    table = _table("route", "requests/s", "served", "refused", "failed", "p50", "p99", title="requests")
    rates = between.rates("requests_total", "route", "status")
    totals: dict[str, list[float]] = {}
    for (route, status), rate in rates.items():
        row = totals.setdefault(route, [0.0, 0.0, 0.0])
        row[0 if status < "400" else 2 if status >= "500" else 1] += rate
    for route, row in sorted(totals.items(), key=lambda item: -sum(item[1])):
        quantiles = [_time(between.quantile(share, "request_seconds", route=route)) for share in (0.5, 0.99)]
        style = "red" if row[2] else ""
        table.add_row(route, f"{sum(row):,.1f}", *(_rate(rate) for rate in row), *quantiles, style=style)
    if not totals:
        table.add_row(*[_NOTHING] * 7)
    return table


def _quota(between: Between) -> SafeTable:
    table = _table("plan", "decision", "/s", title="quota")
    rows = {**between.rates("quota_decisions_total", "plan", "outcome")}
    rows |= {("unverified", *key): rate for key, rate in between.rates("quota_degraded_total", "outcome").items()}
    for (plan, outcome), rate in sorted(rows.items()):
        table.add_row(plan, outcome, _rate(rate), style="yellow" if plan == "unverified" else "")
    if not rows:
        table.add_row(*[_NOTHING] * 3)
    return table


def _reads(between: Between) -> SafeTable:
    table = _table("records from", "/s", "share", title="cache")
    rates = between.rates("record_reads_total", "where")
    total = sum(rates.values())
    for where in ("memory", "cache", "database", "absent"):
        rate = rates.get((where,), 0.0)
        table.add_row(where, _rate(rate), f"{rate / total:.1%}" if total else _NOTHING)
    joined = sum(between.rates("coalesced_reads_total", "what").values())
    table.add_row("shared by several", _rate(joined), "")
    return table


def _stores(between: Between) -> SafeTable:
    table = _table("store", "up", "p50", "p99", "errors/s", title="stores")
    errors = between.rates("store_errors_total", "store")
    for store in ("database", "notices", "state", "cache", "broker"):
        up = between.after.get("store_up", store=store)
        times = [_time(between.quantile(share, "store_seconds", store=store)) for share in (0.5, 0.99)]
        verdict = Text("yes", style="green") if up else Text("no", style="bold red")
        table.add_row(store, verdict, *times, _rate(errors.get((store,), 0.0)))
    busy, idle = (between.after.get("pool_connections", state=state) for state in ("busy", "idle"))
    table.add_row(
        "pool", f"{busy:.0f} busy", f"{idle:.0f} idle", f"of {between.after.get('pool_connections_max'):.0f}", ""
    )
    return table


def _queues(between: Between) -> SafeTable:
    table = _table("queue", "queued", "running", "oldest", title="jobs")
    after = between.after
    for queue in sorted({labels["queue"] for labels, _ in after.each("queue_depth")}):
        queued, running = (after.get("queue_depth", queue=queue, state=state) for state in ("queued", "running"))
        table.add_row(queue, f"{queued:.0f}", f"{running:.0f}", f"{after.get('queue_age_seconds', queue=queue):.1f} s")
    for (state,), rate in sorted(between.rates("jobs_finished_total", "state").items()):
        table.add_row(f"{state}", f"{rate:.2f}/s", "", "", style="red" if state == "failed" else "green")
    return table


def _processes(before: Mapping[str, Effort], after: Mapping[str, Effort]) -> SafeTable:
    table = _table("part", "processes", "memory", "CPU", title="processes")
    for name, now in after.items():
        then = before.get(name)
        share = _NOTHING
        if then is not None and now.at > then.at:
            share = f"{max(0.0, now.cpu_seconds - then.cpu_seconds) / (now.at - then.at):.0%}"
        table.add_row(name, str(now.processes), f"{now.resident_bytes / 1024**2:,.0f} MiB", share)
    return table


def _table(*columns: str, title: str) -> SafeTable:
    table = SafeTable(
        title=title, title_justify="left", title_style="bold", header_style="dim", box=None, pad_edge=False
    )
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    return table


def _rate(rate: float) -> str:
    return f"{rate:,.1f}" if rate else _NOTHING


def _time(seconds: float | None) -> str:
    if seconds is None:
        return _NOTHING
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


@click.command(epilog="Example: itemindex top --url http://edge-7:9101/metrics")
@click.option("--url", help="Address of the metrics; default: those of the stack on the data directory.")
@click.option("--interval", default=1.0, type=FiniteRange(0.05, 60), help="Seconds between frames.")
@click.option("--once", is_flag=True, help="Print one frame and exit.")
@data_dir_option
def top(url: str | None, interval: float, once: bool) -> None:
    """Show live figures of requests, refusals, caches, stores, queues and processes. Press Ctrl-C to end."""
    address, parts = (url, {}) if url else _of_the_stack()
    before, earlier = Scrape.fetch(address), efforts(parts)
    if once:
        time.sleep(interval)
        console.print(frame(Between(before, Scrape.fetch(address)), earlier, efforts(parts)))
        return
    _live(address, parts, interval, before, earlier)


def _live(address: str, parts: Mapping[str, int], interval: float, before: Scrape, earlier: dict[str, Effort]) -> None:
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(interval)
                after, now = Scrape.fetch(address), efforts(parts)
                live.update(frame(Between(before, after), earlier, now), refresh=True)
                before, earlier = after, now
    except KeyboardInterrupt:
        return


def _of_the_stack() -> tuple[str, dict[str, int]]:
    state = read_state(Paths.at(data_dir()))
    if state is None:
        raise ItemIndexError("no stack runs here; start one with `itemindex up`, or name another's metrics with --url")
    parts = {child["name"]: child["pid"] for child in state["children"] if child["pid"] is not None}
    return f"http://127.0.0.1:{state['metrics_port']}/metrics", parts
