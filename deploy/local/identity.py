"""A local identity provider (Canaille, from its wheel) with ready-made people, so that signing in works anywhere.

It keeps its key and the passwords of the ready-made people in one file of the data directory, and those who register in
another. For a real installation set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET to the provider of your choice;
then this one is not started.
"""

import asyncio
import datetime
import json
import secrets
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import edge
from deploy.local import tls
from deploy.local.paths import Paths, port_is_free, write_private
from deploy.local.registration import Registry, compare_hashes, hash_password, save_person, serve_registration
from shared.processes import imports_for_good

if TYPE_CHECKING:
    from flask import Flask

    from deploy.local.service_process import Program

CLIENT_ID = "item-index"
_TOKEN_SECONDS = 3_600
_FORM_BYTES_MAX = 65_536
_THEME = Path(__file__).with_name("sign_in")
_PRODUCT_FILES = Path(edge.__file__).with_name("docs") / "static"

STAFF = "ada@example.org"
"""The people who are operators, too: they load data in the dashboard and decide which items are one article."""


class DemoPerson(NamedTuple):
    """A person of the local provider, and the demo organization that they own, with its plan; none for a newcomer."""

    login: str
    given: str
    family: str
    organization: str = ""
    plan: str = ""

    @property
    def name(self) -> str:
        """The whole name."""
        return f"{self.given} {self.family}"

    @property
    def email(self) -> str:
        """The address of mail."""
        return f"{self.login}@example.org"


PEOPLE = (
    DemoPerson("ada", "Ada", "Lovelace", "Lovelace Institute", "institutional"),
    DemoPerson("katherine", "Katherine", "Johnson", "Johnson Foods", "brand"),
    DemoPerson("alan", "Alan", "Turing", "Turing Studio", "free"),
    DemoPerson("grace", "Grace", "Hopper"),
)


class LocalIdentity(TypedDict):
    """The provider's own secrets, as its file keeps them, and its port."""

    port: int
    jwk: dict[str, object]
    secret_key: str
    client_secret: str
    passwords: dict[str, str]


def prepare(paths: Paths, near_port: int = 8080) -> LocalIdentity:
    """Return the provider's own secrets: key, session secret, client secret, passwords; and its port. Made once.

    The port stays: it is part of the issuer, and the issuer is part of who a person is.
    """
    path = paths.root / "identity.json"
    if not path.exists():
        from joserfc.jwk import RSAKey

        key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": secrets.token_hex(8)})
        made = {
            "port": next(port for port in range(near_port + 1, 65_535) if port_is_free(port)),
            "jwk": key.as_dict(private=True),
            "secret_key": secrets.token_urlsafe(32),
            "client_secret": secrets.token_urlsafe(32),
            "passwords": {},
        }
        write_private(path, json.dumps(made).encode())
    kept: LocalIdentity = json.loads(path.read_text())
    missing = [person.login for person in PEOPLE if person.login not in kept["passwords"]]
    if missing:  # a data directory of before they were people
        kept["passwords"] |= {login: secrets.token_urlsafe(9) for login in missing}
        write_private(path, json.dumps(kept).encode())
    return kept


def issuer(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def program(paths: Paths, port: int, origin: str, listen: int, reserved: Collection[str] | None) -> "Program":
    """Return the provider as a program, its secrets prepared: its address has `port`, and it listens at `listen`.

    People can register, with any address that is not `reserved`; unless that is None.
    """
    from deploy.local.service_process import Program

    secrets_file = str(paths.root / "identity.json")
    command = [sys.executable, "-m", "deploy.local.identity", secrets_file, str(port), origin, str(listen)]
    if reserved is not None:
        command += [str(paths.root / "registered.json"), *sorted(reserved)]
    return Program(
        name="identity",
        command=command,
        log=paths.log("identity"),
        ready=lambda: tls.answers(tls.connection(port, None, timeout=5), "/.well-known/openid-configuration"),
        port=listen,
        stop_seconds=5.0,
    )


def application(kept: LocalIdentity, port: int, origin: str, registry: Registry | None = None) -> "Flask":
    """Build the provider with its client and its people; without a registry nobody can register."""
    from canaille import create_app

    app: Flask = create_app(
        config={
            "SECRET_KEY": kept["secret_key"],
            "SERVER_NAME": f"127.0.0.1:{port}",
            "PREFERRED_URL_SCHEME": "http",
            "SESSION_COOKIE_NAME": "identity",
            "MAX_CONTENT_LENGTH": _FORM_BYTES_MAX,
            "CANAILLE": {
                "NAME": "Item Index, local sign-in",
                "SMTP": None,
                "FORCE_HTTPS": False,
                "JAVASCRIPT": False,
                "THEME": str(_THEME),
                "ENABLE_REGISTRATION": registry is not None,
                "LOGIN_ATTRIBUTES": dict.fromkeys(("user_name", "emails"), "{{ login|trim|lower|safe }}"),
                # People who could change their address would take an operator's (STAFF), or another one's invitations.
                "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc"], "WRITE": []}},
            },
            "CANAILLE_OIDC": {"ACTIVE_JWKS": [kept["jwk"]]},
        },
        env_prefix="IDENTITY_",
    )
    _dress(app, origin)
    _match_every_attribute()
    with app.app_context():
        compare_hashes()
        serve_registration(app, registry, origin)
        _people(kept["passwords"])
        _client(kept["client_secret"], origin)
    return app


