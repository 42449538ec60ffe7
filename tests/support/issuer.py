"""Another company's identity provider, played on loopback: discovery, keys that rotate, tokens of any shape."""

import base64
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

CLIENT = "item-index"


@dataclass
class SigningKey:
    """A private key, and how it is published."""

    kid: str
    algorithm: str
    private: Any

    @classmethod
    def make(cls, kid: str, algorithm: str = "ES256") -> "SigningKey":
        """Make a key for an algorithm."""
        made: Any
        if algorithm in ("RS256", "PS256", "HS256"):
            made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        elif algorithm == "EdDSA":
            made = ed25519.Ed25519PrivateKey.generate()
        else:
            made = ec.generate_private_key(ec.SECP256R1())
        return cls(kid, algorithm, made)

    def published(self) -> dict[str, Any]:
        """Return the public half as a JWK."""
        method = jwt.get_algorithm_by_name(self.algorithm)
        jwk = json.loads(method.to_jwk(self.private.public_key()))
        return {
            **{k: v for k, v in jwk.items() if k != "key_ops"},
            "kid": self.kid,
            "alg": self.algorithm,
            "use": "sig",
        }


@dataclass
class Issuer:
    """The provider. `fetches` counts how often its keys were asked for; `down` makes it answer 503; `called` is another
    issuer that its discovery names; `people` sets the subjects of one test apart from those of another.
    """

    url: str = ""
    keys: list[SigningKey] = field(default_factory=lambda: [SigningKey.make("one")])
    extra_keys: list[Any] = field(default_factory=list)
    fetches: int = 0
    down: bool = False
    called: str | None = None
    ends_sessions: bool = False
    registers: bool = False
    jwks_path: str = "/jwks"
    raw_jwks: bytes | None = None
    discoveries: int = 0
    people: str = ""
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    redeemed: list[dict[str, str]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def claims(self, subject: str = "ada", **more: Any) -> dict[str, Any]:
        """Return good claims, changed as asked; a claim of None is left out."""
        now = int(time.time())
        made = {
            "iss": self.url,
            "sub": f"{subject}{self.people}",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "name": subject.title(),
            "email": f"{subject}@example.org",
            "email_verified": True,
            **more,
        }
        return {name: value for name, value in made.items() if value is not None}

    def token(self, subject: str = "ada", *, head: dict[str, Any] | None = None, **more: Any) -> str:
        """Return a signed ID token."""
        key = self.keys[-1]
        return jwt.encode(self.claims(subject, **more), key.private, key.algorithm, {"kid": key.kid, **(head or {})})

    def logout_token(self, **more: Any) -> str:
        """Return a logout token, changed as asked; a claim of None is left out."""
        events = {"http://schemas.openid.net/event/backchannel-logout": {}}
        claims = {
            "jti": secrets.token_hex(8),
            "sub": "ada",
            "events": events,
            "name": None,
            "email": None,
            "email_verified": None,
            **more,
        }
        head = {"typ": "logout+jwt"}
        return self.token(head=head, **claims)

    def rotate(self, kid: str, *, keep: bool = True) -> None:
        """Sign with a new key from now on."""
        self.keys = [*(self.keys if keep else []), SigningKey.make(kid)]

    async def discovery(self, request: web.Request) -> web.Response:
        """Return where everything is."""
        self.discoveries += 1
        if self.down:
            return web.Response(status=503)
        return web.json_response(
            {
                "issuer": self.called or self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}{self.jwks_path}",
                **({"end_session_endpoint": f"{self.url}/end"} if self.ends_sessions else {}),
                **({"prompt_values_supported": ["none", "login", "create"]} if self.registers else {}),
            }
        )

    def code(self, subject: str = "ada", **claims: Any) -> str:
        """Return a code that can be redeemed once for a token with these claims."""
        code = f"code-{len(self.codes) + len(self.redeemed)}-{subject}"
        self.codes[code] = {"subject": subject, **claims}
        return code

    async def redeem(self, request: web.Request) -> web.Response:
        """Give the token for a code."""
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.redeemed.append(form)
        self.authorizations.append(request.headers.get("Authorization"))
        claims = self.codes.pop(form.get("code", ""), None)
        if self.down:
            return web.Response(status=503)
        if claims is None:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"id_token": self.token(claims.pop("subject"), **claims), "token_type": "Bearer"})

    async def jwks(self, request: web.Request) -> web.Response:
        """Publish the keys, at the address that discovery names and nowhere else."""
        self.fetches += 1
        if self.down or request.path != self.jwks_path:
            return web.Response(status=503)
        if self.raw_jwks is not None:
            return web.Response(body=self.raw_jwks, content_type="application/json")
        return web.json_response({"keys": [*self.extra_keys, *(key.published() for key in self.keys)]})


@asynccontextmanager
async def running_issuer() -> AsyncIterator[Issuer]:
    """Run a provider on loopback."""
    issuer = Issuer()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", issuer.discovery)
    app.router.add_get("/jwks", issuer.jwks)
    app.router.add_get("/moved/jwks", issuer.jwks)
    app.router.add_post("/token", issuer.redeem)
    async with TestServer(app) as server:
        issuer.url = str(server.make_url("")).rstrip("/")
        yield issuer


def segment(value: Any) -> str:
    """Encode one part of a token, without a library."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
