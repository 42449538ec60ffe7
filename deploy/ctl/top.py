"""`itemindex top`: what each process of a stack does, refreshed on the terminal."""

import time
from collections.abc import Mapping

import click
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from deploy.ctl.console import console, data_dir, data_dir_option
from deploy.ctl.parameter_types import FiniteRange
from deploy.ctl.scrape import Between, Scrape
from deploy.local.paths import Paths
from deploy.local.process_table import Effort, efforts
from deploy.local.running_stack import read_state
from deploy.terminal import SafeTable
from shared.errors import ItemIndexError
from shared.printable import printable

_NOTHING = "–"


def frame(between: Between, before: Mapping[str, Effort], after: Mapping[str, Effort]) -> RenderableType:
    """Draw what happened between two readings."""
    beside = [_quota(between), _reads(between), _stores(between), _queues(between)]
    parts: list[RenderableType] = [_head(between), _routes(between), Columns(beside, padding=(0, 3))]
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