def id_token(kept: LocalIdentity, name: str) -> str:
    """Return an ID token of one of the people, as the provider signs it after a sign-in; it lasts an hour."""
    import jwt  # only now: the provider itself does not need it

    [person] = [person for person in PEOPLE if person.login == name]
    now = int(time.time())
    claims = {
        "iss": issuer(kept["port"]),
        "aud": [CLIENT_ID],
        "sub": name,
        "name": person.name,
        "email": person.email,
        "iat": now,
        "exp": now + _TOKEN_SECONDS,
    }
    return jwt.encode(claims, jwt.PyJWK(kept["jwk"]).key, "RS256", {"kid": kept["jwk"]["kid"]})


def _dress(app: "Flask", origin: str) -> None:
    """Serve the product's style to the pages of `sign_in/`: the provider's policy lets no other host's in."""
    from flask import send_from_directory

    app.add_url_rule("/product/<name>", "product", lambda name: send_from_directory(_PRODUCT_FILES, name))
    app.context_processor(lambda: {"product_origin": origin})


def _match_every_attribute() -> None:
    """Let a query find what has all of its attributes, as the provider means it.

    Its store in memory finds what has any of them: while one code of the client was not redeemed, another one's query
    found that one, and the sign-in was refused.
    """
    from canaille.backends import Backend

    by_one = Backend.instance.do_query

    def by_all(model: object, **attributes: object) -> list[object]:
        found = [by_one(model, **{name: value}) for name, value in attributes.items()] or [by_one(model)]
        common = set.intersection(*({client.id for client in some} for some in found))
        return [client for client in found[0] if client.id in common]

    Backend.instance.do_query = by_all


def _people(passwords: dict[str, str]) -> None:
    for person in PEOPLE:
        if person.login in passwords:
            save_person(person.login, person.name, person.email, hash_password(passwords[person.login]))


def _client(client_secret: str, origin: str) -> None:
    from canaille.app import models
    from canaille.backends import Backend

    client = models.Client(
        client_id=CLIENT_ID,
        client_secret=client_secret,
        client_name="Item Index",
        client_uri=origin,
        client_id_issued_at=datetime.datetime.now(datetime.UTC),
        redirect_uris=[f"{origin}/dashboard/sign-in/callback"],
        post_logout_redirect_uris=[f"{origin}/dashboard/signed-out"],
        grant_types=["authorization_code"],
        response_types=["code"],
        scope=["openid", "profile", "email"],
        token_endpoint_auth_method="client_secret_basic",  # noqa: S106 - the method's name
    )
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)


def main(arguments: list[str]) -> None:
    """Serve until SIGTERM: `… SECRETS-FILE PORT ORIGIN LISTEN [FILE-OF-REGISTERED [RESERVED-ADDRESS…]]`."""
    path, port, origin = Path(arguments[0]), int(arguments[1]), arguments[2]
    registry = Registry(Path(arguments[4]), arguments[5:]) if len(arguments) > 4 else None
    with imports_for_good():
        from asgiref.wsgi import WsgiToAsgi
        from hypercorn.asyncio import serve
        from hypercorn.config import Config

        app = application(json.loads(path.read_text()), port, origin, registry)
    config = Config()
    config.bind = [f"127.0.0.1:{arguments[3]}"]

    async def run() -> None:
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        await serve(WsgiToAsgi(app), config, shutdown_trigger=over.wait)  # type: ignore[no-untyped-call]

    asyncio.run(run())


if __name__ == "__main__":
    main(sys.argv[1:])
