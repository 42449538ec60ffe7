"""Alerts and dashboard use declared metrics alone, and each alert has a runbook."""

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser as promql
import pytest

from shared.telemetry import metrics
from tests.laws.deployed import GUIDES, PROJECT, RULES

RUNBOOK = (GUIDES / "alerts.md").read_text()

DASHBOARD = json.loads((PROJECT / "deploy/grafana/item-index.json").read_text())

PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

# What Prometheus adds to every sample by itself.
ADDED = {"instance", "job", "le"}


def declared() -> dict[str, set[str]]:
    """Return every sample name that can be asked for, with its labels."""
    found: dict[str, set[str]] = {}
    for metric in [value for value in vars(metrics).values() if hasattr(value, "_documentation")]:
        names = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""]}[metric._type]
        found |= {metric._name + name: {*metric._labelnames} for name in names}
    return found


DECLARED = declared()


def selectors(expression: str) -> Iterator[Any]:
    """Go through every selector of an expression, as the language's own parser sees it."""
    readable = expression.replace("$__rate_interval", "1m")
    for name in re.findall(r"itemindex_[a-z_]+", readable):
        assert name in DECLARED, f"{name} is not declared in shared/telemetry/metrics.py"
    tree = promql.parse(readable)
    queue = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, promql.VectorSelector):
            yield node
        elif isinstance(node, promql.MatrixSelector):
            queue.append(node.vector_selector)
        elif isinstance(node, promql.BinaryExpr):
            queue += [node.lhs, node.rhs]
        elif isinstance(node, promql.Call):
            queue += node.args
        elif hasattr(node, "expr"):
            queue.append(node.expr)


def check(expression: str) -> None:
    """Every name and label of an expression is declared."""
    found = list(selectors(expression))
    assert found, expression
    for selector in found:
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels <= DECLARED[selector.name] | ADDED, expression
    grouped = {label.strip() for labels in re.findall(r"by \(([a-z, ]+)\)", expression) for label in labels.split(",")}
    known = set().union(*(DECLARED[selector.name] for selector in found)) | ADDED
    assert grouped <= known, expression


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_is_declared_and_has_a_runbook(rule: dict[str, Any]) -> None:
    check(rule["expr"])
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"].endswith(".")
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page == "docs/guides/alerts.md"
    assert f'<a id="{anchor}"></a>\n## {rule["alert"]}\n' in RUNBOOK


def test_the_guide_explains_no_alert_that_does_not_exist() -> None:
    assert re.findall(r"^## (\w+)$", RUNBOOK, re.M) == [rule["alert"] for rule in RULES]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_asks_for_what_is_declared_and_says_what_it_shows(panel: dict[str, Any]) -> None:
    assert panel["description"].endswith(".")
    for target in panel["targets"]:
        check(target["expr"])


def test_panels_do_not_lie_on_each_other() -> None:
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_metric_is_shown_or_alerted_on() -> None:
    """Every metric is in an alert or on the dashboard."""
    asked = "\n".join([rule["expr"] for rule in RULES] + [t["expr"] for panel in PANELS for t in panel["targets"]])
    families = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in DECLARED}
    assert {name for name in families if name not in asked} == set()
