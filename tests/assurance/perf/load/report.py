"""What a run came to, as a table for the terminal and as a page with plots."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from rich.console import Console
from rich.table import Table

from tests.assurance.perf.load.outcome import Step, Verdict, percentile
from tests.assurance.perf.load.parts import PARTS
from tests.assurance.perf.load.scenario import Scenario

_VENDOR = Path(__file__).parents[4] / "edge/docs/static/vendor"
_PERCENTILES = (50, 95, 99)


def show(
    scenario: Scenario, steps: list[Step], verdict: Verdict, changes: list[dict[str, Any]], console: Console
) -> None:
    """Print a row for each step: the knee is green, a step that was not kept up with is red."""
    table = Table(title=scenario.title, title_justify="left")
    for name in (
        "calls/s",
        "answers/s",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "wrong",
        "no answer",
        "sent late p99 ms",
        "CPU µs",
    ):
        table.add_column(name, justify="right")
    for step in steps:
        times = (f"{step.percentile(p):.1f}" for p in _PERCENTILES)
        cpu = sum(step.cpu_seconds.values()) / step.answers * 1e6 if step.answers else 0
        style = "bold green" if step is verdict.step else None if step.kept_up(scenario.slow_ms) else "red"
        counts = (f"{sum(step.wrong.values()):,}", f"{step.unanswered:,}", f"{percentile(step.late_ms, 99):.1f}")
        table.add_row(f"{step.rate:,}", f"{step.per_second:,.0f}", *times, *counts, f"{cpu:,.0f}", style=style)
    console.print(table)
    for step in steps:
        for what, number in step.wrong.most_common(5):
            console.print(f"  wrong at {step.rate:,}/s: {what} × {number:,}", markup=False)
    for change in changes:
        console.print(
            f"  at {change['rate']:,}/s, times the former run: answers {change['answers_per_second']}, "
            f"p99 {change['p99_ms']}, CPU {change['cpu_us_per_answer']}",
            markup=False,
        )
    console.print(verdict.sentence, markup=False)


def page(scenario: Scenario, steps: list[Step], verdict: Verdict, changes: list[dict[str, Any]]) -> str:
    """Return the run as an HTML page that needs nothing else."""
    templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    return templates.get_template("report.html").render(
        scenario=scenario,
        steps=steps,
        verdict=verdict.sentence,
        changes=changes,
        percentiles=_PERCENTILES,
        script=(_VENDOR / "uplot.min.js").read_text(),
        style=(_VENDOR / "uplot.min.css").read_text(),
        plots=_plots(scenario, steps),
        rates=[step.rate for step in steps],
    )


def _plots(scenario: Scenario, steps: list[Step]) -> list[dict[str, Any]]:
    def series(label: str, values: list[float]) -> dict[str, Any]:
        return {"label": label, "values": values}

    plots = [
        {
            "title": "Answers a second, and calls that arrived",
            "series": [
                series("answers", [step.per_second for step in steps]),
                series("calls", [float(step.rate) for step in steps]),
            ],
        },
        {
            "title": "Milliseconds from the moment a call was due",
            "series": [series(f"p{p}", [step.percentile(p) for step in steps]) for p in _PERCENTILES],
        },
        {
            "title": "p99 of each call, milliseconds",
            "series": [series(c.name, [step.percentile(99, c.name) for step in steps]) for c in scenario.calls],
        },
    ]
    if any(step.cpu_seconds for step in steps):
        parts = [
            series(part, [step.cpu_seconds.get(part, 0.0) / step.seconds * 100 for step in steps]) for part in PARTS
        ]
        generator = series("generator", [step.generator_cpu * 100 for step in steps])
        plots.append({"title": "Processor time of each part, % of one core", "series": [*parts, generator]})
    return plots
