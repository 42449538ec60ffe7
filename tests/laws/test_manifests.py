"""Kubernetes' manifests and systemd's units, held against their own schemas and against the code."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy.ctl.main import COMMANDS
from deploy.local import nginx
from shared.jobs.contract import QUEUES
from shared.settings.settings import Settings
from shared.telemetry import metrics
from tests.laws.deployed import OF_A_PART, OURS, PROJECT, SETTINGS
from tests.support.prometheus_rule import RULE, rule

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
