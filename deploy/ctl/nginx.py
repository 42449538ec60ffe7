"""`itemindex nginx`: the reverse proxy outside of the embedded stack, from the project's own nginx.conf."""

import os
import re
from pathlib import Path
from typing import TypedDict, Unpack
from urllib.parse import urlsplit

import click
from click.decorators import FC

from deploy.local import nginx as embedded
from deploy.local import tls
from shared.errors import ConfigurationError
from shared.printable import printable
from shared.settings.settings import Settings

# A name, an IPv4 address, an IPv6 address in brackets, or nothing for every address.
_HOST = re.compile(r"[A-Za-z0-9.*-]*|\[[0-9A-Fa-f:.]+\]")


class _ServerOptions(TypedDict):
    """The options from which nginx.conf is written, besides its directories."""

    listen: str
    metrics_listen: str
    server_names: str
    tls_cert: Path | None
    tls_key: Path | None
    http_listen: str | None
    acme_dir: Path | None


def tls_options(command: FC) -> FC:
    """Add the options that name a certificate and its key."""
    path, chain = click.Path(path_type=Path), "Certificate with its chain (PEM): HTTPS instead of HTTP."
    with_key = click.option("--tls-key", envvar="NGINX_TLS_KEY", type=path, help="Its private key (PEM).")(command)
    return click.option("--tls-cert", envvar="NGINX_TLS_CERT", type=path, help=chain)(with_key)


class Listen(click.ParamType[str]):
    """An address that nginx can listen on: host:port, a port, or unix: and a path."""

    name = "address"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the address as it is. Fails on anything else, because nginx would refuse its whole configuration."""
        host, _, port = value.rpartition(":")
        if value.startswith("unix:/") and not re.search(r"[\s;{}]", value):
            return value
        if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535) or not _HOST.fullmatch(host):
            self.fail(f"{printable(value)!r} is not an address; write host:port, a port, or unix:/path", param, ctx)
        return value


@click.command(epilog="Example: itemindex nginx --listen 0.0.0.0:8443 --tls-cert chain.pem --tls-key key.pem")
@click.option("--print", "printed", is_flag=True, help="Print the configuration instead; write and run nothing.")
@click.option("--listen", default="0.0.0.0:8080", envvar="NGINX_LISTEN", type=Listen(), help="Public address.")
@click.option(
    "--metrics-listen",
    default="127.0.0.1:9101",
    envvar="NGINX_METRICS_LISTEN",
    type=Listen(),
    help="Address of /metrics, in the operator's own network.",
)
@click.option(
    "--run-dir",
    default=Path("/run/itemindex"),
    envvar="NGINX_RUN_DIR",
    type=click.Path(path_type=Path),
    help="Directory of the edges' sockets, edge-a.sock and edge-b.sock.",
)
@click.option(
    "--log-dir",
    default=None,
    type=click.Path(path_type=Path),
    help="Directory of refused.log; default: standard output.",
)
@click.option(
    "--server-names",
    default=embedded.SERVER_NAMES,
    envvar="NGINX_SERVER_NAMES",
    help="Host names of the service, separated by blanks, in addition to that of BASE_URL; others get 421.",
)
@tls_options
@click.option(
    "--http-listen",
    default=None,
    envvar="NGINX_HTTP_LISTEN",
    type=Listen(),
    help="Address of plain HTTP in addition to TLS, such as 0.0.0.0:80; redirects to https://.",
)
@click.option(
    "--acme-dir",
    default=None,
    envvar="NGINX_ACME_DIR",
    type=click.Path(path_type=Path),
    help="Directory (webroot) of the ACME challenges that --http-listen serves.",
)
def nginx(printed: bool, run_dir: Path, log_dir: Path | None, **options: Unpack[_ServerOptions]) -> None:
    """Run the reverse proxy, with its configuration in the run directory. On SIGQUIT it finishes its open requests."""
    if printed:
        click.echo(_render(run_dir=run_dir, log_dir=log_dir, **options), nl=False)
        return
    run_dir.mkdir(parents=True, exist_ok=True)
    embedded.prepare(run_dir)
    if log_dir is None:
        refused = run_dir / "refused.log"
        refused.unlink(missing_ok=True)
        refused.symlink_to("/dev/stdout")
    path = run_dir / "nginx.conf"
    path.write_text(_render(run_dir=run_dir, log_dir=log_dir, **options), encoding="utf-8")
    command = [embedded.binary(), "-p", str(run_dir), "-c", str(path), "-e", "/dev/stderr", "-g", "daemon off;"]
    os.execv(command[0], command)


def _render(run_dir: Path, log_dir: Path | None, **options: Unpack[_ServerOptions]) -> str:
    listen, metrics_listen, server_names = options["listen"], options["metrics_listen"], options["server_names"]
    tls_cert, tls_key = options["tls_cert"], options["tls_key"]
    http_listen, acme_dir = options["http_listen"], options["acme_dir"]
    settings = Settings.from_environment()
    certificate, names = tls.given_certificate(tls_cert, tls_key), embedded.hosts(server_names, settings.base_url)
    plain = ""
    if certificate:
        from deploy.local.certificates import require_host

        require_host(certificate, settings.base_url)
    if http_listen:
        if not certificate:
            raise ConfigurationError("NGINX_HTTP_LISTEN redirects to TLS; set NGINX_TLS_CERT and NGINX_TLS_KEY too")
        plain = tls.redirecting_server(http_listen, names, urlsplit(settings.base_url).port, acme_dir)
    elif acme_dir:
        raise ConfigurationError("NGINX_ACME_DIR is shown on plain HTTP; set NGINX_HTTP_LISTEN too, such as 0.0.0.0:80")
    values = embedded.values(
        settings,
        run_dir=run_dir,
        log_dir=log_dir or run_dir,
        listen=listen,
        metrics_listen=metrics_listen,
        server_names=names,
        certificate=certificate,
    )
    return embedded.render({**values, "PLAIN_HTTP": plain})
