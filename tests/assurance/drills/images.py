"""The image and the compose file as an operator uses them: built, started, called, upgraded under load, served over TLS."""

import json
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.paths import PROJECT, Paths
from deploy.local.self_signed import certificate_of
from shared.bulk.signing import new_key
from shared.errors import ItemIndexError
from tests.assurance.drills.checks import SQL, Check
from tests.assurance.drills.client import asked
from tests.assurance.drills.container_host import ContainerHost
from tests.support.traffic import Traffic

PORT = 8080
_USER = 10001
# In the order of the guide: what writes the schema first, then one edge after the other, then all that is left but nginx.
_EDGES = ("edge-a", "edge-b")
_REST = ("dispatcher", "matches", "feeds", "worker-reports", "worker-exports", "worker-maintenance", "worker-webhooks")
_PARTS = {*_EDGES, *_REST, "nginx", "database", "state", "cache"}
_SECONDS_MAX = 420.0
# A busy machine is no outage.
_PATIENT_FILE = "patient.yaml"
_PATIENT = "services:" + "".join(
    f"\n  {edge}: {{environment: {{DATABASE_TIMEOUT_SECONDS: 30, STATE_TIMEOUT_SECONDS: 5}}}}" for edge in _EDGES
)
_LATER = (PROJECT / "tests/support/later.sql").read_text()


