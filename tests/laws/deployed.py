"""What an operator deploys: the guides, rules of alerts, images, and the settings of each part."""

from dataclasses import fields
from typing import Any

import yaml

from shared.settings.settings import Settings
from tests.laws.sources import PROJECT

GUIDES = PROJECT / "docs/guides"

NIGHT = (GUIDES / "night.md").read_text()

RULES = [
    rule
    for group in yaml.safe_load((PROJECT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]


DOCKER = PROJECT / "deploy/docker"

DOCKERFILE = (DOCKER / "Dockerfile").read_text()

COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())

SETTINGS = {item.name.upper(): item.metadata["secret"] for item in fields(Settings)}

# Read by the command line or by gunicorn's configuration, not by the service: how a part is started here.
OF_A_PART = {
    "EDGE_BIND",
    "EDGE_WORKERS",
    "EDGE_GRACEFUL_SECONDS",
    "PG_BIN_DIR",
    "NGINX_LISTEN",
    "NGINX_METRICS_LISTEN",
    "NGINX_RUN_DIR",
    "NGINX_SERVER_NAMES",
    "NGINX_TLS_CERT",
    "NGINX_TLS_KEY",
    "NGINX_HTTP_LISTEN",
    "NGINX_ACME_DIR",
}

OURS = {name: one for name, one in COMPOSE["services"].items() if one["image"].startswith("item-index:")}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions, continued lines joined."""
    lines = [line for line in DOCKERFILE.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def of(word: str) -> list[str]:
    """Return the arguments of every instruction of this name."""
    return [rest for found, rest in instructions() if found == word]
