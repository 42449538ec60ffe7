"""The alerts as a PrometheusRule: `python -m tests.support.prometheus_rule` writes deploy/kubernetes/alerts.yaml."""

from pathlib import Path

import yaml

PROJECT = Path(__file__).parents[2]
ALERTS = PROJECT / "deploy/prometheus/alerts.yml"
RULE = PROJECT / "deploy/kubernetes/alerts.yaml"
_HEAD = "# Made from deploy/prometheus/alerts.yml by `python -m tests.support.prometheus_rule`; a test compares them.\n"


def rule() -> str:
    """Return the alerts as an object of the Prometheus operator."""
    document = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "itemindex"},
        "spec": yaml.safe_load(ALERTS.read_text()),
    }
    return _HEAD + yaml.safe_dump(document, sort_keys=False, width=1_000, allow_unicode=True)


if __name__ == "__main__":
    RULE.write_text(rule())