def first_with_these_packages() -> str:
    """Return the oldest revision that an image of today's packages can be made of."""
    command = ["git", "log", "-1", "--format=%H", "--", "requirements/image.lock"]
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class ImageDrill:
    """The drill below a folder that is kept: what is fetched and built there once is there the next time."""

    folder: Path
    previous: str
    report_progress: Callable[[str], None]
    checks: list[Check] = field(default_factory=list)

    def run(self) -> list[Check]:
        """Do all of it. Whatever happens, nothing runs afterwards."""
        self._host = ContainerHost(self.folder, self.report_progress)
        with self._host.running():
            self._lay_down()
            try:
                for step in (self._build, self._start, self._first_calls, self._upgrade, self._release, self._tls):
                    step()
            except ItemIndexError as error:
                self._check("every step can be done", str(error)[-600:], kept=False)
            finally:
                self._down()
        return self.checks

    def _down(self) -> None:
        self._compose("--profile", "*", "down", "--volumes", "--timeout", "5")

    def _lay_down(self) -> None:
        """Lay down both versions, the new one with a migration more, and their settings."""
        self._old, self._new = self._host.put("old", self.previous), self._host.put("new")
        (self._here(self._new) / "shared/db/migrations/9999_later.sql").write_text(_LATER)
        # How an image is built, and what runs, is the new one's affair in both.
        shutil.copytree(
            self._here(self._new) / "deploy/docker", self._here(self._old) / "deploy/docker", dirs_exist_ok=True
        )
        key = self._here(self._new) / "signing.pem"
        key.write_bytes(new_key())
        key.chmod(0o644)
        tls = self._here(self._new) / "tls"
        certificate = certificate_of(Paths.below(tls))
        tls.chmod(0o755)
        for name, path in (("fullchain.pem", certificate.chain), ("key.pem", certificate.key)):
            shutil.copyfile(path, tls / name)
            (tls / name).chmod(0o644)
        example = (self._here(self._new) / "deploy/docker/env.example").read_text()
        given = {
            "COMPOSE_PROFILES": "demo",
            "OIDC_ISSUER": "",
            "RELEASE_SIGNING_KEY_FILE": f"{self._new}/signing.pem",
            "TLS_DIR": f"{self._new}/tls",
            "ACME_DIR": f"{self._new}/tls",
            **dict.fromkeys(re.findall(r"^(\w+(?:PASSWORD|PEPPER|SECRET))=$", example, re.M), ""),
        }
        for name, value in given.items():
            example = re.sub(rf"^{name}=.*$", f"{name}={value or self._secret(name)}", example, flags=re.M)
        for folder in (self._old, self._new):
            (self._here(folder) / "deploy/docker/.env").write_text(example)
            (self._here(folder) / "deploy/docker" / _PATIENT_FILE).write_text(_PATIENT)

    @staticmethod
    def _secret(name: str) -> str:
        return "" if name == "OIDC_ISSUER" else secrets.token_hex(24)

    def _here(self, path: Path) -> Path:
        return self._host.root / str(path).lstrip("/")

    def _compose(
        self, *arguments: str, tag: str = "new", files: tuple[str, ...] = ("compose.yaml", _PATIENT_FILE), **more: str
    ) -> str:
        folder = self._old if tag == "old" else self._new
        named = [option for file in files for option in ("-f", f"{folder}/deploy/docker/{file}")]
        return self._host.docker("compose", *named, *arguments, IMAGE_TAG=tag, **more)

    def _check(self, promise: str, found: object, *, kept: bool) -> None:
        self.checks.append(Check(promise, str(found), kept))

    def _build(self) -> None:
        for tag in ("old", "new"):
            self.report_progress(f"building the image `{tag}`")
            self._compose("build", "migrate", tag=tag)
        size = int(self._host.docker("image", "inspect", "--format", "{{.Size}}", "item-index:new"))
        self._check("the image is built from the Dockerfile", f"{size / 1e6:.0f} MB", kept=True)
        user = self._host.docker("run", "--rm", "--entrypoint", "id", "item-index:new", "-u").strip()
        self._check("the image's user is not root", user, kept=user == str(_USER))

    def _start(self) -> None:
        self.report_progress("starting the services from the image `old`")
        self._down()  # what a drill that was cut off has left
        began = time.monotonic()
        self._compose("up", "--detach", "--wait", "--wait-timeout", str(int(_SECONDS_MAX)), *_PARTS, tag="old")
        self._compose("up", "--detach", "demo", tag="old")
        states = self._states()
        well = {name for name, state in states.items() if state.startswith("running")}
        self._check(
            "every service of the compose file runs",
            f"{len(well & _PARTS)} of {len(_PARTS)} in {time.monotonic() - began:.0f} s",
            kept=well >= _PARTS,
        )
        ends = time.monotonic() + _SECONDS_MAX
        while not self._states().get("demo", "").startswith("exited") and time.monotonic() < ends:
            time.sleep(1)
        self._check("the demo data is loaded", self._states()["demo"], kept=self._states()["demo"] == "exited 0")

    def _states(self) -> dict[str, str]:
        lines = self._compose("ps", "--all", "--format", "json").splitlines()
        states = {}
        for one in map(json.loads, lines):
            ended = one["State"] == "exited"
            states[one["Service"]] = f"exited {one['ExitCode']}" if ended else f"{one['State']} {one['Health']}".strip()
        return states

    def _ctl(self, *arguments: str) -> str:
        return self._compose("run", "--rm", "--no-TTY", "command", *arguments).strip().splitlines()[-1]

    def _sql(self, query: str) -> list[str]:
        command = ["exec", "--no-TTY", "database", "psql", "-h", "/tmp", "-U", "itemindex", "-d", "itemindex"]
        return self._compose(*command, "-v", "ON_ERROR_STOP=1", "-At", "-c", query).split()

    def _first_calls(self) -> None:
        """The README's calls by curl, and what is shown of their answers."""
        token = self._compose("exec", "--no-TTY", "edge-a", "itemindex", "tokens", "anonymous").strip()
        [block] = [
            one
            for one in re.findall(r"^```\n(\$ .*?)^```", (PROJECT / "README.md").read_text(), re.M | re.S)
            if "T=" in one
        ]
        calls = re.findall(r"^\$ (curl .*)\n(.*)$", block, re.M)
        right = 0
        ends = time.monotonic() + _SECONDS_MAX
        with self._host.network.entered():
            while asked("127.0.0.1", PORT, "GET", "/v1/ready", {})[0] != 200 and time.monotonic() < ends:
                time.sleep(0.5)
            for command, shown in calls:
                done = subprocess.run(
                    ["sh", "-c", f"T={token}; {command}"], capture_output=True, text=True, check=False
                )
                # Callers come by the bridge of the containers, so they have its address.
                pattern = ".*".join(re.escape(part.strip()) for part in shown.replace("127.0.0.1", "…").split("…"))
                matches = re.match(pattern, done.stdout.strip(), re.S)
                right += bool(matches)
                if not matches:
                    self.report_progress(f"{command} answered {done.stdout[:300]}")
        self._check(
            "the first calls of the README answer as shown", f"{right} of {len(calls)}", kept=right == len(calls)
        )

    def _upgrade(self) -> None:
        """Replace each part by the new image while callers of every kind go on."""
        organization = self._ctl("orgs", "create", "Drill", "--plan", "institutional")
        key = self._ctl("keys", "issue", organization)
        self._sql(SQL.lift_limits)
        iids = self._sql("SELECT iid FROM items ORDER BY iid LIMIT 20")
        [brand] = self._sql("SELECT slug FROM brands ORDER BY item_count DESC LIMIT 1")
        traffic = Traffic(PORT, key, iids, brand)
        with self._host.network.entered():
            traffic.start()
            ends = time.monotonic() + _SECONDS_MAX
            while len(traffic.answers) < 7 and time.monotonic() < ends:
                time.sleep(0.2)
            self.report_progress("migrating the schema")
            self._compose("run", "--rm", "--no-TTY", "--no-deps", "migrate")
            for part in (*_EDGES, *_REST):
                self.report_progress(f"replacing {part}")
                self._compose("up", "--detach", "--wait", "--no-deps", part)
            revised = traffic.revisions.copy()
            while traffic.revisions["api-new"] < revised["api-new"] + 20 and time.monotonic() < ends:
                time.sleep(0.1)
            traffic.stop()
        asked = sum(traffic.answers.values())
        self._check(
            "no caller notices while each part becomes the new image",
            f"{len(traffic.failures)} of {asked} failed {'; '.join(traffic.failures[:3])}",
            kept=not traffic.failures and len(traffic.answers) == 7,
        )
        old = traffic.revisions["api-old"] - revised["api-old"]
        self._check(
            "afterwards only the new image answers", f"{old} by the old one", kept=old == 0 < revised["api-new"]
        )
        later = self._sql("SELECT count(*) FROM later")
        self._check("the new image's migration is applied", f"{later[0]} rows", kept=later == ["0"])
        open_jobs = "SELECT count(*) FROM jobs WHERE state NOT IN ('succeeded', 'failed', 'cancelled', 'expired')"
        while self._sql(open_jobs) != ["0"] and time.monotonic() < ends:
            time.sleep(0.5)
        states = self._sql("SELECT DISTINCT state FROM jobs")
        self._check("every job of before and after is made", ", ".join(states), kept=states == ["succeeded"])
        began = time.monotonic()
        self._compose("up", "--detach", "--wait", "--no-deps", "nginx")
        self._check("nginx is replaced last", f"{time.monotonic() - began:.1f} s until it is healthy", kept=True)

    def _release(self) -> None:
        """The key that is mounted signs the release."""
        self._ctl("releases", "cut")
        ends = time.monotonic() + _SECONDS_MAX
        count = "SELECT count(*) FROM release_keys"
        while self._sql(count) == ["0"] and time.monotonic() < ends:
            time.sleep(0.5)
        found = self._sql(count)
        self._check("the release is signed by the key that is mounted", f"{found[0]} keys", kept=found == ["1"])

    def _tls(self) -> None:
        """The same over TLS, on ports 443 and 80."""
        files = ("compose.yaml", "tls.yaml")
        self._compose("up", "--detach", "--wait", "--no-deps", "nginx", files=files, BASE_URL="https://127.0.0.1/v1")
        chain = self._here(self._new) / "tls/fullchain.pem"
        curl = ["curl", "-sS", "--cacert", str(chain), "-o", "/dev/null", "-w", "%{http_code}"]
        found = []
        with self._host.network.entered():
            for address in ("https://127.0.0.1/v1/health", "http://127.0.0.1/v1/health"):
                found.append(subprocess.run([*curl, address], capture_output=True, text=True, check=False).stdout)
        self._check("tls.yaml serves HTTPS and redirects HTTP", " ".join(found), kept=found == ["200", "308"])
